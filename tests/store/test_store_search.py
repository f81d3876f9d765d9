"""Search against a model that reads every word of every record that a reach shows."""

import gc
import tracemalloc
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine import database_of
from tests.soak import SOAK
from tests.store.questions import ask
from tests.store.records import FEWER, INTERVALS
from tests.store.world import Data, Engine, World, cell, condition, declare, fresh, shown, stream

from pdpp.evidence.analyse import find
from pdpp.evidence.language.asked_word import Word
from pdpp.evidence.language.question import Question
from pdpp.evidence.language.terms import terms_of
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.store.port import Store
from pdpp.store.query import Hit, SearchPosition, SearchQuery
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.score import Ranking
from pdpp.store.scope import Reach
from pdpp.store.tables.search import (
    conversations,
    index,
    packing,
    part_words,
    refinement,
    search,
    visible_block,
)
from pdpp.store.tables.search.common_postings import CommonPostings
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.visible import Visible

WORDS = st.sampled_from(
    [
        "apple",
        "Apples",
        "applause",
        "pear",
        "PEAR",
        "犬",
        "猫犬",
        "東京",
        "café",
        "cafe",
        "10",
        "x-y",
        "…",
    ]
)
TEXTS = st.none() | st.lists(WORDS, max_size=6).map(" ".join)
RECORDS = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d", "e", "f"]),
    st.fixed_dictionaries(
        {"subject": TEXTS, "body": TEXTS},
        optional={
            "at": st.sampled_from(["2026-02-28", "2026-03-01", "2026-02-27"]),
            "note": st.just("apple"),
            "size": st.integers(0, 2),
        },
    ),
    max_size=6,
)
QUERIES = st.sampled_from(
    [
        "apple",
        "apples",
        "app*",
        "apple pear",
        '"apple pear"',
        "+apple pear",
        "apple -pear",
        "apple OR pear",
        "犬",
        "猫",
        "東京 apple",
        "cafe",
        "10 apple",
        "apple cafe pear",
        '-"apple pear" apple',
        "nowhere",
    ]
)
SHOWN = st.sampled_from([None, ("subject",), ("body",), ("subject", "body", "at"), ("note",)])
Place = tuple[int, int, tuple[str, str, str]]


def impact(term: str, terms: Sequence[str]) -> int:
    """Return the documented impact: saturating in how often a term stands, damped by length."""
    count = terms.count(term)
    if not count:
        return 0
    return max(1, round(255 * count / (count + 0.9 * (0.6 + 0.4 * len(terms) / 30))))


def value_of(word: Word, texts: Sequence[Sequence[str]]) -> float:
    """Return how strongly a record's fields hold a word."""
    value = 0.0
    ways = [*((False, *way) for way in word.terms), *((True, *way) for way in word.guesses)]
    for guessed, weight in {(guessed, weight) for guessed, _, weight in ways}:
        # Terms of one weight are one word: in each field the one that stands most strongly counts.
        alike = [term for other, term, each in ways if (other, each) == (guessed, weight)]
        held = [max(impact(term, terms) for term in alike) for terms in texts]
        joined = 0.0
        for strength in held:
            joined = max(joined, strength) + 0.25 * min(joined, strength)
        value = max(value, joined * weight / 255)
    for term, weight in word.related:
        value = max([value, *(impact(term, terms) * weight / 255 for terms in texts)])
    return min(value, word.weight)


def spelled(word: Word, every: Sequence[Sequence[str]]) -> Word:
    """Return a prefix as the visible terms that begin with it."""
    if word.prefix is None:
        return word
    terms = {term for terms in every for term in terms if term.startswith(word.prefix)}
    more = tuple((term, word.weight) for term in sorted(terms))
    return word._replace(terms=word.terms + more)


def expected(
    world: World, pairs: Sequence[tuple[Reach, Mapping[str, Data]]], question: Question
) -> list[Place]:
    """Return the places of all hits, by reading everything."""
    texts = {
        (reach.connection_id, key): [
            data[name]
            for name in ("subject", "body")
            if reach.shows(name) and isinstance(data.get(name), str)
        ]
        for reach, records in pairs
        for key, data in shown(reach, records).items()
    }
    terms = {place: [terms_of(text) for text in held] for place, held in texts.items()}
    every = [each for held in terms.values() for each in held]
    groups: dict[int, list[Word]] = {}
    for at, word in enumerate(question.words):
        groups.setdefault(word.group or -1 - at, []).append(spelled(word, every))
    norm = sum(max(word.weight for word in group) for group in groups.values()) or 5.0
    places: list[Place] = []
    for reach, records in pairs:
        for key, data in shown(reach, records).items():
            place = reach.connection_id, key
            values = [
                max(value_of(word, terms[place]) for word in group) for group in groups.values()
            ]
            if not any(values) or not demanded(question, groups, terms[place], texts[place]):
                continue
            time = cell(reach, "at", data) if reach.shows("at") else None
            handle = (reach.connection_id, "messages", world.id(reach, key))
            places.append((-round(1_000_000 * sum(values) / norm), -int(time or 0), handle))
    return sorted(places)


def demanded(
    question: Question,
    groups: Mapping[int, Sequence[Word]],
    terms: Sequence[Sequence[str]],
    texts: Sequence[str],
) -> bool:
    """Tell whether a record keeps to what a question says must and must not be there."""

    def holds(word: Word) -> bool:
        return any(term in each for term in word.own for each in terms)

    return (
        all(any(find(text, (phrase,)) for text in texts) for phrase in question.phrases)
        and not any(find(text, question.excluded_phrases) for text in texts)
        and not any(holds(word) for word in question.excluded)
        and all(
            any(map(holds, group))
            for group in groups.values()
            if question.everything or any(word.required for word in group)
        )
    )


def found(store: Store, reaches: Sequence[Reach], question: Question, limit: int) -> list[Place]:
    hits: list[Hit] = []
    after: SearchPosition | None = None
    while True:
        page = store.search(SearchQuery(tuple(reaches), question, limit, after))
        assert len(page.hits) <= limit
        hits += page.hits
        if not page.has_more:
            break
        assert len(page.hits) == limit
        after = page.hits[-1].position
    for hit in hits:
        assert (hit.record.reach.connection_id, hit.record.id) == hit.position.handle[::2]
    assert page.ranked == len(hits)
    return [(-hit.position.score, -hit.position.time, hit.position.handle) for hit in hits]


@given(
    first=RECORDS,
    second=RECORDS,
    q=QUERIES,
    everything=st.booleans(),
    fields=SHOWN,
    time=st.none() | INTERVALS,
    size=st.none() | st.integers(0, 2),
    limit=st.integers(1, 4),
)
def test_hits_are_all_records_that_answer_in_the_one_order_of_their_visible_words(
    planner: Engine,
    first: dict[str, Data],
    second: dict[str, Data],
    q: str,
    everything: bool,
    fields: tuple[str, ...] | None,
    time: Interval | None,
    size: int | None,
    limit: int,
) -> None:
    question = ask(q, everything=everything)
    with fresh(planner) as world:
        world.settle(None, "c1", "c2")
        world.put(first, "c1")
        world.put(second, "c2")
        narrowed = world.reach("c1", fields=fields, time=time)
        if size is not None and narrowed.shows("size"):
            narrowed = narrowed.narrowed([condition(narrowed, "size", "eq", size)])
        whole = world.reach("c2")
        wanted = expected(world, [(narrowed, first), (whole, second)], question)
        assert found(world.store, [narrowed, whole], question, limit) == wanted
        while world.store.tend():
            pass
        assert found(world.store, [narrowed, whole], question, limit) == wanted


@FEWER
@given(
    st.lists(RECORDS, max_size=4), st.lists(st.sampled_from("abcdef"), max_size=3), QUERIES,
    st.booleans(),
)  # fmt: skip
def test_the_index_follows_every_edit_and_deletion(
    planner: Engine,
    batches: list[dict[str, Data]],
    deleted: list[str],
    q: str,
    tended: bool,
) -> None:
    with fresh(planner) as world:
        world.settle()
        kept: dict[str, Data] = {}
        for batch in batches:
            kept |= batch
            world.put(batch)
            while tended and world.store.tend():
                pass
        world.put(dict.fromkeys(deleted))
        left = {key: data for key, data in kept.items() if key not in deleted}
        reach = world.reach()
        assert found(world.store, [reach], ask(q), 9) == expected(world, [(reach, left)], ask(q))
        assert world.store.check() == []


@pytest.mark.parametrize(
    ("since", "until"),
    [
        (None, None),
        ("2026-01-09T00:00:00Z", None),
        ("2026-01-05T00:00:00Z", "2026-02-20T00:00:00Z"),
    ],
)
def test_a_word_in_a_part_of_a_large_block_is_found_in_all_of_it(
    world: World, monkeypatch: pytest.MonkeyPatch, since: str | None, until: str | None
) -> None:
    """Such words are kept as bits: of runs of them, of records that went, of two streams."""
    monkeypatch.setattr(index, "SPREAD_FROM", 8)
    for name in ("BLOCK_RECORDS", "MOST_WAITING"):
        monkeypatch.setattr(index, name, 64)
    read: list[int] = []
    joined = packing.joined_bits

    def counted(some: Sequence[bytes]) -> packing.BitPieces:
        read.append(len(some))
        return joined(some)

    monkeypatch.setattr(packing, "joined_bits", counted)
    world.settle(declare(), "c2")
    kept: dict[str, dict[str, Data]] = {}
    for connection, step in (("c1", 5), ("c2", 7)):
        kept[connection] = {
            f"{number:02}": {
                "subject": "pear" if number % 2 else "apple" * (number % 9 == 0),
                "body": "fig "
                + "apple " * (1 + (number % 20 == 0)) * (number % step == 0)
                # One word, but another term in each language, and both of them have bits.
                + "and this is what we have at the meeting of the house " * (number % 6 == 1)
                + "und das ist was wir bei dem meeting im haus nicht haben " * (number % 6 == 2),
                "at": f"2026-0{1 + number // 28}-{1 + number % 28:02}T00:00:00Z",
            }
            for number in range(56)
        }
        world.put(kept[connection], connection)
        while world.store.tend():
            pass
        for key in ("05", "10", "11"):
            world.put({key: None}, connection)
            del kept[connection][key]
    limits = [None if day is None else instant.parse(day) for day in (since, until)]
    time = Interval(*limits)
    reaches = [world.reach("c1", time=time), world.reach("c2")]
    seen = [(reach, kept[reach.connection_id]) for reach in reaches]
    questions = [ask(q) for q in ("apple", "apple pear", "apple -pear", "meeting")]
    # Asked again, common words are remembered; a write makes them forgotten.
    for asked in range(2):
        before = len(read)
        for question in questions:
            assert found(world.store, reaches, question, 40) == expected(world, seen, question)
        assert (len(read) > before) == (asked == 0)
    world.put({"20": None}, "c2")
    del kept["c2"]["20"]
    for question in questions:
        assert found(world.store, reaches, question, 40) == expected(world, seen, question)


@pytest.mark.parametrize("question", ["apple", "apple pear", "when was the apple pear", "app*"])
def test_a_search_is_forgotten_as_soon_as_it_is_answered(
    world: World, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """It has arrays with a number for every record, which must not wait for the collector."""
    world.put({f"{n:02}": {"subject": "apple", "body": "pear " * (n % 2)} for n in range(40)})
    made: list[weakref.ref[object]] = []

    def note(kind: type) -> None:
        begin = kind.__init__  # type: ignore[misc]

        def noted(self: object, *args: Any, **named: Any) -> None:
            made.append(weakref.ref(self))
            begin(self, *args, **named)

        monkeypatch.setattr(kind, "__init__", noted)

    for kind in (search.Searcher, refinement.Refinement, Visible, Ranking, Matches):
        note(kind)
    reach, asked = world.reach("c1"), ask(question)
    gc.collect()
    gc.disable()
    try:
        page = world.store.search(SearchQuery((reach,), asked, 2))
        assert len(page.hits) == 2
        assert len(made) >= 4
        assert not any(one() for one in made)
    finally:
        gc.enable()


def test_what_was_remembered_before_a_write_is_forgotten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else each write left some behind, and each search looked at all that ever were."""
    monkeypatch.setattr(index, "SPREAD_FROM", 8)
    world.put({f"{n:02}": {"subject": "apple", "body": "pear " * (n % 2)} for n in range(40)})
    while world.store.tend():
        pass
    made: list[weakref.ref[CommonPostings]] = []
    begin = CommonPostings.__init__

    def noted(self: CommonPostings) -> None:
        made.append(weakref.ref(self))
        begin(self)

    monkeypatch.setattr(CommonPostings, "__init__", noted)
    reach = world.reach("c1")
    for number in range(3):
        world.put({"01": {"subject": f"apple {number}"}})
        world.store.search(SearchQuery((reach,), ask("apple pear"), 2))
        left = [one() for one in made]
        assert [common.bytes > 0 for common in left if common is not None] == [True]
        del left


def test_reaches_that_were_searched_before_show_every_later_write(world: World) -> None:
    world.settle(declare(), "c2")
    mine, narrow = world.reach("c1"), world.reach("c2", fields=["subject"])
    kept: dict[str, dict[str, Data]] = {"c1": {}, "c2": {}}
    question = ask("apple pear")

    def check_hits(*reaches: Reach) -> None:
        seen = [(reach, kept[reach.connection_id]) for reach in reaches]
        assert found(world.store, reaches, question, 9) == expected(world, seen, question)

    writes: list[tuple[str, str, Data | None]] = [
        ("c1", "a", {"subject": "apple", "body": "pear"}),
        ("c2", "b", {"subject": "pear", "body": "apple"}),
        ("c1", "c", {"subject": "an apple and a pear"}),
        ("c1", "a", None),
        ("c1", "c", {"subject": "nothing of it"}),
        ("c2", "d", {"subject": "apple"}),
    ]
    for connection, key, data in writes:
        world.put({key: data}, connection)
        kept[connection].pop(key, None)
        if data is not None:
            kept[connection][key] = data
        check_hits(mine, narrow)
    while world.store.tend():
        check_hits(mine, narrow)
    check_hits(mine, world.reach("c2"))


def test_the_best_are_scored_once_where_no_conversation_is_shown(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put({"a": {"subject": "apple"}, "b": {"subject": "apple pear"}, "c": {"body": "plum"}})
    before = found(world.store, [world.reach()], ask("apple pear"), 9)
    assert [key for _, _, (_, _, key) in before] == ["b", "a"]
    monkeypatch.delattr(conversations, "rows_by_reach")
    monkeypatch.delattr(refinement, "spread")
    assert found(world.store, [world.reach()], ask("apple pear"), 9) == before


def test_nothing_outside_a_reach_moves_a_hit(world: World) -> None:
    world.settle(declare(), "c2")
    world.put({"a": {"subject": "apple", "body": "pear"}, "b": {"subject": "apple apple"}})
    reach = world.reach(fields=["subject"])
    before = found(world.store, [reach], ask("apple pear"), 9)
    world.put({str(n): {"subject": "apple apple", "body": "apple"} for n in range(50)}, "c2")
    world.put({"a": {"subject": "apple", "body": "apple apple apple"}})
    assert found(world.store, [reach], ask("apple pear"), 9) == before


def test_a_misspelt_word_is_read_as_visible_ones_only(world: World) -> None:
    world.put({"a": {"subject": "the plumber came", "body": "a plumbing bill"}})
    world.put({"b": {"subject": "plumbers", "note": "plumbet"}})
    page = world.store.search(SearchQuery((world.reach(),), ask("plubmer"), 5))
    assert {world.key(hit.record) for hit in page.hits} == {"a", "b"}
    assert page.repaired == {"plubmer": ("plumber",)}
    hidden = world.store.search(SearchQuery((world.reach(fields=["note"]),), ask("plubmer"), 5))
    assert (hidden.hits, hidden.repaired, hidden.suggested) == ((), {}, ())


def test_words_that_are_near_are_offered_where_nothing_is_found(world: World) -> None:
    world.put({"a": {"subject": "wardrobes and drawers"}})
    page = world.store.search(SearchQuery((world.reach(),), ask("+wardrboe"), 5))
    assert page.hits == ()
    assert page.suggested == ("wardrob",)


@pytest.mark.parametrize(
    ("quoted", "text"),
    [
        ("it's twins", "Guess what: it’s twins!"),
        ("we'll live with it", "A buzz, we'll live with it."),
        ("don't", "I don't know"),
        ("ครับผม", "สวัสดีครับผม"),
    ],
)
def test_a_phrase_is_found_whatever_the_index_drops_of_its_words(
    world: World, quoted: str, text: str
) -> None:
    world.put({"held": {"body": text}, "other": {"body": "it was twins, I know"}})
    page = world.store.search(SearchQuery((world.reach(),), ask(f'"{quoted}"'), 5))
    assert [world.key(hit.record) for hit in page.hits] == ["held"]


def test_the_newest_come_first_where_that_is_asked_for(world: World) -> None:
    world.put(
        {
            "old": {"subject": "apple apple", "at": "2026-01-01"},
            "new": {"body": "an apple among many other words", "at": "2026-02-01"},
        }
    )
    reach = world.reach()
    by_score = world.store.search(SearchQuery((reach,), ask("apple"), 5))
    by_time = world.store.search(SearchQuery((reach,), ask("apple"), 5, by_time=True))
    assert [world.key(hit.record) for hit in by_score.hits] == ["old", "new"]
    assert [world.key(hit.record) for hit in by_time.hits] == ["new", "old"]
    first = world.store.search(SearchQuery((reach,), ask("apple"), 1, by_time=True))
    second = world.store.search(
        SearchQuery((reach,), ask("apple"), 1, first.hits[-1].position, by_time=True)
    )
    assert [world.key(hit.record) for hit in (*first.hits, *second.hits)] == ["new", "old"]


NOTICE = "The backup of the computer in the workshop has finished. No file of it was left out."


def every_hit(world: World, q: str, limit: int) -> list[str]:
    """Return the keys of all hits of a question, read in pages."""
    seen: list[str] = []
    after: SearchPosition | None = None
    while after is not None or not seen:
        page = world.store.search(SearchQuery((world.reach(),), ask(q), limit, after))
        seen += [world.key(hit.record) for hit in page.hits]
        after = page.hits[-1].position if page.has_more else None
    return seen


COPIED = ("backup", "backup computer", "where is our backup of the computer")
LIMITS = (1, 3, 100)


@pytest.mark.parametrize(
    ("q", "limit"), [*(product(COPIED, LIMITS) if SOAK else zip(COPIED, LIMITS, strict=True))]
)
def test_copies_of_a_text_stand_behind_other_hits(world: World, q: str, limit: int) -> None:
    copies: dict[str, Data] = {
        f"copy{day:03}": {"body": NOTICE, "at": instant.to_text(instant.DAY * (20_000 + day // 2))}
        for day in range(90)
    }
    failed = f"Tonight {'much ' * 20}went wrong: the backup of the computer has 12 errors."
    world.put(copies | {"failed": {"body": failed, "at": "2019-01-01"}})
    # Two copies share each time, so that the key decides between them.
    newest = sorted(copies, key=lambda key: (-(int(key[4:]) // 2), key))
    assert every_hit(world, q, limit) == [newest[0], "failed", *newest[1:]]


LONG_COPIED = ("backup", "when was the backup of our computer finished")
DAYS = (500, 1)


@pytest.mark.parametrize(
    ("q", "days"), [*(product(LONG_COPIED, DAYS) if SOAK else zip(LONG_COPIED, DAYS, strict=True))]
)
def test_hundreds_of_copies_stand_behind_other_hits(world: World, q: str, days: int) -> None:
    copies: dict[str, Data] = {
        f"copy{number:03}": {"body": NOTICE, "at": instant.to_text(instant.DAY * (number % days))}
        for number in range(450)
    }
    failed = f"Tonight {'much ' * 20}went wrong: the backup of the computer has 12 errors."
    world.put(copies | {"failed": {"body": failed, "at": "1969-01-01"}})
    newest = sorted(copies, key=lambda key: (-(int(key[4:]) % days), key))
    hits = every_hit(world, q, 100)
    assert hits[:2] == [newest[0], "failed"]
    assert sorted(hits) == sorted([*copies, "failed"])
    assert every_hit(world, q, 7) == hits


def test_of_copies_that_are_too_many_to_be_compared_the_others_stand_behind_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpp.store.tables.search.hit_repeats._MOST_COMPARED", 50)
    copies: dict[str, Data] = {
        f"copy{day:03}": {"body": NOTICE, "at": instant.to_text(instant.DAY * (20_000 + day))}
        for day in range(300)
    }
    world.put(copies | {"other": {"body": f"A backup. {'Much ' * 30}", "at": "2019-01-01"}})
    assert every_hit(world, "backup", 10)[:2] == ["copy299", "other"]


def test_a_score_below_nothing_does_not_grow_by_a_repeat(world: World) -> None:
    asking = f"{NOTICE} Or is it still the same {'old ' * 40}?"
    world.put(
        {
            "a": {"body": asking, "at": "2026-03-03"},
            "b": {"body": asking, "at": "2026-03-02"},
        }
    )
    q = f"finished {' '.join(f'zyx{number}wvu' for number in range(40))}"
    page = world.store.search(SearchQuery((world.reach(),), ask(q), 5))
    assert [hit.record.id for hit in page.hits] == ["a", "b"]
    assert page.hits[0].position.score < 0
    assert page.hits[1].position.score <= page.hits[0].position.score


def test_a_short_text_that_looks_like_the_form_of_a_long_one_is_no_copy(world: World) -> None:
    short = f"pear\x015:{'0' * 64}"
    world.put({key: {"body": short, "at": f"2026-03-0{key}"} for key in "123"})
    hits = world.store.search(SearchQuery((world.reach(),), ask("pear"), 5)).hits
    assert len(short) < 80
    assert len({hit.position.score for hit in hits}) == 1
    assert [hit.record.id for hit in hits] == ["3", "2", "1"]


def test_a_copy_stays_where_it_is_if_it_says_something_else(world: World) -> None:
    other = "A backup of something else."
    world.put(
        {
            "a": {"body": NOTICE, "size": 1, "at": "2026-03-03"},
            "b": {"body": NOTICE, "size": 2, "at": "2026-03-02"},
            "c": {"body": NOTICE, "note": "hidden from search", "size": 2, "at": "2026-03-01"},
            "other": {"body": f"{other} {other} {other} {NOTICE}", "at": "2026-02-01"},
        }
    )
    assert every_hit(world, "finished", 5) == ["a", "b", "other", "c"]
    without_size = world.reach(fields=frozenset({"body", "at"}))
    hits = world.store.search(SearchQuery((without_size,), ask("finished"), 5)).hits
    assert [world.key(hit.record) for hit in hits] == ["a", "other", "b", "c"]
    by_time = SearchQuery((world.reach(),), ask("finished"), 5, by_time=True)
    assert [world.key(hit.record) for hit in world.store.search(by_time).hits] == [*"abc", "other"]


def test_short_texts_that_are_equal_stay_where_they_are(world: World) -> None:
    lesson = {"body": "lesson with the choir"}
    world.put({key: lesson | {"at": f"2026-03-0{key}"} for key in "321"})
    world.put({"about": {"body": "about that lesson, which I liked very much", "at": "2026-03-09"}})
    assert every_hit(world, "lesson", 5) == ["3", "2", "1", "about"]


def test_the_oldest_come_first_where_a_question_asks_for_that(world: World) -> None:
    letter = {"body": "a letter from the bank"}
    world.put(
        {
            "b": letter | {"at": "2026-02-01"},
            "c": letter | {"at": "2026-03-01"},
            "a": letter | {"at": "2026-01-01"},
            "undated": letter,
            "better": {"subject": "bank letter", "at": "2026-04-01"},
        }
    )
    reach = world.reach()
    for q in ("oldest letter from the bank", "first bank letter"):
        seen: list[str] = []
        after: SearchPosition | None = None
        for _ in range(5):
            [hit] = world.store.search(SearchQuery((reach,), ask(q), 1, after)).hits
            seen.append(world.key(hit.record))
            after = hit.position
        assert seen == ["better", "a", "b", "c", "undated"]
    newest = world.store.search(SearchQuery((reach,), ask("letter from the bank"), 5))
    assert [world.key(hit.record) for hit in newest.hits] == ["better", "c", "b", "a", "undated"]
    by_time = SearchQuery((reach,), ask("oldest letter from the bank"), 2, by_time=True)
    found = world.store.search(by_time).hits
    assert [world.key(hit.record) for hit in found] == ["better", "c"]


def test_a_record_whose_time_is_hidden_is_not_taken_for_the_oldest(world: World) -> None:
    letter = {"body": "a letter from the bank", "at": "2026-02-01"}
    world.settle(declare(), "c1", "c2")
    world.put({"a": letter})
    world.put({"b": letter}, "c2")
    reaches = (world.reach("c1", fields=["id", "body"]), world.reach("c2"))
    page = world.store.search(SearchQuery(reaches, ask("oldest letter from the bank"), 5))
    assert [hit.record.id for hit in page.hits] == ["b", "a"]


def test_first_and_last_are_not_looked_for_before_the_name_of_a_stream(world: World) -> None:
    world.put(
        {
            "early": {"body": "hello", "at": "2026-01-01"},
            "middle": {"body": "first and last of all", "at": "2026-02-01"},
            "late": {"body": "bye", "at": "2026-03-01"},
        }
    )

    def found(q: str) -> list[str]:
        hits = world.store.search(SearchQuery((world.reach(),), ask(q), 5)).hits
        return [world.key(hit.record) for hit in hits]

    assert found("my first messages") == ["early", "middle", "late"]
    assert found("last messages") == ["late", "middle", "early"]
    assert found("+first messages") == ["middle"]


@pytest.mark.parametrize("newest_first", [True, False])
def test_an_import_is_ranked_by_visible_times_in_whatever_order_it_came(
    world: World, newest_first: bool
) -> None:
    # Two records share each time, so that the key decides between them.
    times = [instant.DAY * (20_000 + number // 2) for number in range(1_500)]
    records: dict[str, Data] = {
        f"k{number:04}": {"body": "a harbour walk", "at": instant.to_text(time)}
        for number, time in enumerate(times)
    }
    best = "k1499"
    records[best]["subject"] = "harbour walk"
    hidden: dict[str, Data] = {
        f"h{number:04}": {"subject": "harbour walk", "at": "2019-01-01"} for number in range(1_500)
    }
    order = sorted(records, reverse=newest_first)
    for start in range(0, len(order), 500):
        world.put({key: records[key] for key in order[start : start + 500]})
        world.put(dict(list(hidden.items())[start : start + 500]))
    reach = world.reach(time=Interval(times[0], None))
    expected = sorted(records, key=lambda key: (key != best, -times[int(key[1:])], key))
    first = world.store.search(SearchQuery((reach,), ask("harbour walk"), 10))
    assert [world.key(hit.record) for hit in first.hits] == expected[:10]
    assert first.ranked == len(records)
    seen: list[str] = []
    after: SearchPosition | None = None
    while after is not None or not seen:
        page = world.store.search(SearchQuery((reach,), ask("harbour walk"), 100, after))
        seen += [world.key(hit.record) for hit in page.hits]
        after = page.hits[-1].position if page.has_more else None
    assert seen == expected
    latest = world.store.search(SearchQuery((reach,), ask("harbour"), 3, by_time=True))
    assert [world.key(hit.record) for hit in latest.hits] == ["k1498", best, "k1496"]


@pytest.mark.parametrize(
    ("q", "keys"),
    [
        ("apple before:2026-02-01", ["a"]),
        ("apple after:2026-01-31", ["b", "c"]),
        ("apple on:2026-02-10", ["b"]),
        ("on:yesterday", ["c"]),
        ("after:2026-02", []),
        ("apple in:messages", ["a", "b", "c"]),
        ("apple in:elsewhere", []),
    ],
)
def test_days_and_accounts_narrow_a_search(world: World, q: str, keys: list[str]) -> None:
    world.put(
        {
            "a": {"subject": "apple", "at": "2026-01-10"},
            "b": {"subject": "apple", "at": "2026-02-10"},
            "c": {"subject": "apple", "at": "2026-02-28"},
        }
    )
    page = world.store.search(SearchQuery((world.reach(),), ask(q), 5))
    assert sorted(world.key(hit.record) for hit in page.hits) == keys
    without_time = world.reach(fields=["subject"])
    hidden = world.store.search(SearchQuery((without_time,), ask(q), 5))
    assert sorted(world.key(hit.record) for hit in hidden.hits) == (keys if "in:" in q else [])


def test_a_record_of_a_named_day_is_found_without_any_of_the_words(world: World) -> None:
    world.put(
        {
            "a": {"subject": "a walk", "at": "2026-02-28T18:00:00Z"},
            "b": {"subject": "what happened", "at": "2026-01-10"},
        }
    )
    question = ask("what happened yesterday?")
    page = world.store.search(SearchQuery((world.reach(),), question, 5))
    assert [world.key(hit.record) for hit in page.hits] == ["b", "a"]
    assert page.hits[1].position.score == 350_000
    hidden = world.store.search(SearchQuery((world.reach(fields=["subject"]),), question, 5))
    assert [world.key(hit.record) for hit in hidden.hits] == ["b"]


def test_a_long_list_of_equals_is_paged_without_gap_or_repeat(world: World) -> None:
    keys = [f"{number:03}" for number in range(60)]
    world.put({key: {"subject": "apple"} for key in keys})
    places = found(world.store, [world.reach()], ask("apple"), 7)
    assert [place[2][2] for place in places] == keys
    assert all(one < other for one, other in pairwise(places))


def test_a_stream_without_searchable_fields_has_no_hits(world: World) -> None:
    world.settle(declare(stream(query={}), key="plain"), "c2")
    world.put({"a": {"subject": "apple"}}, "c2")
    page = world.store.search(SearchQuery((world.reach("c2"),), ask("apple"), 5))
    assert (page.hits, page.ranked) == ((), 0)


@pytest.mark.parametrize("value", [None, 7, ["apple"], ""])
def test_what_is_not_text_is_not_searched(world: World, value: object) -> None:
    world.put({"a": {"subject": value}})
    assert found(world.store, [world.reach()], ask("apple"), 5) == []


def test_a_prefix_that_is_a_term_by_itself_finds_a_record_once(world: World) -> None:
    # Of so many records that those which match are kept by their numbers.
    texts = {f"k{at}": {"subject": "something else"} for at in range(300)}
    world.put({**texts, "a": {"subject": "invoice"}})
    page = world.store.search(SearchQuery((world.reach(),), ask("invoic*"), 5))
    assert ([hit.record.id for hit in page.hits], page.ranked) == (["a"], 1)


@contextmanager
def no_collector() -> Iterator[None]:
    """Switch off the collector of cycles, which would hide a snapshot that is held too long."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize(
    "query", ["kelp", "kelp tide", '"kelp tide" drift', "ke* ti*", "kelp nothing"]
)
def test_a_search_holds_its_snapshot_no_longer_than_it_takes(world: World, query: str) -> None:
    world.put({f"k{n}": {"body": f"kelp tide drift {n}"} for n in range(40)})
    reach = world.reach()
    with no_collector():
        for limit in (1, 100):
            with world.store.reading():
                world.store.search(SearchQuery((reach,), ask(query), limit))
            before = world.store.count(reach)
            world.put({f"more{limit}": {"body": "one more"}})
            assert world.store.count(reach) == before + 1


def test_of_many_equal_hits_only_those_of_the_page_are_read(world: World) -> None:
    said = {"body": f"kelp {'tide ' * 4_000}", "at": "2026-03-02T00:00:00Z"}
    world.put({f"k{number:03}": {"id": f"k{number:03}", **said} for number in range(150)})
    reach = world.reach(fields=("id", "body"))
    read: list[int] = []
    database = database_of(world.store)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(database), "count_bytes", lambda _, size: read.append(size))
        page = world.store.search(SearchQuery((reach,), ask("kelp"), 5))
    assert [hit.record.id for hit in page.hits] == [f"k{number:03}" for number in range(5)]
    assert sum(read) < 12 * len(said["body"])
    found, after = 0, None
    while True:
        page = world.store.search(SearchQuery((reach,), ask("kelp"), 40, after))
        found += len(page.hits)
        if not page.has_more:
            break
        after = page.hits[-1].position
    assert found == 150


def count_kept(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how many long texts are in memory at each time that one is read."""
    kept: list[int] = []
    read = RecordsRead._read

    def counting(records: RecordsRead, *asked: Any) -> Any:
        kept.append(len(records._values))
        return read(records, *asked)

    monkeypatch.setattr(RecordsRead, "_read", counting)
    return kept


def test_texts_are_given_up_one_by_one_while_a_phrase_is_looked_for(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put({f"k{number}": {"body": "moss and tide " * 1_000} for number in range(5)})
    kept = count_kept(monkeypatch)
    assert world.store.search(SearchQuery((world.reach(),), ask('"moss and tide"'), 9)).ranked == 5
    assert kept[:5] == [0] * 5


@pytest.mark.parametrize("asked", ["moss tide", "mos* tide"])
def test_few_long_texts_are_in_memory_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    for module in (part_words, visible_block):
        monkeypatch.setattr(module, "MOST_CHARS", 20_000)
    world.put({f"k{number}": {"body": f"moss and tide {number} " * 900} for number in range(30)})
    kept = count_kept(monkeypatch)
    reach = world.reach(keys=[f"k{number}" for number in range(25)])
    assert world.store.search(SearchQuery((reach,), ask(asked), 3)).ranked == 25
    assert max(kept) <= 2


def test_the_long_texts_of_a_page_of_hits_are_read_one_after_another(world: World) -> None:
    long = 1 << 20
    world.put({f"k{number}": {"body": f"{number} moss " * (long // 8)} for number in range(16)})
    tracemalloc.start()
    try:
        with world.store.reading():
            page = world.store.search(SearchQuery((world.reach(),), ask("moss"), 16))
            sizes = [len(hit.record.data) for hit in page.hits]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(sizes) == 16
    assert min(sizes) > long // 2
    assert peak < 10 * long
