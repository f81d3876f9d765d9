"""The word index made anew as a job, after an update that reads words differently."""

import time

from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.store.jobs import Json
from pdpp.store.port import Store

REINDEX = "reindex"
_LOOK_SECONDS = 60.0
_PAUSE_SECONDS = 0.02


def reindex_kind(store: Store) -> JobKind:
    """Return the kind of job that analyses records anew which an earlier analyser indexed."""

    def run(context: JobContext) -> Json:
        pieces = 0
        while store.reindex():
            pieces += 1
            done, total = store.index_progress()
            context.progress(done, total, note="records indexed anew; searches go on meanwhile")
            context.check()
            # Other writers get their turn.
            time.sleep(_PAUSE_SECONDS)
        return {"pieces": pieces}

    def wanted() -> bool:
        done, total = store.index_progress()
        return done < total

    return JobKind(REINDEX, run, every=_LOOK_SECONDS, wanted=wanted)
