"""Searched: which of some reaches have anything to search, found out once for all searches."""

from collections.abc import Mapping
from typing import NamedTuple

from pdpp.store.scope import Reach


class Searched(NamedTuple):
    """Some reaches, those of them that have words, and all of them by their feeds."""

    reaches: tuple[Reach, ...]
    worded: tuple[Reach, ...]
    by_feed: Mapping[int, Reach]


class _LastSearched:
    """What was found out of the last reaches that began with one."""

    def __init__(self, _: Reach) -> None:
        self.known: Searched | None = None


def searched(reaches: tuple[Reach, ...]) -> Searched:
    """Return some reaches with what a search asks of them."""
    if not reaches or reaches[0].unfiltered is not None:
        # Filtered reaches are made anew for each request.
        return _searched(reaches)
    last = reaches[0].once(_LastSearched)
    known = last.known
    if known is None or known.reaches is not reaches:
        known = last.known = _searched(reaches)
    return known


def _searched(reaches: tuple[Reach, ...]) -> Searched:
    worded = tuple(reach for reach in reaches if reach.once(_has_words))
    return Searched(reaches, worded, {reach.feed.id: reach for reach in reaches})


def _has_words(reach: Reach) -> bool:
    return bool(reach.searched_fields() or reach.actor_fields())
