"""Drafts: records made ready outside the write lock."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from pdpp.evidence.analyse import indexed_text
from pdpp.store.catalogue import Feed
from pdpp.store.cell import CellValue, cells_of
from pdpp.store.port import Line
from pdpp.store.scope import digest_of

CANONICAL = orjson.OPT_SORT_KEYS

_NO_BLOBS: frozenset[tuple[str, str]] = frozenset()


class Draft(NamedTuple):
    """A record made ready, with everything that is kept about it."""

    key: str
    emitted: int
    data: bytes
    digest: str
    names: tuple[str, ...]
    cells: list[CellValue]
    cells_json: str
    time: int | None
    words: dict[int, str]
    blobs: frozenset[tuple[str, str]]


Drafts = Mapping[str, Draft | int]
"""What becomes of each key: a record, or nothing since it was said to be gone."""


def drafts_of(feed: Feed, lines: Iterable[Line]) -> Drafts:
    """Make records ready by key; within one batch the last line of a key decides.

    Each line is done with before the next one is asked for: while it is still at hand, that costs
    half as much.
    """
    cells_in = cells_of(feed.cells)
    consent = feed.stream.consent_time_field
    time_place = None if consent is None else feed.cells[consent][0]
    drafts: dict[str, Draft | int] = {}
    shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
    for _, key, emitted, data in lines:
        if data is None:
            drafts[key] = emitted
            continue
        names = tuple(data)
        if names not in shapes:
            shapes[names] = tuple(sorted(names))
        canonical = orjson.dumps(data, option=CANONICAL)
        cells = cells_in(data)
        time = None if time_place is None else cells[time_place]
        drafts[key] = Draft(
            key,
            emitted,
            canonical,
            digest_of(canonical),
            shapes[names],
            cells,
            orjson.dumps(cells).decode(),
            time if isinstance(time, int) else None,
            words_of(feed, data),
            frozenset(blobs_of(feed, data)) if feed.blobs else _NO_BLOBS,
        )
    return drafts


def lines_of(drafts: Drafts) -> Iterator[Line]:
    """Yield the lines that drafts were made from, one for each key."""
    for number, (key, held) in enumerate(drafts.items()):
        if isinstance(held, int):
            yield Line(number, key, held, None)
        else:
            yield Line(number, key, held.emitted, orjson.loads(held.data))


def words_of(feed: Feed, data: Mapping[str, Any]) -> dict[int, str]:
    """Return the words of each searchable field that has any, by place."""
    words = {}
    for name, place in feed.lexical.items():
        value = data.get(name)
        text = indexed_text(value) if isinstance(value, str) else ""
        if text:
            words[place] = text
    return words


def blobs_of(feed: Feed, data: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield the blob fields that a record fills, each with the blob it names."""
    for name in feed.blobs:
        value = data.get(name)
        blob_id = value.get("blob_id") if isinstance(value, dict) else value
        if isinstance(blob_id, str):
            yield name, blob_id
