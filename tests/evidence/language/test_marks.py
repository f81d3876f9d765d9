"""Marks: every match is a stretch of the text that has a stem of the question."""

from datetime import date

import pytest

from pdpp.evidence.analyse import PlacedWords
from pdpp.evidence.excerpt import excerpt
from pdpp.evidence.language import plain_terms
from pdpp.evidence.language.marks import MOST_MATCHES, Marker
from pdpp.evidence.language.question import parse_question
from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.terms import language_of, pieces

TODAY = date(2026, 11, 15)


def marked(q: str, text: str) -> list[str]:
    matches = Marker(parse_question(q, TODAY)).find(text)
    return [text[match.start : match.end] for match in matches]


@pytest.mark.parametrize(
    ("q", "text", "expected"),
    [
        ("the invoices", "An invoice, INVOICES.", ["invoice", "INVOICES"]),
        ("what I buy", "She bought two; buying more.", ["bought", "buying"]),
        ("dying", "They die, he died.", ["die", "died"]),
        ("Küche", "In der Küche der Küchen", ["Küche", "Küchen"]),
        ('"green tiles"', "Green  tiles here", ["Green  tiles", "Green", "tiles"]),
        ("lantern*", "Lanterns and lanternlight", ["Lanterns", "Lanterns", "lanternlight"]),
        ("b*", "When is it?", ["is"]),
        ("b*", "It is in a box.", ["box"]),
        ("+go* zebra", "They went home.", ["went"]),
        ("京都", "昨日は京都の錦", ["京", "京都", "都"]),
        ("nothing", "of the kind", []),
    ],
)  # fmt: skip
def test_words_are_marked_by_their_stems(q: str, text: str, expected: list[str]) -> None:
    assert sorted(set(marked(q, text))) == sorted(set(expected))


def test_a_long_text_is_looked_through_no_further_than_needed() -> None:
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1

    text = "invoice and more words " * 400_000
    matches = Marker(parse_question("invoice", TODAY), check=check).find(text)
    assert len(matches) == MOST_MATCHES
    assert looks < 10


def test_a_budget_is_asked_for_every_block() -> None:
    class Enough(Exception):
        pass

    def check() -> None:
        raise Enough

    with pytest.raises(Enough):
        Marker(parse_question("kelp", TODAY), check=check).find("no match here " * 100_000)


def test_a_budget_is_asked_for_after_some_short_texts_and_not_for_each() -> None:
    looks = 0

    def check() -> None:
        nonlocal looks
        looks += 1

    marker = Marker(parse_question("kelp", TODAY), check=check)
    for _ in range(1_000):
        marker.find("no match here " * 10)
    assert 10 < looks < 100


def test_matches_across_blocks_have_exact_places() -> None:
    text = "é " + "filler words here " * 3_000 + "the kelp forest " + "more " * 5_000 + "kelp"
    matches = Marker(parse_question("kelp", TODAY)).find(text)
    assert [text[m.start : m.end] for m in matches] == ["kelp", "kelp"]


def test_the_words_a_record_holds_and_lacks_are_told_apart() -> None:
    marker = Marker(parse_question("passport expires soon", TODAY))
    held = {match.phrase for match in marker.find("The passport expired.")}
    assert marker.split(held) == (["passport", "expires"], ["soon"])


def test_of_a_date_that_a_record_lacks_the_words_are_told_and_not_the_whole_beside_them() -> None:
    question = parse_question("kelp on 3 May 1951", TODAY).read_as_words({1})
    marker = Marker(question)
    held = {match.phrase for match in marker.find("kelp at low tide")}
    assert marker.split(held) == (["kelp"], ["3", "may", "1951"])


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("the post boxes", ["post", "boxes"]),
        ("A box came by post", ["box", "post"]),
        ("A box is here", []),
    ],
)
def test_a_word_that_is_written_apart_is_held_where_all_its_parts_stand(
    text: str, marks: list[str]
) -> None:
    marker = Marker(parse_question("postboxes key", TODAY), {"postboxes": ("post boxes",)})
    matches = marker.find(text)
    strays = marker.strays(match.phrase for match in matches)
    assert [text[at.start : at.end] for at in matches if at.phrase not in strays] == marks
    held = marker.split(match.phrase for match in matches)
    assert held == ((["postboxes"], ["key"]) if marks else ([], ["postboxes", "key"]))


@pytest.mark.parametrize(
    ("q", "text", "marks"),
    [
        ("京都", "昨日は京都の錦市場", ["京", "京都", "都"]),
        ("바다", "오늘은 바다가", ["바", "바다", "다"]),
        ("ไทย", "ภาษาไทยเป็น", ["ไทย"]),
        ("ภาษาไทย", "ภาษาไทย", ["ภาษ", "าษา", "ษาไ", "าไท", "ไทย"]),
        ("ไท", "ไท", ["ไท"]),
        ("ไท*", "ภาษา ไทย", ["ไท"]),
    ],
)
def test_a_text_without_spaces_holds_the_terms_it_is_found_by(
    q: str, text: str, marks: list[str]
) -> None:
    marker = Marker(parse_question(q, TODAY))
    matches = marker.find(text)
    assert [text[match.start : match.end] for match in matches] == marks
    assert marker.split(match.phrase for match in matches)[1] == []


@pytest.mark.parametrize(
    ("q", "text", "mark"),
    [
        ("+better", "Das war better als gestern und nicht mehr", "better"),
        ("+better", "Für mich war das better als gestern", "better"),
        ("when did she say домах", "Я вчера купил книги в домах", "домах"),
        ('"went"', "Ieri siamo went a casa con il cane", "went"),
    ],
)
def test_a_word_that_stands_as_it_was_asked_for_is_held_in_any_language(
    q: str, text: str, mark: str
) -> None:
    marker = Marker(parse_question(q, TODAY))
    matches = marker.find(text)
    assert mark in [text[match.start : match.end] for match in matches]
    assert mark in marker.split(match.phrase for match in matches)[0]


@pytest.mark.parametrize(
    "text",
    [
        "Ho comprato un'automobile dell'anno scorso",
        "It's, the, plumber's; and: (she) 'll",
        "Я вчера купил книги",
        "昨日は京都の錦市場",
    ],
)
def test_a_text_is_read_in_the_language_it_is_indexed_in(text: str) -> None:
    assert plain_terms.stems_in(text) is stems_of(language_of(pieces(text), text))


def test_a_part_that_is_asked_for_itself_is_no_stray() -> None:
    marker = Marker(parse_question("postbox box", TODAY), {"postbox": ("post box",)})
    indexes = [match.phrase for match in marker.find("A box is here")]
    assert marker.strays(indexes) == frozenset()
    assert marker.split(indexes) == (["box"], ["postbox"])


def test_related_words_are_found_apart() -> None:
    marker = Marker(parse_question("the landlord", TODAY))
    assert marker.find("the tenants") == []
    assert len(marker.find_related("the tenants")) == 1


def test_a_quoted_phrase_is_the_passage_however_many_of_its_words_stand_before_it() -> None:
    text = "the hallway on Friday, " * 1_000 + "to see the hallway by Friday. " + "and so on " * 50
    matches = Marker(parse_question('"see the hallway by Friday"', TODAY)).find(text)
    assert "<mark>see the hallway by Friday</mark>" in excerpt(text, matches).preview_text


def test_a_quoted_phrase_is_found_across_the_end_of_a_block() -> None:
    question = parse_question('"green kitchen tiles"', TODAY)
    for before in range(16_384 - 25, 16_384 + 5):
        text = "x" * before + " green kitchen tiles " + "y " * 20_000
        matches = Marker(question).find(text)
        assert "green kitchen tiles" in [text[m.start : m.end] for m in matches]


@pytest.mark.parametrize(
    "text",
    [
        "The old quillwort and the pond.",
        "Das ist der quillwort und die alte Wiese.",
        "El quillwort es una planta de los lagos.",
        "Cay quillwort la mot loai cay cua nuoc",
    ],
)
def test_a_rare_name_is_marked_in_a_text_of_any_language(text: str) -> None:
    assert marked("quillwort", text) == ["quillwort"]


@pytest.mark.parametrize(
    ("q", "text", "expected"),
    [
        ("the meeting", "A meeting of ten in the main hall", ["meeting"]),
        ("meeting houses", "Our meeting mentions no houses", ["meeting", "houses"]),
    ],
)
def test_words_that_stand_as_they_were_asked_for_need_no_look_at_the_language_of_a_text(
    q: str, text: str, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[str] = []
    monkeypatch.setattr(plain_terms, "stems_in", looked_at.append)
    assert marked(q, text) == expected
    assert looked_at == []


def test_a_form_is_read_in_the_language_of_each_text() -> None:
    """What was learnt of a form in one text must not be taken for true in another language."""
    marker = Marker(parse_question("the running of my friends", TODAY))
    english, german = "the friending and a run", "das ist nicht die friending und der run"
    marks = [[text[m.start : m.end] for m in marker.find(text)] for text in (english, german)]
    alone = [marked("the running of my friends", text) for text in (english, german)]
    assert marks == alone
    assert marks == [["friending", "run"], ["run"]]


@pytest.mark.parametrize(
    ("q", "text", "mark"),
    [
        ("werk", "hij heeft de hele dag niet gewerkt en het was laat", "gewerkt"),
        ("kirim", "saya tidak bisa lihat apa yang sudah dikirim dengan surat ini", "dikirim"),
    ],
)
def test_a_form_that_begins_differently_is_marked_where_no_other_is(
    q: str, text: str, mark: str
) -> None:
    marker = Marker(parse_question(q, TODAY))
    assert marker.find(text) == []
    assert [text[m.start : m.end] for m in marker.find_any_form(text)] == [mark]


@pytest.mark.parametrize(
    ("q", "text", "marks"),
    [
        (
            "where did we go",
            "We went there. He goes, gone, going.",
            ["went", "goes", "gone", "going"],
        ),
        ("child", "The children played with a child", ["children", "child"]),
        ("bought cars", "I buy a car and bought one", ["buy", "car", "bought"]),
        ("feet", "one foot, two feet", ["foot", "feet"]),
        ("dying", "he died, she dies", ["died", "dies"]),
        ("Muller Brucke", "wir sind mit dem Mueller auf der Bruecke", ["Mueller", "Bruecke"]),
    ],
)
def test_irregular_and_umlaut_forms_are_marked(q: str, text: str, marks: list[str]) -> None:
    assert marked(q, text) == marks


@pytest.mark.parametrize(
    ("q", "repaired", "text", "matched", "missing"),
    [
        ("photo photos", {}, "My photos.", ["photo", "photos"], []),
        ("buy bought zebra", {}, "She bought two.", ["buy", "bought"], ["zebra"]),
        ("+b* zebra", {}, "When is it?", ["+b*"], ["zebra"]),
        ("invoyce invoices", {"invoyce": ["invoic"]}, "Invoice", ["invoyce", "invoices"], []),
    ],
)  # fmt: skip
def test_words_with_a_stem_in_common_are_all_held(
    q: str, repaired: dict[str, list[str]], text: str, matched: list[str], missing: list[str]
) -> None:
    marker = Marker(parse_question(q, TODAY), repaired)
    held = marker.split(match.phrase for match in marker.find(text))
    bare = [word.lstrip("+") for word in matched]
    assert (sorted(held[0]), sorted(held[1])) == (sorted(bare), sorted(missing))


@pytest.mark.parametrize("q", ["invoice meeting", '"green tiles" invoice', "tile* meet", "Küche"])
def test_texts_are_looked_through_together_as_each_by_itself(q: str) -> None:
    texts = [
        "An invoice of the meeting, and of meetings",
        "",
        "voice",
        " invoice",
        "Green tiles in der Küche der Küchen: an invoice",
        "the meeting. " * 2_000,
        "Met at the meeting; die Kueche ist neu",
        "tiles invoice",
    ]
    question = parse_question(q, TODAY)
    together = Marker(question).find_each(texts)
    assert together == [Marker(question).find(text) for text in texts]
    assert any(together)


def test_a_word_is_not_found_across_two_texts() -> None:
    assert Marker(parse_question("notebook", TODAY)).find_each(["a note", "book"]) == [[], []]


def test_of_a_text_with_other_letters_only_asked_words_are_placed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    placed: list[int] = []
    span = PlacedWords.span

    def noting(words: PlacedWords, first: int, last: int) -> tuple[int, int]:
        placed.append(first)
        return span(words, first, last)

    monkeypatch.setattr(PlacedWords, "span", noting)
    text = "Das Café “Zur Küche” — ein Café, in dem viele Leute sitzen und Kuchen essen…"
    assert marked("café", text) == ["Café", "Café"]
    assert placed == [1, 5]
    assert marked("samovar", text) == []
    assert placed == [1, 5]
