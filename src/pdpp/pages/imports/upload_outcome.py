"""What became of an upload: its jobs say so, and nobody has to look at a page for it."""

from enum import Enum, auto

from pdpp.pages.imports.upload import Upload
from pdpp.store.jobs import JobStatus
from pdpp.store.port import Store


class UploadOutcome(Enum):
    """Where an upload is on its way."""

    WAITING = auto()
    """It was never imported, or an import of it failed and may be tried again."""
    IMPORTING = auto()
    IMPORTED = auto()


def outcome_of(upload: Upload, store: Store) -> UploadOutcome:
    """Return where an upload is; a job that is kept no more ended long ago."""
    known = [job for id in upload.jobs if (job := store.jobs.get(id)) is not None]
    if any(job.finished_at is None for job in known):
        return UploadOutcome.IMPORTING
    if not upload.jobs or any(job.status is JobStatus.FAILED for job in known):
        return UploadOutcome.WAITING
    return UploadOutcome.IMPORTED


def failed_job(upload: Upload, store: Store) -> str | None:
    """Return the first import of an upload that failed."""
    known = (store.jobs.get(id) for id in upload.jobs)
    return next((job.id for job in known if job and job.status is JobStatus.FAILED), None)
