"""Batches: receipts as they are written, many at once, each place that was read named once.

What a second of reads has in common is most of it: who, under which grant, which fields of which
stream. A batch lists such places once, and its receipts point to them.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import add
from typing import Any, NamedTuple

import orjson

from pdpp.model.instant import SECOND
from pdpp.store.receipts import EVENTS, HourlyReads, Receipt, ReceiptQuery

_HOUR = 3_600 * SECOND
_LINE_BYTES = 64
"""What a line takes in memory beside its text."""

_AT, _FIRST, _RECORDS, _BYTES = 0, 1, 9, 11
_OPERATION, _CLIENT, _GRANT, _CONNECTION, _STREAM = 0, 1, 2, 4, 5
_Place = tuple[Any, ...]
"""What many receipts have in common: operation, client, grant, package, connection, stream, the
fields that were shown, and those that were asked about."""


class EncodedBatch(NamedTuple):
    """A batch as it is kept: its JSON, and what finds it again without a look inside.

    ``readers`` are the clients on it, each with the time of its last receipt there.
    """

    content: bytes
    latest: int
    events: bool
    readers: Sequence[tuple[str, int]]
    hours: Sequence[HourlyReads] = ()


class ReceiptBatch:
    """Receipts on their way into the log; what is added is JSON at once, and only that is held."""

    __slots__ = ("_lines", "_places", "_sums", "count", "size")

    def __init__(self, receipts: Iterable[Receipt] = ()) -> None:
        self._places: dict[_Place, int] = {}
        self._lines: list[bytes] = []
        self._sums: dict[tuple[int, int], list[int]] = {}
        """By place and hour: the moment of the last read, reads, records and characters."""
        self.count = 0
        self.size = 0
        if receipts:
            self.add(receipts)

    def add(self, receipts: Iterable[Receipt]) -> int:
        """Add receipts in their order; return how many bytes they take."""
        places, rows, before = self._places, [], self.size
        for receipt in receipts:
            place = receipt[_FIRST:_RECORDS]
            number = places.get(place)
            if number is None:
                number = self._name(place)
            at = receipt.at
            self._add_up(number, at, len(receipt.records), receipt.characters)
            end = None if receipt.bytes or receipt.detail else _BYTES
            rows.append((at, number, *receipt[_RECORDS:end]))
        line = orjson.dumps(rows)[1:-1]
        self._lines.append(line)
        self.count += len(rows)
        self.size += len(line) + _LINE_BYTES
        return self.size - before

    def _add_up(self, place: int, at: int, records: int, characters: int) -> None:
        """Count a read under its place and hour; who read what is told when the batch is kept."""
        sums = self._sums.get((place, at // _HOUR))
        if sums is None:
            sums = self._sums[place, at // _HOUR] = [at, 0, 0, 0]
        if sums[0] < at:
            sums[0] = at
        sums[1] += 1
        sums[2] += records
        sums[3] += characters

    def _name(self, place: _Place) -> int:
        number = self._places[place] = len(self._places)
        self.size += len(orjson.dumps(place)) + _LINE_BYTES
        return number

    def written(self) -> EncodedBatch:
        """Return the batch as it is kept."""
        places = list(self._places)
        content = b'{"places":%b,"receipts":[%b]}' % (orjson.dumps(places), b",".join(self._lines))
        return EncodedBatch(
            content,
            max(sums[0] for sums in self._sums.values()),
            any(place[_OPERATION] in EVENTS for place in places),
            self._readers(places),
            self._hours(places),
        )

    def _readers(self, places: Sequence[_Place]) -> list[tuple[str, int]]:
        latest: dict[str, int] = {}
        for (number, _), (at, *_rest) in self._sums.items():
            client_id = places[number][_CLIENT]
            if client_id is not None:
                latest[client_id] = max(at, latest.get(client_id, at))
        return list(latest.items())

    def _hours(self, places: Sequence[_Place]) -> list[HourlyReads]:
        """Return what each client read of each stream in each hour."""
        totals: dict[tuple[str, str, str, int], list[int]] = {}
        for (number, hour), (_, *sums) in self._sums.items():
            place = places[number]
            of_stream = (place[_CLIENT], place[_CONNECTION], place[_STREAM])
            if None not in of_stream:
                total = totals.setdefault((*of_stream, hour * _HOUR), [0, 0, 0])
                total[:] = map(add, total, sums)
        return [HourlyReads(*of_stream, *total) for of_stream, total in totals.items()]


def readers_of(receipts: Iterable[Receipt]) -> list[tuple[str, int]]:
    """Return the clients of some receipts, each with the time of its last one."""
    latest: dict[str, int] = {}
    for receipt in receipts:
        if receipt.client_id is not None:
            latest[receipt.client_id] = max(receipt.at, latest.get(receipt.client_id, receipt.at))
    return list(latest.items())


def receipts_of(content: bytes) -> list[Receipt]:
    """Return the receipts of a batch in their order."""
    places, rows = _parsed(content)
    return [_receipt(places[row[1]], row) for row in rows]


def chosen(
    content: bytes, query: ReceiptQuery, *, events: bool = False
) -> Iterator[tuple[int, Receipt]]:
    """Yield the wanted receipts of a batch, newest first, each with the count of later ones."""
    places, rows = _parsed(content)
    wanted = {
        number: place for number, place in enumerate(places) if _asked(place, query, events=events)
    }
    since, until = query.since, query.until
    for behind, row in enumerate(reversed(rows)):
        place = wanted.get(row[1])
        if place is None or (until is not None and row[_AT] >= until):
            continue
        if since is None or row[_AT] >= since:
            yield behind, _receipt(place, row)


def _asked(place: _Place, query: ReceiptQuery, *, events: bool) -> bool:
    if events and place[_OPERATION] not in EVENTS:
        return False
    return query.client_id in (None, place[_CLIENT]) and query.grant_id in (None, place[_GRANT])


def _parsed(content: bytes) -> tuple[list[_Place], list[list[Any]]]:
    parsed = orjson.loads(content)
    places = [
        (*place[:-2], None if place[-2] is None else tuple(place[-2]), tuple(place[-1]))
        for place in parsed["places"]
    ]
    return places, parsed["receipts"]


def _receipt(place: _Place, row: list[Any]) -> Receipt:
    values = (row[_AT], *place, tuple(row[2]), *row[3:])
    return Receipt(*values)
