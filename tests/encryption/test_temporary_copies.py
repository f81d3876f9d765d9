"""Plain copies that an import makes for an encrypted store: where they are, and how long."""

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.shell import DEADLINE_SECONDS

from pdpp.encryption.data_key import DataKey
from pdpp.encryption.key_file import KdfCost, KeyFile
from pdpp.encryption.unlocking import PASSPHRASE_VARIABLE
from pdpp.serving.data_folder import open_store
from pdpp.serving.temporary_files import NAME

GOOD = "four or five words"
READS_A_DATABASE = """
import sys
from pathlib import Path
from pdpp.serving.data_folder import open_store
from pdpp.sources.reading.sqlitefile import databases, open_database
from pdpp.sources.reading.tree import open_tree

with open_store(Path(sys.argv[1])):
    tree = open_tree(Path(sys.argv[2]))
    (entry,) = databases(tree)
    with open_database(tree, entry):
        print("open", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of an encrypted store."""
    monkeypatch.setenv(PASSPHRASE_VARIABLE, GOOD)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    key = DataKey.new()
    KeyFile.seal(key, GOOD, KdfCost(1, 64, 1)).write(data)
    with open_store(data, create=True, key=key):
        pass
    return data


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """A database of another program."""
    path = tmp_path / "history.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE visits (address TEXT)")
    connection.execute("INSERT INTO visits VALUES ('zanzibarine')")
    connection.commit()
    connection.close()
    return path


@contextmanager
def importing(folder: Path, history: Path, system: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a process that has a copy of the database open."""
    system.mkdir(exist_ok=True)
    process = subprocess.Popen(
        [sys.executable, "-c", READS_A_DATABASE, folder, history],
        env={**os.environ, "TMPDIR": str(system)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"open\n"
            yield process
        finally:
            process.kill()


def copies(folder: Path) -> list[Path]:
    return [path for path in (folder / NAME).rglob("*") if path.is_file()]


def test_copies_lie_in_the_data_folder_and_whoever_opens_it_next_removes_those_of_the_dead(
    folder: Path, history: Path, tmp_path: Path
) -> None:
    system = tmp_path / "system"
    with importing(folder, history, system) as killed, importing(folder, history, system) as other:
        assert len(copies(folder)) == 2
        killed.kill()
        killed.wait(timeout=DEADLINE_SECONDS)
        (left, living) = copies(folder)
        assert b"zanzibarine" in left.read_bytes()
        for place in (folder / NAME, *(folder / NAME).iterdir()):
            assert place.stat().st_mode & 0o077 == 0, place
        with open_store(folder):
            assert len(copies(folder)) == 1, "one belongs to a process that still runs"
            assert Path(tempfile.gettempdir()).is_relative_to(folder / NAME)
        assert not Path(tempfile.gettempdir()).is_relative_to(folder)
        assert other.stdin is not None
        other.stdin.close()
        assert other.wait(timeout=DEADLINE_SECONDS) == 0
    assert copies(folder) == []
    assert list(system.iterdir()) == []
    assert living != left


def test_a_plain_store_leaves_temporary_files_to_the_system(tmp_path: Path) -> None:
    with open_store(tmp_path, create=True):
        assert not Path(tempfile.gettempdir()).is_relative_to(tmp_path / NAME)
    assert not (tmp_path / NAME).exists()
