"""Sums are added up by the database, to the last digit that the embedded engine says."""

import random
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.postgres_server import server_url
from tests.store.postgres.test_differential import both, totals

from pdpp.model import instant
from pdpp.store.aggregation import AggregateQuery
from pdpp.store.number_key import near, number_key
from pdpp.store.port import Store
from pdpp.store.postgres import opening
from pdpp.store.postgres.variant import encode
from pdpp.store.scope import Reach

WHOLE = st.integers(-(2**63) + 1, 2**63 - 1)
FRACTION = st.floats(allow_nan=False, allow_infinity=False)
PLACES = st.decimals(allow_nan=False, allow_infinity=False, places=12)


@pytest.fixture(scope="module")
def session() -> Iterator["psycopg.Connection[Any]"]:
    """A session that is asked for no rows of anybody."""
    opening.prepare(server_url())
    with closing(opening.open_session(server_url())) as opened:
        yield opened


@settings(max_examples=20)
@given(st.lists(WHOLE | FRACTION, min_size=1, max_size=30), st.lists(PLACES, max_size=30))
def test_a_number_is_read_from_its_cell_and_from_its_key_as_it_was_written(
    session: "psycopg.Connection[Any]", given: list[int | float], decimals: list[Decimal]
) -> None:
    cells = [near(number) for number in given]
    numbers = [*cells, *cells, *decimals]
    stored = [encode(number) for number in cells]
    stored += [encode(number_key(number)) for number in (*cells, *decimals)]
    rows = session.execute(
        "SELECT exact_number(v)::text FROM unnest(%s::bytea[]) WITH ORDINALITY AS s(v, n)"
        " ORDER BY n",
        (stored,),
    ).fetchall()
    assert [Decimal(text) for (text,) in rows] == [Decimal(str(number)) for number in numbers]


def amount(rng: random.Random) -> Any:
    """Return a number of some kind, or what is none."""
    kind = rng.randrange(8)
    if kind < 3:
        return round(rng.uniform(-1000, 1000), 2)
    if kind < 5:
        return rng.choice([0.1, -0.1, 1e-7, 1e300, -1e300, 5e-324, 2**53 + 1, 2**63 - 1, 1e18])
    if kind == 5:
        return Decimal(rng.randrange(-(10**24), 10**24)).scaleb(-9)
    return rng.choice([None, "none", 7, -3, rng.random()])


def days(store: Store, reach: Reach) -> Any:
    def bucket(moment: int) -> tuple[str, int]:
        start = moment - moment % instant.DAY
        return str(start), start + instant.DAY

    query = AggregateQuery((reach,), "sum", "weight", bucket_by="at")
    groups = store.aggregate(query, bucket)
    return sorted((repr(name), item.count, str(item.total)) for name, item in groups.items())


def test_both_engines_add_up_the_same_to_the_last_digit(tmp_path: Path) -> None:
    rng = random.Random(20)
    with both(tmp_path) as worlds:
        for world in worlds:
            state = rng.getstate()
            world.put(
                {
                    f"r{number}": {
                        "weight": amount(rng),
                        "at": f"2026-01-{rng.randrange(1, 9):02}T00:00:00Z",
                        "thread": rng.choice(["a", "b", None]),
                    }
                    for number in range(300)
                }
            )
            rng.setstate(state)
        for fields in (None, ["id", "weight", "thread", "at"]):
            for group in (None, "thread"):
                answers = [
                    totals(world.store, world.reach(fields=fields), "sum", "weight", group)
                    for world in worlds
                ]
                assert answers[0] == answers[1]
        assert answers[0]
        narrow = [days(world.store, world.reach(keys=["r1", "r2", "r3"])) for world in worlds]
        whole = [days(world.store, world.reach()) for world in worlds]
        assert narrow[0] == narrow[1]
        assert whole[0] == whole[1]
        assert len(whole[0]) >= 8
