"""Overlap: which account holds the same records as an export that does not say whose it is."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import Any, NamedTuple

from pdpp.model.errors import DamagedFile
from pdpp.model.vocabulary import Role
from pdpp.sources.importing.recognition import RecognisedExport
from pdpp.sources.item import START, Item
from pdpp.sources.keys import KeySealer, RecordKey
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.sample import spread
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import AnyPart
from pdpp.store.catalogue import Connection
from pdpp.store.numbers import read_data
from pdpp.store.port import Store
from pdpp.store.scope import Reach, owner_reaches

_FROM_ME = "from_me"
_BALANCE = "balance"
_SAMPLE_PARTS = 20
_SAMPLE_ITEMS = 400
_BEGINNING_SECONDS = 2.0
_END_SECONDS = 10.0
"""Longer, because everything before the end is read; it is a small part of what an import takes."""

_SHARE_OF_EXPORT = 0.2
"""At least so much of a sample must be there already for an export to be of the same account: a
few messages stand in the mailboxes of two people, most do not."""

_SHARE_BETWEEN = 0.6
"""And so much of what lies in time between the first and the last that both hold: a later export
of one account holds all of that, while what two people share is strewn among what they do not."""

_SHARE_OF_ACCOUNT = 0.8
"""Or at least so much of what an account holds must be in the sample: an account that had little
is the same one when it has grown."""

_SHARE_WITH_ANOTHER = 0.9
"""So much of both if the account is known by another name: people change theirs, and people who
are in one group hold many of the same messages."""

_ENOUGH_SHARED = 5
"""Fewer records may be in two accounts, such as a fee: what an account holds must be among them
whole, and no balance behind them be another. One alone has nothing between it and another, and
tells only if its balance is told and the same, or where there is no other record."""

Clock = Callable[[], float]
_Reaches = Mapping[tuple[str, str], Reach]


class _Compared(NamedTuple):
    """One item of a sample: when it was, and whether an account holds it, with its balance.

    The balance may be told on one side only, or on none.
    """

    stream: str
    moment: str
    held: bool
    same_balance: bool | None = None


def find_overlap(
    store: Store,
    tree: Tree,
    export: RecognisedExport,
    candidates: Sequence[Connection],
    *,
    others: Set[str] = frozenset(),
    clock: Clock = time.monotonic,
) -> Connection | None:
    """Return the connection that holds a good part of what an export begins or ends with.

    ``others`` are the candidates that are known by another name than the export.

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
                by_place = export.source.named_by_place
                compared = _compare(store, items, sealer, candidates, reaches, by_place=by_place)
                same = _most_alike(store, compared, reaches, others)
                if same is not None:
                    return next(c for c in candidates if c.connection_id == same)
    finally:
        tree.meter.reset()
    return None


def holds_items(tree: Tree, export: RecognisedExport) -> bool:
    """Tell whether an export holds anything that would be a record."""
    try:
        parts = export.source.parts(tree, export.recognition)
        return any(True for part in parts for _ in items_of(part))
    finally:
        tree.meter.reset()


def _compare(
    store: Store,
    items: Iterable[Item],
    sealer: KeySealer,
    candidates: Sequence[Connection],
    reaches: _Reaches,
    *,
    by_place: bool,
) -> Mapping[str, list[_Compared]]:
    """Look for some items in each candidate."""
    compared: dict[str, list[_Compared]] = {made.connection_id: [] for made in candidates}
    for item in items:
        name = sealer.seal(item.key) if type(item.key) is RecordKey else item.key
        for connection_id, seen in compared.items():
            reach = reaches.get((connection_id, item.stream))
            if reach is None:
                seen.append(_Compared(item.stream, "", held=False))
            else:
                moment = _text_of(item.data, reach, Role.EVENT_TIME)
                data = _held(store, reach, name, item, by_place=by_place)
                is_same = None if data is None else _same_balance(data, item.data)
                seen.append(_Compared(item.stream, moment, data is not None, is_same))
    return compared


def _held(
    store: Store, reach: Reach, name: str, item: Item, *, by_place: bool
) -> Mapping[str, Any] | None:
    """Return what the record of an item says, if it is there and is the same one.

    The notes of one day lie at the same place in the diaries of two people, and a message between
    them is sent by the one and received by the other.
    """
    record = store.record(reach, name)
    if record is None:
        return None
    data: Mapping[str, Any] = read_data(record.data)
    if data.get(_FROM_ME) != item.data.get(_FROM_ME):
        return None
    bodies = (_text_of(either, reach, Role.BODY) for either in (data, item.data))
    return data if not by_place or len(set(bodies)) == 1 else None


def _same_balance(data: Mapping[str, Any], other: Mapping[str, Any]) -> bool | None:
    """Tell whether two payments leave as much in an account, where both say so."""
    balances = [told.get(_BALANCE) for told in (data, other)]
    return None if None in balances else balances[0] == balances[1]


def _text_of(data: Mapping[str, Any], reach: Reach, role: Role) -> str:
    """Return what data says in the first of the fields that have a role."""
    fields = reach.stream.fields
    names = (name for name, field in fields.items() if field.role is role and name in data)
    return next((str(data[name]) for name in names), "")


def _most_alike(
    store: Store, compared: Mapping[str, list[_Compared]], reaches: _Reaches, others: Set[str]
) -> str | None:
    """Return the connection that holds most of what was looked for, if that is a good part."""
    shared = Counter({name: sum(one.held for one in seen) for name, seen in compared.items()})
    for connection_id, number in shared.most_common(1):
        own = [reach for (owner, _), reach in reaches.items() if owner == connection_id]
        record_count, between = sum(store.counts(own).values()), _between(compared[connection_id])
        of_export, of_account = _SHARE_BETWEEN, _SHARE_OF_ACCOUNT
        if connection_id in others:
            of_export = of_account = _SHARE_WITH_ANOTHER
        if number < _ENOUGH_SHARED:
            of_account = 1
            seen = compared[connection_id]
            number = sum(one.held and one.same_balance is not False for one in seen)
            is_certain = any(one.same_balance for one in seen)
            if number == 1 < min(record_count, len(seen)) and not is_certain:
                return None
        least = max(of_export * between, _SHARE_OF_EXPORT * len(compared[connection_id]))
        if number and number >= min(least, of_account * record_count):
            return connection_id
    return None


def _between(seen: Sequence[_Compared]) -> int:
    """Count what lies in time between the first and the last that is held, and what has no time."""
    moments_of: dict[str, list[str]] = {}
    for item in seen:
        if item.held and item.moment:
            moments_of.setdefault(item.stream, []).append(item.moment)
    ends = {stream: (min(moments), max(moments)) for stream, moments in moments_of.items()}
    return sum(_is_between(item, ends) for item in seen)


def _is_between(item: _Compared, ends: Mapping[str, tuple[str, str]]) -> bool:
    if not item.moment:
        return True
    first, last = ends.get(item.stream, ("", ""))
    return first <= item.moment <= last


def _some_parts(tree: Tree, export: RecognisedExport) -> Sequence[AnyPart]:
    return spread(list(export.source.parts(tree, export.recognition)), _SAMPLE_PARTS)


def _beginnings(parts: Sequence[AnyPart], clock: Clock) -> Iterator[Item]:
    """Yield the first items of each part."""
    until = clock() + _BEGINNING_SECONDS
    for part in parts:
        for item in islice(items_of(part), _share(parts)):
            yield item
            if clock() > until:
                return


def _ends(parts: Sequence[AnyPart], clock: Clock) -> Iterator[Item]:
    """Yield the last items of each part, or the last that can be read in its share of the time."""
    for part in parts:
        until = clock() + _END_SECONDS / len(parts)
        last: deque[Item] = deque(maxlen=_share(parts))
        for item in items_of(part):
            last.append(item)
            if clock() > until:
                break
        yield from last


def _share(parts: Sequence[AnyPart]) -> int:
    return max(20, _SAMPLE_ITEMS // max(1, len(parts)))


def items_of(part: AnyPart) -> Iterator[Item]:
    """Yield the items of a part, as far as it can be read."""
    try:
        yield from (finding for finding in part.findings(START) if isinstance(finding, Item))
    except (DamagedFile, *SURPRISES):
        return
