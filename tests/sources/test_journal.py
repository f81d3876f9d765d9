"""Positions that survive a stop, and a torn end."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pdpp.sources import journal as module
from pdpp.sources.item import START, Found, Place
from pdpp.sources.journal import Journal, Position, fresh_place, position_of
from pdpp.sources.source import Part
from pdpp.sources.tree import open_tree


def nothing(place: Place) -> Iterator[Found]:
    yield place


def part(path: Path, content: bytes, *, grows: bool = True) -> Part:
    path.write_bytes(content)
    return Part(open_tree(path).entries[0], nothing, grows=grows)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "positions" / "j.ndjson"


def noted(path: Path, *, complete: bool = False, revision: str = "1") -> Journal:
    with closing(Journal(path, revision)) as journal:
        journal.begin(anew=True)
        journal.note({"a": Position("s", 3, 10, {"n": 1}, "h")})
        journal.note({"a": Position("s", 5, 20, {"n": 2}, "h"), "b": Position("t", done=True)})
        journal.end(complete=complete)
    return Journal(path, revision)


def test_the_last_position_of_each_part_is_remembered(path: Path) -> None:
    again = noted(path)
    assert again.positions == {
        "a": Position("s", 5, 20, {"n": 2}, "h"),
        "b": Position("t", done=True),
    }
    assert again.interrupted


def test_a_journal_is_private(path: Path) -> None:
    noted(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_an_import_that_reached_its_end_is_not_gone_on_with(path: Path) -> None:
    again = noted(path, complete=True)
    assert not again.interrupted
    assert again.positions


def test_no_journal_is_no_interruption(path: Path) -> None:
    assert not Journal(path, "1").interrupted


def test_positions_of_another_revision_are_not_believed(path: Path) -> None:
    noted(path)
    other = Journal(path, "2")
    assert not other.positions
    assert not other.interrupted


@pytest.mark.parametrize("torn", [b'["a",["s",7', b"\x00\x00", b"5\n", b"[1,2,3]\n"])
def test_a_torn_end_loses_only_itself(torn: bytes, path: Path) -> None:
    noted(path)
    with path.open("ab") as file:
        file.write(torn)
    assert Journal(path, "1").positions["a"].offset == 20


def test_a_file_that_is_no_journal_is_not_believed(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"hello")
    assert not Journal(path, "1").positions


def test_beginning_anew_forgets_and_going_on_keeps(path: Path) -> None:
    with closing(noted(path)) as journal:
        journal.begin(anew=False)
    assert Journal(path, "1").positions["a"].offset == 20
    with closing(noted(path)) as journal:
        journal.begin(anew=True)
    assert not Journal(path, "1").positions


def test_a_long_watch_does_not_let_the_file_grow_without_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_LINES", 10)
    with closing(Journal(path, "1")) as journal:
        journal.begin(anew=True)
        for number in range(100):
            journal.note({"a": Position("s", number)})
    assert path.read_bytes().count(b"\n") <= 14
    assert Journal(path, "1").positions["a"].items == 99


def test_a_part_that_grew_goes_on_at_its_place(tmp_path: Path) -> None:
    early = part(tmp_path / "a", b"one\n")
    position = position_of(early, 1, Place(4, {"n": 1}), done=True)
    assert fresh_place(position, part(tmp_path / "a", b"one\ntwo\n")) == (Place(4, {"n": 1}), 0)


@pytest.mark.parametrize("content", [b"ONE\ntwo\n", b"on"])
def test_a_part_that_became_another_begins_anew(content: bytes, tmp_path: Path) -> None:
    early = part(tmp_path / "a", b"one\n")
    position = position_of(early, 1, Place(4), done=True)
    assert fresh_place(position, part(tmp_path / "a", content)) == (START, 0)


def test_a_part_that_does_not_grow_passes_over_what_was_read_while_it_is_the_same(
    tmp_path: Path,
) -> None:
    early = part(tmp_path / "a", b"one\n", grows=False)
    position = position_of(early, 7, START, done=False)
    assert fresh_place(position, early) == (START, 7)
    assert fresh_place(position, part(tmp_path / "a", b"other\n", grows=False)) == (START, 0)
    assert fresh_place(None, early) == (START, 0)


def test_a_part_that_is_gone_has_no_head_to_know_it_by(tmp_path: Path) -> None:
    early = part(tmp_path / "a", b"one\n")
    (tmp_path / "a").unlink()
    assert position_of(early, 1, Place(4), done=True).head == ""
