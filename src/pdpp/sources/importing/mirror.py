"""Mirrors: records that a connection holds and its export no longer does, shown, then deleted."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson

from pdpp.model.vocabulary import Role
from pdpp.sources.importing.report import MOST_EXAMPLES, ImportReport
from pdpp.sources.importing.writer import BATCH_ITEMS, OpenIntake
from pdpp.store.numbers import read_data
from pdpp.store.port import Store
from pdpp.store.query import PageQuery
from pdpp.store.scope import Reach, owner_reaches, roles_of

_LONGEST = 60
SeenRecords = set[bytes]


def seen_mark(stream: str, key: str) -> bytes:
    """Return a short mark by which a record is known to have been seen."""
    return hashlib.blake2b(f"{stream}\n{key}".encode("utf-8", "replace"), digest_size=12).digest()


@dataclass(slots=True)
class AbsentRecords:
    """How many records of each stream are no longer in the export, with a few of them by name."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, store: Store, reach: Reach, key: str) -> None:
        """Count one more."""
        self.counts[reach.stream.name] += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(f"{reach.stream.name}:{key}{_called(store, reach, key)}")


def _called(store: Store, reach: Reach, key: str) -> str:
    """Return the title of a record, or how its text begins: a key alone tells a person nothing."""
    record = store.record(reach, key)
    data = {} if record is None else read_data(record.data)
    for wanted in (Role.TITLE, Role.BODY):
        for name, role in roles_of(reach).items():
            text = " ".join(str(data.get(name) or "").split()) if role == wanted else ""
            if text:
                return f" “{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}”"
    return ""


def find_absent(store: Store, connection_id: str, seen: SeenRecords) -> AbsentRecords:
    """Look through a connection for what was not seen."""
    absent = AbsentRecords()
    for reach, keys in _absent_keys(store, connection_id, seen):
        for key in keys:
            absent.add(store, reach, key)
    return absent


def delete_absent(
    store: Store, connection_id: str, seen: SeenRecords, intake: OpenIntake, report: ImportReport
) -> None:
    """Delete what was not seen, batch by batch, and count it."""
    for reach, keys in _absent_keys(store, connection_id, seen):
        batch = intake(reach.feed)
        for key in keys:
            batch.take(orjson.dumps({"key": key, "op": "delete"}))
        report.write(reach.stream.name, batch.write(), keys)


def _absent_keys(
    store: Store, connection_id: str, seen: SeenRecords
) -> Iterator[tuple[Reach, list[str]]]:
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
                yield reach, keys
            if page.next is None:
                break
            after = page.next
