from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model import instant
from pdpp.model.declaration import SCALARS, Kind
from pdpp.store.cell import CellValue, cell_json, converter_of


def cell_of(kind: Kind, value: Any) -> CellValue:
    """Return the cell of a record whose only field has this value."""
    return None if value is None else converter_of(kind)(value)


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        (Kind.TEXT, "a", "a"),
        (Kind.TEXT, "", ""),
        (Kind.TEXT, 1, None),
        (Kind.INTEGER, 7, 7),
        (Kind.INTEGER, True, None),
        (Kind.INTEGER, "7", None),
        (Kind.INTEGER, 2**63 - 1, 2**63 - 1),
        (Kind.INTEGER, 2**63, 2.0**63),
        (Kind.NUMBER, 1.5, 1.5),
        (Kind.NUMBER, False, None),
        (Kind.BOOLEAN, True, 1),
        (Kind.BOOLEAN, False, 0),
        (Kind.BOOLEAN, 1, None),
        (Kind.DATE_TIME, "1970-01-01T00:00:01Z", 1_000_000),
        (Kind.DATE_TIME, "yesterday", None),
        (Kind.DATE_TIME, 5, None),
        (Kind.DATE, "1970-01-02", instant.DAY),
    ],
)
def test_a_value_is_compared_as_its_declared_kind(kind: Kind, value: Any, cell: CellValue) -> None:
    found = cell_of(kind, value)
    assert (found, type(found)) == (cell, type(cell))


@pytest.mark.parametrize("kind", sorted(SCALARS))
def test_null_is_absent_in_every_kind(kind: Kind) -> None:
    assert cell_of(kind, None) is None
    assert cell_json(kind, None) is None


@given(
    st.tuples(st.just(Kind.TEXT), st.text())
    | st.tuples(st.just(Kind.INTEGER), st.integers(-(2**62), 2**62))
    | st.tuples(st.just(Kind.NUMBER), st.floats(allow_nan=False))
    | st.tuples(st.just(Kind.BOOLEAN), st.booleans())
    | st.tuples(st.just(Kind.DATE), st.dates().map(str))
    | st.tuples(
        st.just(Kind.DATE_TIME),
        st.integers(-(10**15), 10**15).map(instant.to_text),
    )
)
def test_a_cell_is_shown_as_the_value_it_came_from(pair: tuple[Kind, Any]) -> None:
    kind, value = pair
    shown = cell_json(kind, cell_of(kind, value))
    if isinstance(value, float) and 2**53 <= abs(value) < 2**63:
        # Floats that leave out whole numbers are compared as the whole numbers they are written as.
        assert (shown, type(shown)) == (int(Decimal(repr(value))), int)
    else:
        assert (shown, type(shown)) == (value, type(value))
