"""Field windows: a piece of one field, with offsets that are right whoever counted them."""

from collections.abc import Sequence
from typing import NamedTuple

from pdpp.evidence.budget import cut
from pdpp.evidence.window import TextWindow
from pdpp.wire.members import Json, flag_in, objects_in, whole_in


class WindowMatches(NamedTuple):
    """Where the words of a query stand: how many there are, and the first of them."""

    total: int
    spans: Sequence[tuple[int, int]]


class FieldWindow(NamedTuple):
    """A piece of a text, in code points."""

    text: str
    start: int
    end: int
    total: int
    limit: int | None = None
    matches: WindowMatches | None = None

    @property
    def complete(self) -> bool:
        """Tell whether the piece is the whole text."""
        return self.start == 0 and self.end >= self.total

    @property
    def has_more(self) -> bool:
        """Tell whether text follows."""
        return self.end < self.total

    def as_json(self) -> dict[str, object]:
        """Return the window object of the wire contract, as far as it is known."""
        body: dict[str, object] = {
            "start_chars": self.start,
            "end_chars": self.end,
            "total_chars": self.total,
            "complete": self.complete,
            "has_more": self.has_more,
            "next_offset_chars": self.end if self.has_more else None,
        }
        if self.limit is not None:
            before = max(0, self.start - self.limit) if self.start else None
            body |= {"limit_chars": self.limit, "previous_offset_chars": before}
        if self.matches is not None:
            body["match_start_chars"], body["match_end_chars"] = self.matches.spans[0]
            body["match_count"] = self.matches.total
            spans = [{"start_chars": s, "end_chars": e} for s, e in self.matches.spans]
            body["matches"] = spans
        # Last, because hosts cut the end of a long answer off.
        body["text"] = self.text
        return body


def of_text(window: TextWindow) -> FieldWindow:
    """Return the window of a text that was read here."""
    matches = None
    if window.matches is not None:
        matches = WindowMatches(window.match_count, window.matches)
    start, end, total = window.start_chars, window.end_chars, window.total_chars
    return FieldWindow(window.text, start, end, total, window.limit_chars, matches)


def read_window(body: Json, asked_offset: int, most: int) -> FieldWindow:
    """Read a window of which a server may tell little, count otherwise, or send too much.

    Offsets follow from the text itself: a server in JavaScript counts characters beyond the basic
    plane twice.
    """
    whole = str(body.get("text") or "")
    served, was_cut = cut(whole, most)
    start = _count(body, "start_chars", asked_offset)
    end = start + len(served)
    total = max(_count(body, "total_chars", 0), start + len(whole))
    if flag_in(body, "has_more") is False and not was_cut:
        total = end
    matches = None if was_cut else _matches(body)
    return FieldWindow(served, start, end, total, whole_in(body, "limit_chars"), matches)


def _matches(body: Json) -> WindowMatches | None:
    spans = [
        (start, end)
        for span in objects_in(body, "matches")
        if (start := whole_in(span, "start_chars")) is not None
        and (end := whole_in(span, "end_chars")) is not None
    ]
    first = whole_in(body, "match_start_chars"), whole_in(body, "match_end_chars")
    if not spans and first[0] is not None and first[1] is not None:
        spans = [(first[0], first[1])]
    count = whole_in(body, "match_count")
    if not spans:
        return None
    return WindowMatches(len(spans) if count is None else count, spans)


def _count(body: Json, name: str, otherwise: int) -> int:
    value = whole_in(body, name)
    return value if value is not None and value >= 0 else otherwise
