"""Strategies: records of the ``messages`` stream, and reaches that show a part of them."""

from decimal import Decimal
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from tests.store.world import NOW, Data, World, condition

from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.store.scope import Reach

DAY = instant.DAY
FEWER = settings(max_examples=(settings.default or settings()).max_examples // 2)
KEYS = st.sampled_from(["a", "b", "B", "k1", "k10", "k2", "ä", "鍵", "z-9", "~"])
WORDS = st.sampled_from(["", "apple", "Apple", "b", "été", "犬", "z", "10", "a\x00b", "𝒳"])
TIMES = st.sampled_from(
    [
        "2026-02-27T23:59:59.999999Z",
        "2026-02-28T00:00:00Z",
        "2026-02-28T01:00:00+01:00",
        "2026-02-28",
        "2026-03-01T12:00:00Z",
        "2026-03-01T12:00:00.5Z",
        "1969-12-31T23:59:59Z",
        "9999-12-31T23:59:59.999Z",
    ]
)
DAYS = st.sampled_from(["2026-02-28", "2026-03-01", "1900-01-01"])
INTEGERS = st.integers(-3, 3) | st.sampled_from([2**53 + 1, 2**53, 2**63 - 1, 2**63, -(2**63)])
EXACT = st.sampled_from(
    [
        Decimal("0.300000000000000001"),
        Decimal("0.300000000000000002"),
        Decimal("0.299999999999999999"),
        Decimal("-123456789012.345678"),
        Decimal("-123456789012.345677"),
        Decimal("18014398509481985.5"),
        Decimal("18014398509481986.5"),
        Decimal("1.23456789012345678e+99"),
    ]
)
"""Decimals that no float is; some stand next to the same one."""

NUMBERS = (
    st.integers(-3, 3)
    | st.sampled_from([0.1, 0.1 + 0.2, 0.3, 1.0, -0.0, 1e308, 5e-324, -2.5])
    | st.floats(allow_nan=False, allow_infinity=False)
    | EXACT
)


def maybe(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | values | values


MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "subject": maybe(WORDS),
        "at": maybe(TIMES),
        "day": maybe(DAYS),
        "size": maybe(INTEGERS),
        "weight": maybe(NUMBERS),
        "read": maybe(st.booleans()),
        "note": maybe(WORDS),
        "thread": maybe(st.sampled_from(["t1", "t2"])),
    },
)
BATCHES = st.dictionaries(KEYS, MESSAGES, max_size=8)
FIELDS = [
    "id", "subject", "body", "at", "day", "size", "weight", "read", "note", "thread", "file",
]  # fmt: skip
INTERVALS = st.sampled_from(
    [
        Interval(NOW - 2 * DAY, NOW),
        Interval(NOW - DAY - DAY // 2, None),
        Interval(None, NOW - DAY),
        Interval(NOW, NOW + 1),
        Interval(NOW, NOW),
    ]
)
CONDITIONS = st.one_of(
    st.tuples(st.sampled_from(["subject", "note", "thread"]), st.just("eq"), WORDS),
    st.tuples(st.just("subject"), st.sampled_from(["gte", "gt", "lte", "lt"]), WORDS),
    st.tuples(
        st.sampled_from(["size", "weight"]),
        st.sampled_from(["eq", "gte", "gt", "lte", "lt"]),
        st.integers(-3, 3) | st.just(2**53 + 1),
    ),
    st.tuples(
        st.just("weight"),
        st.sampled_from(["eq", "gte", "gt", "lte", "lt"]),
        st.sampled_from([0.3, 0.1, 18014398509481986]) | EXACT,
    ),
    st.tuples(st.just("read"), st.just("eq"), st.sampled_from([0, 1])),
    st.tuples(
        st.just("at"),
        st.sampled_from(["eq", "gte", "gt", "lte", "lt"]),
        st.sampled_from([NOW - DAY - DAY // 2, NOW, 0]),
    ),
)


OPEN: Data = {"fields": None, "time": None, "keys": None, "asked": []}


@st.composite
def limits(draw: st.DrawFn) -> Data:
    """Draw what narrows a reach: hidden fields, a time range, keys and conditions."""
    fields = draw(st.none() | st.sets(st.sampled_from(FIELDS), min_size=1))
    chosen = draw(st.none() | st.lists(CONDITIONS, max_size=2)) or []
    return {
        "fields": fields,
        "time": draw(st.none() | INTERVALS),
        "keys": draw(st.none() | st.none() | st.sets(KEYS, max_size=4)),
        "asked": [item for item in chosen if fields is None or item[0] in fields],
    }


def narrow(world: World, connection_id: str, drawn: Data) -> Reach:
    """Return the reach that drawn limits describe."""
    reach = world.reach(
        connection_id, fields=drawn["fields"], time=drawn["time"], keys=drawn["keys"]
    )
    return reach.narrowed(condition(reach, *item) for item in drawn["asked"])
