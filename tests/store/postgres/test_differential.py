"""Both engines are told the same and asked the same, and answer alike to the letter."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.engine import surrogate_by_key
from tests.postgres_server import server_url
from tests.soak import SOAK
from tests.store.questions import ask
from tests.store.world import RANGES, Clock, World, allow, condition

from pdpp.model import instant
from pdpp.model.grant import AccessMode, Grant, Interval
from pdpp.store.aggregation import AggregateQuery
from pdpp.store.port import Store
from pdpp.store.postgres.store import PostgresStore
from pdpp.store.pseudonym import FeedSeal, GrantKeys
from pdpp.store.query import ChangePosition, ChangeQuery, PageQuery, SearchQuery
from pdpp.store.scope import Reach
from pdpp.store.sqlite.store import SqliteStore
from pdpp.store.vault import ShortLivedSecret, Token

STEPS = 200_000 if SOAK else 2_500
LIVES = 20 if SOAK else 5
"""How many stores begin empty and live a part of the steps each."""
MOST_PAGES = 100 if SOAK else 2
SECRET = bytes(32)
WORDS = ["apple", "pear", "plum", "Äpfel", "naïve", "東京", "invoice", "meeting", "a\0b"]
SORTS = (None, "subject", "at", "day", "size", "weight")
KEYS = [f"k{number}" for number in range(25)] + ["nul\0key", "ключ"]
FIELDS = ["id", "subject", "body", "at", "size", "weight", "thread", "file", "read"]
NUMBERS: list[Any] = [
    0,
    1,
    -1,
    1.0,
    0.5,
    -2.25,
    2**53,
    2**53 + 1,
    float(2**53),
    2**63 - 1,
    1e300,
    0.1,
]
DECIMALS = [
    Decimal("123456789012345.678"),
    Decimal("123456789012345.679"),
    Decimal("-0.30000000000000001"),
]

Read = Callable[[World, Reach], Any]
Worlds = tuple[World, World]


def some_record(rng: random.Random) -> dict[str, Any]:
    """Return a record: most fields filled, some empty, some with a value of another kind."""
    day = rng.randrange(1, 28)
    filled = {
        "subject": " ".join(rng.choices(WORDS, k=rng.randrange(4))),
        "body": " ".join(rng.choices(WORDS, k=rng.randrange(12))),
        "at": f"2026-01-{day:02}T{rng.randrange(24):02}:00:00Z",
        "day": f"2026-02-{day:02}",
        "size": rng.choice([*NUMBERS[:3], 7, 2**53 + 1]),
        "weight": rng.choice(NUMBERS + DECIMALS),
        "read": rng.random() < 0.5,
        "thread": rng.choice(["t1", "t2", "t3"]),
    }
    record = {name: value for name, value in filled.items() if rng.random() < 0.8}
    if rng.random() < 0.05:
        record["subject"] = f"{rng.randrange(9)} " + "longer than an index takes " * 200
    if rng.random() < 0.1:
        record[rng.choice(["at", "size", "subject"])] = rng.choice(["soon", 3, None, "2026-01-05"])
    return record


def some_reach(rng: random.Random) -> Callable[[World], Reach]:
    """Return how a world makes the reach of a question: the owner's, or one of a grant."""
    fields = None if rng.random() < 0.4 else rng.sample(FIELDS, rng.randrange(2, len(FIELDS)))
    time = None
    if rng.random() < 0.4:
        first = instant.parse(f"2026-01-{rng.randrange(1, 20):02}")
        assert first is not None
        time = Interval(first, first + rng.randrange(1, 12) * instant.DAY)
    keys = rng.sample(KEYS, rng.randrange(1, 12)) if rng.random() < 0.2 else None
    chosen = rng.choice(["size", "weight", "subject"])
    values = {"size": NUMBERS, "weight": NUMBERS + DECIMALS, "subject": WORDS}
    value: Any = rng.choice(values[chosen])
    operator = rng.choice(["eq", *RANGES])

    def make(world: World) -> Reach:
        reach = world.reach(fields=fields, time=time, keys=keys)
        if operator != "eq" and reach.shows(chosen):
            reach = reach.narrowed([condition(reach, chosen, operator, value)])
        return reach

    return make


def some_read(rng: random.Random) -> Read:
    """Return one question, to be put to both engines."""
    match rng.randrange(7):
        case 0:
            sort, descending, limit = rng.choice(SORTS), rng.random() < 0.5, rng.randrange(1, 8)
            return lambda world, reach: pages(world.store, reach, sort, descending, limit)
        case 1:
            tombstones, limit, since = rng.random() < 0.7, rng.randrange(1, 9), rng.random()
            asked = (limit, tombstones, since)
            return lambda world, reach: changes(world.store, reach, *asked)
        case 2:
            words = " ".join(rng.sample(WORDS[:-1], rng.randrange(1, 3)))
            return lambda world, reach: hits(world.store, reach, words)
        case 3:
            metric, field = rng.choice([("sum", "weight"), ("min", "weight"), ("max", "size")])
            group = rng.choice([None, "subject", "thread"])
            measured = (metric, field, group)
            return lambda world, reach: totals(world.store, reach, *measured)
        case 4:
            size = rng.choice([instant.DAY, 7 * instant.DAY, instant.DAY // 24])
            return lambda world, reach: buckets(world.store, reach, size)
        case 5:
            key = rng.choice(KEYS)
            return lambda world, reach: record(world, reach, key)
        case _:
            return lambda world, reach: (
                world.store.count(reach),
                world.store.latest_version(reach),
                world.store.latest_trace(reach),
            )


def shown(record: Any) -> Any:
    return None if record is None else record[1:]


def record(world: World, reach: Reach, key: str) -> Any:
    seal = FeedSeal(GrantKeys(SECRET, reach.grant_id), *reach.feed.address)
    id = key if reach.shows_key else seal.seal(surrogate_by_key(reach.feed, key))
    return shown(world.store.record(reach, id))


def pages(store: Store, reach: Reach, sort: str | None, descending: bool, limit: int) -> Any:
    if sort is not None and not reach.compares(sort):
        sort = None
    seen, after = [], None
    for _ in range(MOST_PAGES):
        page = store.page(PageQuery((reach,), limit, sort, descending, after))
        seen += [shown(record) for record in page.records]
        after = page.next
        if after is None:
            break
    return seen


def changes(store: Store, reach: Reach, limit: int, tombstones: bool, since: float) -> Any:
    seen, horizon = [], store.latest_version(reach)
    after = ChangePosition(int(horizon * since), None)
    for _ in range(MOST_PAGES):
        page = store.changes(ChangeQuery(reach, limit, after, horizon, tombstones))
        seen += [
            (change.id, change.emitted_at, change.version, getattr(change, "data", None))
            for change in page.changes
        ]
        after = page.last
        if not page.has_more:
            break
    return seen


def hits(store: Store, reach: Reach, words: str) -> Any:
    page = store.search(SearchQuery((reach,), ask(words), 5))
    found = [(shown(hit.record), hit.position.score, hit.position.time) for hit in page.hits]
    return found, page.ranked, page.has_more, page.suggested, dict(page.repaired)


def totals(store: Store, reach: Reach, metric: str, field: str, group: str | None) -> Any:
    if not reach.shows(field) or (group is not None and not reach.shows(group)):
        return None
    groups = store.aggregate(AggregateQuery((reach,), metric, field, group))
    return sorted(
        (repr(name), total.count, str(total.total), repr(total.least), repr(total.most))
        for name, total in groups.items()
    )


def buckets(store: Store, reach: Reach, size: int) -> Any:
    if not reach.shows("at"):
        return None

    def bucket(moment: int) -> tuple[str, int]:
        start = moment - moment % size
        return str(start), start + size

    groups = store.aggregate(AggregateQuery((reach,), "count", bucket_by="at"), bucket)
    return sorted((repr(name), total.count) for name, total in groups.items())


@contextmanager
def both(folder: Path) -> Iterator[tuple[World, World]]:
    """Open an empty store on each engine, with one secret and one clock."""
    clock = Clock()
    sqlite = SqliteStore(folder / "sqlite", clock, surrogate_by_key)
    postgres = PostgresStore(
        server_url(), folder / "postgres", clock, surrogate_by_key, owner=str(folder)
    )
    try:
        sqlite._secret = postgres._secret = SECRET
        yield World(sqlite, clock).settle(), World(postgres, clock).settle()
    finally:
        sqlite.close()
        postgres.close()


def some_writing(rng: random.Random, worlds: Worlds) -> int:
    """Write a batch on both, and compare what they say; return how many steps that was."""
    batch = {
        key: None if rng.random() < 0.15 else some_record(rng)
        for key in rng.sample(KEYS, rng.randrange(1, 6))
    }
    one, other = (world.put(batch) for world in worlds)
    assert one == other
    if rng.random() < 0.1:
        tended = [world.store.tend() for world in worlds]
        assert tended[0] == tended[1]
    return 1


def some_granting(rng: random.Random, worlds: Worlds) -> int:
    """Approve, revoke or forget on both, and compare what they keep."""
    now = worlds[0].clock.now
    grant_id, client_id = f"grt_{rng.randrange(9)}", f"client {rng.randrange(3)}"
    chosen = rng.random()
    fields, approved = tuple(rng.sample(FIELDS, 3)), rng.choice([None, True, False])
    kept = []
    for world in worlds:
        vault = world.store.vault
        answer: bool | int | None = None
        with vault.transaction() as transaction:
            if chosen < 0.4 and vault.grant(grant_id) is None:
                allowed = (allow(world, fields=fields, keys=frozenset(KEYS[:4])),)
                mode = AccessMode.CONTINUOUS
                transaction.add_grant(Grant(grant_id, client_id, "why", mode, allowed, now))
                name = f"{grant_id} {now}"
                transaction.add_token(Token(name, "client", client_id, now, grant_id=grant_id))
            elif chosen < 0.6:
                answer = transaction.revoke_grant(grant_id, now)
            elif chosen < 0.7:
                transaction.revoke_client(client_id, now)
            elif chosen < 0.85:
                body = {"approved": approved, "grant_id": grant_id}
                ends = now + instant.DAY
                transaction.add_secret(
                    ShortLivedSecret(
                        str(now), "device", body, now, ends, client_id, address="192.0.2.1"
                    )
                )
            else:
                answer = transaction.drop_ended_requests(now + 2 * instant.DAY, 5)
        grants, tokens = list(vault.grants()), list(vault.tokens("client"))
        secrets = vault.secrets("device", now, 100)
        kept.append((answer, grants, tokens, secrets, vault.outstanding("192.0.2.1")))
    assert kept[0] == kept[1]
    return 1


def some_reading(rng: random.Random, worlds: Worlds) -> int:
    """Ask both a few questions about one moment, each a step."""
    asked = [(some_reach(rng), some_read(rng)) for _ in range(rng.randrange(1, 16))]
    answers = []
    for world in worlds:
        with world.store.reading():
            answers.append([read(world, reach(world)) for reach, read in asked])
    for one, other in zip(*answers, strict=True):
        assert one == other
    return len(asked)


def live(rng: random.Random, worlds: Worlds, steps: int) -> None:
    """Let both do the same in so many steps."""
    done = 0
    while done < steps:
        worlds[0].clock.now += rng.randrange(1, 5_000_000)
        chosen = rng.random()
        act = some_writing if chosen < 0.5 else some_granting if chosen < 0.65 else some_reading
        done += act(rng, worlds)


@pytest.mark.parametrize("seed", range(LIVES))
def test_both_engines_answer_alike(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    with both(tmp_path) as worlds:
        live(rng, worlds, STEPS // LIVES)
        assert [world.store.check() for world in worlds] == [[], []]
