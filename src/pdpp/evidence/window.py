"""Field windows: bounded stretches of one field's text, counted in code points."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

from pdpp.evidence.analyse import Match, Phrase, parse_query
from pdpp.evidence.budget import DEFAULT_AROUND as DEFAULT_AROUND
from pdpp.evidence.budget import DEFAULT_LIMIT as DEFAULT_LIMIT
from pdpp.evidence.budget import MAX_AROUND as MAX_AROUND
from pdpp.evidence.budget import MAX_LIMIT as MAX_LIMIT
from pdpp.evidence.scan import ScanBudget, scan
from pdpp.model.errors import InvalidWindow
from pdpp.model.json_types import Keyword, Size

MAX_MATCHES = 20
"""How many matches of a query are listed."""

MOST_COUNTED = 1_000
"""How many matches of a query are counted; the first ones are what a reader needs."""


class SpanJson(TypedDict):
    """Where a match stands, in characters."""

    start_chars: Size
    end_chars: Size


class WindowJson(TypedDict):
    """A window as it is answered."""

    text: Annotated[str, Keyword("maxLength", MAX_LIMIT)]
    start_chars: Size
    end_chars: Size
    total_chars: Size
    limit_chars: Size
    complete: bool
    has_more: bool
    next_offset_chars: Size | None
    previous_offset_chars: Size | None
    match_start_chars: NotRequired[Size]
    match_end_chars: NotRequired[Size]
    match_count: NotRequired[Size]
    matches: NotRequired[Annotated[list[SpanJson], Keyword("maxItems", MAX_MATCHES)]]
    more_matches: NotRequired[Annotated[Literal[True], "match_count is not all of them."]]


class TextWindow(NamedTuple):
    """A stretch of a field's text and where to read on; match facts only where one was sought."""

    text: str
    start_chars: int
    end_chars: int
    total_chars: int
    limit_chars: int
    match_count: int = 0
    matches: tuple[tuple[int, int], ...] | None = None
    more_matches: bool = False

    @property
    def complete(self) -> bool:
        """Tell whether the window holds the whole field."""
        return self.start_chars == 0 and self.end_chars == self.total_chars

    @property
    def has_more(self) -> bool:
        """Tell whether text follows the window."""
        return self.end_chars < self.total_chars

    @property
    def next_offset_chars(self) -> int | None:
        """Return where the text after the window begins."""
        return self.end_chars if self.has_more else None

    @property
    def previous_offset_chars(self) -> int | None:
        """Return where a read of the same limit ends at the window's start."""
        return max(0, self.start_chars - self.limit_chars) if self.start_chars else None

    def as_json(self) -> WindowJson:
        """Return the window object of the wire contract."""
        body: WindowJson = {
            "text": self.text,
            "start_chars": self.start_chars,
            "end_chars": self.end_chars,
            "total_chars": self.total_chars,
            "limit_chars": self.limit_chars,
            "complete": self.complete,
            "has_more": self.has_more,
            "next_offset_chars": self.next_offset_chars,
            "previous_offset_chars": self.previous_offset_chars,
        }
        if self.matches is not None:
            body["match_start_chars"], body["match_end_chars"] = self.matches[0]
            body["match_count"] = self.match_count
            body["matches"] = [{"start_chars": s, "end_chars": e} for s, e in self.matches]
            if self.more_matches:
                body["more_matches"] = True
        return body


def _never() -> bool:
    return False


def _require(value: int, param: str, least: int, most: int | None) -> None:
    if value < least or (most is not None and value > most):
        bounds = f"at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidWindow(f"{param} must be {bounds}; it is {value}.", param=param)


def chosen_window(
    text: str, asked: Mapping[str, Any], out_of_time: Callable[[], bool] | None = None
) -> TextWindow | None:
    """Return the window that the parameters of a read choose; None where it has no match."""
    if "q" not in asked:
        limit = asked.get("limit_chars", DEFAULT_LIMIT)
        return slice_window(text, asked.get("offset_chars", 0), limit)
    around = (asked.get(name, DEFAULT_AROUND) for name in ("before_chars", "after_chars"))
    before, after = around
    return match_window(text, parse_query(asked["q"]), before, after, out_of_time)


def slice_window(text: str, offset: int = 0, limit: int = DEFAULT_LIMIT) -> TextWindow:
    """Return the window of at most ``limit`` characters that begins at ``offset``."""
    _require(offset, "offset_chars", 0, None)
    _require(limit, "limit_chars", 1, MAX_LIMIT)
    total = len(text)
    start = min(offset, total)
    end = min(start + limit, total)
    return TextWindow(text[start:end], start, end, total, limit)


def _around(match: Match, before: int, after: int, total: int) -> tuple[int, int]:
    """Return the stretch around a match, the context shortened evenly to stay in bounds."""
    room = max(0, MAX_LIMIT - (match.end - match.start))
    left = min(before, match.start)
    right = min(after, total - match.end)
    left = min(left, max(room // 2, room - right))
    right = min(right, room - left)
    start = match.start - left
    return start, min(match.end + right, start + MAX_LIMIT)


def match_window(
    text: str,
    phrases: Sequence[Phrase],
    before: int = DEFAULT_AROUND,
    after: int = DEFAULT_AROUND,
    out_of_time: Callable[[], bool] | None = None,
) -> TextWindow | None:
    """Return the window around the first match of a query, or None when the text has none.

    Matches are counted up to a bound; then, or when time is up, there may be more.
    """
    _require(before, "before_chars", 0, MAX_AROUND)
    _require(after, "after_chars", 0, MAX_AROUND)
    budget = ScanBudget(MOST_COUNTED, out_of_time or _never)
    matches, complete = scan(text, phrases, budget)
    return around_matches(text, matches, before, after, complete=complete)


def around_matches(
    text: str, matches: Sequence[Match], before: int, after: int, *, complete: bool
) -> TextWindow | None:
    """Return the window around the first of some matches, or None when there is none."""
    if not matches:
        return None
    first = matches[0]
    start, end = _around(first, before, after, len(text))
    return TextWindow(
        text[start:end],
        start,
        end,
        len(text),
        min(MAX_LIMIT, before + (first.end - first.start) + after),
        match_count=len(matches),
        matches=tuple((match.start, match.end) for match in matches[:MAX_MATCHES]),
        more_matches=not complete,
    )
