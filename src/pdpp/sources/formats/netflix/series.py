"""Series: which series a title of Netflix is an episode of, as ``Dark: Season 1: Secrets`` is."""

import re

_SEASON = re.compile(r"\D{0,20}\d{1,3}\D{0,8}\Z")
"""A season, part, volume or book with its number, in any language."""
_ONLY_SEASONS = frozenset(
    {"limited series", "miniseries", "mini-series", "miniserie", "mini-serie", "mini-série"}
    | {"minissérie", "série limitée", "serie limitada", "série limitada", "limitierte serie"}
)
"""What stands in place of the season of a series that has one alone."""


def series_of(title: str) -> str | None:
    """Return the name of the series, or None of what is no episode."""
    parts = title.split(": ")
    for place, part in enumerate(parts[1:-1], 1):
        if _SEASON.match(part) or part.casefold() in _ONLY_SEASONS:
            return ": ".join(parts[:place])
    return None
