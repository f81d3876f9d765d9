"""Logs of JSON lines."""

from pathlib import Path

from pdpp.sources.item import Skipped
from pdpp.sources.reading.jsonlines import JsonLine, LogGap, events, first_objects
from pdpp.sources.reading.tree import FileEntry, open_tree


def entry(path: Path, content: bytes) -> FileEntry:
    path.write_bytes(content)
    return open_tree(path).entries[0]


def test_objects_come_with_their_line_and_the_place_after_it(tmp_path: Path) -> None:
    log = entry(tmp_path / "a.jsonl", b'{"a": 1}\n\n{"a": 2}\n')
    assert list(events(log)) == [
        JsonLine({"a": 1}, "a.jsonl line 1", 9, True),
        JsonLine({"a": 2}, "a.jsonl line 3", 19, True),
    ]
    [later] = events(log, 9)
    assert later == JsonLine({"a": 2}, "a.jsonl before byte 19", 19, True)


def test_lines_without_an_object_are_told(tmp_path: Path) -> None:
    log = entry(tmp_path / "a.jsonl", b"nonsense\n[1]\n" + b"x" * 50 + b'\n{"a": 1}\n')
    gaps = [found.skipped.reason for found in events(log, longest=20) if isinstance(found, LogGap)]
    assert gaps == [
        "a line that is not JSON",
        "a line that is not an object",
        "a line longer than 0 MiB",
    ]


def test_a_last_line_may_be_whole_without_its_end_or_cut_off(tmp_path: Path) -> None:
    [whole] = events(entry(tmp_path / "a.jsonl", b'{"a": 1}'))
    assert isinstance(whole, JsonLine)
    assert not whole.closed
    [cut] = events(entry(tmp_path / "a.jsonl", b'{"a": '))
    assert cut == LogGap(
        Skipped("a last line that is cut off", "a.jsonl line 1", cut=True), 6, False
    )


def test_the_first_objects_are_found_among_other_lines(tmp_path: Path) -> None:
    log = entry(tmp_path / "a.jsonl", b'{"a": 1}\n[]\nx\n{"b": 2}\n{"c"')
    assert list(first_objects(log)) == [{"a": 1}, {"b": 2}]
