"""Word lists: English words that lead to others, as tables of the package write them.

A line is ``asked words: found words``, and may go on in lines without a colon.
"""

from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.terms import distinct


def read_word_list(text: str) -> dict[str, tuple[str, ...]]:
    """Return the stems that each stem leads to, none of them twice and none to itself."""
    stems = stems_of("en")
    found: dict[str, list[str]] = {}
    asked: list[str] = []
    for line in text.strip().splitlines():
        heads, colon, words = line.rpartition(":")
        if colon:
            asked = [stems[head] for head in heads.split()]
        for stem in asked:
            found.setdefault(stem, []).extend(stems[word] for word in words.split())
    return {
        stem: tuple(other for other in distinct(others) if other != stem)
        for stem, others in found.items()
    }
