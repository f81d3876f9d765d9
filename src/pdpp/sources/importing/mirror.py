"""Mirrors: records that a connection holds and its export no longer does, shown, then deleted."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson

from pdpp.sources.importing.report import MOST_EXAMPLES, ImportReport
from pdpp.sources.importing.writer import BATCH_ITEMS, OpenIntake
from pdpp.store.catalogue import Feed
from pdpp.store.port import Store
from pdpp.store.query import PageQuery
from pdpp.store.scope import owner_reaches

SeenRecords = set[bytes]


def seen_mark(stream: str, key: str) -> bytes:
    """Return a short mark by which a record is known to have been seen."""
    return hashlib.blake2b(f"{stream}\n{key}".encode("utf-8", "replace"), digest_size=12).digest()


@dataclass(slots=True)
class AbsentRecords:
    """How many records of each stream are no longer in the export, with a few of their keys."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, stream: str, key: str) -> None:
        """Count one more."""
        self.counts[stream] += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(f"{stream}:{key}")


def find_absent(store: Store, connection_id: str, seen: SeenRecords) -> AbsentRecords:
    """Look through a connection for what was not seen."""
    absent = AbsentRecords()
    for feed, keys in _absent_keys(store, connection_id, seen):
        for key in keys:
            absent.add(feed.stream.name, key)
    return absent


def delete_absent(
    store: Store, connection_id: str, seen: SeenRecords, intake: OpenIntake, report: ImportReport
) -> None:
    """Delete what was not seen, batch by batch, and count it."""
    for feed, keys in _absent_keys(store, connection_id, seen):
        batch = intake(feed)
        for key in keys:
            batch.take(orjson.dumps({"key": key, "op": "delete"}))
        report.write(feed.stream.name, batch.write(), keys)


def _absent_keys(
    store: Store, connection_id: str, seen: SeenRecords
) -> Iterator[tuple[Feed, list[str]]]:
    for reach in owner_reaches(store.catalogue()):
        if reach.connection_id != connection_id:
            continue
        after = None
        while True:
            page = store.page(PageQuery((reach,), BATCH_ITEMS, after=after, select=frozenset()))
            keys = [
                record.id
                for record in page.records
                if seen_mark(reach.stream.name, record.id) not in seen
            ]
            if keys:
                yield reach.feed, keys
            if page.next is None:
                break
            after = page.next
