from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.analyse import Phrase, find, parse_query
from pdpp.evidence.window import MAX_AROUND, MAX_LIMIT, TextWindow, match_window, slice_window
from pdpp.model.errors import InvalidWindow

from .texts import TEXT

LIMITS = st.integers(1, MAX_LIMIT) | st.integers(1, 9)


@given(TEXT, st.integers(0, 500), LIMITS)
def test_a_window_is_exactly_the_slice_of_the_field(text: str, offset: int, limit: int) -> None:
    window = slice_window(text, offset, limit)
    assert window.text == text[offset : offset + limit]
    assert window.text == text[window.start_chars : window.end_chars]
    assert window.total_chars == len(text)
    assert window.complete == (window.text == text)
    assert window.has_more == (window.end_chars < len(text))


@given(TEXT, LIMITS)
def test_reading_on_gives_the_whole_text_once(text: str, limit: int) -> None:
    windows = [slice_window(text, 0, limit)]
    while (offset := windows[-1].next_offset_chars) is not None:
        windows.append(slice_window(text, offset, limit))
    assert "".join(window.text for window in windows) == text
    for before, after in pairwise(windows):
        assert after.previous_offset_chars == before.start_chars
    assert windows[0].previous_offset_chars is None


def test_a_window_past_the_end_is_empty_and_shows_the_way_back() -> None:
    window = slice_window("abcdef", 10, 4)
    assert window == TextWindow("", 6, 6, 6, 4)
    assert window.previous_offset_chars == 2
    assert not window.has_more
    assert not window.complete
    assert slice_window("", 3, 4).complete


@pytest.mark.parametrize(
    ("offset", "limit", "param"),
    [(-1, 5, "offset_chars"), (0, 0, "limit_chars"), (0, MAX_LIMIT + 1, "limit_chars")],
)
def test_a_window_out_of_bounds_is_refused(offset: int, limit: int, param: str) -> None:
    with pytest.raises(InvalidWindow) as refusal:
        slice_window("abc", offset, limit)
    assert refusal.value.param == param


@pytest.mark.parametrize(("before", "after"), [(-1, 0), (0, MAX_AROUND + 1)])
def test_a_match_window_out_of_bounds_is_refused(before: int, after: int) -> None:
    with pytest.raises(InvalidWindow, match="must be from 0 to 8192"):
        match_window("abc", parse_query("abc"), before, after)


@given(TEXT, st.integers(0, 60), st.integers(0, 60))
def test_a_match_window_holds_the_first_match_and_what_is_around(
    text: str, before: int, after: int
) -> None:
    phrases = [Phrase(("invoice",)), Phrase(("東", "京"))]
    found = find(text, phrases)
    window = match_window(text, phrases, before, after)
    if window is None:
        assert not found
        return
    first = found[0]
    assert window.start_chars == max(0, first.start - before)
    assert window.end_chars == min(len(text), first.end + after)
    assert window.text == text[window.start_chars : window.end_chars]
    assert window.matches is not None
    assert window.matches[0] == (first.start, first.end)
    assert window.match_count == len(found)
    assert window.matches == tuple((m.start, m.end) for m in found[:20])


@pytest.mark.parametrize(("before", "after"), [(8192, 8192), (8192, 100), (100, 8192), (0, 0)])
def test_a_match_window_never_passes_its_bound(before: int, after: int) -> None:
    for gap in (1, 10_000, 20_000):
        text = "x " * 10_000 + "late" + " " * gap + "rent" + " x" * 10_000
        window = match_window(text, parse_query('"late rent"'), before, after)
        assert window is not None
        assert len(window.text) <= min(MAX_LIMIT, before + after + gap + 8)
        assert window.text.count("late") == 1
        assert window.text.count("rent") == (gap < MAX_LIMIT)
        assert window.limit_chars <= MAX_LIMIT


def test_a_window_as_json_shows_matches_only_when_they_were_sought() -> None:
    assert slice_window("abcdef", 1, 2).as_json() == {
        "text": "bc",
        "start_chars": 1,
        "end_chars": 3,
        "total_chars": 6,
        "limit_chars": 2,
        "complete": False,
        "has_more": True,
        "next_offset_chars": 3,
        "previous_offset_chars": 0,
    }
    window = match_window("pay the rent", parse_query("rent"), 4, 4)
    assert window is not None
    assert window.as_json() == {
        "text": "the rent",
        "start_chars": 4,
        "end_chars": 12,
        "total_chars": 12,
        "limit_chars": 12,
        "complete": False,
        "has_more": False,
        "next_offset_chars": None,
        "previous_offset_chars": 0,
        "match_start_chars": 8,
        "match_end_chars": 12,
        "match_count": 1,
        "matches": [{"start_chars": 8, "end_chars": 12}],
    }
