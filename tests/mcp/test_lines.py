import os

from hypothesis import given, settings
from hypothesis import strategies as st

from pdpp.mcp.lines import read_lines, write_line


def lines_of(text: bytes, limit: int) -> list[bytes | None]:
    source, client = os.pipe()
    os.write(client, text)
    os.close(client)
    lines = list(read_lines(source, limit))
    os.close(source)
    return lines


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=12)), st.integers(min_value=0, max_value=8))
def test_lines_are_split_exactly_at_the_newlines(parts: list[bytes], limit: int) -> None:
    text = b"\n".join(parts)
    expected = (None if len(line) > limit else line for line in text.split(b"\n"))
    assert lines_of(text, limit) == [line for line in expected if line is None or line.strip()]


def test_a_line_longer_than_any_read_is_whole_or_over_the_limit() -> None:
    line = b"x" * 65_500
    assert lines_of(line + b"\n1", len(line)) == [line, b"1"]
    assert lines_of(line + b"\n1", len(line) - 1) == [None, b"1"]
    assert lines_of(line, len(line) - 1) == [None]


def test_a_source_that_cannot_be_read_has_ended() -> None:
    source, client = os.pipe()
    assert list(read_lines(client, 10)) == []
    os.close(source)
    os.close(client)


@given(st.binary(max_size=1000))
def test_a_line_is_written_whole(line: bytes) -> None:
    source, sink = os.pipe()
    write_line(sink, line)
    os.close(sink)
    with os.fdopen(source, "rb") as pipe:
        assert pipe.read() == line + b"\n"
