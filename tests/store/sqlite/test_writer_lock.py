"""WriterLock: whether somebody is still at work is known from a lock."""

import stat
from pathlib import Path

import pytest

from pdpp.store.sqlite.writer_lock import WriterLock, is_gone

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


def test_whoever_is_present_is_not_gone(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    present = WriterLock(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not is_gone(path)
    assert not is_gone(path)
    present.leave()
    assert not path.exists()
    assert is_gone(path)


def test_whoever_was_killed_is_gone_and_what_is_left_of_them_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    killed = WriterLock(path)
    killed.drop()
    killed.drop()
    assert path.exists()
    assert is_gone(path)
    assert not path.exists()
