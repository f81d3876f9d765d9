"""What was served: the handles in an answer and how much of them.

While a request is answered, an operation only puts aside one of these functions with what it has
at hand. They run when the answer is sure to be sent.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from pdpp.evidence.presentation import NAMING
from pdpp.store.blobs import BlobUse
from pdpp.store.query import Hit, Record, Tombstone
from pdpp.store.scope import Reach, roles_of


class Served(NamedTuple):
    """Part of an answer that came from one stream."""

    connection_id: str | None
    stream: str | None
    grant_id: str | None
    fields: tuple[str, ...] | None
    records: tuple[str, ...] = ()
    characters: int = 0
    bytes: int = 0
    blob_id: str | None = None

    @property
    def place(self) -> tuple[Any, ...]:
        """Return what parts have in common that can be told together."""
        return (*self[:4], self.blob_id)


_MOST_PLACES = 64
"""How many sets of fields are remembered of a stream."""

_Place = tuple[str, str, str | None, tuple[str, ...]]

ServedParts = Callable[[], Iterable[Served]]
"""Something an operation put aside: called once, it tells what was served."""


def part_of(reach: Reach, fields: tuple[str, ...] | None, **more: Any) -> Served:
    """Return a part that came from one reach."""
    return Served(reach.connection_id, reach.stream.name, reach.grant_id, fields, **more)


def of_records(records: Sequence[Record], select: frozenset[str] | None = None) -> Iterator[Served]:
    """Yield the parts of a list of records, one for each stream they are of."""
    if not records:
        return
    # Most pages are of one stream, which is told with three operations on whole columns.
    reaches, keys, data, *_ = zip(*records, strict=True)
    if reaches.count(reaches[0]) == len(reaches):
        yield _part_of_records(reaches[0], select, keys, data)
    else:
        yield from of_changes(records, select)


def of_changes(
    changes: Sequence[Record | Tombstone], select: frozenset[str] | None = None
) -> Iterator[Served]:
    """Yield the parts of a list of changes; of what went away only the key is shown."""
    by_reach: dict[Reach, list[Record | Tombstone]] = {}
    for change in changes:
        by_reach.setdefault(change.reach, []).append(change)
    for reach, own in by_reach.items():
        data = [change.data for change in own if isinstance(change, Record)]
        yield _part_of_records(reach, select, tuple([change.id for change in own]), data)


def _part_of_records(
    reach: Reach, select: frozenset[str] | None, keys: tuple[str, ...], data: Iterable[bytes]
) -> Served:
    fields = reach.once(_granted_fields) if select is None else shown_fields(reach.fields, select)
    size = count(b"".join(data))
    return Served(reach.connection_id, reach.stream.name, reach.grant_id, fields, keys, size)


def _granted_fields(reach: Reach) -> tuple[str, ...] | None:
    return shown_fields(reach.fields, None)


def shown_fields(
    granted: frozenset[str] | None, select: frozenset[str] | None
) -> tuple[str, ...] | None:
    """Return the fields that a reach shows of those asked for; None is every field."""
    if granted is None or select is None:
        fields = select if granted is None else granted
    else:
        fields = granted & select
    return None if fields is None else tuple(sorted(fields))


def count(text: bytes) -> int:
    """Return how many characters UTF-8 text has."""
    return len(text) if text.isascii() else len(text.decode())


def of_hits(hits: Sequence[Hit], answers: Sequence[Mapping[str, Any]]) -> Iterator[Served]:
    """Yield the parts of a page of search results: the words shown of each, not the whole."""
    by_reach: dict[tuple[Reach, tuple[str, ...]], tuple[list[str], list[int]]] = {}
    for hit, answer in zip(hits, answers, strict=True):
        place = hit.reach, tuple(answer["matched_fields"])
        same = by_reach.get(place)
        if same is None:
            same = by_reach[place] = [], []
        same[0].append(hit.id)
        same[1].append(len(answer["title"]) + len(answer["event_time"] or ""))
        for passage in answer["evidence_excerpts"]:
            same[1].append(len(passage["preview_text"]))
    for (reach, matched), (keys, sizes) in by_reach.items():
        yield Served(*reach.once(_PlacesOfHits)[matched], tuple(keys), sum(sizes))


class _PlacesOfHits(dict[tuple[str, ...], _Place]):
    """Where hits are from, with the fields that any hit shows and those that matched: by these."""

    def __init__(self, reach: Reach) -> None:
        super().__init__()
        self._naming = {name for name, role in roles_of(reach).items() if role in NAMING}
        self._place = reach.connection_id, reach.stream.name, reach.grant_id

    def __missing__(self, matched: tuple[str, ...]) -> _Place:
        if len(self) >= _MOST_PLACES:
            self.clear()
        place = self[matched] = *self._place, tuple(sorted({*self._naming, *matched}))
        return place


def of_window(reach: Reach, key: str, field: str, text: str) -> Iterator[Served]:
    """Yield the part that a window of one field is."""
    yield part_of(reach, (field,), records=(key,), characters=len(text))


def of_blob(blob_id: str, use: BlobUse | None, size: int) -> Iterator[Served]:
    """Yield the part that the bytes of a blob are; the owner may read one that nothing shows."""
    if use is None:
        yield Served(None, None, None, (), bytes=size, blob_id=blob_id)
    else:
        yield part_of(use.reach, (use.field,), records=(use.id,), bytes=size, blob_id=blob_id)


def of_numbers(
    reaches: Sequence[Reach], fields: Iterable[str | None], answer: Mapping[str, Any]
) -> Iterator[Served]:
    """Yield the part of an aggregation; over several connections it is of none of them."""
    named = tuple(sorted({name for name in fields if name is not None}))
    size = count(orjson.dumps(answer.get("groups", answer.get("value"))))
    if len(reaches) == 1:
        yield part_of(reaches[0], named, characters=size)
    elif reaches:
        # They are of one grant: a package is asked for one of its connections.
        stream, grant_id = reaches[0].stream.name, reaches[0].grant_id
        yield Served(None, stream, grant_id, named, characters=size)


def merged(parts: Iterable[Served]) -> Iterator[Served]:
    """Yield parts with those of one stream and the same fields made one."""
    groups: dict[tuple[Any, ...], list[Served]] = {}
    for part in parts:
        groups.setdefault(part.place, []).append(part)
    for same in groups.values():
        yield same[0] if len(same) == 1 else _together(same)


def _together(parts: Sequence[Served]) -> Served:
    return parts[0]._replace(
        records=tuple(dict.fromkeys(key for part in parts for key in part.records)),
        characters=sum(part.characters for part in parts),
        bytes=sum(part.bytes for part in parts),
    )
