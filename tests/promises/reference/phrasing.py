"""Makes up what a person types into a search: words, phrases, demands, times and names."""

import random

from tests.promises.reference.generator import INSIDE, NAMES, OUTSIDE, WORDS

_FOUND = tuple(dict.fromkeys(word for text in (*WORDS, *NAMES) for word in text.split()))
"""Every word that a text or a name can hold, as it stands there."""
_STRANGE = (
    "zebra",
    "photos",
    "cafe",
    "unicode",
    "notes",
    "invoyce",
    "who",
    "the",
    "7",
    "2026",
    "latest",
    "oldest",
    "first",
    "last",
    "last notes",
)
_DAYS = tuple(day[:10] for day in (*INSIDE, *OUTSIDE) if day is not None)
_SPANS = (
    "in March", "in March 2026", "on 5 March 2026", "last month", "yesterday", "in 2026",
    "since April", "between March and April", "in spring", "2026-03", "last year", "in Q2 2026",
)  # fmt: skip


def phrase(chance: random.Random) -> str:
    """Return one question, from a single word to a dozen parts of every kind."""
    parts = [_part(chance) for _ in range(chance.choice((1, 1, 2, 2, 3, 4, 6)))]
    return " ".join(parts)


def _part(chance: random.Random) -> str:
    return chance.choices(
        (_word, _misspelt, _joined, _apart, _phrase, _signed, _begun, _either, _dated, _named),
        (40, 8, 6, 4, 10, 14, 8, 6, 10, 8),
    )[0](chance)


def _word(chance: random.Random) -> str:
    word = chance.choice(_FOUND if chance.random() < 0.8 else _STRANGE)
    return chance.choice((word, word, word.upper(), word.strip("?").title()))


def _misspelt(chance: random.Random) -> str:
    """Return a word with a letter that is missing, doubled, or in the place of its neighbour."""
    word = _word(chance)
    at = chance.randrange(len(word))
    return chance.choice(
        (
            word[:at] + word[at + 1 :],
            word[: at + 1] + word[at:],
            word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
        )
    )


def _joined(chance: random.Random) -> str:
    """Return two words as one: some that stand side by side in a text, or any two."""
    words = chance.choice(WORDS).split()
    at = chance.randrange(len(words))
    some = words[at : at + 2] if chance.random() < 0.7 else [_word(chance), _word(chance)]
    return "".join(some)


def _apart(chance: random.Random) -> str:
    """Return a word as two."""
    word = _word(chance)
    at = chance.randint(1, len(word))
    return word[:at] + chance.choice(" -") + word[at:]


def _phrase(chance: random.Random) -> str:
    """Return words in quotes: some that stand side by side in a text, or any two."""
    words = chance.choice(WORDS).split()
    at = chance.randrange(len(words))
    some = words[at : at + chance.randint(1, 3)]
    if chance.random() < 0.3:
        some = [_word(chance), _word(chance)]
    return f'"{" ".join(some)}"'


def _signed(chance: random.Random) -> str:
    signed = chance.choice((_word, _phrase, _begun))(chance)
    return chance.choice("+-") + signed


def _begun(chance: random.Random) -> str:
    word = _word(chance)
    return word[: chance.randint(1, len(word))] + "*"


def _either(chance: random.Random) -> str:
    return f"{_word(chance)} OR {_word(chance)}"


def _dated(chance: random.Random) -> str:
    if chance.random() < 0.4:
        return chance.choice(_SPANS)
    day = chance.choice(_DAYS)
    return chance.choice(("before:", "after:", "on:")) + day[: chance.choice((4, 7, 10, 10))]


def _named(chance: random.Random) -> str:
    name = chance.choice(NAMES)
    whole = f'"{name}"' if " " in name else name
    first = name.split()[0].lower()
    return chance.choice(
        (
            f"from:{whole}",
            f"from:{first}",
            f"with:{whole}",
            f"with:{first}",
            f"in:{_place(chance)}",
            name,
        )
    )


def _place(chance: random.Random) -> str:
    """Return a stream or an account: one that is shown, one that is hidden, or none at all."""
    return chance.choice(("notes", "notes", "Notes", "h0", "c0z", "none", '"no such place"'))
