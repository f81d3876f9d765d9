"""Accounts: the owner renames, merges and removes them over ``/v1`` and on the pages."""

from pdpp.jobs.document import JobJson, job_document
from pdpp.jobs.housekeeping import SWEEP
from pdpp.jobs.merging import merge_order
from pdpp.resource.answers import AccountChange
from pdpp.resource.call import Call
from pdpp.service.accounts import (
    change_json,
    preview_merge,
    preview_removal,
    remove_connection,
    rename_connection,
)
from pdpp.service.runner import leave_loop
from pdpp.store.jobs import JobOrder


def rename(call: Call) -> AccountChange:
    """Answer ``POST /v1/connections/{connection_id}/rename``."""
    connection_id, name = call.path["connection_id"], call.query.text("display_name") or ""
    before, clients = rename_connection(call.store, connection_id, name, call.now)
    return {
        "object": "account_change",
        "status": "renamed",
        "connection_id": connection_id,
        "display_name": name,
        "previous_name": before.display_name,
        "seen_by": list(clients),
    }


def show_removal(call: Call) -> AccountChange:
    """Answer ``GET /v1/connections/{connection_id}/removal``: what would be lost."""
    leave_loop(1, 0)  # it counts all of an account's records and files
    preview = preview_removal(call.store, [call.path["connection_id"]], call.now)
    return {"object": "account_change", **preview.as_json()}


def remove(call: Call) -> AccountChange:
    """Answer ``DELETE /v1/connections/{connection_id}``; a job deletes what the account held."""
    connection_id = call.path["connection_id"]
    preview = preview_removal(call.store, [connection_id], call.now)
    changes = remove_connection(call.store, call.data, connection_id, lambda: call.now)
    call.store.jobs.add(JobOrder(SWEEP, once=True))
    return {
        "object": "account_change",
        **preview.as_json(),
        "status": "removed",
        "grants": list(map(change_json, changes)),
    }


def show_merge(call: Call) -> AccountChange:
    """Answer ``GET /v1/connections/{connection_id}/merge``: what would move, and who sees it."""
    leave_loop(1, 0)
    preview = preview_merge(call.store, call.path["connection_id"], _into(call), call.now)
    return {"object": "account_change", **preview.as_json()}


def merge(call: Call) -> JobJson:
    """Answer ``POST /v1/connections/{connection_id}/merge`` with the job that does it."""
    source_id, target_id = call.path["connection_id"], _into(call)
    preview_merge(call.store, source_id, target_id, call.now)
    return job_document(call.store.jobs.add(merge_order(source_id, target_id)))


def _into(call: Call) -> str:
    return call.query.text("into") or ""
