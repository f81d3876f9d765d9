"""Series of batches made up by chance, and the ways in which a store can be told them."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from decimal import Decimal
from typing import Any, NamedTuple

from tests.store.questions import ask
from tests.store.world import MESSAGE, QUERY, Clock, Data, World, declare, stream

from pdpp.model.declaration import Declaration
from pdpp.store.batch import CheckedRecords, Line, RecordBatch, WriteResult
from pdpp.store.port import Store
from pdpp.store.query import PageQuery, SearchQuery
from pdpp.store.scope import Reach

WORDS = ["apple", "pears", "plum", "été", "犬", "Äpfel", "o'clock", "running", "runs", "2026"]
NAMES = ("messages", "plain")
_FIELDS = {
    **MESSAGE,
    "updated_at": {"type": ["string", "null"], "format": "date-time"},
    "late": {"type": ["number", "null"]},
}
_RANGES = {**QUERY["range_filters"], "late": ["gte"]}
_NUMBERS = [0, 1, 1.0, -0.0, 0.5, Decimal("0.300000000000000001"), 2**53 + 1, float(2**53)]

Change = tuple[str, Data | None]
"""A key, and its record; None deletes."""

Opener = Callable[[Clock], Store]
"""Opens the same store each time, as another process does."""


class Batch(NamedTuple):
    """A batch, how it is made ready, and what happens between that and its being written."""

    stream: str
    changes: Sequence[Change]
    keep_newer: bool
    at_once: int
    waiting: bool
    late: Sequence[Change]
    meanwhile: Sequence[Change]
    declared: int
    """Which declaration is registered meanwhile, 0 for none."""


class Told(NamedTuple):
    """What a store answers in the end, and what became of each batch."""

    results: list[WriteResult]
    problems: list[str]
    records: dict[str, dict[str, bytes]]
    counts: list[int]
    hits: dict[str, list[str]]


def declaration(version: int) -> Declaration:
    """Return a declaration; every second one searches a field more."""
    fields = ["subject", "body", "note"][: 2 + version % 2]
    query = {**QUERY, "range_filters": _RANGES, "search": {"lexical_fields": fields}}
    plain = stream("plain", _FIELDS, {"range_filters": {"size": ["gte"], "weight": ["gte"]}})
    del plain["consent_time_field"]
    told = stream("messages", _FIELDS, query, thread="thread", thread_order="size")
    return declare(told, plain, version=str(version))


def series(chance: random.Random, length: int) -> list[Batch]:
    """Return batches of new, stored, repeated, deleted and returning records."""
    versions = iter(range(2, length + 2))
    return [_batch(chance, number, versions) for number in range(length)]


def _batch(chance: random.Random, number: int, versions: Any) -> Batch:
    size, some = chance.choice([1, 5, 30, 60]), chance.random()
    deletes = chance.choice([0, 0, 0.1, 0.5])
    # Half of them hold nothing that is stored, as an import mostly does.
    first = number * 100 if some < 0.5 else chance.randrange(100)
    span = size if some < 0.5 else 40

    def change() -> Change:
        key = f"k{first + chance.randrange(span)}"
        return key, None if chance.random() < deletes else _record(chance, number)

    changes = [change() for _ in range(size)]
    told = chance.sample(changes, min(3, size)) if chance.random() < 0.4 else []
    return Batch(
        chance.choice(["messages", "messages", "plain"]),
        changes,
        not deletes and chance.random() < 0.7,
        chance.randrange(1, 40),
        chance.random() < 0.6,
        [change() for _ in range(3)] if chance.random() < 0.15 else [],
        [(key, chance.choice([data, _record(chance, number), None])) for key, data in told],
        next(versions) if chance.random() < 0.08 else 0,
    )


def _record(chance: random.Random, number: int) -> Data:
    day = chance.randrange(1, 28)
    filled: Data = {
        "subject": " ".join(chance.choices(WORDS, k=chance.randrange(5))),
        "body": " ".join(chance.choices(WORDS, k=chance.randrange(14))),
        "at": f"2026-02-{day:02}T10:00:00Z",
        "size": chance.choice([0, 1, -1, 2**53 + 1, 2**63, "soon"]),
        "weight": chance.choice(_NUMBERS),
        "read": chance.random() < 0.5,
        "thread": chance.choice(["t1", "t2"]),
        "note": chance.choice(["", "plum", "n" * 5_000, "\x01odd"]),
        "file": {"blob_id": f"b{day}"},
        "updated_at": f"2026-03-{day:02}T00:00:00Z",
    }
    if number > 4:  # A field that no record filled before.
        filled["late"] = chance.choice([3, None])
    return {name: value for name, value in filled.items() if chance.random() < 0.6}


def plainly(opened: Opener, batches: Sequence[Batch]) -> Told:
    """Tell a store batch after batch, with nothing made ready ahead."""
    return _tell(opened, batches, ahead=False, beside=False)


def ahead(opened: Opener, batches: Sequence[Batch]) -> Told:
    """Tell a store batches that are made ready ahead; another one writes in between."""
    return _tell(opened, batches, ahead=True, beside=False)


def beside(opened: Opener, batches: Sequence[Batch]) -> Told:
    """The same, with another process that writes."""
    return _tell(opened, batches, ahead=True, beside=True)


def one_by_one(opened: Opener, batches: Sequence[Batch]) -> Told:
    """Tell a store each change by itself."""
    clock = Clock()
    with closing(opened(clock)) as store:
        world = World(store, clock).settle(declaration(1))
        for batch in batches:
            for key, data in batch.meanwhile:
                store.write(world.feed("c1", batch.stream), [Line(0, key, 1, data)])
            if batch.declared:
                store.register(declaration(batch.declared))
            for change in (*batch.changes, *batch.late):
                single = store.batch(world.feed("c1", batch.stream), keep_newer=batch.keep_newer)
                _give(single, [change], 1)
                single.write()
        return _told(world, [])


def _tell(opened: Opener, batches: Sequence[Batch], *, ahead: bool, beside: bool) -> Told:
    clock, results = Clock(), list[WriteResult]()
    with ExitStack() as stack:
        store, other = (stack.enter_context(closing(opened(clock))) for _ in range(2))
        world = World(store, clock).settle(declaration(1))
        if beside:
            stack.enter_context(store.writing_beside())
        for number, batch in enumerate(batches):
            clock.pass_by()
            made = store.batch(world.feed("c1", batch.stream), keep_newer=batch.keep_newer)
            _give(made, batch.changes, batch.at_once)
            if ahead:
                made.work_ahead(waiting=batch.waiting)
            _give(made, batch.late, batch.at_once)
            if batch.meanwhile:
                feed = other.catalogue().feeds["c1", batch.stream]
                lines = [Line(at, *one) for at, one in enumerate(_stamped(batch.meanwhile))]
                results.append(other.write(feed, lines))
            if batch.declared:
                other.register(declaration(batch.declared))
            results.append(made.write(lasting=number % 2 == 0))
        return _told(world, results)


def _stamped(changes: Sequence[Change]) -> list[tuple[str, int, Data | None]]:
    return [(key, 1, data) for key, data in changes]


def _give(batch: RecordBatch, changes: Sequence[Change], at_once: int) -> None:
    """Give a batch records, some at once, and keys to delete."""
    waiting: list[tuple[str, Data]] = []

    def take() -> None:
        if waiting:
            keys, data = zip(*waiting, strict=True)
            batch.keep_all(CheckedRecords(keys, (2,) * len(keys), data, (None,) * len(keys)))
            waiting.clear()

    for key, data in changes:
        if data is None or len(waiting) == at_once:
            take()
        if data is None:
            batch.drop(key, 2)
        else:
            waiting.append((key, data))
    take()


def _records(store: Store, reach: Reach) -> Iterator[tuple[str, bytes]]:
    """Yield every record: one page holds only so many bytes."""
    after = None
    while True:
        page = store.page(PageQuery((reach,), 1_000, after=after))
        yield from ((record.id, bytes(record.data)) for record in page.records)
        after = page.next
        if after is None:
            return


def _told(world: World, results: list[WriteResult]) -> Told:
    store = world.store
    reaches = [world.reach("c1", name) for name in NAMES]
    records = [dict(_records(store, reach)) for reach in reaches]
    hits = {
        word: sorted(
            hit.record.id for hit in store.search(SearchQuery((reaches[0],), ask(word), 5_000)).hits
        )
        for word in WORDS
    }
    counts = [store.count(reach) for reach in reaches]
    return Told(results, store.check(), dict(zip(NAMES, records, strict=True)), counts, hits)
