"""Mirrors: records that a connection holds and its export no longer does, shown, then deleted."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from pdpp.model.vocabulary import Role
from pdpp.sources.importing.report import MOST_EXAMPLES, ImportReport
from pdpp.sources.importing.writer import BATCH_ITEMS, OpenIntake
from pdpp.store.numbers import read_data
from pdpp.store.port import Store
from pdpp.store.query import PageQuery
from pdpp.store.scope import Reach, owner_reaches, roles_of

_LONGEST = 60
_PATH = "path"
SeenRecords = set[bytes]
Places = frozenset[str]
"""How the paths of records begin that a mirror may delete."""
EVERYWHERE: Places = frozenset({""})


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


def find_absent(
    store: Store, connection_id: str, seen: SeenRecords, places: Places = EVERYWHERE
) -> AbsentRecords:
    """Look through a connection, or only through some places in it, for what was not seen."""
    absent = AbsentRecords()
    for reach, keys in _absent_keys(store, connection_id, seen, places):
        for key in keys:
            absent.add(store, reach, key)
    return absent


def delete_absent(
    store: Store,
    connection_id: str,
    seen: SeenRecords,
    intake: OpenIntake,
    report: ImportReport,
    places: Places = EVERYWHERE,
) -> None:
    """Delete what was not seen, batch by batch, and count it."""
    for reach, keys in _absent_keys(store, connection_id, seen, places):
        batch = intake(reach.feed)
        for key in keys:
            batch.take(orjson.dumps({"key": key, "op": "delete"}))
        report.write(reach.stream.name, batch.write(), keys)


def _absent_keys(
    store: Store, connection_id: str, seen: SeenRecords, places: Places
) -> Iterator[tuple[Reach, list[str]]]:
    select = frozenset[str]() if "" in places else frozenset({_PATH})
    for reach in owner_reaches(store.catalogue()):
        if reach.connection_id != connection_id:
            continue
        after = None
        while True:
            page = store.page(PageQuery((reach,), BATCH_ITEMS, after=after, select=select))
            keys = [
                record.id
                for record in page.records
                if seen_mark(reach.stream.name, record.id) not in seen
                and ("" in places or _lies_in(read_data(record.data), places))
            ]
            if keys:
                yield reach, keys
            if page.next is None:
                break
            after = page.next


def _lies_in(data: Mapping[str, Any], places: Places) -> bool:
    return str(data.get(_PATH) or "").startswith(tuple(places))
