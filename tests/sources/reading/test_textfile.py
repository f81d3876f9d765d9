"""Encodings of text files."""

from pathlib import Path

import pytest

from pdpp.sources.reading.textfile import encoding_of, text_lines
from pdpp.sources.reading.tree import FileEntry, open_tree

TEXT = "Grüße aus Porto – 10 €\nzweite Zeile\n\nletzte"


def entry(path: Path, content: bytes) -> FileEntry:
    path.write_bytes(content)
    return open_tree(path).entries[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_is_read_in_the_encoding_it_is_written_in(
    encoding: str, end: str, tmp_path: Path
) -> None:
    file = entry(tmp_path / "a.txt", TEXT.replace("\n", end).encode(encoding))
    assert [line.text for line in text_lines(file)] == TEXT.split("\n")
    assert [line.number for line in text_lines(file)] == [1, 2, 3, 4]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_known_by_its_zeros(tmp_path: Path, encoding: str) -> None:
    text = f"a line of plain letters\n{TEXT}"
    file = entry(tmp_path / "a.txt", text.encode(encoding))
    assert [line.text for line in text_lines(file)] == text.split("\n")
    assert encoding_of(bytes(64)) == encoding_of(b"a\x00b") == "utf-8"


def test_utf_16_of_the_other_byte_order_is_read_too(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.txt", b"\xfe\xff" + TEXT.encode("utf-16-be"))
    assert [line.text for line in text_lines(file)] == TEXT.split("\n")


def test_a_character_cut_by_the_end_of_the_head_is_no_reason_for_doubt() -> None:
    assert encoding_of("aé".encode()[:-1]) == "utf-8"
    assert encoding_of(b"a\xe9b") == "cp1252"


def test_what_cannot_be_decoded_becomes_a_visible_mark(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.txt", b"a" * 70_000 + b"\nbad \xff\x00 byte\n")
    assert [line.text for line in text_lines(file)][1] == "bad \ufffd\ufffd byte"
    assert encoding_of(file.head()) == "utf-8"


def test_long_utf_16_lines_come_in_pieces_without_losing_any(tmp_path: Path) -> None:
    long = "é" * 100_000
    file = entry(tmp_path / "a.txt", f"{long}\nend".encode("utf-16"))
    assert [line.text for line in text_lines(file)] == [long, "end"]
