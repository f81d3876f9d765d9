"""A small disk of a test's own, to be filled and emptied; only the superuser can have one."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_BALLAST = "ballast"


class SmallDisk:
    """A mounted disk with little room."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """Leave no room at all."""
        with (self.folder / _BALLAST).open("ab", buffering=0) as file:
            for size in (1 << 16, 1 << 12):
                try:
                    while file.write(bytes(size)):
                        pass
                except OSError:
                    continue

    def leave(self, size: int) -> None:
        """Leave room for so many bytes."""
        self.fill()
        os.truncate(ballast := self.folder / _BALLAST, ballast.stat().st_size - size)

    def empty(self) -> None:
        """Make room again."""
        (self.folder / _BALLAST).unlink()


@contextmanager
def mounted(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Mount a small disk in memory until the block ends, or skip the test where nobody may."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    try:
        done = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount program here, so no small disk")
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def make_read_only(folder: Path) -> None:
    """Let nobody write to a disk on which nothing is open."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
