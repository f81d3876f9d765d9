"""Private files: what only the owner can read, put in its place as a whole."""

import os
from pathlib import Path
from typing import BinaryIO

_FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the owner alone."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def take_place(path: Path, beginning: bytes) -> BinaryIO:
    """Put a new file with a beginning in the place of a path, and return it to be written on."""
    make_folder(path.parent)
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    file = os.fdopen(os.open(fresh, _FRESH, 0o600), "wb")
    file.write(beginning)
    file.flush()
    os.replace(fresh, path)
    return file


def write_file(path: Path, content: bytes) -> None:
    """Put content in the place of a path."""
    take_place(path, content).close()
