"""Excerpts: the bounded, marked stretch of a field that proves a search match."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Annotated, Literal, NamedTuple, TypedDict

from pdpp.evidence.analyse import Match
from pdpp.evidence.budget import seam_after, seam_before
from pdpp.evidence.mark import CLOSE, OPEN
from pdpp.evidence.window import DEFAULT_LIMIT, SpanJson
from pdpp.model.json_types import Digest, Keyword, Size

PREVIEW_CHARS = 150
"""How long a preview is at most, with its marks."""

_MARK_CHARS = len(OPEN) + len(CLOSE)
_OWN_MARK = re.compile("</?mark>")
_OWN_END = "mark>"
_CLOSING = "'\"”’“‘»«›‹)\\]」』）*_"
_SMALL = "".join(letter for letter in map(chr, range(0x590)) if letter.islower())
_CONSONANT = "[bcdfghj-np-tv-xzBCDFGHJ-NP-TV-XZ]"
_SHORT_FORMS = (r"\w", r"\d\d", *(_CONSONANT * size for size in (2, 3, 4)))
_NO_SHORT_FORM = "".join(rf"(?<![\s(.]{form}\.)" for form in _SHORT_FORMS)
"""A full stop ends no sentence behind "Dr", "bzw", "i.e", and the day of "3. Mai"."""
_SENTENCE_END = re.compile(
    rf"[\n.?!…。！？｡؟۔।](?:(?<![\n。！？｡]){_NO_SHORT_FORM}[{_CLOSING}]*\s+"
    rf"|(?<=\n)(?:\s*\n\s*|(?![{_SMALL}])\s*)|(?<=[。！？｡])[{_CLOSING}]*\s*)"
)
"""Where the next sentence begins. Lines of a letter are often broken inside of one. All begins
with a mark of one set, which is found in a third of the time."""
_CONSIDERED = 50
_SNAP_CHARS = 20

Span = tuple[int, int]


class ReadJson(TypedDict):
    """The request that reads a window."""

    method: Literal["GET"]
    route: str
    stream: str
    record_id: str
    connection_id: str
    field: str
    offset_chars: Size
    limit_chars: Size


class ExcerptJson(TypedDict):
    """An excerpt as it is answered."""

    object: Literal["evidence_excerpt"]
    field_path: str
    preview_text: Annotated[
        str,
        Keyword("maxLength", PREVIEW_CHARS),
        "field[start_chars:end_chars] with the matches in <mark>…</mark>.",
    ]
    start_chars: Size
    end_chars: Size
    total_chars: Size
    matches: list[SpanJson]
    truncated: bool
    digest: Digest
    provenance: Literal["lexical_match"]
    read: Annotated[ReadJson, "The field window that begins where this does."]


class Excerpt(NamedTuple):
    """``text[start:end]`` of a field, and the same with its matches marked."""

    start: int
    end: int
    total: int
    preview_text: str
    matches: tuple[Span, ...]
    truncated: bool


_excerpt: Callable[[tuple[int, int, int, str, tuple[Span, ...], bool]], Excerpt] = partial(
    tuple.__new__, Excerpt
)
"""Makes an excerpt of its values in a third of the time that its constructor takes."""


def value_of(phrases: Collection[int]) -> tuple[int, int]:
    """Return how much a text proves: by the required phrases in it, then by all it holds."""
    return sum([phrase < 0 for phrase in phrases]), len(phrases)


def _considered(matches: Sequence[Match], room: int) -> Sequence[Match]:
    """Return the first matches to choose from, near the first phrase that was required."""
    at = next(at for at, match in enumerate(matches) if match.phrase < 0)
    near = bisect_left(matches, matches[at].start - room, key=lambda match: match.start)
    low = max(near, at - _CONSIDERED // 2)
    return matches[low : low + _CONSIDERED]


def _core(matches: Sequence[Match], room: int) -> Span:
    """Return the stretch within ``room`` that holds the most different phrases.

    A phrase that was required counts more than any words. Of stretches with as many the shortest
    is returned, since words that belong together stand together, then the first.
    """
    best, most = (matches[0].start, matches[0].end), (0, 0)
    if len(matches) == 1:
        return best[0], min(best[1], best[0] + room - _MARK_CHARS)
    phrases = {phrase for _, _, phrase in matches}
    if min(phrases) >= 0:
        start, end = _densest(matches[:_CONSIDERED], room, len(phrases))
        return start, min(end, start + room - _MARK_CHARS)
    considered = _considered(matches, room)
    for i, first in enumerate(considered):
        end, seen, cost = first.end, {first.phrase}, _MARK_CHARS
        chosen = end
        for match in considered[i + 1 :]:
            end, cost = max(end, match.end), cost + _MARK_CHARS
            if end - first.start + cost > room:
                break
            if match.phrase not in seen:
                seen.add(match.phrase)
                chosen = end
        value = value_of(seen)
        shorter = most[1] > 1 and chosen - first.start < best[1] - best[0]
        if value > most or (value == most and shorter):
            best, most = (first.start, chosen), value
    start, end = best
    return start, min(end, start + room - _MARK_CHARS)


def _densest(matches: Sequence[Match], room: int, words: int) -> Span:
    """Return the stretch within ``room`` that holds the most different words, of so many at most.

    The same as the general way finds where no phrase is required; it looks at no stretch that has
    too few matches to hold more words than the best, or as many in less room.
    """
    best, most, size = (matches[0].start, matches[0].end), 1, 0
    for i, (start, end, phrase) in enumerate(matches):
        if most > len(matches) - i or most == words == 1:
            break
        limit = start + room - _MARK_CHARS
        more = most < words and i + most < len(matches)
        more = more and matches[i + most].end <= limit - most * _MARK_CHARS
        if not more and matches[i + most - 1].start - start >= size:
            continue
        chosen, seen = end, {phrase}
        for _, last, other in matches[i + 1 :]:
            if last > end:
                end = last
            limit -= _MARK_CHARS
            if end > limit:
                break
            if other not in seen:
                seen.add(other)
                chosen = end
                if len(seen) == words:
                    break
        if len(seen) > most or (len(seen) == most and chosen - start < size):
            best, most = (start, chosen), len(seen)
            size = chosen - start
    return best


def _bounds(text: str, core: Span, reach: int, *, clean: bool) -> tuple[Span, Span]:
    """Return how far an excerpt may reach without holding a mark of the record's own text.

    A clean bound leaves such a mark out; the other keeps all of it but one character.
    """
    start, end = core
    low, high = max(0, start - reach), min(len(text), end + reach)
    if text.find(_OWN_END, low, high) < 0:
        return core, (low, high)
    for own in _OWN_MARK.finditer(text, low, high):
        first, last = own.span()
        if last <= start:
            low = last if clean else first + 1
        elif first < start:
            low = first + 1
        else:
            if last <= end:
                end = high = first
            elif first >= end:
                high = first if clean else last - 1
            else:
                high = last - 1
            break
    return (start, end), (low, high)


def _merged(matches: Sequence[Match], low: int, high: int) -> list[Span]:
    """Return where matches stand between two places, those that touch as one."""
    spans: list[Span] = []
    last = -1
    for start, end, _ in matches:
        if start >= high:
            break
        if end <= low or start >= end:
            continue
        start, end = max(start, low), min(end, high)
        if start <= last:
            last = max(end, last)
            spans[-1] = (spans[-1][0], last)
        else:
            last = end
            spans.append((start, end))
    return spans


def _sentence(text: str, core: Span, bounds: Span) -> Span:
    """Return how far the sentences of a core reach within some bounds."""
    start, end = core
    low, high = bounds
    # The first letter of the core is looked at too: a small one goes on with the line before it.
    for stop in _SENTENCE_END.finditer(text, low, start + 1):
        low = min(start, stop.end())
    after = _SENTENCE_END.search(text, end, high)
    return low, high if after is None else after.end()


def _context(chars: int, near: Span, far: Span) -> Span:
    """Return how many of so many characters go before a core, and how many behind it.

    First come those of its sentence, as many on either side, of which there are ``near``. What
    belongs to the core stands there. Then come those behind: who asks or names a matter answers
    after that. There are ``far`` in all.
    """
    before, after = near
    if before + after > chars:
        before = min(before, max(chars // 2, chars - after))
        return before, chars - before
    after = min(far[1], chars - before)
    return min(far[0], chars - after), after


def _grown(core: Span, sentence: Span, bounds: Span, spans: Sequence[Span], limit: int) -> Span:
    """Return the widest growth of a core whose marked text keeps within the limit."""
    start, end = core
    if bounds[1] - bounds[0] + len(spans) * _MARK_CHARS <= limit:
        return bounds
    near = start - sentence[0], sentence[1] - end
    far = start - bounds[0], bounds[1] - end
    # Spans are apart and in order, so that those within a stretch are counted by halving.
    starts, ends = [span[0] for span in spans], [span[1] for span in spans]

    def grow(chars: int) -> Span:
        before, after = _context(chars, near, far)
        return start - before, end + after

    def cost(chars: int) -> int:
        low, high = grow(chars)
        marked = bisect_left(starts, high) - bisect_right(ends, low)
        return high - low + marked * _MARK_CHARS

    def added(chars: int) -> int:
        """Return how many more spans are marked after a growth."""
        low, high = grow(chars)
        return bisect_left(starts, high) - bisect_right(ends, low) - marks

    marks = bisect_left(starts, end) - bisect_right(ends, start)
    room = max(0, limit - (end - start) - marks * _MARK_CHARS)
    most = added(room)
    if not most:
        return grow(room)
    # With as many marks as all the room would hold there is room for this much at least, and with
    # as many as that much holds for no more than that.
    low = max(0, room - most * _MARK_CHARS)
    high = max(low, room - added(low) * _MARK_CHARS)
    if low == high:
        return grow(low)
    steps = range(low + 1, high + 1)
    return grow(low + bisect_left(steps, True, key=lambda chars: cost(chars) > limit))


def _word_start(text: str, index: int, ceiling: int) -> int:
    if not (0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum()):
        return index
    near = text[index : min(index + _SNAP_CHARS, ceiling - 1)]
    word = near.split(None, 1)[0] if near else near
    return index if word == near else index + len(word) + 1


def _word_end(text: str, index: int, floor: int) -> int:
    if not (0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum()):
        return index
    near = text[max(floor, index - _SNAP_CHARS) + 1 : index]
    word = near.rsplit(None, 1)[-1] if near else near
    return index if word == near else index - len(word) - 1


def _snapped(text: str, window: Span, core: Span) -> Span:
    """Return a window drawn in to the edges of words and of visible characters."""
    start = _word_start(text, window[0], core[0])
    end = _word_end(text, window[1], core[1])
    if text.isascii() and "\r" not in text:
        return start, end
    return seam_after(text, start, core[0]), seam_before(text, end, core[1])


def _marked(text: str, start: int, end: int, spans: Sequence[Span]) -> str:
    parts, at = [], start
    for first, last in spans:
        parts.append(f"{text[at:first]}{OPEN}{text[first:last]}{CLOSE}")
        at = last
    parts.append(text[at:end])
    return "".join(parts)


def excerpt(text: str, matches: Sequence[Match], limit: int = PREVIEW_CHARS) -> Excerpt:
    """Return the excerpt around the best matches, at most ``limit`` characters with its marks.

    ``matches`` are those that ``find`` gave for the text, at least one.
    """
    if len(matches) == 1 and text.isascii():
        plain = _plain(text, matches[0], limit)
        if plain is not None:
            return plain
    wanted = _core(matches, limit * 3 // 4)
    core, bounds = _bounds(text, wanted, limit, clean=True)
    if core == bounds:
        core, bounds = _bounds(text, wanted, limit, clean=False)
    near = _merged(matches, *bounds)
    window = _grown(core, _sentence(text, core, bounds), bounds, near, limit)
    start, end = _snapped(text, window, core)
    spans = [
        (max(first, start), min(last, end)) for first, last in near if first < end and last > start
    ]
    whole = start == 0 and end == len(text)
    preview = _marked(text, start, end, spans)
    return _excerpt((start, end, len(text), preview, tuple(spans), not whole))


def _plain(text: str, match: Match, limit: int) -> Excerpt | None:
    """Return the excerpt around the only match of a text without marks or accents of its own.

    The same as the general way finds, without looking for what is not there.
    """
    first, last, _ = match
    total, size = len(text), last - first
    room = limit - _MARK_CHARS - size
    if room < 0:
        return None
    start, end = 0, total
    if total - size > room:
        # There is no room for more of its sentence than this.
        bounds = first - room if first > room else 0, min(total, last + room)
        low, high = _sentence(text, match[:2], bounds)
        before, after = _context(room, (first - low, high - last), (first, total - last))
        start, end = _snapped(text, (first - before, last + after), match[:2])
    if text.find(_OWN_END, start, end) >= 0:
        return None
    preview = f"{text[start:first]}{OPEN}{text[first:last]}{CLOSE}{text[last:end]}"
    return _excerpt((start, end, total, preview, (match[:2],), end - start < total))


def descriptor(
    part: Excerpt,
    *,
    connection_id: str,
    stream: str,
    record_id: str,
    record_route: str,
    field: str,
    digest: str,
) -> ExcerptJson:
    """Return an excerpt as the evidence object of a search hit, with the read that goes on.

    The read begins where the excerpt does, so that its text begins with the excerpt's own.
    """
    return {
        "object": "evidence_excerpt",
        "field_path": field,
        "preview_text": part.preview_text,
        "start_chars": part.start,
        "end_chars": part.end,
        "total_chars": part.total,
        "matches": [{"start_chars": start, "end_chars": end} for start, end in part.matches],
        "truncated": part.truncated,
        "digest": digest,
        "provenance": "lexical_match",
        "read": {
            "method": "GET",
            "route": f"{record_route}/field-window",
            "stream": stream,
            "record_id": record_id,
            "connection_id": connection_id,
            "field": field,
            "offset_chars": part.start,
            "limit_chars": DEFAULT_LIMIT,
        },
    }
