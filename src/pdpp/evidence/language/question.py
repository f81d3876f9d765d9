"""Questions: what a person or an agent types into a search, as one parsed value.

Plain words are ranked, any of them counts. ``"a phrase"`` and ``+word`` must be there, ``-word``
must not, ``word*`` is a prefix, ``OR`` joins words of which one is enough. ``from:`` and ``with:``
name an actor, ``in:`` an account or a stream, ``before:``, ``after:`` and ``on:`` a day.
"""

import re
from collections.abc import Container, Iterable, Sequence
from datetime import date
from typing import NamedTuple, TypeVar

from pdpp.evidence.analyse import Phrase, phrase_of
from pdpp.evidence.language.asked_word import PREFIX_WEIGHT, Word, asked_words, word_in_any_language
from pdpp.evidence.language.calendar_words import MONTHS
from pdpp.evidence.language.clock import with_plain_clocks
from pdpp.evidence.language.order_words import ORDER_WORDS, Order, order_asked
from pdpp.evidence.language.stop_words import STOP_WORDS
from pdpp.evidence.language.tables import RARE, weight
from pdpp.evidence.language.terms import pieces
from pdpp.evidence.language.when import Moment, Unit, day_named, moments
from pdpp.evidence.language.word_parts import date_apart
from pdpp.model.errors import InvalidRequest

_Asked = TypeVar("_Asked")

MAX_QUESTION_CHARS = 2_000
MOST_WORDS = 64
"""Words that are ranked by; of a longer question the ones that tell most."""

_NAMED = re.compile(r"\b(?:IT|US|WHO)\b(?!['’])|\b[Ww]ill(?=['’]s\b)|(?<=[a-z,] )Will\b(?!['’])")
"""Words that hold a question together, written so that they name something or somebody. A capital
letter tells that only inside a sentence: "the mail from Will"."""
_MOST = re.compile(r"\bmost\s+(?=recent\b)", re.IGNORECASE)
"""What belongs to a word that asks for an order."""
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.\w{2,}[.,;?!]?")
"""Of an address no part is a word of a sentence: "me@example.org", "bo@example.org"."""
_QUOTES = '"“”„‟＂'
_PART = re.compile(
    rf"(?P<sign>[+-])?(?:(?P<name>[a-zA-Z]+):)?"
    rf"(?:[{_QUOTES}](?P<quoted>[^{_QUOTES}]*)(?:[{_QUOTES}](?P<star>\**)|\Z)"
    rf"|(?P<word>[^\s{_QUOTES}]+))"
)
_PHONE = re.compile(r"\+\d(?:[ ()./-]{0,3}\d){6,14}(?!\w)")
_NAMES = frozenset({"from", "with", "in", "before", "after", "on"})


class Answer(NamedTuple):
    """What kind of word answers a question: a time, a number, a place or a person."""

    asked: re.Pattern[str]
    given: re.Pattern[str]


class Question(NamedTuple):
    """A parsed question. ``everything`` asks for all words to be there.

    ``times`` are its time expressions as they are written; ``untimed`` is the text without them,
    unless they are read as words.
    """

    text: str
    words: tuple[Word, ...] = ()
    excluded: tuple[Word, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    excluded_phrases: tuple[Phrase, ...] = ()
    actors: tuple[tuple[str, ...], ...] = ()
    accounts: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    moments: tuple[Moment, ...] = ()
    times: tuple[str, ...] = ()
    untimed: str = ""
    answer: re.Pattern[str] | None = None
    everything: bool = False
    order: Order | None = None
    """What comes first of records with one score, as words such as "latest" and "first" ask."""

    def read_as_words(self, numbers: Container[int]) -> "Question":
        """Return the question with some time expressions, by number, as ordinary words."""
        if not any(word.moment in numbers for word in self.words):
            return self
        words = (word._replace(moment=0) if word.moment in numbers else word for word in self.words)
        return self._replace(words=tuple(words), untimed=self.text)


def parse_question(text: str, today: date, *, everything: bool = False) -> Question:
    """Return the question that a text asks on a day of the caller's calendar."""
    if len(text) > MAX_QUESTION_CHARS:
        raise _refuse(
            f"The question is {len(text)} characters long; send at most {MAX_QUESTION_CHARS}."
        )
    if "\x00" in text:
        raise _refuse("The question holds a NUL character; remove it.")
    parser = _Parser(today)
    for part in _PART.finditer(text):
        parser.take(part)
    question = parser.finish(text, everything)
    asks = (
        question.words,
        question.phrases,
        question.actors,
        question.moments,
        question.since,
        question.until,
    )
    if not any(asks):
        raise _refuse(
            'The question holds no word to look for; send words, a "quoted phrase" or a prefix*.'
        )
    return question


class _Parser:
    """Takes the parts of a question one by one."""

    def __init__(self, today: date) -> None:
        self._today = today
        self._plain: list[str] = []
        self._words: list[Word] = []
        self._excluded: list[Word] = []
        self._phrases: list[Phrase] = []
        self._excluded_phrases: list[Phrase] = []
        self._actors: list[tuple[str, ...]] = []
        self._accounts: list[str] = []
        self._since: date | None = None
        self._until: date | None = None
        self._groups = 0
        self._joined: list[tuple[str, int]] = []
        self._or = False

    def take(self, part: "re.Match[str]") -> None:
        """Take one word, phrase or operator."""
        sign, name = part["sign"], (part["name"] or "").lower()
        if _PHONE.match(part.string, part.start()):
            sign = None
        quoted, word = part["quoted"], part["word"]
        if name and name not in _NAMES:
            written = part[0] if sign is None else part[0][1:]
            name, quoted, word = "", (quoted and written), written
        value = quoted if quoted is not None else word
        if name and value.strip():
            self._operate(name, value, part[0])
        elif sign is None and word == "OR":
            self._or = True
        elif quoted is not None:
            self._take_phrase(quoted, part["star"] or "", sign)
        else:
            self._take_word(word, sign)

    def _operate(self, name: str, value: str, written: str) -> None:
        if name in ("from", "with"):
            names = tuple(pieces(value))
            if names:
                self._actors.append(names)
        elif name == "in":
            self._accounts.append(value)
        else:
            days = day_named(value, self._today)
            if days is None:
                raise _refuse(
                    f"{written!r} names no day; write one as {name}:2026-03-14, "
                    f"{name}:yesterday or {name}:2026-03."
                )
            if name in ("on", "after"):
                start = days[0] if name == "on" else days[1]
                self._since = max(self._since or start, start)
            if name in ("on", "before"):
                end = days[1] if name == "on" else days[0]
                self._until = min(self._until or end, end)

    def _take_phrase(self, text: str, star: str, sign: str | None) -> None:
        phrase = phrase_of(text, star)
        if phrase is None:
            return
        if sign == "-":
            self._excluded_phrases.append(phrase)
        else:
            self._phrases.append(phrase)
            self._plain.append(text)

    def _take_word(self, word: str, sign: str | None) -> None:
        bare = word.rstrip("*")
        if bare != word and (parts := pieces(bare)):
            begun = word_in_any_language(parts[-1]).terms
            terms = tuple((term, PREFIX_WEIGHT) for term, _ in begun)
            parsed = Word(word, terms, prefix=parts[-1], required=sign == "+")
            (self._excluded if sign == "-" else self._words).append(parsed)
            self._words += asked_words([bare], parts[:-1], required=sign == "+")
        elif sign == "-" and pieces(word):
            self._excluded += asked_words([word], pieces(word))
        elif sign == "+" and pieces(word):
            self._words += asked_words([word], pieces(word), required=True)
        elif _ADDRESS.fullmatch(word):
            self._words += map(word_in_any_language, pieces(word))
        else:
            self._take_plain(word if sign is None else f"{sign}{word}")
        self._or = False

    def _take_plain(self, word: str) -> None:
        if self._or and self._plain:
            last = self._plain[-1]
            group = next((at for text, at in self._joined if text == last), 0)
            if not group:
                self._groups += 1
                group = self._groups
                self._joined.append((last, group))
            self._joined.append((word, group))
        self._plain.append(word)

    def finish(self, text: str, everything: bool) -> Question:
        plain = " ".join(self._plain)
        named = tuple(moments(plain, self._today))
        bare, untimed = plain, text
        spans = (moment.span for moment in named if not moment.loose)
        for start, end in sorted(spans, reverse=True):
            bare = f"{bare[:start]} {bare[end:]}"
            # Between two plain words of it a phrase or an operator may stand: then it stays.
            untimed = untimed.replace(plain[start:end], " ", 1)
        timed = any(not moment.loose for moment in named)
        telling, order = _telling_words(bare, timed=timed, everything=everything)
        plain_words = asked_words([with_plain_clocks(plain)], telling, joined=True)
        asked = [*self._words, *self._grouped(plain_words), *_dated(plain, named)]
        words = _once(asked)
        if len(words) > MOST_WORDS:
            best = sorted(words, key=lambda word: (not word.required, -word.weight))[:MOST_WORDS]
            words = tuple(word for word in words if word in best)
        return Question(
            text=text,
            words=words,
            excluded=_once(self._excluded),
            phrases=_once(self._phrases),
            excluded_phrases=_once(self._excluded_phrases),
            actors=_once(self._actors),
            accounts=_once(self._accounts),
            since=self._since,
            until=self._until,
            moments=named,
            times=tuple(" ".join(plain[slice(*moment.span)].split()) for moment in named),
            untimed=" ".join(untimed.split()),
            answer=_answer(plain),
            everything=everything,
            order=order,
        )

    def _grouped(self, words: Sequence[Word]) -> Sequence[Word]:
        if not self._joined:
            return words
        plain = ((with_plain_clocks(text), group) for text, group in self._joined)
        groups = {piece: group for text, group in plain for piece in pieces(text)}
        return [word._replace(group=groups.get(word.text, 0)) for word in words]


def _once(asked: Iterable[_Asked]) -> tuple[_Asked, ...]:
    """Return what is asked for without repeats: each takes a look at the index or at texts."""
    return tuple(dict.fromkeys(asked))


def _telling_words(text: str, *, timed: bool, everything: bool) -> tuple[list[str], Order | None]:
    """Return the words of a question that are ranked, and the order that it asks for.

    Words that only hold it together are looked for where there are no others, unless a time is
    asked for: "what was in May?".
    """
    named = set() if text.isupper() else {name.lower() for name in _NAMED.findall(text)}
    words = pieces(with_plain_clocks(text if everything else _MOST.sub("", text)))
    telling = [word for word in words if word not in STOP_WORDS or word in named]
    asked = telling if everything else [word for word in telling if word not in ORDER_WORDS]
    order = None if everything else order_asked(telling)
    return asked or telling or ([] if timed else words), order


def _dated(text: str, named: Sequence[Moment]) -> list[Word]:
    """Return the words of time expressions, which a record may also hold in its text."""
    words = []
    for number, moment in enumerate(named, start=1):
        written = pieces(text[slice(*moment.span)])
        date_words = [word for word in written if word.isdecimal() or word in MONTHS]
        if date_words and not (moment.loose or moment.counted):
            dated = asked_words([text], date_words)
            if moment.unit in (Unit.DAY, Unit.DAY_OF_YEAR):
                term = date_apart(moment.start.day, moment.start.month)
                dated.append(Word(" ".join(written), ((term, weight(RARE)),)))
            words += [word._replace(moment=number, related=()) for word in dated]
    return words


_TIMES = re.compile(
    r"\b(yesterday|today|tomorrow|tonight|last|next|ago|week|weekend|month|year|morning|evening"
    r"|night|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april"
    r"|june|july|august|september|october|november|december|\d{4}|\d{1,2}(st|nd|rd|th)|since"
    r"|during|recently|summer|winter|spring|fall)\b",
    re.IGNORECASE,
)
_LENGTHS = re.compile(
    r"\b(since|(minute|hour|day|night|week|month|year|decade)s?|forever|ages|long)\b", re.IGNORECASE
)
_COUNTS = re.compile(
    r"\b(\d+|one|two|three|four|five|six|seven|eight|nine|ten|once|twice|dozen|hundred|couple"
    r"|several|few)\b",
    re.IGNORECASE,
)
_SIZES = re.compile(
    r"\d\s?(mm|cm|m|km|m2|m²|kg|g|lbs?|ft|sqm)\b"
    r"|\b(milli|centi|kilo)?(metres?|meters?|gram(me)?s?|lit(re|er)s?)\b"
    r"|\b(inch(es)?|foot|feet|miles?|yards?|pounds?|tons?|tonnes?|acres?)\b",
    re.IGNORECASE,
)
_ANSWERS = (
    Answer(re.compile(r"how long"), _LENGTHS),
    Answer(re.compile(r"\bwhen\b|what (date|day|year|month|time)"), _TIMES),
    Answer(re.compile(r"how (many|much|old|often)"), _COUNTS),
    Answer(re.compile(r"how (big|large|small|wide|high|tall|deep|far|heavy|thick)"), _SIZES),
    Answer(
        re.compile(r"\bwhere\b|which (city|country|place)"),
        re.compile(r"\b(in|at|to|from|near)\s+(the\s+)?[A-Z]"),
    ),
    Answer(re.compile(r"\bwho\b|whom|whose|name of"), re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")),
)


def _answer(text: str) -> re.Pattern[str] | None:
    lower = text.lower()
    return next((answer.given for answer in _ANSWERS if answer.asked.search(lower)), None)


def _refuse(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="q")
