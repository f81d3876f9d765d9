"""Nearest terms: what a misspelt word may have meant, and what a prefix stands for.

Only terms that a visible record holds in a visible field are ever named.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from pdpp.evidence.language.stems import stems_of
from pdpp.store.ranking.postings import Index, TermLines

MOST_NEAR = 2
MOST_BEGINNING = 200
_LEAST_LETTERS = 4
_TWO_EDITS = 8
_MOST_TRIED = 24
_UNCHECKED = 256
"""Terms between two looks at the clock."""
_SURE_LETTERS = 3
"""Letters that a misspelt word begins with like the word that is meant."""
_ENDINGS = """
    s es e y ed ing er ers or ion ions ation ations ate ates ator icate icates
    ment ments ness ly al able ance ence ity ive en ung ungen
"""
ENDINGS = ("", *_ENDINGS.split())
"""What is cut off words, mostly of English and German."""


def terms_beginning(index: Index, prefix: str) -> list[str]:
    """Return visible terms that begin with a prefix, in the order of the alphabet."""
    terms: dict[str, bool] = {}
    for some in index.vocabulary():
        _add_beginning(terms, some, prefix.encode())
    return _visible(index, sorted(terms), terms, MOST_BEGINNING)


def _add_beginning(terms: dict[str, bool], some: TermLines, start: bytes) -> None:
    """Add terms that begin so, and whether each is certain to be visible."""
    lines, certain = some
    at = 0 if lines.startswith(start) else lines.find(b"\n" + start) + 1
    if at == 0 and not lines.startswith(start):
        return
    # The lines are sorted, so that those that begin alike stand side by side.
    last = max(at, lines.rfind(b"\n" + start) + 1)
    end = lines.find(b"\n", last)
    for line in lines[at : len(lines) if end < 0 else end].split(b"\n"):
        term = line.decode()
        terms[term] = certain or terms.get(term, False)


def nearest_terms(
    index: Index,
    terms: Sequence[str],
    check: Callable[[], None],
    written: str = "",
    most: int = MOST_NEAR,
) -> list[str]:
    """Return the visible terms nearest to some spelling, the nearest first.

    Where no stem is near, the forms of visible words are compared with the word as it was written:
    "appointmnet" has no ending that could be cut off. ``check`` ends a search that takes too long.
    """
    for term in terms[:1]:
        # A number or code with another digit is another one, not the same misspelt.
        if len(term) < _LEAST_LETTERS or any(map(str.isdecimal, term)):
            continue
        similar: dict[str, bool] = {}
        beginning: dict[str, bool] = {}
        for some in index.vocabulary():
            _add_similar(similar, some, term, _edits(term))
            if written:
                _add_beginning(beginning, some, written[:_SURE_LETTERS].encode())
        alike = _with_letters_of(term, similar, check)
        near = _visible(index, _nearest(term, alike), similar, most)
        if near:
            return near
        alike = _with_letters_of(written, beginning, check)
        return _visible(index, _nearest_forms(written, alike), beginning, most)
    return []


def _edits(word: str) -> int:
    """Return how many letters of a word may be wrong."""
    return 2 if len(word) >= _TWO_EDITS else 1


def _with_letters_of(word: str, terms: Iterable[str], check: Callable[[], None]) -> Iterator[str]:
    """Yield the terms that have no more letters which a word has not than may be wrong.

    Each of those is an edit. To count them takes a hundredth of the time of a comparison, and most
    terms that begin like a word are names and numbers of files, often a hundred thousand of them.
    """
    allowed, own = _edits(word), dict.fromkeys(map(ord, word))
    for count, term in enumerate(terms):
        if count % _UNCHECKED == 0:
            check()
        if len(term.translate(own)) <= allowed:
            yield term


def _nearest(term: str, others: Iterable[str]) -> list[str]:
    """Return the terms that are near to another, the nearest first."""
    edits = {other: distance(term, other, _edits(term)) for other in others}
    near = [other for other in edits if 0 < edits[other] <= _edits(term)]
    return sorted(near, key=lambda other: (edits[other], -_shared(term, other), other))


def _nearest_forms(written: str, terms: Iterable[str]) -> list[str]:
    """Return the terms of which a form is near to a written word, the nearest first."""
    allowed = _edits(written)
    longest = len(written) + allowed
    edits = {
        term: min(
            (distance(written, form, allowed) for form in _forms(term, longest)),
            default=allowed + 1,
        )
        for term in terms
        if len(term) <= longest and _distances_to_beginnings(term, written, allowed)
    }
    near = [term for term in edits if edits[term] <= allowed]
    return sorted(near, key=lambda term: (edits[term], -_shared(written, term), term))


def _forms(term: str, longest: int) -> Iterator[str]:
    """Yield words of so many letters at most whose stem is a term."""
    forms = (term + ending for ending in ENDINGS)
    for form in (form for form in forms if len(form) <= longest):
        if any(stems_of(language)[form] == term for language in ("en", "de")):
            yield form


def _visible(
    index: Index, terms: Sequence[str], certain: Mapping[str, bool], most: int
) -> list[str]:
    """Return the first terms that stand in a visible record; most are certain to, others tried."""
    visible: list[str] = []
    for start in range(0, len(terms), _MOST_TRIED):
        some = terms[start : start + _MOST_TRIED]
        tried = [(term,) for term in some if not certain[term]]
        postings = index.postings(tried) if tried else {}
        held = {term for (term,), places in postings.items() if places.texts}
        visible += [term for term in some if certain[term] or term in held]
        if len(visible) >= most:
            break
    return visible[:most]


def _add_similar(similar: dict[str, bool], some: TermLines, term: str, edits: int) -> None:
    """Add terms that share a piece with another, and whether each is certain to be visible.

    Of ``edits`` + 1 pieces one has no edit.
    """
    count = edits + 1
    size = len(term)
    cuts = [size * piece // count for piece in range(count + 1)]
    least, most = size - edits, size + edits
    lines, certain = some
    for piece in {term[a:b].encode() for a, b in pairwise(cuts)}:
        at = lines.find(piece)
        while at >= 0:
            start = lines.rfind(b"\n", 0, at) + 1
            end = lines.find(b"\n", at)
            end = len(lines) if end < 0 else end
            line = lines[start:end]
            if least <= len(line) <= 4 * most:
                near = line.decode()
                if least <= len(near) <= most:
                    similar[near] = certain or similar.get(near, False)
            at = lines.find(piece, end)


def distance(one: str, other: str, most: int) -> int:
    """Return how many letters differ, a swap of neighbours counting once; more than ``most`` ends.

    The optimal string alignment distance.
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    distances = _distances_to_beginnings(one, other, most)
    return distances[-1] if distances else most + 1


def _distances_to_beginnings(one: str, other: str, most: int) -> list[int]:
    """Return how far a word is from each beginning of another, nothing where that is too far.

    What the word is the beginning of is no nearer to the other than the nearest of these.
    """
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        last, row = row, [i] + [0] * len(other)
        for j, b in enumerate(other, start=1):
            row[j] = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                row[j] = min(row[j], before[j - 2] + 1)
        if min(row) > most:
            return []
        before = last
    return row


def _shared(one: str, other: str) -> float:
    """Return how large a part of their trigrams two words share."""
    left, right = _trigrams(one), _trigrams(other)
    return len(left & right) / len(left | right)


def _trigrams(word: str) -> set[str]:
    padded = f"  {word} "
    return {padded[at : at + 3] for at in range(len(padded) - 2)}
