"""Matches told apart from the text around them, whatever the text is."""

from hypothesis import given
from hypothesis import strategies as st

from pdpp.cli.reading.mark import TextPiece, excerpt_pieces, lines_of, pieces_of
from pdpp.client.result import Excerpt
from pdpp.evidence.analyse import find, parse_query
from pdpp.evidence.excerpt import excerpt
from pdpp.evidence.fence import fence

TEXTS = st.text(st.sampled_from("ab <mark></mark>\n\r\u202e\x1b é"), max_size=60)


def part_of(preview: str, start: int, *matches: tuple[int, int]) -> Excerpt:
    return Excerpt("body", preview, start, start + len(preview), 99, matches, True, "d", {})


@given(TEXTS, st.lists(st.tuples(st.integers(0, 70), st.integers(0, 70)), max_size=4))
def test_pieces_are_the_text_cut_at_the_matches(text: str, spans: list[tuple[int, int]]) -> None:
    pieces = pieces_of(text, 10, [(start + 10, end + 10) for start, end in spans])
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text for piece in pieces)


@given(TEXTS)
def test_a_preview_without_its_marks_is_the_field_itself(text: str) -> None:
    whole = f"{text} heron {text}"
    made = excerpt(whole, find(whole, parse_query("heron")))
    part = part_of(made.preview_text, made.start, *made.matches)
    pieces = excerpt_pieces(part)
    assert "".join(piece.text for piece in pieces) == whole[made.start : made.end]
    assert [piece.text for piece in pieces if piece.matched] == ["heron"]


def test_marks_that_are_not_where_they_should_be_are_left_as_they_stand() -> None:
    for preview in ("no marks here", "a <mark>b", "a <mark>bcd</mark> e"):
        assert excerpt_pieces(part_of(preview, 5, (7, 8))) == [TextPiece(preview)]


@given(TEXTS, TEXTS)
def test_lines_are_those_of_the_fence(first: str, second: str) -> None:
    lines = [
        "".join(p.text for p in line)
        for line in lines_of([TextPiece(first), TextPiece(second, True)])
    ]
    whole = [line.removeprefix("│ ") for line in fence(first + second).split("\n")[1:-1]]
    if not (first.endswith("\r") and second.startswith("\n")):
        assert lines == whole
