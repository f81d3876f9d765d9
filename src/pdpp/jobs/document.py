"""Jobs as JSON: one form for ``/v1`` and for the program."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

from pdpp.model import instant
from pdpp.model.json_types import Moment, Size
from pdpp.store.jobs import Job, JobError, JobStatus


class ProgressJson(TypedDict):
    """How far a job is; a total of 0 means that nobody knows how much there is."""

    done: Size
    total: Size
    note: str


class JobJson(TypedDict):
    """A job as its owner sees it; one that is ``left`` is begun, and nobody works on it."""

    object: Literal["job"]
    id: str
    kind: str
    status: Annotated[str, JobStatus]
    left: bool
    created_at: Moment
    not_before: Moment | None
    started_at: Moment | None
    finished_at: Moment | None
    progress: ProgressJson
    attempts: Size
    cancel_requested: bool
    parameters: Mapping[str, Any]
    result: Mapping[str, Any] | None
    error: JobError | None


def job_document(job: Job) -> JobJson:
    """Return a job as its owner sees it, without the internal state that it resumes from."""
    return {
        "object": "job",
        "id": job.id,
        "kind": job.kind,
        "status": job.status.value,
        "left": job.is_left(instant.now()),
        "created_at": instant.to_text(job.created_at),
        "not_before": _time(job.not_before or None),
        "started_at": _time(job.started_at),
        "finished_at": _time(job.finished_at),
        "progress": {
            "done": job.progress.done,
            "total": job.progress.total,
            "note": job.progress.note,
        },
        "attempts": job.attempts,
        "cancel_requested": job.cancel_requested,
        "parameters": job.parameters,
        "result": job.result,
        "error": job.error,
    }


def _time(moment: int | None) -> str | None:
    return None if moment is None else instant.to_text(moment)
