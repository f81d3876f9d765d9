"""Jobs as JSON: one form for ``/v1`` and for the program."""

from typing import Any

from pdpp.model import instant
from pdpp.store.jobs import Job


def job_document(job: Job) -> dict[str, Any]:
    """Return what the owner sees of a job; the state it goes on from is its own business."""
    return {
        "object": "job",
        "id": job.id,
        "kind": job.kind,
        "status": job.status.value,
        "created_at": instant.to_text(job.created_at),
        "not_before": _time(job.not_before or None),
        "started_at": _time(job.started_at),
        "finished_at": _time(job.finished_at),
        "progress": job.progress._asdict(),
        "attempts": job.attempts,
        "cancel_requested": job.cancel_requested,
        "parameters": job.parameters,
        "result": job.result,
        "error": job.error,
    }


def _time(moment: int | None) -> str | None:
    return None if moment is None else instant.to_text(moment)
