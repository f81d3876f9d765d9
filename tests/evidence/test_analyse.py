import sqlite3
import time
import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pdpp.evidence.analyse import (
    MAX_PHRASE_WORDS,
    MAX_PHRASES,
    MAX_QUERY_CHARS,
    Match,
    Phrase,
    TextToken,
    find,
    holds,
    indexed_text,
    parse_query,
    phrase_of,
    tokens,
)
from pdpp.model.errors import InvalidRequest

from .texts import ANY_TEXT, PIECES, TEXT, WORDY


@given(ANY_TEXT | TEXT | WORDY)
def test_tokens_are_the_words_of_the_index_in_the_order_of_the_text(text: str) -> None:
    found = list(tokens(text))
    assert [token.word for token in found] == indexed_text(text).split()
    assert all(0 <= token.start < token.end <= len(text) for token in found)
    assert [token.start for token in found] == sorted(token.start for token in found)


PLAIN = st.text(st.characters(max_codepoint=127), max_size=80)


@given(PLAIN)
def test_plain_text_is_indexed_as_it_is_beside_other_text(text: str) -> None:
    assert indexed_text(text) == indexed_text(f"{text} é").removesuffix("e").rstrip()


@given(PLAIN.map(lambda text: text.replace("\x00", "")[: MAX_QUERY_CHARS // 2]))
def test_a_plain_word_is_sought_as_the_index_holds_it(text: str) -> None:
    for word in text.split():
        held = tuple(token.word for token in tokens(word))
        if held and "*" not in word and '"' not in word:
            assert parse_query(word) == (Phrase(held),)


@given(ANY_TEXT | TEXT)
def test_the_index_is_fed_words_that_its_tokenizer_cannot_split(text: str) -> None:
    for word in indexed_text(text).split(" ") if indexed_text(text) else []:
        assert word
        assert all(char.isalnum() for char in word if char.isascii())
        assert word == word.lower() or not word.isascii()


@given(st.lists(st.sampled_from([p for p in PIECES if p.isprintable()])).map(" ".join))
def test_composed_and_decomposed_text_are_indexed_equally(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert indexed_text(composed) == indexed_text(decomposed)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't e-mail foo_bar!", "don t e mail foo bar"),
        ("Ünïcödé STRASSE Straße", "unicode strasse strasse"),
        ("ﬁne ½ ² ①", "fine 1 2 2 1"),
        ("in\u200bvoice so\u00adft", "invoice soft"),
        ("東京tower 2024年", "東 京 tower 2024 年"),
        ("ガギg", "カ\u3099 キ\u3099 g"),
        ("한g", "\u1112\u1161\u11ab g"),
        ("\u1112\u1161\u11abg", "\u1112\u1161\u11ab g"),
        ("ก๑๒ข", "ก ๑๒ ข"),
        ("हिन्दी", "हिन्दी"),
        ("שָׁלוֹם", "שלום"),
        ("מ\u05b0", "מ"),
        ("ok👍🏽ok ❤\ufe0f", "ok 👍 ok ❤"),
        ("Foo™ 5℃ │ ─ \ufffd", "foo tm 5 ° c"),
        ("1\ufe0f\u20e3 \u034fx", "1 x"),
        ("\ud800a\ue000b\U000e0fffc", "a b c"),
        ("か \u3099", "か \u3099"),
        ("", ""),
    ],
)
def test_text_folds_to_words(text: str, words: str) -> None:
    assert indexed_text(text) == words


def test_a_token_covers_the_accents_that_were_dropped() -> None:
    assert list(tokens("x cafe\u0301! ❤\ufe0f")) == [
        TextToken("x", 0, 1),
        TextToken("cafe", 2, 7),
        TextToken("❤", 9, 11),
    ]


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ("Rent march", [Phrase(("rent",)), Phrase(("march",))]),
        ("rent RENT rent", [Phrase(("rent",))]),
        ("e-mail", [Phrase(("e", "mail"))]),
        ("東京", [Phrase(("東", "京"))]),
        ('"late rent" due', [Phrase(("late", "rent")), Phrase(("due",))]),
        ("“late rent”", [Phrase(("late", "rent"))]),
        ('"late rent', [Phrase(("late", "rent"))]),
        ("inv*", [Phrase(("inv",), prefix=True)]),
        ("inv *", [Phrase(("inv",))]),
        ("cafe\u0301**", [Phrase(("cafe",), prefix=True)]),
        ("inv!*", [Phrase(("inv",))]),
        ('"late re*"', [Phrase(("late", "re"), prefix=True)]),
        ('"late re"*', [Phrase(("late", "re"), prefix=True)]),
        ('"" x !!! -', [Phrase(("x",))]),
        ('say"late rent"now', [Phrase(("say",)), Phrase(("late", "rent")), Phrase(("now",))]),
    ],
)
def test_a_query_reads_as_a_person_means_it(query: str, phrases: list[Phrase]) -> None:
    assert parse_query(query) == tuple(phrases)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "no word"),
        ("!? *", "no word"),
        ("x" * (MAX_QUERY_CHARS + 1), "at most 512"),
        ("a\x00b", "NUL"),
        (" ".join(f"w{i}" for i in range(MAX_PHRASES + 1)), "17 terms"),
        ("-".join("w" * (MAX_PHRASE_WORDS + 1)), "33 words"),
    ],
)
def test_a_query_that_cannot_be_answered_is_refused_with_words(query: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words) as refusal:
        parse_query(query)
    assert refusal.value.param == "q"


@given(TEXT)
def test_any_short_string_with_a_few_words_parses(query: str) -> None:
    sought = query.replace("\x00", "")[:16]
    assume(indexed_text(sought.replace('"', " ")))
    assert parse_query(sought)


def _expected(text: str, phrase: Phrase) -> list[tuple[int, int]]:
    """Return the matches of a phrase as a plain walk over the tokens finds them."""
    found, size, at, spans = list(tokens(text)), len(phrase.words), 0, []
    while at + size <= len(found):
        *words, last = (token.word for token in found[at : at + size])
        *sought, end = phrase.words
        fits = last.startswith(end) if phrase.prefix else last == end
        if words == sought and fits:
            spans.append((found[at].start, found[at + size - 1].end))
            at += size
        else:
            at += 1
    return spans


@given(ANY_TEXT | TEXT | WORDY, st.lists(st.sampled_from(PIECES), max_size=2), st.booleans())
def test_a_found_match_is_what_the_tokens_hold(text: str, parts: list[str], star: bool) -> None:
    for sought in (" ".join(parts), text[:6]):
        words = tuple(indexed_text(sought).split())
        phrase = Phrase(words, star)
        found = [(match.start, match.end) for match in find(text, [phrase])]
        assert found == (_expected(text, phrase) if words else [])


@given(st.text(alphabet="ab -.A", max_size=40), st.text(alphabet="ab ", min_size=1, max_size=6))
def test_matches_in_plain_text_are_found_as_in_any_other(text: str, sought: str) -> None:
    for prefix in (False, True):
        phrase = Phrase(tuple(indexed_text(sought).split()), prefix)
        found = find(text, [phrase])
        assert found == find(text + " é", [phrase])
        if phrase.words:
            assert [(m.start, m.end) for m in found] == _expected(text, phrase)


def test_matches_of_several_phrases_come_in_order_and_may_overlap() -> None:
    phrases = parse_query('due "rent is due" re* 東')
    assert find("Rent is due", phrases) == [Match(0, 4, 2), Match(0, 11, 1), Match(8, 11, 0)]
    assert find("東: due", phrases) == [Match(0, 1, 3), Match(3, 6, 0)]


def test_a_match_far_into_a_text_keeps_its_place() -> None:
    text = "é" + "\u200b" * 5000 + "東京 " * 2000 + "needle cafe\u0301." + "x\u0301" * 3000
    (match,) = find(text, parse_query('"needle café"'))
    assert text[match.start : match.end] == "needle cafe\u0301"


def _full_text_query(phrases: tuple[Phrase, ...]) -> str:
    """Return what finds texts with every phrase in an index of SQLite's own."""
    return " AND ".join(
        f'"{" ".join(phrase.words)}"{" *" if phrase.prefix else ""}' for phrase in phrases
    )


@given(st.lists(TEXT | WORDY, min_size=1, max_size=6), WORDY | TEXT)
def test_the_full_text_index_and_the_finder_agree(texts: list[str], query: str) -> None:
    try:
        phrases = parse_query(query[:40])
    except InvalidRequest:
        return
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE VIRTUAL TABLE words USING fts5(t, content='', tokenize='ascii')")
        for number, text in enumerate(texts):
            db.execute("INSERT INTO words(rowid, t) VALUES (?, ?)", (number, indexed_text(text)))
        asked = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid"
        indexed = [row[0] for row in db.execute(asked, (_full_text_query(phrases),))]
    db.close()
    wanted = set(range(len(phrases)))
    found = [
        number
        for number, text in enumerate(texts)
        if {match.phrase for match in find(text, phrases)} == wanted
    ]
    assert indexed == found


@pytest.mark.parametrize("filler", ["Lorem ipsum, dolor. ", "Ünïcödé “text” 東京 한국 "])
def test_one_match_in_a_long_text_is_found_in_linear_time(filler: str) -> None:
    half = (filler * 10_000)[:100_000]
    text = half + " needle " + half
    began = time.perf_counter()
    (match,) = find(text, parse_query("needle"))
    assert time.perf_counter() - began < 60  # quadratic work would take hours
    assert text[match.start : match.end] == "needle"


@given(text=st.text(max_size=40), sought=st.text(max_size=6))
def test_a_text_holds_a_phrase_where_one_is_found(text: str, sought: str) -> None:
    for phrase in filter(None, (phrase_of(sought, ""), phrase_of(sought, "*"))):
        for whole in (text, f"{text} {sought}", f"{text} é {sought}"):
            assert holds(whole, phrase) is bool(find(whole, [phrase]))
