"""Folding: no line is too wide, and nothing but space is lost."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from pdpp.cli.terminal import StyledText
from pdpp.cli.wrapping import untabbed, wrapped

TEXTS = st.text(st.sampled_from("ab c  é鷺\u0301👩\u200d🚀|─"), max_size=60)
SPANS = st.lists(st.builds(StyledText, TEXTS, st.sampled_from(["", "mark", "id"])), max_size=5)


def styled(spans: Sequence[StyledText]) -> list[tuple[str, str]]:
    """Return every character that is not space, with how it is told apart."""
    return [(char, span.style) for span in spans for char in span.text if not char.isspace()]


def text(spans: Sequence[StyledText]) -> str:
    return "".join(span.text for span in spans)


@given(SPANS, st.integers(4, 30), st.integers(0, 2))
@settings(deadline=None, derandomize=True, max_examples=200)
def test_every_line_fits_and_every_character_keeps_its_style(
    spans: list[StyledText], width: int, hang: int
) -> None:
    lines = list(wrapped(spans, width, hang))
    assert lines
    assert all(cell_len(text(line).rstrip()) <= width for line in lines)
    assert [found for line in lines for found in styled(line)] == styled(spans)


def test_a_text_is_broken_between_words() -> None:
    spans = [
        StyledText("The heron stood in the "),
        StyledText("riv", "mark"),
        StyledText("er all day."),
    ]
    assert [text(line) for line in wrapped(spans, 12)] == [
        "The heron",
        "stood in the",
        "river all",
        "day.",
    ]
    assert StyledText("riv", "mark") in [span for line in wrapped(spans, 12) for span in line]


def test_a_word_that_is_too_long_is_broken_itself() -> None:
    lines = [text(line) for line in wrapped([StyledText("see abcdefghij now")], 4)]
    assert lines == ["see", "abcd", "efgh", "ij", "now"]


def test_what_is_folded_hangs_in() -> None:
    lines = [text(line) for line in wrapped([StyledText("1. the heron abcdefghijkl stood")], 11, 3)]
    assert lines == ["1. the", "   heron", "   abcdefgh", "   ijkl", "   stood"]


def test_wide_characters_count_twice() -> None:
    assert [text(line) for line in wrapped([StyledText("青鷺は川")], 4)] == ["青鷺", "は川"]


@pytest.mark.parametrize("given", ["", "   ", "\u0301"])
def test_where_nothing_can_be_seen_there_is_one_line(given: str) -> None:
    assert [text(line) for line in wrapped([StyledText(given)], 10)] == [given]


def test_a_tab_reaches_the_next_stop_wherever_a_span_begins() -> None:
    spans = [StyledText("ab\tc"), StyledText("\td", "mark"), StyledText("\t\te")]
    assert text(list(untabbed(spans))) == "ab\tc\td\t\te".expandtabs(4)
