"""Terms: one form for all forms of a word, in the language of its text."""

import pytest

from pdpp.evidence.language import stems
from pdpp.evidence.language.stems import ALGORITHMS, LONGEST_TERM, Stems, stems_of
from pdpp.evidence.language.terms import (
    SpacedWords,
    language_of,
    pieces,
    terms_of,
    without_words,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The invoice for the kitchen has not been paid and it is late", "en"),
        ("Die Rechnung für die Küche ist noch nicht bezahlt und das ist schade", "de"),
        ("La factura de la cocina no se ha pagado y eso es una pena", "es"),
        ("Счёт за кухню ещё не оплачен, и это очень жаль", "ru"),
        ("Το τιμολόγιο για την κουζίνα δεν έχει πληρωθεί", "el"),
        ("रसोई का बिल अभी तक नहीं चुकाया गया है", "hi"),
        ("xqz", "en"),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(pieces(text), text) == language


@pytest.mark.parametrize("mark", ["", " Søk"])
def test_a_few_common_words_by_chance_tell_no_language_of_a_long_text(mark: str) -> None:
    codes = " ".join(f"qx{number}zv" for number in range(40))
    text = f"{codes} las och{mark}"
    assert language_of(pieces(text), text) == "en"
    # A question looks for the English forms of its words, whatever else it is in.
    assert "invoic" in terms_of(f"{text} invoices")


def test_one_common_word_tells_the_language_of_a_short_text() -> None:
    text = "och qx1zv qx2zv qx3zv"
    assert language_of(pieces(text), text) == "sv"


def test_forms_of_a_word_are_one_term() -> None:
    assert terms_of("invoices Invoice's INVOICE") == ["invoic"] * 3
    assert terms_of("she bought it; I buy it")[1] == terms_of("I buy")[1]


def test_endings_after_an_apostrophe_are_dropped() -> None:
    assert pieces("Anna’s can't we'll O'Brien") == ["anna", "can", "we", "o", "brien"]


def test_scripts_without_spaces_become_characters_and_pairs_or_runs() -> None:
    assert terms_of("東京都") == ["東", "京", "都", "東京", "京都"]
    runs = terms_of("สวัสดีครับ")
    assert all(run in "สวัสดีครับ" for run in runs)
    assert len(runs) > 3


def test_a_word_of_any_length_is_a_short_term() -> None:
    assert len(terms_of("a" * 100_000)[0]) <= 40
    assert terms_of("") == terms_of(" … ") == []


def test_one_hindi_word_is_one_term_however_its_sounds_are_written() -> None:
    for one, other in [("बाज़ार", "बाजार"), ("पहुँच", "पहुंच"), ("ऑफिस", "ओफिस"), ("कॉलेज", "कोलेज")]:
        assert terms_of(f"यह {one} है") == terms_of(f"यह {other} है"), one


def test_english_words_are_stemmed_in_texts_of_another_script() -> None:
    assert "invoic" in terms_of("Το τιμολόγιο δεν έχει πληρωθεί: δύο invoices")
    assert "invoic" in terms_of("Счёт за кухню ещё не оплачен, invoices")


def test_words_are_taken_out_with_their_endings() -> None:
    assert without_words("What did Zoë's cat, or Zoe, eat?", {"zoe"}) == "What did cat, or , eat?"
    assert without_words("Zoë, Rui!", {"zoe", "rui"}) == ""
    assert without_words("nobody named", {"zoe"}) == "nobody named"


def test_a_word_has_the_stem_that_it_has_among_others() -> None:
    words = ["children", "Küchen", "went", "7th", "кухни", "рано", "x" * (LONGEST_TERM + 1), "se"]
    for own in map(stems_of, (None, *ALGORITHMS)):
        own.clear()
        assert [own[word] for word in words] == own.of_new(words)


def test_few_of_the_words_that_strangers_may_ask_for_are_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stems, "_MOST_REMEMBERED", 10)
    remembered = Stems("en")
    for number in range(25):
        assert remembered[f"{'x' * number}ing"]
        assert remembered[f"{'x' * LONGEST_TERM}{number}"] == "x" * LONGEST_TERM
    assert len(remembered) <= 10
    assert max(map(len, remembered)) <= LONGEST_TERM


@pytest.mark.parametrize(
    "text", ["昨日は京都", "ภาษาไทย is ไท", "오늘은 바다가 좋았다", "Café 京 b", ""]
)
def test_words_that_are_placed_are_those_of_the_index(text: str) -> None:
    placed = SpacedWords(text)
    assert sorted(placed.words) == sorted(pieces(text))
    starts = [placed.span(at)[0] for at in range(len(placed.words))]
    assert starts == sorted(starts)
