import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence import scan as scanning
from pdpp.evidence.analyse import find, parse_query
from pdpp.evidence.scan import BLOCK_CHARS, ScanBudget, scan
from pdpp.evidence.window import MAX_MATCHES, MOST_COUNTED, match_window

ENOUGH = ScanBudget(10_000)
WORDS = st.sampled_from(["ana", "Bo", "éa", "a", "ab", "naïve", "東京", "x" * 30, ".", "\u0301"])
TEXTS = st.lists(WORDS, max_size=80).map(" ".join) | st.lists(WORDS, max_size=80).map("".join)


@given(text=TEXTS, query=st.sampled_from(["ana", "bo ana", '"ana bo"', "a*", "東京", "naive"]))
def test_a_text_in_blocks_has_the_matches_of_the_text_in_one_piece(text: str, query: str) -> None:
    phrases = parse_query(query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "BLOCK_CHARS", 16)
        patch.setattr(scanning, "_CONTEXT_CHARS", 128)
        assert scan(text, phrases, ENOUGH) == (find(text, phrases), True)


def test_a_scan_ends_with_its_matches_and_looks_no_further() -> None:
    text = "harbour " * (20 * BLOCK_CHARS // 8)
    looks: list[int] = []

    def look() -> bool:
        looks.append(1)
        return False

    matches, complete = scan(text, parse_query("harbour"), ScanBudget(5, look))
    assert [match.start for match in matches] == [0, 8, 16, 24, 32]
    assert not complete
    assert len(looks) == 1


def test_a_scan_ends_when_time_is_up() -> None:
    text = "nothing " * (20 * BLOCK_CHARS // 8) + "harbour"
    times = iter([False, False, True])
    matches, complete = scan(text, parse_query("harbour"), ScanBudget(5, lambda: next(times)))
    assert (matches, complete) == ([], False)


def test_a_window_counts_matches_up_to_a_bound_and_says_that_there_are_more() -> None:
    window = match_window("harbour " * 2_000, parse_query("harbour"))
    assert window is not None
    shown = window.as_json()
    assert shown["match_count"] == MOST_COUNTED
    assert shown["more_matches"] is True
    assert len(shown["matches"]) == MAX_MATCHES
    few = match_window("harbour " * 3, parse_query("harbour"))
    assert few is not None
    assert "more_matches" not in few.as_json()
