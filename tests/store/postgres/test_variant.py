from typing import Any

import apsw
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.postgres.variant import decode, encode

WHOLE = st.integers(-(2**63), 2**63 - 1)
FRACTIONS = st.floats(allow_nan=False, allow_infinity=False)
NEAR_EDGES = st.sampled_from([2**53, 2**53 + 1, float(2**53), 2**63 - 1, float(2**62), 0, -0.0])
VALUES = WHOLE | FRACTIONS | NEAR_EDGES | st.text(max_size=4) | st.binary(max_size=3)


@given(VALUES, VALUES)
def test_bytes_compare_as_the_embedded_engine_compares_values(one: Any, other: Any) -> None:
    db = apsw.Connection(":memory:")
    less, equal = db.execute("SELECT ? < ?, ? = ?", (one, other, one, other)).get
    left, right = encode(one), encode(other)
    assert left is not None
    assert right is not None
    assert (left < right, left == right) == (bool(less), bool(equal))


@given(VALUES)
def test_a_value_comes_back_equal(value: Any) -> None:
    assert decode(encode(value)) == value


def test_nothing_stays_nothing() -> None:
    assert encode(None) is None
    assert decode(None) is None
