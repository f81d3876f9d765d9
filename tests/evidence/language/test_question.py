"""The question language: what each way of writing means."""

from datetime import date

import pytest

from pdpp.evidence.analyse import Phrase
from pdpp.evidence.language import asked_word
from pdpp.evidence.language.order_words import Order
from pdpp.evidence.language.question import MAX_QUESTION_CHARS, parse_question
from pdpp.evidence.language.when import Unit
from pdpp.model.errors import InvalidRequest

TODAY = date(2026, 11, 15)


def words(q: str) -> list[str]:
    return [word.text for word in parse_question(q, TODAY).words]


def test_words_that_hold_a_question_together_are_not_looked_for() -> None:
    assert words("When does my passport expire?") == ["passport", "expire"]
    assert words("who is the") == ["who", "is", "the"]
    assert words("IS IT PAID") == ["paid"]


@pytest.mark.parametrize(
    "q", ["What was on 12 March?", "what did I do in March?", "who was it in March"]
)
def test_a_question_about_a_time_alone_looks_for_no_word_that_holds_it_together(q: str) -> None:
    question = parse_question(q, TODAY)
    assert all(word.moment for word in question.words)
    assert question.moments


@pytest.mark.parametrize(
    ("q", "asked"),
    [
        ("Wann kommt meine Mutter an?", ["kommt", "mutter"]),
        ("Wie viel kostet die Miete und wer hat sie bezahlt?", ["kostet", "miete", "bezahlt"]),
        ("¿Cuándo llega mi madre y dónde está la llave?", ["llega", "madre", "llave"]),
        ("Combien coûte le loyer et quelle est la caution ?", ["coute", "loyer", "caution"]),
        ("Сколько стоит аренда?", ["стоит", "аренда"]),
        ("when is the wo de wer meeting", ["wo", "de", "wer", "meeting"]),
    ],
)
def test_the_words_that_a_question_of_another_language_asks_with_are_not_looked_for(
    q: str, asked: list[str]
) -> None:
    assert words(q) == asked


@pytest.mark.parametrize("q", ["dr bills", "song bills", "san bills", "tap bills"])
def test_one_word_of_a_language_of_other_letters_does_not_make_a_question_one_of_it(q: str) -> None:
    bills = parse_question(q, TODAY).words[-1]
    assert "bill" in dict(bills.terms)
    assert "invoic" in dict(bills.related)


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        *(("appt", "appoint"), ("appointment", "appt"), ("bday", "birthday"), ("xmas", "christma")),
        *(("nine", "9"), ("9", "nine"), ("twelve", "12"), ("second", "2nd"), ("3rd", "third")),
    ],
)
def test_what_people_shorten_and_small_numbers_are_found_in_either_way(
    asked: str, held: str
) -> None:
    (word,) = parse_question(asked, TODAY).words
    assert dict(word.related)[held] > 0


def test_what_is_asked_for_twice_is_looked_for_once() -> None:
    question = parse_question(
        'kel* +quay -reed -"low tide" "high tide" from:rui in:home ' * 30, TODAY
    )
    assert [word.text for word in question.words] == ["kel*", "quay", "high", "tide"]
    assert len(question.excluded) == len(question.phrases) == len(question.excluded_phrases) == 1
    assert (question.actors, question.accounts) == ((("rui",),), ("home",))


@pytest.mark.parametrize("length", [1, 4, 7, 20, 400, MAX_QUESTION_CHARS])
def test_a_number_may_have_any_length(length: int) -> None:
    assert words("7" * length) == ["7" * length]


def test_a_word_that_names_something_is_looked_for_although_it_is_a_common_one() -> None:
    assert words("US visa") == ["us", "visa"]
    assert words("the IT department") == ["it", "department"]
    assert words("Will's birthday") == ["will", "birthday"]
    assert words("what did Will write?") == ["will", "write"]
    assert words("what will Will write?") == ["will", "write"]
    assert words("what will he write?") == ["write"]
    assert words("Will it be paid to us?") == ["paid"]
    assert words("WHO COMES AT 7PM") == ["comes", "7", "pm"]


@pytest.mark.parametrize("name", ["bo", "me", "can", "not"])
def test_no_part_of_an_address_holds_a_question_together(name: str) -> None:
    for q in (f"{name}@x.example", f"what did {name}@x.example say?"):
        assert {name, "x", "example"} <= {*words(q)}


def test_a_word_is_looked_for_in_all_its_forms() -> None:
    (word,) = parse_question("invoices", TODAY).words
    assert "invoic" in dict(word.terms)
    (bought,) = parse_question("what I bought", TODAY).words
    assert dict(bought.terms).keys() == {"buy"}


def test_rare_words_tell_more_than_common_ones() -> None:
    time, passport = parse_question("the time of the passport", TODAY).words
    assert passport.weight > time.weight > 0


def test_a_kind_of_thing_leads_to_its_members_and_not_back() -> None:
    kinds = {"sports": "climb", "hobbies": "knit", "pets": "puppi", "instrument": "trombon"}
    for kind, member in kinds.items():
        asked = parse_question(f"which {kind} do they have", TODAY).words[0]
        assert 0 < dict(asked.related)[member] < asked.weight
    knitted = parse_question("what have they knitted", TODAY).words[0]
    assert "hobbi" not in dict(knitted.related)


def test_a_word_leads_to_those_by_which_people_talk_of_it_and_not_back() -> None:
    told = {"die": "goodby", "destress": "medit", "birthday": "candl", "volunteer": "shelter"}
    for word, other in told.items():
        asked = parse_question(f"when did they {word}", TODAY).words[0]
        assert 0 < dict(asked.related)[other] < asked.weight / 2
    candle = parse_question("which candle", TODAY).words[0]
    assert "birthday" not in dict(candle.related)


@pytest.mark.parametrize(("kind", "other"), [("sports", "box"), ("clothes", "jean")])
def test_a_kind_of_thing_leads_to_nothing_that_is_another_thing(kind: str, other: str) -> None:
    (asked,) = parse_question(f"which {kind}", TODAY).words
    assert other not in dict(asked.related)


def test_a_related_word_counts_for_less_than_one_of_another_language_that_means_the_same() -> None:
    landlord, _ = parse_question("the landlord and the deposit", TODAY).words
    related = dict(landlord.related)
    assert 0 < related["tenant"] < related["vermiet"] < landlord.weight


@pytest.mark.parametrize(
    ("q", "given", "other"),
    [
        ("How big is the pantry?", "1.8 by 5.2 metres", "It came in at 450 euros."),
        ("how heavy is the parcel", "It weighs 12kg.", "It arrived at 12 in the morning."),
        ("How far is the beach?", "Two miles along the coast.", "It is closed on Monday."),
        ("How many chairs are there?", "We counted seven.", "They are made of oak."),
        ("How long did she teach?", "Eight years at a school.", "She stopped last Friday."),
        ("Where is the spare key?", "With the lady at Padaria Rosa.", "Under the mat."),
    ],
)
def test_a_question_knows_what_its_answer_looks_like(q: str, given: str, other: str) -> None:
    answer = parse_question(q, TODAY).answer
    assert answer is not None
    assert answer.search(given)
    assert not answer.search(other)


def test_signs_say_what_must_and_must_not_be_there() -> None:
    question = parse_question('+tiles -draft "green kitchen" -"old floor" x-ray', TODAY)
    assert [word.text for word in question.words if word.required] == ["tiles"]
    assert [word.text for word in question.excluded] == ["draft"]
    assert question.phrases == (Phrase(("green", "kitchen")),)
    assert question.excluded_phrases == (Phrase(("old", "floor")),)
    assert {"x", "ray"} <= {word.text for word in question.words}


def test_or_joins_words_of_which_one_is_enough() -> None:
    groups = {
        word.text: word.group for word in parse_question("plumber OR electrician bill", TODAY).words
    }
    assert groups["plumber"] == groups["electrician"] > 0
    assert groups["bill"] == 0


def test_or_joins_times_of_day_too() -> None:
    groups = {word.text: word.group for word in parse_question("noon OR 8pm dinner", TODAY).words}
    assert groups == {"noon": 1, "8": 1, "pm": 1, "dinner": 0}


def test_operators_name_actors_accounts_and_days() -> None:
    question = parse_question('deposit from:Anna in:"Work mail" after:2026-03 before:today', TODAY)
    assert question.actors == (("anna",),)
    assert question.accounts == ("Work mail",)
    assert (question.since, question.until) == (date(2026, 4, 1), TODAY)
    assert [word.text for word in question.words] == ["deposit"]


def test_a_colon_in_a_word_is_no_operator() -> None:
    assert words("error:404 https://example.org/x") == [
        "error", "404", "https", "example", "org", "x",
    ]  # fmt: skip


def test_time_expressions_are_taken_out_of_the_words() -> None:
    question = parse_question("What did Rui say about the tiles last week?", TODAY)
    assert [word.text for word in question.words] == ["rui", "say", "tiles"]
    assert [moment.unit for moment in question.moments] == [Unit.WEEK]
    assert question.untimed == "What did Rui say about the tiles ?"
    assert parse_question("Rui's tiles", TODAY).untimed == "Rui's tiles"


def test_a_phrase_stays_in_the_text_that_a_time_is_taken_out_of() -> None:
    question = parse_question('"green tiles" in the kitchen last week', TODAY)
    assert question.untimed == '"green tiles" in the kitchen'
    assert parse_question("last week", TODAY).untimed == ""


def test_a_time_that_is_read_as_a_word_stays_in_the_text() -> None:
    question = parse_question("the battle of 1066 in March 2026", TODAY)
    assert question.untimed != question.text
    assert question.read_as_words(frozenset()) is question
    assert question.read_as_words({1, 2}).untimed == question.text


@pytest.mark.parametrize("q", ["", " ", '""', "+", "-draft", "in:work", "x\x00", "on:someday x"])
def test_what_asks_for_nothing_is_refused(q: str) -> None:
    with pytest.raises(InvalidRequest):
        parse_question(q, TODAY)


def test_a_question_may_be_long_but_not_endless() -> None:
    assert len(words(" ".join(f"w{number}" for number in range(60)))) == 60
    with pytest.raises(InvalidRequest, match="at most"):
        parse_question("a" * (MAX_QUESTION_CHARS + 1), TODAY)


def test_a_question_in_another_language_is_stemmed_in_it_and_in_english() -> None:
    found = {
        word.text: dict(word.terms)
        for word in parse_question("Wann wurden die Rechnungen für die Küche bezahlt?", TODAY).words
    }
    assert "rechnung" in found["rechnungen"]
    assert "rechnungen" in found["rechnungen"]


def test_a_stem_of_a_guessed_language_that_is_another_word_weighs_as_that_word() -> None:
    outer, _ = parse_question("outer harbour", TODAY).words
    guesses = dict(outer.guesses)
    assert 0 < guesses["out"] < outer.weight / 2
    assert "out" not in dict(outer.terms)
    # A common word tells the language, and nothing is guessed.
    (known,) = parse_question("where is the outer", TODAY).words
    assert not known.guesses
    # Short endings are cut in many languages, and mean the same word.
    (facturas,) = parse_question("facturas", TODAY).words
    assert "factur" in dict(facturas.terms)


def test_words_that_hold_a_question_of_another_language_together_are_not_looked_for() -> None:
    assert words("Welches Hotel hatte ich gebucht?") == ["hotel", "gebucht"]
    # Syllables of Vietnamese are all short and common; those that tell are kept.
    assert "nha" in words("nhà của tôi ở đâu")


@pytest.mark.parametrize(
    ("q", "asked"),
    [
        ("taxi stuttgart combien", ["taxi", "stuttgart"]),
        ("Urlaub Tobias wieviel", ["urlaub", "tobias"]),
        # Of words that English has too, nobody knows.
        ("cat manga", ["cat", "manga"]),
        ("combien", ["combien"]),
    ],
)
def test_a_word_that_only_asks_is_not_looked_for_where_nothing_tells_the_language(
    q: str, asked: list[str]
) -> None:
    assert words(q) == asked


@pytest.mark.parametrize(
    ("q", "asked", "order"),
    [
        ("my latest orders", ["orders"], Order.NEWEST),
        ("my most recent orders", ["orders"], Order.NEWEST),
        ("factures récentes", ["factures"], Order.NEWEST),
        ("latest", ["latest"], Order.NEWEST),
        ("oldest photo of the house", ["photo", "house"], Order.OLDEST),
        ("älteste Rechnung", ["rechnung"], Order.OLDEST),
        ("+latest orders", ["latest", "orders"], None),
        ("orders", ["orders"], None),
        ("Amazon Prime orders", ["amazon", "prime", "orders"], None),
    ],
)
def test_a_word_that_asks_for_an_order_is_not_looked_for(
    q: str, asked: list[str], order: Order | None
) -> None:
    assert words(q) == asked
    assert parse_question(q, TODAY).order is order


@pytest.mark.parametrize(
    ("q", "asked", "order"),
    [
        ("first instalment", ["first", "instalment"], Order.OLDEST),
        ("erste Rate", ["erste", "rate"], Order.OLDEST),
        ("last orders", ["last", "orders"], Order.NEWEST),
        ("the first of the latest orders", ["first", "orders"], Order.NEWEST),
    ],
)
def test_a_word_of_texts_that_asks_for_an_order_is_looked_for(
    q: str, asked: list[str], order: Order
) -> None:
    assert words(q) == asked
    assert parse_question(q, TODAY).order is order


def test_a_word_that_asks_for_an_order_is_looked_for_where_all_words_are() -> None:
    question = parse_question("latest orders", TODAY, everything=True)
    assert [word.text for word in question.words] == ["latest", "orders"]
    assert question.order is None


def test_a_word_is_looked_for_in_texts_of_other_languages_too() -> None:
    code, door = parse_question("the code of our door", TODAY).words
    # French cuts off the "e".
    assert 0 < dict(code.guesses)["cod"] < code.weight
    assert "cod" not in dict(code.terms)
    assert "doo" not in door.own
    # What other languages make of a word is no such guess where English has a word like it.
    (pasta,) = parse_question("where is the pasta", TODAY).words
    assert "past" not in pasta.own
    # Nor is a stem of a name or code that no table knows.
    (code_name,) = parse_question("where is the vaspise", TODAY).words
    assert not code_name.guesses


@pytest.mark.parametrize("q", ["the bill 3 days ago", "bill vor 3 Tagen"])
def test_the_number_of_days_that_have_gone_is_no_word_of_a_date(q: str) -> None:
    assert words(q) == ["bill"]


def test_an_ordinal_finds_its_number() -> None:
    (birthday,) = parse_question("her 70th", TODAY).words
    assert 0 < dict(birthday.related)["70"] < birthday.weight


@pytest.mark.parametrize(
    "q",
    [
        *("AirPods Pro", "iPhone plus", "war diary", "men shoes", "die hard"),
        *("manga books", "Dove soap order", "chi score"),
    ],
)
def test_one_word_that_another_language_has_too_does_not_make_a_question_one_of_it(q: str) -> None:
    found = parse_question(q, TODAY).words
    assert [word.text for word in found] == q.lower().split()
    assert min(word.weight for word in found) > 4


@pytest.mark.parametrize(
    ("q", "looked_for", "stem"),
    [
        ("receitas de bolos", "bolos", "bol"),
        ("chaves de casa", "chaves", "chav"),
        ("Inês aniversário", "aniversario", "aniversari"),
    ],
)
def test_a_word_or_letter_of_many_languages_leaves_open_which_one_is_meant(
    q: str, looked_for: str, stem: str
) -> None:
    found = {word.text: word for word in parse_question(q, TODAY).words}
    assert "de" not in found
    assert stem in found[looked_for].own
    # A stem far shorter than its word is no certain one.
    assert all(4 * len(term) >= 3 * len(looked_for) for term, _ in found[looked_for].terms)


def test_two_words_or_a_word_and_a_letter_tell_a_language() -> None:
    for q in ("wann ist der Termin", "Bu bileti nasıl alırım"):
        for word in parse_question(q, TODAY).words:
            assert not any(len(term) < len(word.text) for term, _ in word.guesses)


@pytest.mark.parametrize("q", ["Ana", "Ann", "Ada", "ana lima", "isa"])
def test_no_name_is_taken_for_a_word_that_every_text_holds(q: str) -> None:
    own = {term for word in parse_question(q, TODAY).words for term in word.own}
    assert own.isdisjoint({"a", "an", "is", "i"})


@pytest.mark.parametrize(
    ("q", "required"),
    [
        *(("+351912345678", False), ("call +351 912 345 678", False), ("+1-202-555-0143", False)),
        *(("+2024 taxes", True), ("+351", True), ("+351912345678a", True), ("+invoice", True)),
    ],
)
def test_the_plus_of_a_phone_number_demands_nothing(q: str, *, required: bool) -> None:
    assert any(word.required for word in parse_question(q, TODAY).words) == required


@pytest.mark.parametrize(
    ("q", "joined"),
    [
        *(("the fuse box key", "fusebox"), ("wi-fi password", "wifi"), ("wi fi", "wifi")),
        *(("my e-mail", "email"), ("fuse boxes", "fusebox"), ("7 pm", "7pm"), ("LH 456", "lh456")),
        *(("a sofa for 1,200", "1200"), ("1.200,00", "1200"), ("5 kg", "5kg")),
        *(("call 912 345 678", "912345678"), ("+351 912 345 678", "351912345678")),
        *(("+351 912 345 678", "912345678"), ("+1 (202) 555-0143", "2025550143")),
        *(("check-in time", "checkin"), ("which t-shirt is it", "tshirt")),
        *(("Vertrag Miete", "mietvertrag"), ("Miete Vertrag", "mietvertrag")),
        *(("Tisch Küche", "kuchentisch"), ("Müller Rechnung", "mueller"), ("Mueller", "muller")),
        *(("Geburtstag Kuchen", "geburtstagskuch"), ("Heizung Rechnung", "heizungsrechn")),
    ],
)
def test_neighbours_are_also_looked_for_as_one_word(q: str, joined: str) -> None:
    words = parse_question(q, TODAY).words
    assert joined in {term for word in words for term in word.own}


@pytest.mark.parametrize(
    ("q", "joined"),
    [
        *(("the box is a fuse", "boxfus"), ("20:00", "2000"), ("3/4 cups", "34")),
        *(
            ("we go on", "goon"),
            ("house party", "partyhous"),
            ("a blue poem", "pom"),
            ("12 34 56", "123456"),
            ("0049 171 234 567 890 12", "004917123456789012"),
        ),
    ],
)
def test_what_is_not_looked_for_as_one_word(q: str, joined: str) -> None:
    words = parse_question(q, TODAY).words
    assert joined not in {term for word in words for term in word.own}


def test_a_word_is_worked_out_once_and_means_what_it_means_beside_the_other_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked_word._word.cache_clear()
    first = parse_question("the landlord pays", TODAY)
    german = parse_question("der Landlord und die Miete von der Wohnung", TODAY)
    assert parse_question("landlord", TODAY).words != first.words[:1]
    asked_word._word.cache_clear()
    assert parse_question("der Landlord und die Miete von der Wohnung", TODAY) == german
    assert parse_question("the landlord pays", TODAY) == first
    monkeypatch.delattr(asked_word, "_near")
    assert parse_question("the landlord pays", TODAY) == first
