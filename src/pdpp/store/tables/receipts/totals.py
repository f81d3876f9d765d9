"""Totals: what was read, added up, with each record counted once however often it was read."""

import secrets
from collections import defaultdict
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING

from pdpp.store.receipts import ReadTotal, Receipt

if TYPE_CHECKING:
    import sqlite3

_MOST_HELD = 200_000
"""How many distinct records are counted in memory; more are counted on the disk, by hash."""

_CACHE_KILOBYTES = 16_384

_Reader = tuple[str | None, str]
_Place = tuple[str | None, str, str | None]


def totals(receipts: Iterable[Receipt]) -> tuple[ReadTotal, ...]:
    """Return what was read, by client and connection, most characters first."""
    sums: dict[_Reader, ReadTotal] = {}
    with DistinctRecords() as seen:
        for receipt in receipts:
            client_id, connection_id = receipt.client_id, receipt.connection_id
            if connection_id is None:
                continue
            old = sums.get((client_id, connection_id)) or ReadTotal(
                client_id, connection_id, 0, 0, 0, 0
            )
            sums[client_id, connection_id] = ReadTotal(
                client_id,
                connection_id,
                0,
                old.characters + receipt.characters,
                old.bytes + receipt.bytes,
                max(old.last_at, receipt.at),
            )
            seen.add((client_id, connection_id, receipt.stream), receipt.records)
        counts = seen.counts()
    totals_by_reader = [total._replace(records=counts.get(who, 0)) for who, total in sums.items()]
    return tuple(
        sorted(totals_by_reader, key=lambda total: (-total.characters, total.connection_id))
    )


class DistinctRecords:
    """Records that were read, each once; a log may name more of them than fit into memory."""

    def __init__(self, most_held: int = _MOST_HELD) -> None:
        self._most_held = most_held
        self._in_memory: defaultdict[_Place, set[str]] = defaultdict(set)
        self._count = 0
        self._places: dict[_Place, int] = {}
        self._disk: sqlite3.Connection | None = None
        self._key = secrets.token_bytes(16)

    def _hashed(self, key: str) -> bytes:
        return blake2b(key.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16).digest()

    def __enter__(self) -> "DistinctRecords":
        return self

    def __exit__(self, *_: object) -> None:
        if self._disk is not None:
            self._disk.close()

    def add(self, place: _Place, keys: tuple[str, ...]) -> None:
        """Take down that some records of a place were read."""
        kept = self._in_memory[place]
        before = len(kept)
        kept.update(keys)
        self._count += len(kept) - before
        if self._count > self._most_held:
            self._put_away()

    def _put_away(self) -> None:
        if self._disk is None:
            import sqlite3

            self._disk = sqlite3.connect("")  # a file without a name, gone when it is closed
            self._disk.execute(f"PRAGMA cache_size = -{_CACHE_KILOBYTES}")
            self._disk.execute(
                "CREATE TABLE seen (place INTEGER, key BLOB, PRIMARY KEY (place, key))"
                " WITHOUT ROWID"
            )
        with self._disk:
            for place, keys in self._in_memory.items():
                number = self._places.setdefault(place, len(self._places))
                # In order, so that what is written lies together. Nothing encrypts a file without
                # a name: it holds hashes under a key that is forgotten, never the ids.
                rows = [(number, hashed) for hashed in sorted(map(self._hashed, keys))]
                self._disk.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", rows)
        self._in_memory.clear()
        self._count = 0

    def counts(self) -> dict[_Reader, int]:
        """Return how many records each client read of each connection."""
        counts: defaultdict[_Reader, int] = defaultdict(int)
        for place, number in self._numbers():
            counts[place[:2]] += number
        return counts

    def _numbers(self) -> list[tuple[_Place, int]]:
        if self._disk is None:
            return [(place, len(keys)) for place, keys in self._in_memory.items()]
        self._put_away()
        counted = dict(self._disk.execute("SELECT place, count(*) FROM seen GROUP BY place"))
        return [(place, counted.get(number, 0)) for place, number in self._places.items()]
