"""The ranking, slow and from visible rows alone: every text is gone through for every question.

What a question means (its words, stems, weights, days) follows from the question and from public
tables. What matches and how well follows from the rows that are given, and from nothing else.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date
from decimal import Decimal
from functools import cache
from itertools import pairwise, zip_longest
from typing import Any

from tests.promises.reference.embedder import nearness
from tests.promises.reference.world import TEXT, Feed, Row

from pdpp.evidence.analyse import Phrase, find, phrase_of
from pdpp.evidence.language.asked_word import Word, word_in_any_language
from pdpp.evidence.language.order_words import PLACE_WORDS, Order
from pdpp.evidence.language.question import Question, parse_question
from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.stop_words import STOP_WORDS
from pdpp.evidence.language.tables import common_words, frequencies, weight
from pdpp.evidence.language.terms import pieces, terms_of, without_words
from pdpp.evidence.language.when import Moment
from pdpp.evidence.language.word_parts import part_terms, ways_apart
from pdpp.model import instant
from pdpp.store.ranking.days import instant_of, stretches
from pdpp.store.ranking.nearest import ENDINGS
from pdpp.store.ranking.score import (
    ACTOR_BONUS,
    DATE_HELD,
    DATE_WORD,
    FURTHER_KIND,
    FURTHER_NAME,
    KIND_BONUS,
    NAME_NORM,
    NAME_PART,
)

_ROLES = {"primary-title": 0, "body": 1}
_NEAR = (0.4, 0.16)
_REPLY = 0.6
_LENT = (0.7, 0.5)
_DEMAND = re.compile(
    r"""(?:^|\s)(?:
        [+-]?"[^"]*\w[^"]*"     # words between quotes stand together, or must not
        | [+-]\w               # a word that must be there, or must not
        | (?:from|with):"?\w   # whose it is
    )""",
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(slots=True)
class Candidate:
    """A visible record as the ranking sees it: its texts, its actors, and when it was."""

    feed: Feed
    row: Row
    texts: dict[str, str] = field(default_factory=dict)
    impacts: list[dict[str, int]] = field(default_factory=list)
    """For each text that is no name, how strongly it holds each of its terms."""
    actors: frozenset[str] = frozenset()
    time: int | None = None
    units: list[float] = field(default_factory=list)
    value: float = 0.0
    answers: bool = False
    oldest_first: bool = False

    @property
    def terms(self) -> set[str]:
        return {term for impacts in self.impacts for term in impacts} | self.actors

    @property
    def place(self) -> tuple[float, float, tuple[str, str, str]]:
        """Return where a hit stands: the best first, then the newest, then by handle."""
        handle = (self.feed.connection_id, self.feed.stream, self.row.id)
        if self.oldest_first:
            return -self.value, math.inf if self.time is None else self.time, handle
        return -self.value, -(self.time or 0), handle


def ranked(
    feeds: Sequence[Feed],
    text: str,
    params: Mapping[str, str],
    meeting: Mapping[int, set[str]],
    today: str,
    mode: str = "search",
) -> dict[str, Any]:
    """Return the hits of a question in their order; ``meeting`` are the ids that filters allow."""
    everything = params.get("match") == "all"
    demanding = demands(text, everything=everything)
    question = parse_question(text, date.fromisoformat(today), everything=everything)
    named = [feed for feed in feeds if all(_is_in(feed, name) for name in question.accounts)]
    rows = [one for feed in named for one in _candidates(feed) if _in_days(one, question)]
    asked, question = question, question.read_as_words(_empty_moments(rows, question))
    repaired: dict[str, list[str]] = {}
    asked_units = _without_places(_units(question.words), rows, question)
    units = [_meant(unit, rows, repaired) for unit in asked_units]
    names, norm, of_names = [_is_name(unit, rows) for unit in units], 0.0, 0.0
    for unit, name in zip(units, names, strict=True):
        weight_of = max(word.weight for word in unit)
        of_names += weight_of if name else 0.0
        norm += weight_of if not name and not unit[0].moment else 0.0
    norm = norm + NAME_NORM * of_names if norm else max(of_names, 5.0)
    listing = _asks_for_streams(question, units, rows)
    scored = [] if listing and question.order is not None else units
    for unit, name in zip(units, names, strict=True):
        for one in rows if scored else ():
            _score(
                one,
                unit,
                NAME_PART if name else 1.0,
                _most_of_date(unit[0]) * norm if unit[0].moment else None,
            )
    for one in rows:
        one.value = sum(one.units) / norm
        borne = sum(_bears(one, unit) for unit in units)
        one.value += ACTOR_BONUS + FURTHER_NAME * (borne - 1) if borne else 0.0
        called = sum(_called(one.feed, unit) for unit in units)
        one.value += KIND_BONUS if called else 0.0
        one.value += FURTHER_KIND if called > 1 else 0.0
        bonus = _bonus(one, question)
        one.value += bonus
        one.answers = one.answers or bonus > 0 or borne > 0 or (listing and called > 0)
    vocabulary = _vocabulary(rows)
    excluded = [_spelled_out(word, vocabulary) for word in question.excluded]
    allowed = [one for one in rows if _allowed(one, question, units, excluded)]
    allowed = [one for one in allowed if one.row.id in meeting[id(one.feed)]]
    days = [instant.to_text(one.time) for one in allowed if one.time is not None]
    months = Counter(day[:7] for day in days)
    by_time = params.get("sort") == "time"
    by_words = {id(one): one.value for one in rows}
    if not by_time and (len(scored) > 1 or question.answer is not None):
        allowed = _refined(rows, allowed, question, scored, norm, meeting, demanding)
    if not by_time and mode != "search":
        meant = _without_actors(question.untimed or question.text, scored, rows)
        allowed = _by_meaning(rows, allowed, by_words, meant, mode, meeting, demanding)
    for one in allowed:
        one.value = 0.0 if by_time else one.value
        one.oldest_first = question.order is Order.OLDEST and not by_time
    allowed.sort(key=lambda one: one.place)
    if not by_time:
        _put_repeats_back(allowed)
        allowed.sort(key=lambda one: one.place)
    hits = [_hit(one, asked, repaired) for one in allowed]
    return {"hits": hits, "repaired": repaired, "months": dict(months)}


def _put_repeats_back(hits: Sequence[Candidate]) -> None:
    """Let a hit count half that has the score of one before it and says the same."""
    seen = set()
    for one in hits:
        said = (id(one.feed), round(1_000_000 * one.value), _said(one))
        if sum(len(text.encode(errors="replace")) for text in one.texts.values()) < 80:
            continue
        if said in seen:
            one.value = min(one.value, 0.5 * one.value)
        seen.add(said)


def _said(one: Candidate) -> str:
    """Return the shown texts that are searched, the names of actors and the numbers of a row."""
    roles = {name: s.get("x_pdpp_role") for name, s in one.feed.declared["properties"].items()}
    data = one.row.data
    names = [data.get(name) for name in sorted(roles) if roles[name] == "actor"]
    numbers = [
        (name, str(value))
        for name, value in sorted(data.items())
        if isinstance(value, int | float | Decimal) and name not in one.feed.declared["primary_key"]
    ]
    return repr((one.texts, names, numbers))


def _most_of_date(word: Word) -> float:
    """Return what a word of a date is worth at most, or the whole date."""
    return DATE_HELD if " " in word.terms[0][0] else DATE_WORD


def _is_in(feed: Feed, name: str) -> bool:
    """Tell whether ``in:`` means a stream or its account: by their names, or a part of a label."""
    wanted = name.casefold()
    exact = feed.connection_id, feed.connector_key, feed.stream
    loose = feed.display_name, feed.declared["label"]
    return wanted in [text.casefold() for text in exact] or any(
        wanted in text.casefold() for text in loose
    )


def _candidates(feed: Feed) -> list[Candidate]:
    properties, lexical = feed.declared["properties"], feed.declared["lexical"]
    roles = {name: schema.get("x_pdpp_role") for name, schema in properties.items()}
    actors = [n for n, role in roles.items() if role == "actor" and feed.kinds[n] == TEXT]
    named = sorted(lexical, key=lambda name: (_ROLES.get(roles[name], 2), name))
    found = []
    for row in feed.rows:
        one = Candidate(feed, row)
        for name in named:
            if isinstance(row.data.get(name), str):
                one.texts[name] = row.data[name]
                if name not in actors:
                    one.impacts.append(_impacts(row.data[name]))
        names = (row.data.get(name) for name in actors)
        one.actors = frozenset(t for name in names if isinstance(name, str) for t in _terms(name))
        if feed.timed_by is not None and row.data.get(feed.timed_by) is not None:
            one.time = instant.parse(row.data[feed.timed_by])
        found.append(one)
    return found if lexical or actors else []


@cache
def _terms(text: str) -> tuple[str, ...]:
    """Return the terms of a text, which follow from the text alone."""
    return tuple(terms_of(text))


@cache
def _pieces(text: str) -> tuple[str, ...]:
    return tuple(pieces(text))


def _impacts(text: str) -> dict[str, int]:
    """Return how strongly a text holds each term: more for more often, less in a long text."""
    terms = _terms(text)
    damping = 0.9 * (0.6 + 0.4 * len(terms) / 30)
    return {term: round(255 * n / (n + damping)) or 1 for term, n in Counter(terms).items()}


def _units(words: Sequence[Word]) -> list[list[Word]]:
    groups: dict[object, list[Word]] = {}
    for at, word in enumerate(words):
        groups.setdefault(word.group or ("alone", at), []).append(word)
    return list(groups.values())


def _without_places(
    units: list[list[Word]], rows: Sequence[Candidate], question: Question
) -> list[list[Word]]:
    """Return the words without "first" and "last" where the next one names a stream."""
    kept = []
    for at, unit in enumerate(units):
        word, after = unit[0], [word for next_one in units[at + 1 : at + 2] for word in next_one]
        plain = len(unit) == 1 and not (word.prefix or word.required or word.moment)
        place = plain and word.text in PLACE_WORDS and not question.everything
        if not place or not any(_called(one.feed, after) for one in rows):
            kept.append(unit)
    return kept


def _meant(
    unit: Sequence[Word], rows: Sequence[Candidate], repaired: dict[str, list[str]]
) -> list[Word]:
    """Return words with their prefixes spelled out, and misspelt ones repaired, if visible."""
    vocabulary = _vocabulary(rows)
    held = vocabulary | {term for one in rows for term in one.actors}
    meant = [_spelled_out(word, vocabulary) for word in unit]
    known = any(term in held or _stands_apart(term, rows) for word in meant for term in word.own)
    word = meant[0]
    if known or len(meant) > 1 or word.prefix is not None or word.required or word.moment:
        return meant
    if word.text in common_words():
        return meant
    for way in map(" ".join, ways_apart(word.text)):
        if any(_strength(one, {way}, further=0) for one in rows):
            repaired[word.text] = [way]
            return [word._replace(terms=((way, 0.8 * word.weight),), guesses=())]
    if word.has_meaning or any(term in frequencies("en") for term, _ in word.terms):
        return meant  # spelled right, and nowhere to be seen
    near = (_nearest(word.terms[0][0], vocabulary) or _nearest_forms(word, vocabulary))[:2]
    if not near:
        return meant
    repaired[word.text] = near
    table = frequencies("en")
    terms = tuple((t, weight(table[t]) if t in table else 0.5 * word.weight) for t in near)
    return [word._replace(terms=terms, guesses=())]


def _stands_apart(term: str, rows: Sequence[Candidate]) -> bool:
    """Tell whether a row holds all parts of a term that is written apart."""
    return " " in term and any(_strength(one, {term}, further=0) for one in rows)


def _vocabulary(rows: Sequence[Candidate]) -> set[str]:
    return {term for one in rows for impacts in one.impacts for term in impacts}


def _spelled_out(word: Word, vocabulary: set[str]) -> Word:
    """Return a word that is a prefix with the words of visible texts that begin so."""
    if word.prefix is None:
        return word
    begun = sorted(term for term in vocabulary if term.startswith(word.prefix))[:200]
    return word._replace(terms=word.terms + tuple((t, word.weight) for t in begun))


def _nearest(term: str, vocabulary: set[str]) -> list[str]:
    """Return the visible terms nearest to a misspelt one."""
    if len(term) < 4 or any(letter.isdecimal() for letter in term):
        return []
    most = 2 if len(term) >= 8 else 1
    cuts = [len(term) * at // (most + 1) for at in range(most + 2)]
    parts = {term[a:b] for a, b in pairwise(cuts)}
    near = []
    for other in vocabulary:
        if any(part in other for part in parts):
            edits = _distance(term, other)
            if 0 < edits <= most:
                one, two = _trigrams(term), _trigrams(other)
                near.append((edits, -len(one & two) / len(one | two), other))
    return [other for _, _, other in sorted(near)]


def _nearest_forms(word: Word, vocabulary: set[str]) -> list[str]:
    """Return the visible terms of which some form is near to a word as it was written."""
    text = word.text
    if len(word.terms[0][0]) < 4 or any(letter.isdecimal() for letter in word.terms[0][0]):
        return []
    near = []
    for term in vocabulary:
        if not term.startswith(text[:3]):
            continue
        forms = [
            term + ending
            for ending in ENDINGS
            if term in (stems_of("en")[term + ending], stems_of("de")[term + ending])
        ]
        edits = min((_distance(text, form) for form in forms), default=9)
        if edits <= (2 if len(text) >= 8 else 1):
            one, two = _trigrams(text), _trigrams(term)
            near.append((edits, -len(one & two) / len(one | two), term))
    return [term for _, _, term in sorted(near)]


@cache
def _distance(one: str, other: str) -> int:
    """Return how many letters differ; two neighbours that changed places count once."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            same = one[i - 1] == other[j - 1]
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (not same)
            )
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


def _trigrams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}


def _is_name(unit: Sequence[Word], rows: Sequence[Candidate]) -> bool:
    """Tell whether a visible row is by somebody, or in a stream, that a word names."""
    return any(_bears(one, unit) or _called(one.feed, unit) for one in rows)


def _asks_for_streams(
    question: Question, units: Sequence[Sequence[Word]], rows: Sequence[Candidate]
) -> bool:
    """Tell whether a question names streams and nothing else: what is in them answers it."""
    if question.everything or question.moments or not units:
        return False
    return all(
        not any(word.required for word in unit) and any(_called(one.feed, unit) for one in rows)
        for unit in units
    )


def _bears(one: Candidate, unit: Sequence[Word]) -> bool:
    """Tell whether a word names the actor, as it is asked for or as a name by itself is kept."""
    return any(one.actors & {*(term for term, _ in word.terms), *_kept(word)} for word in unit)


def _kept(word: Word) -> list[str]:
    terms = _terms(word.text)
    return list(terms) if len(terms) == 1 and word.prefix is None and not word.moment else []


def _called(feed: Feed, unit: Sequence[Word]) -> bool:
    """Tell whether a word names a stream or its account."""
    called = f"{feed.stream} {feed.declared['label']} {feed.display_name}"
    stems = stems_of("en")
    names = {stems[word] for word in _pieces(called) if word not in STOP_WORDS}
    return any(term in names for word in unit for term in word.same)


def _empty_moments(rows: Sequence[Candidate], question: Question) -> set[int]:
    """Return the numbers of the times in which no visible record happened."""
    return {
        number
        for number, moment in enumerate(question.moments, start=1)
        if not any(_gains(one, moment) for one in rows)
    }


def _score(one: Candidate, unit: Sequence[Word], part: float, most: float | None) -> None:
    """Give a row what it gets for one asked word: by its best term, its fields taken together."""
    best, itself = 0.0, False
    for word in unit:
        for terms in (word.terms, word.guesses):
            apart = [({term}, each) for term, each in terms if " " in term]
            whole = [(term, each) for term, each in terms if " " not in term]
            for alike, each in [
                *apart,
                *(({t for t, w in whole if w == each}, each) for each in {w for _, w in whole}),
            ]:
                strength = _strength(one, alike, further=0.25)
                best = max(best, strength * (part * each / 255))
                itself = itself or strength > 0
        for term, each in word.related if part == 1.0 else ():
            best = max(best, _strength(one, {term}, further=0.0) * (part * each / 255))
    best = min(best, part * max(word.weight for word in unit))
    one.units.append(best if most is None else min(best, most))
    one.answers = one.answers or itself or best > 0


def _strength(one: Candidate, terms: set[str], *, further: float) -> float:
    """Return how strongly a row holds some terms that are one word, or all parts of a word."""
    parts = [part for term in terms if " " in term for part in term.split()]
    if parts:
        return min(_strength(one, set(part_terms(part)), further=0.0) for part in parts)
    strength = 0.0
    for impacts in one.impacts:
        impact = max(impacts.get(term, 0) for term in terms)
        strength = max(strength, impact) + further * min(strength, impact)
    return strength


def _in_days(one: Candidate, question: Question) -> bool:
    if question.since is None and question.until is None:
        return True
    if one.feed.timed_by is None or one.time is None:
        return False
    after = question.since is None or one.time >= instant_of(question.since, UTC)
    return after and (question.until is None or one.time < instant_of(question.until, UTC))


def _bonus(one: Candidate, question: Question) -> float:
    """Return what a row gets for having happened when the question says."""
    return max((_gains(one, moment) for moment in question.moments), default=0.0)


def _gains(one: Candidate, moment: Moment) -> float:
    if one.time is None:
        return 0.0
    around = stretches(moment, UTC, one.time, one.time)
    return max((more for start, end, more in around if start <= one.time < end), default=0.0)


def _allowed(
    one: Candidate,
    question: Question,
    units: Sequence[Sequence[Word]],
    excluded: Sequence[Word],
) -> bool:
    """Tell whether a row answers and keeps to what the question demands."""
    named = question.actors or question.since or question.until
    bare = not (question.words or question.moments)
    demanded = question.phrases or any(word.required for word in question.words)
    if not (one.answers or (named and bare) or demanded):
        return False
    for unit in units:
        asked = question.everything and not unit[0].moment
        if asked or any(word.required for word in unit):
            own = any(_strength(one, {t}, further=0) for word in unit for t in word.own)
            if not own and not any(_holds(one, word) for word in unit):
                return False
    texts = one.texts.values()
    return (
        all(any(find(text, (phrase,)) for text in texts) for phrase in question.phrases)
        and not any(find(text, question.excluded_phrases) for text in texts)
        and not any(_holds(one, word) for word in excluded)
        and all(_by(one, names) for names in question.actors)
    )


def _holds(one: Candidate, word: Word) -> bool:
    if word.prefix is not None:
        return any(term in one.terms for term in word.own)
    return any(term in one.terms for term, _ in word_in_any_language(word.text).terms)


def _by(one: Candidate, names: Sequence[str]) -> bool:
    return all(any(t in one.actors for t, _ in word_in_any_language(name).terms) for name in names)


def _refined(
    rows: Sequence[Candidate],
    hits: list[Candidate],
    question: Question,
    units: Sequence[Sequence[Word]],
    norm: float,
    meeting: Mapping[int, set[str]],
    demanding: bool,
) -> list[Candidate]:
    """Let rows have a part of what their visible neighbours in a conversation say."""
    pairs: set[tuple[int, int, int]] = set()
    at_of = {id(one): at for at, one in enumerate(rows)}
    if len(units) > 1:
        for one in hits:
            pairs |= _neighbours(at_of[id(one)], rows)
    own = [list(one.units) for one in rows]
    for at, name in _called_by_name(rows, pairs, units):
        own[at][name] = 0.0
    raised = [list(held) for held in own]
    for here, there, step in pairs:
        first, last = (here, there) if step > 0 else (there, here)
        back = on = _NEAR[abs(step) - 1]
        if abs(step) == 1 and _asks(rows[first]):
            on = _REPLY
        for at in range(len(own[here])):
            raised[first][at] = max(raised[first][at], back * own[last][at])
            raised[last][at] = max(raised[last][at], on * own[first][at])
    talking = {id(rows[at]) for here, there, _ in pairs for at in (here, there)}
    found = list(hits)
    for at, one in enumerate(rows):
        more = sum((a - b) / norm for a, b in zip(raised[at], one.units, strict=True))
        one.value += more
        allowed = one.row.id in meeting[id(one.feed)]
        if more > 0 and one not in hits and not demanding and allowed:
            found.append(one)
    for one in found:
        texts = [text[:4_000] for text in one.texts.values()]
        if question.answer is not None and one.value > 0.05:
            one.value += 0.06 * any(question.answer.search(text) for text in texts)
        if id(one) in talking:
            size = sum(len(text.encode(errors="replace")) for text in texts)
            one.value -= 0.07 * max(0.0, 1 - size / 80)
        one.value -= 0.03 * _asks(one)
    return found


def _called_by_name(
    rows: Sequence[Candidate], pairs: set[tuple[int, int, int]], units: Sequence[Sequence[Word]]
) -> set[tuple[int, int]]:
    """Return the rows that speak to the one person asked for, who speaks near, and the names."""
    names = [at for at, unit in enumerate(units) if any(_bears(one, unit) for one in rows)]
    if not any(all(_bears(one, units[at]) for at in names) for one in rows):
        return set()
    theirs = {at for at, one in enumerate(rows) if any(_bears(one, units[n]) for n in names)}
    near = {here for here, there, _ in pairs if there in theirs}
    near |= {there for here, there, _ in pairs if here in theirs}
    every = [phrase_of(word.text, "") for name in names for word in units[name]]
    written = [phrase for phrase in every if phrase is not None]
    return {(at, name) for at in near if _sets_off(rows[at], written) for name in names}


def _sets_off(one: Candidate, names: Sequence[Phrase]) -> bool:
    """Tell whether a name ends a line, or a mark follows it that joins it with nothing."""
    for text in (text[:4_000] for text in one.texts.values()):
        for place in find(text, names):
            after = text[place.end :].split("\n", 1)[0].strip()
            if not after or not (after[0].isalnum() or after[0] in "_'’&/@+(-"):
                return True
    return False


def _asks(one: Candidate) -> bool:
    return any(text[:4_000].rstrip().endswith("?") for text in one.texts.values())


def demands(text: str, *, everything: bool) -> bool:
    """Tell whether a question says what must be there or must not, as its asker wrote it.

    So a neighbour in a conversation, or a text that is only near in meaning, is no hit by itself.
    """
    return everything or _DEMAND.search(text) is not None


def texts_of_meaning(feed: Feed, row: Row) -> list[tuple[str, str]]:
    """Return the shown texts of a row that are compared by meaning, with their fields."""
    names = [name for name in feed.declared["semantic"] if name in feed.declared["lexical"]]
    values = [(name, row.data.get(name)) for name in names]
    return [(name, text) for name, text in values if isinstance(text, str) and text.strip()]


def _without_actors(text: str, units: Sequence[Sequence[Word]], rows: Sequence[Candidate]) -> str:
    """Return a question without the names of visible actors: no text says who speaks."""
    names = {word.text for unit in units if any(_bears(one, unit) for one in rows) for word in unit}
    return without_words(text, names) or text


def _by_meaning(
    rows: Sequence[Candidate],
    hits: Sequence[Candidate],
    by_words: Mapping[int, float],
    text: str,
    mode: str,
    meeting: Mapping[int, set[str]],
    demanding: bool,
) -> list[Candidate]:
    """Order rows by how near their shown texts are: these alone, or beside their words."""
    near = {
        id(one): max((nearness(text, t) for _, t in texts_of_meaning(one.feed, one.row)), default=0)
        for one in rows
    }
    nearby = [one for one in rows if near[id(one)] > 0 and one.row.id in meeting[id(one.feed)]]
    if mode == "semantic":
        kept = [one for one in nearby if one in hits] if demanding else nearby
        for one in kept:
            one.value = near[id(one)]
        return kept
    more = [one for one in nearby if one not in hits and not demanding]
    for one in more:
        one.value = by_words[id(one)]
    at_of = {id(one): at for at, one in enumerate(rows)}
    for one in (*hits, *more):
        around = _neighbours(at_of[id(one)], rows)
        lent = [_LENT[abs(step) - 1] * near[id(rows[there])] ** 2 for _, there, step in around]
        one.value += max(near[id(one)] ** 2, *lent, 0.0)
    return [*hits, *more]


def _neighbours(at: int, rows: Sequence[Candidate]) -> set[tuple[int, int, int]]:
    """Return the visible rows up to two places before and after one, and how many after."""
    one = rows[at]
    thread = one.feed.declared["thread"]
    name = one.row.data.get(thread) if thread is not None else None
    if name is None or one.feed.timed_by is None or one.feed.listed:
        return set()
    line = [
        (other.time, _ordinal(other), other.row.order, there)
        for there, other in enumerate(rows)
        if other.feed is one.feed
        and other.row.data.get(thread) == name
        and (other.time is not None or there == at)
    ]
    line.sort(key=lambda item: (item[0] is not None, item[0] or 0, *item[1:3]))
    here = next(n for n, item in enumerate(line) if item[3] == at)
    return {
        (at, line[here + step][3], step) for step in (-2, -1, 1, 2) if 0 <= here + step < len(line)
    }


def _ordinal(one: Candidate) -> int:
    """Return the number that the key of a row ends in, if the caller sees keys."""
    key = one.row.id if one.feed.keyed else ""
    digits = key[len(key.rstrip("0123456789")) :]
    return int(digits[-18:] or 0)


def _begins(prefix: str, one: Candidate, held: Iterable[str]) -> bool:
    """Tell whether a term of a record begins so, or a word as written: "is" stands as "be"."""
    written = (Phrase((prefix,), True),)
    as_written = any(find(text, written) for text in one.texts.values())
    return as_written or any(term.startswith(prefix) for term in held)


def _hit(
    one: Candidate, question: Question, repaired: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    held = {term for text in one.texts.values() for term in _terms(text)}
    written = {word for text in one.texts.values() for word in _pieces(text)}
    matched: list[str] = []
    missing: list[str] = []
    for word, next_word in zip_longest(question.words, question.words[1:]):
        terms = {*word.own, *repaired.get(word.text, ())}
        is_place = word.text in PLACE_WORDS and next_word is not None
        naming = [word, next_word] if is_place else [word]
        ways = [map(part_terms, term.split()) for term in terms if " " in term]
        if (
            any(all(held.intersection(part) for part in way) for way in ways)
            or terms & held
            or (word.prefix is None and word.text in written)
            or (word.prefix is not None and _begins(word.prefix, one, held))
        ):
            matched.append(word.text)
        elif not word.moment and " " not in word.text and not _called(one.feed, naming):
            # A record of a named day or stream need not spell it out, and a date is told by its
            # words.
            missing.append(word.text)
    return {
        "id": one.row.id,
        "connection_id": one.feed.connection_id,
        "stream": one.feed.stream,
        "emitted_at": one.row.emitted_at,
        "matched": matched,
        "missing": missing,
        "place": one.place,
    }
