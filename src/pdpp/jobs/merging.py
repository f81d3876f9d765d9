"""Merges as jobs: an account moves into another one while nobody waits."""

import time

from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.model.instant import Clock
from pdpp.service.accounts import merge_connections
from pdpp.store.jobs import JobOrder, Json
from pdpp.store.port import Store

MERGE = "merge"
_PAUSE_SECONDS = 0.02
"""Between two pieces, so that requests that write get their turn."""


def merge_order(source_id: str, target_id: str) -> JobOrder:
    """Return the order to merge an account into another one."""
    return JobOrder(MERGE, {"from": source_id, "into": target_id})


def merge_kind(store: Store, clock: Clock) -> JobKind:
    """Return the kind of job that merges accounts; one that was cut goes on where it was."""

    def run(context: JobContext) -> Json:
        source_id, target_id = context.parameters["from"], context.parameters["into"]

        def tell(records: int) -> None:
            context.progress(records, note="records moved")
            context.check()
            time.sleep(_PAUSE_SECONDS)

        result = merge_connections(store, source_id, target_id, clock, tell)
        while store.delete_removed():
            context.check()
        return {"records_written": result.written, "connection_id": target_id}

    return JobKind(MERGE, run)
