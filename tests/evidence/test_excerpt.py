import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.analyse import Match, Phrase, find, parse_query
from pdpp.evidence.excerpt import (
    PREVIEW_CHARS,
    Excerpt,
    _grown,
    _word_end,
    _word_start,
    descriptor,
    excerpt,
)
from pdpp.evidence.text import digest
from pdpp.evidence.window import slice_window

from .texts import TEXT, WORDY

SOUGHT = st.sampled_from(
    [
        "invoice",
        "mark",
        "café",
        "東京",
        "か*",
        "👍",
        "cafe invoice tower",
        '"mark invoice"',
        "i* m*",
    ]
)


def _of(text: str, query: str, limit: int = PREVIEW_CHARS) -> Excerpt:
    return excerpt(text, find(text, parse_query(query)), limit)


@given(TEXT | WORDY, SOUGHT, st.sampled_from([60, 120, PREVIEW_CHARS]))
def test_an_excerpt_without_its_marks_is_a_slice_of_the_field(
    text: str, query: str, limit: int
) -> None:
    matches = find(text, parse_query(query))
    if not matches:
        return
    part = excerpt(text, matches, limit)
    bare = part.preview_text.replace("<mark>", "").replace("</mark>", "")
    assert bare == text[part.start : part.end]
    assert len(part.preview_text) <= limit
    assert part.truncated == (bare != text)
    assert part.total == len(text)
    tags = re.findall("</?mark>", part.preview_text)
    assert tags == ["<mark>", "</mark>"] * len(part.matches)
    assert part.matches
    marked = re.findall("<mark>(.*?)</mark>", part.preview_text, re.DOTALL)
    assert marked == [text[start:end] for start, end in part.matches]
    shown = [m for m in matches if m.start < part.end and m.end > part.start]
    for match in shown:
        start, end = max(match.start, part.start), min(match.end, part.end)
        assert any(first <= start and end <= last for first, last in part.matches)


@given(WORDY, SOUGHT)
def test_an_excerpt_shows_more_than_the_matched_word(text: str, query: str) -> None:
    padded = f"before {text} after"
    matches = find(padded, parse_query(query))
    if matches:
        part = excerpt(padded, matches)
        assert sum(end - start for start, end in part.matches) < part.end - part.start


def test_a_short_field_is_shown_whole() -> None:
    part = _of("Pay the rent today", "rent")
    assert part == Excerpt(0, 18, 18, "Pay the <mark>rent</mark> today", ((8, 12),), False)


@pytest.mark.scenario("S008")
def test_an_excerpt_has_context_on_both_sides_cut_between_words() -> None:
    text = "alpha beta gamma " * 100 + "needle " + "delta epsilon zeta " * 100
    part = _of(text, "needle")
    before, _, after = part.preview_text.partition("<mark>needle</mark>")
    assert 45 < len(before) < 75
    assert 45 < len(after) < 75
    assert set(before.split()) <= {"alpha", "beta", "gamma"}
    assert set(after.split()) <= {"delta", "epsilon", "zeta"}
    assert part.truncated


def test_context_that_one_side_lacks_goes_to_the_other() -> None:
    words = "filler " * 100
    assert len(_of("needle " + words, "needle").preview_text) > 130
    assert len(_of(words + "needle", "needle").preview_text) > 130


def test_the_excerpt_with_the_most_different_terms_is_shown() -> None:
    text = "rent " + "filler " * 100 + "late rent due in march " + "filler " * 100
    part = _of(text, "rent late march")
    assert "<mark>late</mark> <mark>rent</mark> due in <mark>march</mark>" in part.preview_text


def test_of_passages_with_as_many_words_the_shortest_is_shown() -> None:
    text = "The tiles of " + "the old kitchen " * 5 + "came from Porto. " + "filler " * 50
    text += "For the kitchen tiles we pay 480 euro."
    part = _of(text, "tiles kitchen")
    assert "<mark>kitchen</mark> <mark>tiles</mark> we pay 480 euro" in part.preview_text
    part = _of("rent of a boat. " + "filler " * 50 + "A tax.", "tax rent")
    assert part.preview_text.startswith("<mark>rent</mark> of a boat.")


@pytest.mark.parametrize("end", [". ", "? ", '." ', "。", "\n", " -\n\n"])
def test_a_passage_has_the_sentence_of_its_words_and_then_what_follows(end: str) -> None:
    text = "What we paid before is long forgotten" + end
    text += (
        "The new needle cost twelve euro" + end + "It is sharp, and it came by post." + " Yes." * 40
    )
    part = _of(f"{'filler ' * 50}{text}", "needle")
    assert part.preview_text.startswith("The new <mark>needle</mark> cost twelve euro" + end)
    assert "by post." in part.preview_text


def test_a_sentence_after_a_blank_line_begins_with_its_first_letter() -> None:
    part = _of("Dear Nora,\r\n\r\nyour needle is here. " + "Filler. " * 50, "needle")
    assert part.preview_text.startswith("your <mark>needle</mark> is here. Filler.")


def test_a_line_that_is_broken_inside_a_sentence_does_not_end_it() -> None:
    text = f"{'filler ' * 50}. The man who sold it to us\nwas called Needle, and\nlived near us."
    part = _of(f"{text} {'Filler ' * 50}", "needle")
    assert part.preview_text.startswith("The man who sold it to us\nwas called <mark>Needle</mark>")


@pytest.mark.parametrize(
    ("before", "sentence", "query"),
    [
        ("Tea. ", "We meet Dr. Needle on Monday. ", "needle"),
        ("Tee. ", "Der Termin ist am 3. Mai in der Praxis. ", "Mai"),
        ("Tea. ", "It is by J. R. Needle, i.e. by her. ", "needle"),
        ("Tee. ", "Die Waren (bzw. Nadeln) sind da. ", "Nadeln"),
        ("Tea. ", "We went for the old\nneedle of Nora. ", "needle"),
        ("Ты видел?\n", "Мастер положил\nплитку на кухне. ", "плитку"),
        ("हम कल गए थे। ", "रसोई की टाइलें महँगी हैं। ", "टाइलें"),
        ("هل ذهبتم إلى الحديقة؟ ", "بلاط المطبخ غالي. ", "بلاط"),
        ("他说：「厨房很大。」", "瓷砖很贵。", "瓷砖"),
        ("雨だった。）", "タイルは高い。", "タイル"),
    ],
)
def test_a_sentence_of_any_script_is_whole_with_its_short_forms(
    before: str, sentence: str, query: str
) -> None:
    part = _of(f"{before * 40}{sentence}{before * 40}", query)
    assert part.start == len(before) * 40
    assert part.end >= part.start + len(sentence)


def test_overlapping_matches_share_one_mark() -> None:
    part = _of("so: late rent due", '"late rent" "rent due"')
    assert part.preview_text == "so: <mark>late rent due</mark>"
    assert part.matches == ((4, 17),)


def test_a_match_longer_than_fits_is_cut_and_marked_as_far_as_shown() -> None:
    text = "see " + "x" * 1000 + " end"
    part = _of(text, "x*")
    assert part.preview_text.startswith("see <mark>xxx")
    assert len(part.preview_text) <= PREVIEW_CHARS
    assert part.matches == ((4, part.end),)


@pytest.mark.parametrize(
    ("text", "query", "preview"),
    [
        ("a <mark>b</mark> needle c", "needle", " <mark>needle</mark> c"),
        ("x <mark> needle </mark> y", "needle", " <mark>needle</mark> "),
        ("<mark>needle</mark>", "needle", "mark><mark>needle</mark></mark"),
        ("<mark>hello</mark>", "mark", "<mark>mark</mark>>hello"),
        ("foo <mark> bar", '"foo mark bar"', "<mark>foo </mark>"),
        ("say foo </mark>", '"foo mark"', "say <mark>foo </mark</mark>"),
    ],
)
def test_a_mark_of_the_records_own_is_never_inside(text: str, query: str, preview: str) -> None:
    assert _of(text, query).preview_text == preview


def test_an_excerpt_keeps_visible_characters_whole() -> None:
    text = "e\u0301\u0302" * 200 + " needle " + "👩\u200d💻" * 200
    part = _of(text, "needle")
    assert text[part.start] == "e"
    assert text[part.end] == "👩"
    lines = "\r\n" * 300 + "needle"
    assert lines[_of(lines, "needle").start] == "\r"
    lines = "needle" + "\r\n" * 300
    assert lines[_of(lines, "needle").end] == "\r"


def test_evidence_carries_a_read_that_begins_with_the_excerpt() -> None:
    text = "filler " * 500 + "needle " + "filler " * 500
    part = excerpt(text, find(text, [Phrase(("needle",))]))
    evidence = descriptor(
        part,
        connection_id="work",
        stream="mail box",
        record_id="<a:b>?",
        record_route="/v1/streams/mail%20box/records/%3Ca%3Ab%3E%3F",
        field="body",
        digest=digest(text),
    )
    read = evidence["read"]
    window = slice_window(text, read["offset_chars"], read["limit_chars"])
    bare = part.preview_text.replace("<mark>", "").replace("</mark>", "")
    assert window.text.startswith(bare)
    assert read == {
        "method": "GET",
        "route": "/v1/streams/mail%20box/records/%3Ca%3Ab%3E%3F/field-window",
        "stream": "mail box",
        "record_id": "<a:b>?",
        "connection_id": "work",
        "field": "body",
        "offset_chars": part.start,
        "limit_chars": 4096,
    }
    assert evidence["matches"] == [{"start_chars": 3500, "end_chars": 3506}]
    assert evidence["provenance"] == "lexical_match"
    assert evidence["digest"] == digest(text)
    assert (evidence["start_chars"], evidence["end_chars"]) == (part.start, part.end)


@given(st.lists(st.sampled_from(["word", "longer", " ", "\n", "\x1c", "\u2003", "é"]), max_size=9))
def test_a_window_is_drawn_in_to_the_nearest_space_of_any_kind(pieces: list[str]) -> None:
    text = "".join(pieces)
    gaps = [place for place, char in enumerate(text) if char.isspace()]
    for index in range(len(text) + 1):
        inside = 0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum()
        for ceiling in range(index, len(text) + 1):
            after = [gap + 1 for gap in gaps if index <= gap < min(index + 20, ceiling - 1)]
            assert _word_start(text, index, ceiling) == (after[0] if inside and after else index)
        for floor in range(index + 1):
            before = [gap for gap in gaps if max(floor, index - 20) < gap < index]
            assert _word_end(text, index, floor) == (before[-1] if inside and before else index)


@given(st.text("ab<mark>/ \r\n", max_size=300), st.integers(60, 240))
def test_a_plain_excerpt_is_the_one_that_is_made_of_any_text(text: str, limit: int) -> None:
    sought = f"{text} needle {text[::-1]}"
    matches = find(sought, parse_query("needle"))
    part = excerpt(sought, matches, limit)
    assert part == excerpt(sought, [*matches, Match(len(sought), len(sought), 0)], limit)


@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.integers(1, 30), st.integers(0, 4)),
        min_size=2,
        max_size=12,
    ),
)
def test_the_passage_has_as_many_different_words_as_any_that_fits(
    places: list[tuple[int, int, int]],
) -> None:
    matches = sorted(Match(start, start + size, word) for start, size, word in places)
    room = PREVIEW_CHARS * 3 // 4
    most = max(
        len({match.phrase for match in matches[i:j]})
        for i in range(len(matches))
        for j in range(i + 1, len(matches) + 1)
        if j == i + 1
        or max(match.end for match in matches[i:j]) - matches[i].start + 13 * (j - i) <= room
    )
    part = excerpt("x" * 500, matches)
    within = {m.phrase for m in matches if m.start >= part.start and m.end <= part.end}
    assert len(within) >= most


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 20)), min_size=1, max_size=12),
    st.integers(0, 11),
    st.tuples(st.integers(0, 120), st.integers(0, 120)),
    st.tuples(st.integers(0, 120), st.integers(0, 120)),
    st.integers(20, 200),
)
def test_a_passage_grows_as_far_as_its_marks_leave_room(
    gaps: list[tuple[int, int]],
    chosen: int,
    around: tuple[int, int],
    beside: tuple[int, int],
    limit: int,
) -> None:
    at, spans = 0, []
    for gap, size in gaps:
        spans.append((at + gap, at + gap + size))
        at += gap + size
    start, end = spans[chosen % len(spans)]
    bounds = max(0, start - around[0]), min(at + 30, end + around[1])
    sentence = max(bounds[0], start - beside[0]), min(bounds[1], end + beside[1])

    def grown(chars: int) -> tuple[int, int]:
        low, high = start, end
        for at in range(chars):
            # A character of the sentence before it and one behind it in turn, then those behind.
            inside = (low > sentence[0], high < sentence[1])
            back = inside[0] if not all(inside) else at % 2 == 1
            if not any(inside):
                back = high == bounds[1]
            low, high = (max(bounds[0], low - 1), high) if back else (low, high + 1)
        return low, high

    def cost(window: tuple[int, int]) -> int:
        low, high = window
        return high - low + 13 * sum(first < high and last > low for first, last in spans)

    every = [grown(chars) for chars in range(limit + 1)]
    within = [window for window in every if cost(window) <= limit]
    assert _grown((start, end), sentence, bounds, spans, limit) == (within or every[:1])[-1]
