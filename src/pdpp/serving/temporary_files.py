"""Temporary files of an encrypted store: in its own folder, and gone after a crash.

Importers copy databases of other programs and unpack archives inside archives. Such copies are
plain. In the system's folder they would be among everybody's files, and nobody would remove what a
killed process left; here only the owner can read them, and whoever opens the store next removes
them.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pdpp.private import hold_folder, locked_folder, make_folder

NAME = "temporary"
_OF_SQLITE = "SQLITE_TMPDIR"
"""The variable by which the engine finds where it sorts what does not fit into memory."""


@contextmanager
def temporary_files_in(folder: Path) -> Iterator[None]:
    """Have this process keep its temporary files in a data folder until the block ends."""
    place = folder / NAME
    make_folder(place)
    # One at a time: a folder that is not locked yet would be taken for one of a killed process.
    with locked_folder(place):
        _sweep(place)
        own = tempfile.mkdtemp(dir=place)
        held = hold_folder(own)
    before = tempfile.tempdir, os.environ.get(_OF_SQLITE)
    tempfile.tempdir = os.environ[_OF_SQLITE] = own
    try:
        yield
    finally:
        tempfile.tempdir = before[0]
        if before[1] is None:
            del os.environ[_OF_SQLITE]
        else:
            os.environ[_OF_SQLITE] = before[1]
        shutil.rmtree(own, ignore_errors=True)
        if held is not None:
            os.close(held)


def _sweep(place: Path) -> None:
    """Remove the folders of processes that do not run any more."""
    for entry in place.iterdir():
        # On Windows there is no lock: files that are open cannot be removed there anyway.
        with suppress(BlockingIOError):
            held = hold_folder(entry)
            shutil.rmtree(entry, ignore_errors=True)
            if held is not None:
                os.close(held)
