import os
from pathlib import Path

import pytest

from pdpp.private import make_folder, write_file


def test_a_file_is_its_owners_alone_and_replaces_the_one_there_was(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "kept"
    make_folder(path.parent)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    for content in (b"first", b"second"):
        write_file(path, content)
        assert path.read_bytes() == content
        assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["kept"]


def test_a_file_that_cannot_take_its_name_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(OSError, match="taken"):
        write_file(tmp_path / "taken", b"content")
    assert os.listdir(tmp_path) == ["taken"]
