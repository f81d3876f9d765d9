"""Prose: a seeded voice that fills templates with words, so that no two letters read alike."""

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")
Words = Mapping[str, tuple[str, ...]]

_SYMBOL = re.compile(r"\{(\w+)\}")

COMMON: Words = {
    "n": tuple(str(number) for number in range(2, 60)),
    "price": tuple(f"{euros}.{cents:02}" for euros in range(4, 96, 7) for cents in (0, 40, 90)),
    "weekday": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"),
    "soon": (
        "tomorrow",
        "next week",
        "by {weekday}",
        "on {weekday} morning",
        "before the weekend",
        "at the end of the month",
        "later today",
    ),
    "lately": (
        "yesterday",
        "this morning",
        "last {weekday}",
        "over the weekend",
        "while you were out",
        "an hour ago",
    ),
    "feeling": ("relieved", "curious", "a little worried", "pleased", "tired", "hopeful"),
    "good": ("lovely", "solid", "better than I feared", "exactly right", "quite promising"),
    "bad": ("a bit off", "not there yet", "rather odd", "harder than it looks", "a little thin"),
    "perhaps": ("I think", "If I read it right,", "My guess is that", "From what I hear,"),
    "ask": (
        "Could you have a look {soon}?",
        "What do you think?",
        "Shall we talk about it {soon}?",
        "Tell me if that does not work for you.",
        "Do you want me to decide?",
    ),
    "thanks": ("Thank you!", "Thanks a lot.", "Many thanks.", "Obrigada!", "Thanks again."),
    "weather": ("rain", "fog on the river", "wind", "that golden light", "heat", "drizzle"),
    "cafe": ("Café Lua", "the kiosk in Graça", "Padaria Rosa", "the place by the tram stop"),
    "tram": ("tram", "bus", "ferry", "funicular"),
}

OPENINGS = (
    "I hope the week is treating you well.",
    "Just a short note from {cafe}.",
    "Sorry for the slow answer, the {tram} was late again.",
    "Quick update before I forget.",
    "As promised, here is where things stand.",
    "Back at my desk after the {weather}.",
    "It was good to talk {lately}.",
    "Following up on what we said {lately}.",
)
REPLIES = (
    "Thanks for this.",
    "That makes sense to me.",
    "Good to know, I had not seen that.",
    "I read it twice and I am {feeling}.",
    "Yes, let us do that.",
    "Not quite how I remember it, but fine.",
    "Agreed on all but one point.",
)
CLOSINGS = ("Best", "Warmly", "Until soon", "All the best", "Um abraço", "Cheers", "Beijinhos")


class Voice:
    """A source of choices and sentences that says the same things for the same seed."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)  # noqa: S311 - repeatable on purpose, guards nothing

    def pick(self, options: Sequence[T]) -> T:
        """Return one of the options."""
        return self._random.choice(options)

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """Return a few different options, in no particular order."""
        return self._random.sample(options, min(self.between(least, most), len(options)))

    def between(self, least: int, most: int) -> int:
        """Return a whole number, both ends included."""
        return self._random.randint(least, most)

    def chance(self, share: float) -> bool:
        """Return True for about that share of the calls."""
        return self._random.random() < share

    def octets(self, count: int) -> bytes:
        """Return bytes that look like nothing."""
        return self._random.randbytes(count)

    def say(self, template: str, words: Words = COMMON) -> str:
        """Return a template with every ``{symbol}`` replaced by one of its words."""
        return _SYMBOL.sub(lambda found: self._word(found[1], words), template)

    def _word(self, symbol: str, words: Words) -> str:
        options = words[symbol] if symbol in words else COMMON[symbol]
        return self.say(self.pick(options), words)
