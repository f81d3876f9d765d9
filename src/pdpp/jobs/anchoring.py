"""Anchoring: the job that lets the store, and a witness, remember where the log of reads ends."""

from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.receipts.recorder import Recorder
from pdpp.store.jobs import Json

ANCHOR = "anchor"


def anchor_kind(recorder: Recorder, seconds: float) -> JobKind:
    """Return the kind that anchors the log once in so many seconds, if receipts were written."""

    def run(_context: JobContext) -> Json:
        return {"last_receipt": recorder.anchor()}

    return JobKind(ANCHOR, run, every=seconds, wanted=recorder.wants_anchor)
