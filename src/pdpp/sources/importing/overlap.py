"""Overlap: which account holds the same records as an export that does not say whose it is."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from pdpp.model.errors import DamagedFile
from pdpp.sources.importing.recognition import RecognisedExport
from pdpp.sources.item import START, Item
from pdpp.sources.keys import KeySealer, RecordKey
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.sample import spread
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import AnyPart
from pdpp.store.catalogue import Connection
from pdpp.store.port import Store
from pdpp.store.scope import Reach, owner_reaches

_SAMPLE_PARTS = 20
_SAMPLE_ITEMS = 400
_BEGINNING_SECONDS = 2.0
_END_SECONDS = 10.0
"""Longer, because everything before the end is read; it is a small part of what an import takes."""

_SHARE_OF_EXPORT = 0.2
"""At least so much of a sample must be there already for an export to be of the same account: a
few messages stand in the mailboxes of two people, most do not."""

_SHARE_OF_ACCOUNT = 0.5
"""Or at least so much of what an account holds must be in the sample: an account that had little
is the same one when it has grown."""

_ENOUGH_SHARED = 5
"""Fewer records tell an account only if it holds no others: a fee may stand in two accounts."""

Clock = Callable[[], float]
_Reaches = Mapping[tuple[str, str], Reach]


def find_overlap(
    store: Store,
    tree: Tree,
    export: RecognisedExport,
    candidates: Sequence[Connection],
    clock: Clock = time.monotonic,
) -> Connection | None:
    """Return the connection that holds a good part of what an export begins or ends with.

    Some services write the oldest first. Of others, which write the newest first, only the end of
    a later export is what an earlier one held.
    """
    if not candidates:
        return None
    every = owner_reaches(store.catalogue())
    reaches = {(reach.connection_id, reach.stream.name): reach for reach in every}
    sealer = KeySealer(store.import_secret(), export.source.connector_key)
    try:
        with store.reading():
            for sample in (_beginnings, _ends):
                items = sample(_some_parts(tree, export), clock)
                same = _most_alike(store, items, sealer, candidates, reaches)
                if same is not None:
                    return same
    finally:
        tree.meter.reset()
    return None


def _most_alike(
    store: Store,
    items: Iterator[Item],
    sealer: KeySealer,
    candidates: Sequence[Connection],
    reaches: _Reaches,
) -> Connection | None:
    """Return the connection that holds most of some items, if that is a good part."""
    shared: Counter[str] = Counter()
    count = 0
    for item in items:
        count += 1
        name = sealer.seal(item.key) if type(item.key) is RecordKey else item.key
        for connection in candidates:
            reach = reaches.get((connection.connection_id, item.stream))
            if reach is not None and store.record(reach, name) is not None:
                shared[connection.connection_id] += 1
    for connection_id, number in shared.most_common(1):
        own = [reach for (owner, _), reach in reaches.items() if owner == connection_id]
        held = sum(store.counts(own).values())
        share = _SHARE_OF_ACCOUNT if number >= _ENOUGH_SHARED else 1
        if number >= min(_SHARE_OF_EXPORT * count, share * held):
            return next(c for c in candidates if c.connection_id == connection_id)
    return None


def _some_parts(tree: Tree, export: RecognisedExport) -> Sequence[AnyPart]:
    return spread(list(export.source.parts(tree, export.recognition)), _SAMPLE_PARTS)


def _beginnings(parts: Sequence[AnyPart], clock: Clock) -> Iterator[Item]:
    """Yield the first items of each part."""
    until = clock() + _BEGINNING_SECONDS
    for part in parts:
        for item in islice(_items(part), _share(parts)):
            yield item
            if clock() > until:
                return


def _ends(parts: Sequence[AnyPart], clock: Clock) -> Iterator[Item]:
    """Yield the last items of each part, or the last that can be read in its share of the time."""
    for part in parts:
        until = clock() + _END_SECONDS / len(parts)
        last: deque[Item] = deque(maxlen=_share(parts))
        for item in _items(part):
            last.append(item)
            if clock() > until:
                break
        yield from last


def _share(parts: Sequence[AnyPart]) -> int:
    return max(20, _SAMPLE_ITEMS // max(1, len(parts)))


def _items(part: AnyPart) -> Iterator[Item]:
    """Yield the items of a part, as far as it can be read."""
    try:
        yield from (finding for finding in part.findings(START) if isinstance(finding, Item))
    except (DamagedFile, *SURPRISES):
        return
