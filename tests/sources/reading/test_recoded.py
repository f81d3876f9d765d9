"""Text in UTF-16, read as UTF-8."""

import gzip
from pathlib import Path

import pytest
from tests.sources.kit import zipped

from pdpp.sources.reading.gunzip import unpacked
from pdpp.sources.reading.jsprefix import without_prefix
from pdpp.sources.reading.recoded import byte_order
from pdpp.sources.reading.textfile import text_lines
from pdpp.sources.reading.tree import FileEntry, open_tree

TEXT = "".join(f"Zeile {number}: Grüße 🌊\n" for number in range(20_000))
UTF_8 = b"\xef\xbb\xbf" + TEXT.encode()
ORDERS = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}


def entry(path: Path, content: bytes) -> FileEntry:
    path.write_bytes(content)
    return open_tree(path).entries[0]


@pytest.mark.parametrize("encoding", ORDERS)
def test_text_is_given_as_utf_8_and_the_file_as_it_is(tmp_path: Path, encoding: str) -> None:
    content = ORDERS[encoding] + TEXT.encode(encoding)
    file = entry(tmp_path / "a.json", content)
    inside = open_tree(zipped(tmp_path / "b.zip", {"a.json": content})).entries[0]
    packed = unpacked(entry(tmp_path / "a.gz", gzip.compress(content)))
    for held in (file, inside, packed):
        with held.open() as stream:
            assert stream.read() == UTF_8
        with held.open(200_001) as stream:
            assert stream.read() == UTF_8[200_001:]
        with held.open_exact() as stream:
            assert stream.read() == content
        assert held.head(100) == UTF_8[:100]


@pytest.mark.parametrize("encoding", ORDERS)
def test_a_document_behind_an_assignment_is_read_from_there(tmp_path: Path, encoding: str) -> None:
    document = '[{"text": "Grüße"}]'
    content = ORDERS[encoding] + f"window.YTD.tweets.part0 = {document}".encode(encoding)
    file = entry(tmp_path / "tweets.js", content)
    inside = open_tree(zipped(tmp_path / "b.zip", {"tweets.js": content})).entries[0]
    for held in map(without_prefix, (file, inside)):
        for offset in (0, 9):
            with held.open(offset) as stream:
                assert stream.read() == document.encode()[offset:]
        assert held.head() == document.encode()


@pytest.mark.parametrize("encoding", ORDERS)
def test_a_text_may_begin_with_a_letter_of_any_language(tmp_path: Path, encoding: str) -> None:
    content = ORDERS[encoding] + "Ζητώ νέα\n".encode(encoding)
    assert entry(tmp_path / "note.md", content).head() == "\ufeffΖητώ νέα\n".encode()
    assert entry(tmp_path / "note.mp1", content).head() == content


def test_lines_that_end_with_returns_alone_are_lines(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.txt", "one\rtwo\r".encode("utf-16"))
    assert [line.text for line in text_lines(file)] == ["one", "two"]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"\xff\xfea",
        b"\xff\xfe\x90\x64" * 9,
        b"\xff\xfe\0\0a\0\0\0",
        b"{}  ",
        b"a\0b\0",
    ],
)
def test_what_begins_otherwise_is_read_as_it_is(tmp_path: Path, content: bytes) -> None:
    assert byte_order(content) is None
    file = entry(tmp_path / "a", content)
    with file.open() as stream:
        assert stream.read() == content == file.head()
    with file.open(min(2, len(content))) as stream:
        assert stream.read() == content[2:]
