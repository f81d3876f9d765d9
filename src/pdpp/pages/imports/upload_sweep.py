"""Uploads that nobody needs any more: removed by the server itself, whether or not a page is open.

Uploads are plain files, in an encrypted store too, so that none may outlive its import.
"""

import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pdpp.encryption.files import PlainFiles
from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.model.instant import DAY, Clock
from pdpp.pages.imports.upload import KEPT, Upload, UploadFolder
from pdpp.pages.imports.upload_outcome import UploadOutcome, outcome_of
from pdpp.store.jobs import Json
from pdpp.store.port import Store

UPLOADS = "uploads"
_LOOK_SECONDS = 10.0
_KEPT_IF_ENCRYPTED = DAY


def uploads_kind(store: Store, data: Path, clock: Clock) -> JobKind:
    """Return the kind of job that removes uploads that were imported, or never will be."""
    folder = UploadFolder(data)

    def ended() -> Iterator[Upload]:
        kept = KEPT if isinstance(store.files, PlainFiles) else _KEPT_IF_ENCRYPTED
        for upload in folder.uploads():
            outcome = outcome_of(upload, store)
            forgotten = outcome is UploadOutcome.WAITING and clock() - upload.created_at > kept
            if forgotten or outcome is UploadOutcome.IMPORTED:
                yield upload

    def run(_context: JobContext) -> Json:
        removed = 0
        for upload in list(ended()):
            folder.remove(upload)
            removed += 1
        for left in list(folder.leftovers(clock())):
            shutil.rmtree(left, ignore_errors=True)
        return {"uploads_removed": removed}

    def wanted() -> bool:
        return next(chain(ended(), folder.leftovers(clock())), None) is not None

    return JobKind(UPLOADS, run, every=_LOOK_SECONDS, wanted=wanted)
