"""Lines of a stream with their places."""

import io

from hypothesis import given
from hypothesis import strategies as st

from pdpp.sources.reading.lines import lines


@given(st.lists(st.binary(max_size=12).map(lambda text: text.replace(b"\n", b"")), max_size=8))
def test_lines_are_those_of_the_stream_and_each_tells_where_it_ends(texts: list[bytes]) -> None:
    content = b"\n".join(texts)
    found = list(lines(io.BytesIO(content), 5))
    offset = 0
    for line in found:
        whole = content[offset : line.end]
        offset = line.end
        bare = whole.removesuffix(b"\n")
        if line.number == 1:
            bare = bare.removeprefix(b"\xef\xbb\xbf")
        assert line.whole == whole.endswith(b"\n")
        assert line.text == bare or (line.too_long and bare.startswith(line.text[:2]))
        assert line.too_long or len(bare) <= 6
    assert offset == len(content)


def test_a_line_that_is_too_long_is_passed_over_and_the_next_one_read() -> None:
    content = b"x" * (3 << 20) + b"\nnext\n"
    first, second = lines(io.BytesIO(content), 10)
    assert (first.too_long, first.whole, first.end) == (True, True, (3 << 20) + 1)
    assert len(first.text) <= 12
    assert (second.number, second.text, second.too_long) == (2, b"next", False)


def test_a_mark_at_the_beginning_is_no_part_of_a_line_however_long_it_is() -> None:
    mark = b"\xef\xbb\xbf"
    for size in (1, 50):
        [line] = lines(io.BytesIO(mark + b"x" * size), 10)
        assert set(line.text) == set(b"x")
    # A stream that is read on from its middle has none.
    stream = io.BytesIO(b"ab" + mark + b"x")
    stream.seek(2)
    assert [line.text for line in lines(stream, 10, offset=2)] == [mark + b"x"]


def test_a_long_last_line_without_an_end_is_told_as_such() -> None:
    [line] = lines(io.BytesIO(b"x" * 50), 10)
    assert (line.too_long, line.whole, line.end) == (True, False, 50)


def test_a_mark_of_utf_8_is_only_taken_off_the_start_of_a_file() -> None:
    mark = b"\xef\xbb\xbf"
    assert [line.text for line in lines(io.BytesIO(mark + b"a\n" + mark + b"b"))] == [
        b"a",
        mark + b"b",
    ]
    assert [line.text for line in lines(io.BytesIO(mark + b"a"), offset=7)] == [mark + b"a"]


def test_places_are_counted_from_where_the_stream_stands() -> None:
    assert [line.end for line in lines(io.BytesIO(b"a\nbc\n"), offset=10)] == [12, 15]
