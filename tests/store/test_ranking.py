"""Ranking: people, conversations and days, seen only where a grant shows them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.promises.reference.ranking import ranked
from tests.promises.reference.world import Feed, Row
from tests.store.questions import TODAY, ask
from tests.store.world import Engine, World, declare, fresh, stream

from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.store.meaning import TextVector
from pdpp.store.query import SearchQuery
from pdpp.store.ranking.impact import LARGEST, impacts_of
from pdpp.store.ranking.nearest import distance
from pdpp.store.ranking.refine import BEST
from pdpp.store.scope import Reach

TEXT: dict[str, Any] = {"type": ["string", "null"]}
PROPERTIES = {
    "id": {"type": "string"},
    "at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
    "sender": {**TEXT, "x_pdpp_role": "actor"},
    "body": {**TEXT, "x_pdpp_role": "body"},
    "chat": TEXT,
}


def chat(world: World) -> World:
    query = {"search": {"lexical_fields": ["body"], "semantic_fields": ["body"]}}
    messages = stream("messages", PROPERTIES, query, thread="chat", cursor_field="at")
    return world.settle(declare(messages, version="2"))


def message(minute: int, sender: str, body: str, chat: str = "home") -> dict[str, Any]:
    return {"at": f"2026-02-01T10:{minute:02}:00Z", "sender": sender, "body": body, "chat": chat}


def scores(world: World, reach: Reach, q: str) -> dict[str, int]:
    page = world.store.search(SearchQuery((reach,), ask(q), 50))
    return {world.key(hit.record): hit.position.score for hit in page.hits}


def test_an_actor_who_bears_a_name_of_the_question_counts(world: World) -> None:
    chat(world).put(
        {
            "a": message(1, "Rui Almeida", "the tiles arrive on Friday"),
            "b": message(30, "Anna Berg", "the tiles are lovely"),
        }
    )
    found = scores(world, world.reach(), "what did Rui say about the tiles")
    assert found["a"] > found["b"]
    hidden = world.reach(fields=["id", "body", "at"])
    alike = scores(world, hidden, "what did Rui say about the tiles")
    assert alike["b"] >= alike["a"]
    by = world.store.search(SearchQuery((world.reach(),), ask("from:rui tiles"), 5))
    assert [world.key(hit.record) for hit in by.hits] == ["a"]
    assert world.store.search(SearchQuery((hidden,), ask("from:rui tiles"), 5)).hits == ()


@pytest.mark.parametrize("name", ["Dana", "Adam", "Sara Lind", "Alan", "Ali", "Maja"])
def test_an_actor_counts_whose_name_is_a_common_word_of_another_language(
    world: World, name: str
) -> None:
    messages = {
        "theirs": message(1, name, "the tiles arrive on Friday"),
        "other": message(30, "Rui", "the tiles arrive on Friday", "work"),
    }
    chat(world).put(messages)
    q = f"When did {name.split()[0]} order the tiles?"
    found = scores(world, world.reach(), q)
    assert found["theirs"] > found["other"]
    assert found == modelled_scores(messages, q)


def test_an_actor_who_bears_two_names_of_the_question_counts_for_more(world: World) -> None:
    chat(world).put(
        {
            "both": message(1, "Farmácia da Graça", "a payment"),
            "one": message(30, "Graça Library", "a payment"),
        }
    )
    found = scores(world, world.reach(), "farmacia da graca payment")
    assert found["both"] > found["one"]


def test_a_record_with_all_words_is_before_one_of_somebody_whose_name_a_word_begins_with(
    world: World,
) -> None:
    chat(world).put(
        {
            "all": message(1, "Nora", "The pilot boat waits by the outer buoy. " + "Wait. " * 40),
            "bo": message(30, "Bo", "Look at the green buoy", chat="away"),
        }
    )
    found = scores(world, world.reach(), "pilot boat waits outer buoy")
    assert found["all"] > found["bo"]


def test_a_word_that_another_language_has_too_is_looked_for(world: World) -> None:
    chat(world).put(
        {
            "pro": message(1, "Nora", "The headphones pro have come by post", chat="one"),
            "other": message(30, "Nora", "The headphones have come", chat="two"),
        }
    )
    found = scores(world, world.reach(), "headphones pro")
    assert found["pro"] > found["other"]


def test_a_word_that_many_languages_have_does_not_cut_the_others_down(world: World) -> None:
    chat(world).put(
        {
            "cake": message(1, "Rosa", "A receita do bolo de laranja: quatro ovos", chat="one"),
            "lift": message(30, "Rui", "Obrigada pela boleia", chat="two"),
        }
    )
    found = scores(world, world.reach(), "receitas de bolos")
    assert found["cake"] > found.get("lift", 0)


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("When is my dentist appointment?", "Ihr Termin beim Zahnarzt ist am Dienstag um 9 Uhr"),
        ("rent increase", "zum Juni folgt eine Erhöhung der Miete"),
        ("how much is the rent", "le loyer est de 800 euros"),
        ("birthday present", "un regalo para el cumpleaños de Ana"),
        ("Wann wird die Waschmaschine geliefert?", "your washing machine is out for delivery"),
        ("Rechnungen", "your electricity bill is ready"),
        ("facture de la pharmacie", "here is the invoice of the chemist"),
    ],
)
def test_an_everyday_word_is_found_in_a_text_of_another_language(
    world: World, asked: str, held: str
) -> None:
    messages = {
        "letter": message(1, "Anna", held),
        "other": message(30, "Anna", "the tiles arrive at half past nine"),
    }
    chat(world).put(messages)
    found = scores(world, world.reach(), asked)
    assert found["letter"] > found.get("other", 0)
    assert found == modelled_scores(messages, asked)


def test_a_word_of_another_language_is_not_taken_for_an_english_one_that_looks_alike(
    world: World,
) -> None:
    chat(world).put({"thanks": message(1, "Anna", "that is very kind of you")})
    assert scores(world, world.reach(), "how many children came?") == {}


@pytest.mark.parametrize(
    ("asked", "right", "other"),
    [
        (
            "Conti",
            "Signora Conti will send the contract by Monday, and then we can fetch the keys",
            "my account, the account",
        ),
        (
            "Nina",
            "so Nina told me that she would rather go to the mountains, where it is cooler in July",
            "each child likes it, one child more",
        ),
        (
            "my appointment",
            "so the appointment is now on Tuesday at half past nine, the one before was too early",
            "the terminal shows an error of the terminal",
        ),
        (
            "my brother",
            "so my brother came on Sunday with the long ladder, and we painted the whole shed",
            "Herman, ask Herman",
        ),
    ],
)
def test_what_a_name_or_word_means_elsewhere_stands_behind_the_word_itself(
    world: World, asked: str, right: str, other: str
) -> None:
    messages = {"right": message(1, "Anna", right), "other": message(30, "Bo", other, "work")}
    chat(world).put(messages)
    found = scores(world, world.reach(), asked)
    assert found["right"] > found["other"]
    assert found == modelled_scores(messages, asked)


@pytest.mark.parametrize(
    ("asked", "other"),
    [
        ("what am I reading", "Ihr Zählerstand"),
        ("when does the train leave", "Ausbildung und Kündigung"),
        ("who was the driver", "der Führerschein"),
    ],
)
def test_a_word_of_two_meanings_leads_to_none_that_is_about_another_thing(
    world: World, asked: str, other: str
) -> None:
    chat(world).put({"other": message(1, "Anna", other)})
    assert scores(world, world.reach(), asked) == {}


def test_words_that_are_asked_for_apart_are_found_where_they_are_written_as_one(
    world: World,
) -> None:
    chat(world).put(
        {
            "joined": message(1, "Nora", "The key is behind the fusebox by the meter", chat="one"),
            "half": message(30, "Nora", "A fuse for the meter, please", chat="two"),
        }
    )
    found = scores(world, world.reach(), "fuse box meter")
    assert found["joined"] > found["half"]
    (both, _) = world.store.search(SearchQuery((world.reach(),), ask("fuse-box meter"), 5)).hits
    assert world.key(both.record) == "joined"
    every = SearchQuery((world.reach(),), ask("fuse box", everything=True), 5)
    assert [world.key(hit.record) for hit in world.store.search(every).hits] == ["joined"]
    assert "joined" not in scores(world, world.reach(keys=["half"]), "fuse box meter")


def test_a_phone_number_is_found_however_its_digits_are_grouped(world: World) -> None:
    chat(world).put(
        {
            "whole": message(1, "Nora", "Call me on +351912345678", chat="one"),
            "home": message(10, "Nora", "My number is 912345678", chat="two"),
            "other": message(20, "Nora", "The code is 912 000", chat="three"),
        }
    )
    for asked in ("+351 912 345 678", "(+351) 912-345-678", "+351 912 345678"):
        found = scores(world, world.reach(), asked)
        assert found["whole"] > found.get("other", 0), asked
    for asked in ("912 345 678", "+351 912 345 678", "912.345.678"):
        found = scores(world, world.reach(), asked)
        assert found["home"] > found["other"], asked


def test_a_word_that_nothing_holds_is_found_where_it_is_written_apart(world: World) -> None:
    chat(world).put(
        {
            "apart": message(1, "Nora", "There was a parcel slip in the post box", chat="one"),
            "half": message(20, "Nora", "The post came late", chat="two"),
            "flight": message(30, "Nora", "We take TP 1234 home", chat="three"),
            "phone": message(40, "Nora", "Call me on +351 912 345 678", chat="four"),
        }
    )
    page = world.store.search(SearchQuery((world.reach(),), ask("postbox"), 5))
    assert [world.key(hit.record) for hit in page.hits] == ["apart"]
    assert page.repaired == {"postbox": ("post box",)}
    assert list(scores(world, world.reach(), "TP1234")) == ["flight"]
    assert list(scores(world, world.reach(), "912345678")) == ["phone"]
    # A record that is not shown tells nothing.
    other = world.store.search(SearchQuery((world.reach(keys=["half"]),), ask("postbox"), 5))
    assert (other.hits, other.repaired) == ((), {})


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("+351912345678", "912 345 678"),
        ("+351912345678", "912345678"),
        ("+4915123456789", "0151 2345 6789"),
        ("015123456789", "+49 151 2345 6789"),
        ("HV2298771", "HV-2298-771"),
        ("HHEB417", "HH-EB 417"),
    ],
)
def test_a_number_is_found_as_it_is_written_at_home_and_a_code_with_its_marks(
    world: World, asked: str, held: str
) -> None:
    chat(world).put(
        {
            "held": message(1, "Nora", f"It is {held}", chat="one"),
            "other": message(20, "Nora", "It is 912 000", chat="two"),
        }
    )
    assert list(scores(world, world.reach(), asked)) == ["held"]
    assert scores(world, world.reach(keys=["other"]), asked) == {}


@pytest.mark.parametrize("asked", ["31 July", "july 31st", "31.07.2026", "am 31. Juli"])
@pytest.mark.parametrize("held", ["by 31 July", "bis zum 31. Juli", "until July 31st", "to 31.07."])
def test_a_text_that_holds_the_day_is_before_what_happened_near_it(
    world: World, asked: str, held: str
) -> None:
    later = {**message(3, "Nora", "See you", chat="two"), "at": "2026-08-03T10:00:00Z"}
    on_it = {**message(3, "Nora", "Take care", chat="three"), "at": "2026-07-31T10:00:00Z"}
    chat(world).put(
        {"held": message(1, "Nora", f"Please answer {held}"), "later": later, "on it": on_it}
    )
    found = scores(world, world.reach(), f"what is due {asked}")
    assert found["on it"] > found["held"] > found["later"]
    alone = scores(world, world.reach(fields=["id", "at", "sender"]), f"what is due {asked}")
    assert "held" not in alone


@pytest.mark.parametrize("asked", ["4:30pm", "4.30 p.m.", "16:30", "16h30", "4:30 PM"])
@pytest.mark.parametrize("held", ["4:30pm", "4:30 p.m.", "16:30", "16.30 Uhr", "16h30"])
def test_a_time_of_day_is_found_however_it_is_written(world: World, asked: str, held: str) -> None:
    chat(world).put(
        {
            "held": message(1, "Nora", f"The dentist sees you at {held}", chat="one"),
            "other": message(20, "Nora", "The dentist sees you at 9:15", chat="two"),
            "number": message(40, "Nora", "The dentist sees you in room 4", chat="three"),
        }
    )
    found = scores(world, world.reach(), f"dentist {asked}")
    assert found["held"] > max(found["other"], found["number"])


def test_an_hour_of_a_day_is_found_by_its_other_number(world: World) -> None:
    chat(world).put(
        {
            "held": message(1, "Nora", "Doors open at 19:00", chat="one"),
            "other": message(20, "Nora", "Doors open for 19 people", chat="two"),
        }
    )
    found = scores(world, world.reach(), "doors open 7pm")
    assert found["held"] > found["other"]


@pytest.mark.parametrize(
    "misspelt",
    [
        *("appointmnet", "appointmetn", "appointemnt", "confirmde", "vaccinatoin", "vaccintaion"),
        *("vacination", "certficate", "leakign", "Krankenversichrung"),
    ],
)
def test_a_word_that_is_misspelt_in_its_ending_is_read_as_the_nearest(
    world: World, misspelt: str
) -> None:
    text = "Vaccination appointment confirmed, certificate for the Krankenversicherung, leaking"
    chat(world).put({"a": message(1, "Nora", text)})
    assert list(scores(world, world.reach(), misspelt)) == ["a"]
    assert scores(world, world.reach(keys=[]), misspelt) == {}


def test_what_is_shortened_is_not_read_as_another_word(world: World) -> None:
    chat(world).put(
        {
            "appointment": message(1, "Nora", "Your appointment is confirmed", chat="one"),
            "app": message(20, "Nora", "Get our new appl for phones", chat="two"),
        }
    )
    page = world.store.search(SearchQuery((world.reach(),), ask("which appt is mine"), 5))
    assert [world.key(hit.record) for hit in page.hits] == ["appointment"]
    assert page.repaired == {}


def test_a_name_without_its_accents_still_names_its_actor(world: World) -> None:
    chat(world).put(
        {
            "a": message(1, "Graça", "the payment", chat="one"),
            "b": message(30, "Bo", "the payment", chat="two"),
        }
    )
    found = scores(world, world.reach(), "graca payment")
    assert found["a"] > found["b"]


def test_a_question_that_names_a_stream_finds_it_there_first(world: World) -> None:
    query = {"search": {"lexical_fields": ["body"]}}
    kinds = [stream(name, PROPERTIES, query) for name in ("messages", "photos")]
    world.settle(declare(*kinds, version="2"))
    world.put({"letter": message(30, "Anna", "the kitchen")})
    photos = world.reach(name="photos")
    world.write({"picture": message(1, "Anna", "the kitchen")}, photos.feed)
    reaches = (world.reach(), photos)

    def first(q: str) -> str:
        page = world.store.search(SearchQuery(reaches, ask(q), 5))
        return world.key(page.hits[0].record)

    assert first("kitchen") == "letter"
    assert first("photos of the kitchen") == "picture"
    assert first("messages about the kitchen") == "letter"


def test_a_stream_that_two_words_name_comes_before_one_that_a_single_word_names(
    world: World,
) -> None:
    query = {"search": {"lexical_fields": ["body"]}}
    kinds = [stream(name, PROPERTIES, query) for name in ("messages", "web_visits", "visits")]
    world.settle(declare(*kinds, version="2"))
    web, other = (world.reach(name=name) for name in ("web_visits", "visits"))
    world.write({"page": message(1, "Anna", "knots")}, web.feed)
    world.write({"place": message(30, "Anna", "home")}, other.feed)
    reaches = (world.reach(), web, other)

    def every(q: str) -> list[str]:
        page = world.store.search(SearchQuery(reaches, ask(q), 5))
        return [world.key(hit.record) for hit in page.hits]

    assert every("my visits") == ["place", "page"]
    assert every("my web visits") == ["page", "place"]


def test_a_stream_is_named_in_another_language_too(world: World) -> None:
    query = {"search": {"lexical_fields": ["body"]}}
    kinds = [stream(name, PROPERTIES, query) for name in ("messages", "bills")]
    world.settle(declare(*kinds, version="2"))
    world.put({"letter": message(30, "Anna", "the kitchen")})
    bills = world.reach(name="bills")
    world.write({"bill": message(1, "Anna", "the kitchen")}, bills.feed)
    page = world.store.search(SearchQuery((world.reach(), bills), ask("Rechnungen"), 5))
    assert [world.key(hit.record) for hit in page.hits] == ["bill"]


def test_a_question_that_names_nothing_but_a_stream_asks_for_what_is_in_it(world: World) -> None:
    query = {"search": {"lexical_fields": ["body"]}}
    kinds = [stream(name, PROPERTIES, query) for name in ("messages", "photos")]
    world.settle(declare(*kinds, version="2"))
    world.put({"letter": message(30, "Anna", "my latest photos")})
    photos = world.reach(name="photos")
    pictures = {f"p{at}": message(at, "Anna", "the kitchen") for at in range(3)}
    world.write(pictures, photos.feed)
    reaches = (world.reach(), photos)

    def every(q: str) -> list[str]:
        page = world.store.search(SearchQuery(reaches, ask(q), 9))
        assert page.ranked == len(page.hits)
        return [world.key(hit.record) for hit in page.hits]

    # What speaks of photos is found first, unless the newest of them are asked for.
    assert every("photos") == ["letter", "p2", "p1", "p0"]
    assert every("my recent photos") == ["p2", "p1", "p0"]
    assert every("latest photos -kitchen") == []
    assert every("+latest photos") == ["letter"]
    assert every("latest photos of the kitchen") == ["p2", "p1", "p0", "letter"]
    # Nothing holds the other word, and that is no reason to list them all.
    assert every("photos zeppelin") == ["letter"]


def test_a_date_without_visible_records_is_looked_for_as_words(world: World) -> None:
    chat(world).put(
        {
            "history": message(1, "Anna", "the lighthouse burned down in 1951"),
            "other": message(30, "Anna", "the lighthouse is open"),
        }
    )
    page = world.store.search(
        SearchQuery((world.reach(),), ask("what happened to the lighthouse in 1951"), 5)
    )
    assert world.key(page.hits[0].record) == "history"
    # Of this year there are records: their time counts, and nobody need write the year down.
    dated = scores(world, world.reach(), "what happened to the lighthouse in 2026")
    assert dated["other"] == dated["history"] or abs(dated["other"] - dated["history"]) < 100_000


def test_a_month_by_itself_is_a_time_and_a_word(world: World) -> None:
    lines = {
        "march": {"sender": "Nora", "body": "the dentist", "at": "2025-03-11T10:00:00Z"},
        "later": {"sender": "Nora", "body": "the dentist", "at": "2025-09-11T10:00:00Z"},
        "said": {"sender": "Nora", "body": "the dentist of March", "at": "2025-09-11T10:00:00Z"},
        "else": {"sender": "Nora", "body": "the garden", "at": "2025-03-11T10:00:00Z"},
    }
    chat(world).put(lines)
    found = scores(world, world.reach(), "dentist march")
    assert found["said"] > found["march"] > found["later"] > found["else"]


def test_a_code_that_holds_what_looks_like_a_month_is_no_time(world: World) -> None:
    chat(world).put(
        {
            "asked": {**message(1, "Nora", "Paid INV-2025-12, thank you"), "chat": "one"},
            "other": {**message(1, "Nora", "INV-2025-11 came"), "at": "2025-12-05T10:00:00Z"},
        }
    )
    found = scores(world, world.reach(), "INV-2025-12")
    assert found["asked"] > found["other"]


def test_a_word_that_public_text_knows_is_no_typing_error(world: World) -> None:
    chat(world).put({"a": message(1, "Anna", "we have to leave at seven")})
    page = world.store.search(SearchQuery((world.reach(),), ask("weave leav"), 5))
    assert "weave" not in page.repaired
    # So is a common word of another language.
    chat(world).put({"b": message(2, "Anna", "one of us")})
    page = world.store.search(
        SearchQuery((world.reach(),), ask("onde fica o casamento da Joana"), 5)
    )
    assert page.repaired == {}


def test_a_code_is_not_read_as_another_one(world: World) -> None:
    chat(world).put({"a": message(1, "Anna", "flight TP1442, booking XQ7P4L")})
    for q in ("TP1449", "XQ7P9L", "flight TP1449"):
        page = world.store.search(SearchQuery((world.reach(),), ask(q), 5))
        assert page.repaired == {}
        assert page.suggested == ()


def test_neighbours_in_a_conversation_lend_their_words(world: World) -> None:
    chat(world).put(
        {
            "asked": message(1, "Anna", "Where did you put the spare key to the boathouse"),
            "told": message(2, "Rui", "Under the blue flower pot"),
            "else": message(3, "Rui", "Under the blue flower pot", chat="work"),
        }
    )
    found = scores(world, world.reach(), "boathouse key flower pot")
    assert found["told"] > found["else"]
    for fields in (["id", "body", "at"], ["id", "body", "chat"]):
        alike = scores(world, world.reach(fields=fields), "boathouse key flower pot")
        assert alike["told"] == alike["else"]


def test_a_reply_gets_more_of_the_words_of_its_question_than_of_a_remark(world: World) -> None:
    reply = "Down in the cellar. I nailed old mattresses to every wall, so that nobody complains."
    chat(world).put(
        {
            "question": message(1, "Nora", "Do you still keep the drums in your flat?", "home"),
            "reply": message(2, "Tom", reply, "home"),
            "remark": message(11, "Nora", "You still keep the drums in your flat.", "work"),
            "aside": message(12, "Tom", reply, "work"),
        }
    )
    found = scores(world, world.reach(), "keep drums")
    assert found["question"] > found["reply"] > found["aside"]
    hidden = world.reach(time=Interval(since=instant.parse("2026-02-01T10:02:00Z")))
    assert "reply" not in scores(world, hidden, "keep drums")


def test_messages_of_one_minute_are_in_the_order_of_the_numbers_of_their_keys(world: World) -> None:
    lines = {f"D1:{n}": message(1, "Rui", f"A quiet day number {n} on the hill") for n in range(30)}
    lines["D1:9"] = message(1, "Nora", "Where do you keep the drums?")
    lines["D1:10"] = message(1, "Rui", "Behind the stairs, below the coats of the children")
    chat(world).put(lines)
    found = scores(world, world.reach(), "keep drums")
    assert sorted(found, key=lambda key: -found[key])[:2] == ["D1:9", "D1:10"]
    untold = SearchQuery((world.reach(fields=["body", "at", "chat"]),), ask("keep drums"), 50)
    (asked, *others) = world.store.search(untold).hits
    assert b"the drums" in asked.record.data
    assert not any(b"the stairs" in other.record.data for other in others)


def test_messages_of_one_minute_are_in_the_order_that_a_visible_field_tells(world: World) -> None:
    lines = {
        f"k{37 * n % 101}": message(1, "Rui", f"A quiet day number {n} on the hill") | {"nth": n}
        for n in range(30)
    }
    by_place = {line["nth"]: key for key, line in lines.items()}
    lines[by_place[9]] |= {"sender": "Nora", "body": "Where do you keep the drums?"}
    lines[by_place[10]] |= {"body": "Behind the stairs, below the coats of the children"}
    query = {"search": {"lexical_fields": ["body"]}}
    properties = {**PROPERTIES, "nth": {"type": "integer"}}
    said = stream("messages", properties, query, thread="chat", thread_order="nth")
    world.settle(declare(said, version="2")).put(lines)
    found = scores(world, world.reach(), "keep drums")
    assert sorted(found, key=lambda key: -found[key])[:2] == [by_place[9], by_place[10]]
    hidden = world.reach(fields=["id", "sender", "body", "at", "chat"])
    assert by_place[10] not in scores(world, hidden, "keep drums")


def test_a_place_in_a_conversation_may_be_any_whole_number(world: World) -> None:
    query = {"search": {"lexical_fields": ["body"]}}
    properties = {**PROPERTIES, "nth": {"type": ["integer", "null"]}}
    said = stream("messages", properties, query, thread="chat", thread_order="nth")
    places = [-(2**63), -1, None, 2**63 - 1, 2**64 - 1]
    lines = {
        f"k{at}": message(1, "Rui", f"the tiles {at}") | {"nth": place}
        for at, place in enumerate(places)
    }
    world.settle(declare(said, version="2")).put(lines)
    assert scores(world, world.reach(), "blue tiles").keys() == lines.keys()


LONG = "I thought of it all the way home, and I still wonder what it is like when it rains. "
"""Long enough that a message with it says more than a little."""
CALLED = {
    "told": message(1, "Maya", "We drove to the lake with the old tent and stayed for two nights."),
    "called": message(2, "Theo", f"Thanks, Maya! I have never slept in a tent. {LONG}"),
}


ALONE = {
    **CALLED["called"], "body": CALLED["called"]["body"].replace("home", "back"), "chat": "work",
}  # fmt: skip
"""As good an answer in another chat, in other words, so that it repeats nothing."""


def test_a_name_by_which_somebody_is_spoken_to_tells_nothing_of_them(world: World) -> None:
    spoken_of = message(22, "Theo", f"Maya's brother has never slept in a tent. {LONG}")
    apart = {"alone": ALONE, "of": {**spoken_of, "chat": "sport"}}
    chat(world).put({**CALLED, **apart, "near": message(23, "Maya", "Oh yes, it was.", "sport")})
    found = scores(world, world.reach(), "where did Maya sleep in the tent")
    assert found["told"] > found["called"]
    assert found["alone"] > found["called"]
    assert found["of"] > found["called"]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("{} is it cold in the tent", False),
        ("{}, is it cold in the tent", True),
        ("the tent was cold, thanks {}", True),
        ("hi {}\nwas the tent cold", True),
        ("hi {} 😊 was the tent cold", True),
        ("the tent of {} & Theo was cold", False),
    ],
)
def test_who_is_spoken_to_is_set_off_from_the_sentence(
    world: World, text: str, called: bool
) -> None:
    body = LONG + text.format("Zoë")
    chat(world).put(
        {
            "told": message(1, "Zoë", "We drove to the lake.", "home"),
            "here": message(2, "Theo", body, "home"),
            "there": message(3, "Theo", body.replace("home", "back"), "work"),
        }
    )
    found = scores(world, world.reach(), "tent zoe")
    assert (found["here"] < found["there"]) == called


def test_the_beginning_of_a_name_is_a_name_too(world: World) -> None:
    chat(world).put({**CALLED, "alone": ALONE})
    found = scores(world, world.reach(), "may* tent")
    assert found["called"] < found["alone"]


def test_who_is_spoken_to_counts_where_two_people_are_asked_for(world: World) -> None:
    chat(world).put({**CALLED, "alone": ALONE})
    found = scores(world, world.reach(), "what did Theo tell Maya about the tent")
    assert found["called"] >= found["alone"]
    one = scores(world, world.reach(), "what was the tent that Maya had")
    assert one["called"] < one["alone"]


def test_a_reply_is_raised_however_much_else_its_speaker_says(world: World) -> None:
    reply = "With the sand from the beach and a drop of vinegar, just as my grandmother did it."
    remark = "We walked along the harbour again and talked of nothing but the weather of the week."
    rest = {f"r{at}": message(at % 60, "Maya", remark, f"c{at}") for at in range(BEST)}
    chat(world).put(
        {
            **{key: {**told, "at": f"2026-03-{told['at'][8:]}"} for key, told in rest.items()},
            "question": message(1, "Theo", "How do you get it clean then?", "home"),
            "reply": message(2, "Maya", reply, "home"),
        }
    )
    found = scores(world, world.reach(), "how does Maya clean silver teapots and kettles")
    assert max(found, key=found.__getitem__) == "reply"


def modelled_scores(messages: dict[str, dict[str, Any]], q: str) -> dict[str, int]:
    """Return what the independent model of the ranking gives to each message of chats."""
    declared = {
        "properties": PROPERTIES, "lexical": ["body"], "semantic": [], "thread": "chat",
        "label": "messages",
    }  # fmt: skip
    rows = tuple(Row(key, data, "", "", 0, at) for at, (key, data) in enumerate(messages.items()))
    feed = Feed(
        "c1", "mail", "C1", {}, "", "messages", declared, dict.fromkeys(PROPERTIES, "text"),
        True, None, None, False, True, "at", "", rows, (),
    )  # fmt: skip
    meeting = {id(feed): set(messages)}
    hits = ranked([feed], q, {}, meeting, TODAY.isoformat())["hits"]
    return {hit["id"]: round(-1_000_000 * hit["place"][0]) for hit in hits}


_WRITTEN = (
    *("by 31 July", "bis zum 31.07. um 16:30", "July 31st, 4:30pm", "31 lamps", "juli", "at 4 pm"),
    *("room 16, 30 chairs", "on 912 345 678", "HV-2298-771", "Wi-Fi at check-in", "appointment"),
)


@pytest.mark.parametrize(
    "q",
    [
        *("what is due on 31 July", "31.07.2026 4:30pm", "lamps 16:30", "4pm", "+351912345678"),
        *("HV2298771 lamps", "checkin wifi", "appt on 31 July 1999", "31 July", "what was in July"),
    ],
)
def test_words_that_are_written_apart_count_as_in_the_model(world: World, q: str) -> None:
    messages = {
        f"m{at}": message(at, "Nora", text, chat=f"c{at}") for at, text in enumerate(_WRITTEN)
    }
    messages["then"] = {**message(0, "Nora", "then", chat="then"), "at": "2026-07-31T10:00:00Z"}
    chat(world).put(messages)
    found, modelled = scores(world, world.reach(), q), modelled_scores(messages, q)
    assert found.keys() == modelled.keys()
    assert all(abs(found[key] - modelled[key]) <= 1 for key in found)


_SPEAKERS = ("Maya", "Maya Lind", "Theo", "Zoë")
_NAMES = ("Maya", "Theo", "Zoe", "Lind")
_SAID = ("{}, is it cold?", "Hi {}! The tent!", "{}'s tent is cold", "thanks {}", "the tent {} has")


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(*map(st.sampled_from, (_SPEAKERS, _SAID, _NAMES, "ab"))),
        min_size=3,
        max_size=12,
    ),
    st.sampled_from(("Maya tent", "Maya Lind cold", "did Theo tell Maya", "Zoë cold", "ma* te*")),
)
def test_names_count_in_conversations_as_the_model_says(
    engine: Engine, said: list[tuple[str, str, str, str]], q: str
) -> None:
    messages = {
        f"m{at}": message(at, sender, text.format(name), place)
        for at, (sender, text, name, place) in enumerate(said)
    }
    with fresh(engine) as world:
        chat(world).put(messages)
        found, modelled = scores(world, world.reach(), q), modelled_scores(messages, q)
    assert found.keys() == modelled.keys()
    assert all(abs(found[key] - modelled[key]) <= 1 for key in found)


def test_a_hidden_speaker_does_not_take_from_their_name(world: World) -> None:
    q = "where did Maya sleep in the tent"
    chat(world).put({**CALLED, "other": message(40, "Maya", "Good night.", "work")})
    limit = Interval(since=instant.parse("2026-02-01T10:02:00Z"))
    limited = scores(world, world.reach(time=limit), q)["called"]
    assert limited > scores(world, world.reach(), q)["called"]


def test_a_message_that_says_little_comes_after_one_that_tells_more(world: World) -> None:
    told = "The tiles with the blue birds hang in the old station, and people stop to look at them."
    chat(world).put(
        {
            "short": message(1, "Rui", "The tiles!", "home"),
            "long": message(2, "Rui", told, "work"),
        }
    )
    alone = scores(world, world.reach(), "who saw the tiles")
    assert alone["short"] > alone["long"]
    world.put({"long": message(2, "Rui", told, "home")})
    together = scores(world, world.reach(), "who saw the tiles")
    assert together["long"] > together["short"]


def test_what_has_no_time_stands_first_in_its_conversation(world: World) -> None:
    told = "Under the blue flower pot"
    years = {"oldest": 1961, "older": 1965, "old": 1969, "new": 2026}
    lines = {
        key: {**message(1, "Rui", told), "at": f"{year}-02-01T10:00:00Z"}
        for key, year in years.items()
    }
    asked = {"sender": "Anna", "body": "the spare key to the boathouse", "chat": "home"}
    others = {key: {**asked, "body": "hm"} for key in ("a", "another", "zebra")}
    chat(world).put({**lines, **others, "asked": asked})
    found = scores(world, world.reach(), "boathouse key flower pot")
    assert found["oldest"] > found["older"] > found["old"] == found["new"]


def test_a_hidden_neighbour_lends_nothing(world: World) -> None:
    q = "boathouse key flower pot"
    visible = {
        "told": message(20, "Rui", "Under the blue flower pot"),
        "far": message(40, "Rui", "A flower pot again"),
    }
    chat(world).put(visible)
    from pdpp.model import instant
    from pdpp.model.grant import Interval

    limit = Interval(instant.parse("2026-02-01T10:15:00Z"), None)
    before = scores(world, world.reach(time=limit), q)
    listed_before = scores(world, world.reach(keys=["told", "far"]), q)
    world.put({"asked": message(10, "Anna", "the boathouse key, where is it")})
    assert scores(world, world.reach(time=limit), q) == before
    assert scores(world, world.reach(keys=["told", "far"]), q) == listed_before
    assert scores(world, world.reach(), q)["told"] > before["told"]


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=60))
def test_an_impact_grows_with_repetition_and_falls_with_length(terms: list[str]) -> None:
    counts = np.array(sorted(terms.count(name) for name in set(terms)))
    impacts = impacts_of(counts, np.full(len(counts), len(terms)))
    assert impacts.tolist() == sorted(impacts.tolist())
    assert np.all((impacts >= 1) & (impacts <= LARGEST))
    assert np.all(impacts_of(counts, np.full(len(counts), len(terms) + 40)) <= impacts)


def test_distances_count_a_swap_once() -> None:
    assert distance("plubmer", "plumber", 2) == 1
    assert distance("kitchen", "kitten", 2) == 2
    assert distance("kelp", "harbour", 2) == 3
    assert distance("same", "same", 1) == 0


def test_a_vector_is_made_of_what_is_asked_and_not_of_whom(world: World) -> None:
    chat(world).put({"a": message(1, "Rui Almeida", "the tiles arrive on Friday")})
    encoded: list[str] = []

    def encode(text: str) -> bytes:
        encoded.append(text)
        return bytes(384)

    question = ask("what did Rui's letter say about Anna and tiles")
    for fields in (None, ["id", "body", "at"]):
        world.store.search(SearchQuery((world.reach(fields=fields),), question, 5, meaning=encode))
    world.store.search(SearchQuery((world.reach(),), ask("Rui"), 5, meaning=encode))
    # Nobody visible is called Anna; and where no sender is visible nobody is called Rui.
    assert encoded == [
        "what did letter say about Anna and tiles",
        "what did Rui's letter say about Anna and tiles",
        "Rui",
    ]


def test_neighbours_in_a_conversation_lend_their_meaning_where_they_are_visible(
    world: World,
) -> None:
    chat(world).put(
        {
            "asked": message(1, "Anna", "Where is the spare key"),
            "told": message(2, "Rui", "Under the blue flower pot"),
            "else": message(3, "Rui", "Under the blue flower pot", chat="work"),
        }
    )
    same, other = bytes([127] + [0] * 383), bytes([0, 127] + [0] * 382)
    pending = world.store.meaning.pending(10)
    vectors = [
        TextVector(item.record, "body", same if "key" in item.texts["body"] else other)
        for item in pending
    ]
    world.store.meaning.keep(pending, vectors)

    def values(reach: Reach) -> dict[str, int]:
        query = SearchQuery((reach,), ask("pot"), 5, meaning=lambda _: same)
        page = world.store.search(query)
        return {world.key(hit.record): hit.position.score for hit in page.hits}

    whole = values(world.reach())
    assert whole["told"] > whole["else"]
    late = Interval(since=instant.parse("2026-02-01T10:02:00Z"))
    for hidden in (world.reach(time=late), world.reach(fields=["id", "body", "at"])):
        alike = values(hidden)
        assert alike["told"] == alike["else"]
