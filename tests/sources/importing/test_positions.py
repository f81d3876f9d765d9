"""Positions that survive a stop, and a torn end."""

from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from tests.sources.kit import zipped

from pdpp.sources.importing import positions as module
from pdpp.sources.importing.positions import PartPosition, PositionLog, position_of, resume_point
from pdpp.sources.item import START, Finding, ResumePoint
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import AnyPart, ExportPart, GrowingPart


def nothing(place: ResumePoint) -> Iterator[Finding]:
    yield place


def part(path: Path, content: bytes, *, grows: bool = True) -> AnyPart:
    path.write_bytes(content)
    entry = open_tree(path).entries[0]
    return GrowingPart(entry, nothing) if grows else ExportPart(entry, partial(nothing, START))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "positions" / "j.ndjson"


def noted(path: Path, *, complete: bool = False, revision: str = "1") -> PositionLog:
    with closing(PositionLog(path, revision)) as journal:
        journal.begin(anew=True)
        journal.note({"a": PartPosition("s", 3, 10, {"n": 1}, "h")})
        journal.note(
            {"a": PartPosition("s", 5, 20, {"n": 2}, "h"), "b": PartPosition("t", done=True)}
        )
        journal.end(complete=complete)
    return PositionLog(path, revision)


def test_the_last_position_of_each_part_is_remembered(path: Path) -> None:
    again = noted(path)
    assert again.positions == {
        "a": PartPosition("s", 5, 20, {"n": 2}, "h"),
        "b": PartPosition("t", done=True),
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
    assert not PositionLog(path, "1").interrupted


def test_positions_of_another_revision_are_not_believed(path: Path) -> None:
    noted(path)
    other = PositionLog(path, "2")
    assert not other.positions
    assert not other.interrupted


@pytest.mark.parametrize("torn", [b'["a",["s",7', b"\x00\x00", b"5\n", b"[1,2,3]\n"])
def test_a_torn_end_loses_only_itself(torn: bytes, path: Path) -> None:
    noted(path)
    with path.open("ab") as file:
        file.write(torn)
    assert PositionLog(path, "1").positions["a"].offset == 20


def test_a_file_that_is_no_journal_is_not_believed(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_bytes(b"hello")
    assert not PositionLog(path, "1").positions


def test_beginning_anew_forgets_and_going_on_keeps(path: Path) -> None:
    with closing(noted(path)) as journal:
        journal.begin(anew=False)
    assert PositionLog(path, "1").positions["a"].offset == 20
    with closing(noted(path)) as journal:
        journal.begin(anew=True)
    assert not PositionLog(path, "1").positions


def test_a_long_watch_does_not_let_the_file_grow_without_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_LINES", 10)
    with closing(PositionLog(path, "1")) as journal:
        journal.begin(anew=True)
        for number in range(100):
            journal.note({"a": PartPosition("s", number)})
    assert path.read_bytes().count(b"\n") <= 14
    assert PositionLog(path, "1").positions["a"].items == 99


def test_a_part_that_grew_goes_on_at_its_place(tmp_path: Path) -> None:
    early = part(tmp_path / "a", b"one\n")
    position = position_of(early, 1, ResumePoint(4, {"n": 1}), done=True)
    assert resume_point(position, part(tmp_path / "a", b"one\ntwo\n")) == (
        ResumePoint(4, {"n": 1}),
        0,
    )


@pytest.mark.parametrize("content", [b"ONE\ntwo\n", b"on"])
def test_a_part_that_became_another_begins_anew(content: bytes, tmp_path: Path) -> None:
    early = part(tmp_path / "a", b"one\n")
    position = position_of(early, 1, ResumePoint(4), done=True)
    assert resume_point(position, part(tmp_path / "a", content)) == (START, 0)


def test_another_part_that_begins_alike_begins_anew(tmp_path: Path) -> None:
    head = b'{"prompt": "%b"}\n' % (b"x" * 6_000)
    early = part(tmp_path / "a", head + b"one\ntwo\n")
    position = position_of(early, 3, ResumePoint(len(head) + 8), done=True)
    grown = part(tmp_path / "a", head + b"one\ntwo\nthree\n")
    assert resume_point(position, grown) == (ResumePoint(len(head) + 8), 0)
    other = part(tmp_path / "a", head + b"ten\neleven\ntwelve\n")
    assert resume_point(position, other) == (START, 0)


def test_a_log_in_an_archive_goes_on_only_while_it_is_the_same(tmp_path: Path) -> None:
    def packed(name: str, content: bytes) -> AnyPart:
        return GrowingPart(open_tree(zipped(tmp_path / name, {"a": content})).entries[0], nothing)

    early = packed("early.zip", b"one\n")
    position = position_of(early, 1, ResumePoint(4), done=False)
    assert resume_point(position, packed("same.zip", b"one\n")) == (ResumePoint(4), 0)
    assert resume_point(position, packed("later.zip", b"one\ntwo\n")) == (START, 0)


@pytest.mark.parametrize("text", ["one\n", '"海へ行く"\n'])
def test_a_log_in_utf_16_goes_on_only_while_it_is_the_same(text: str, tmp_path: Path) -> None:
    wide = (text * 9).encode("utf-16")
    early = part(tmp_path / "a", wide)
    place = ResumePoint(3 + len((text * 9).encode()))
    position = position_of(early, 9, place, done=False)
    assert resume_point(position, early) == (place, 0)
    grown = part(tmp_path / "a", wide + text.encode("utf-16-le"))
    assert resume_point(position, grown) == (START, 0)


def test_to_note_a_place_in_utf_16_reads_nothing_before_it(tmp_path: Path) -> None:
    early = part(tmp_path / "a", ("tide\n" * 200_000).encode("utf-16"))
    position_of(early, 9, ResumePoint(900_000), done=False)
    assert early.entry.meter.bytes_read < 10


def test_a_part_that_does_not_grow_passes_over_what_was_read_while_it_is_the_same(
    tmp_path: Path,
) -> None:
    early = part(tmp_path / "a", b"one\n", grows=False)
    position = position_of(early, 7, START, done=False)
    assert resume_point(position, early) == (START, 7)
    assert resume_point(position, part(tmp_path / "a", b"other\n", grows=False)) == (START, 0)
    assert resume_point(None, early) == (START, 0)


def test_a_part_that_is_gone_has_no_ends_to_know_it_by(tmp_path: Path) -> None:
    early = part(tmp_path / "a", b"one\n")
    (tmp_path / "a").unlink()
    assert position_of(early, 1, ResumePoint(4), done=True).ends == ""
