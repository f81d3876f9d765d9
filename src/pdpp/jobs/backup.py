"""Backups: everything copied into a new folder, by the program or as a job of the server."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol, TypeGuard, runtime_checkable

from pdpp.jobs.backup_note import BackupNote, note_backup
from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.model.errors import StoreError
from pdpp.model.instant import Clock
from pdpp.private import hold_folder
from pdpp.sources.importing.state import ImportState
from pdpp.store.jobs import JobOrder, Json
from pdpp.store.vault import Vault

BACKUP = "backup"
_FIRST, _COPY = "first", "copy"
_UNFINISHED = ".pdpp-backup-"

Tell = Callable[[int, int], None]


@runtime_checkable
class CopyingStore(Protocol):
    """A store whose engine copies itself into a folder while it stays in use."""

    @property
    def vault(self) -> Vault: ...

    def backup(self, target: Path, progress: Tell | None = None) -> None: ...

    def holds_deleted(self) -> bool: ...

    def newest_block(self) -> int: ...

    def tend(self, up_to: int | None = None) -> bool: ...


def copies_itself(store: object) -> TypeGuard[CopyingStore]:
    """Tell whether a store can be copied here; that of a database server is not."""
    return isinstance(store, CopyingStore)


def backup_order(folder: Path) -> JobOrder:
    """Return the order to copy everything into a new folder."""
    return JobOrder(BACKUP, {"folder": str(folder)})


def backup_kind(store: CopyingStore, data: Path, clock: Clock) -> JobKind:
    """Return the kind of job that makes backups."""

    def run(context: JobContext) -> Json:
        def tell(done: int, total: int) -> None:
            context.progress(done, total, "copied")
            context.check()

        folder = Path(context.parameters["folder"])
        make_backup(store, data, folder, clock, tell)
        return {"folder": str(folder)}

    return JobKind(BACKUP, run)


def make_backup(store: CopyingStore, data: Path, folder: Path, clock: Clock, tell: Tell) -> None:
    """Copy everything into a folder that is new or empty, all of it or nothing, and note it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise StoreError(f"{folder} is not an empty folder; choose a new one for the backup")
    target, began = folder.resolve(), clock()
    target.parent.mkdir(parents=True, exist_ok=True)
    with _unfinished_folder(target.parent) as partial:
        # First what imports remember: it may be behind the records, never ahead of them.
        ImportState(data).copy(partial / _FIRST)
        _remove_deleted(store)
        store.backup(partial / _COPY, tell)
        for file in (partial / _FIRST).glob("*"):
            file.rename(partial / _COPY / file.name)
        _settle(partial / _COPY, target)
    note_backup(store.vault, BackupNote(began, str(target)))


def _remove_deleted(store: CopyingStore) -> None:
    """Take the words of deleted records out of the word index, where no server has done so."""
    newest = store.newest_block()
    while store.holds_deleted() and store.tend(newest):
        pass


@contextmanager
def _unfinished_folder(parent: Path) -> Iterator[Path]:
    """Make a folder for a copy, and remove it; those of programs that were killed go too."""
    _sweep(parent)
    folder, held = _new_folder(parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if held is not None:
            os.close(held)


def _new_folder(parent: Path) -> tuple[Path, int | None]:
    """Make a folder that this process holds; return its lock, None where there are no locks."""
    while True:
        folder, held = Path(tempfile.mkdtemp(dir=parent, prefix=_UNFINISHED)), None
        try:
            held = hold_folder(folder)
        except (BlockingIOError, FileNotFoundError):
            continue  # another program was quicker to take it for one that was left
        except OSError:  # pragma: no cover - a disk on the network; nobody removes it there
            return folder, None
        if folder.is_dir():
            return folder, held
        if held is not None:  # pragma: no cover - removed between two lines
            os.close(held)


def _sweep(parent: Path) -> None:
    """Remove the unfinished copies of programs that do not run any more."""
    if os.name == "nt":  # pragma: no cover - nothing tells whose program still runs
        return
    for folder in parent.glob(f"{_UNFINISHED}*"):
        # One that another program holds, or that is another user's, stays.
        with suppress(OSError):
            held = hold_folder(folder)
            shutil.rmtree(folder, ignore_errors=True)
            if held is not None:
                os.close(held)


def _settle(partial: Path, target: Path) -> None:
    if target.exists():
        target.rmdir()
    partial.rename(target)
