"""New records on their way to PostgreSQL: many values at once are written as one by one."""

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.postgres.bulk import array_literal, cell_literals
from pdpp.store.postgres.values import BYTEA, INT8, TEXT, array_of, escaped
from pdpp.store.postgres.variant import encode

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
WHOLE = st.integers(0, 2**53) | st.sampled_from([0, 2**53, 2**53 + 1, -1, 2**63 - 1])
COLUMNS = st.sampled_from([TEXTS, WHOLE, st.floats(allow_nan=False), TEXTS | WHOLE | st.none()])


@given(st.data())
def test_cells_by_column_are_what_they_are_by_record(data: st.DataObject) -> None:
    columns = [data.draw(COLUMNS) for _ in range(data.draw(st.integers(0, 4)))]
    rows = data.draw(st.lists(st.tuples(*columns), min_size=1, max_size=8))
    assert cell_literals(rows) == [array_literal([encode(value) for value in row]) for row in rows]


def one_by_one(values: list[Any], type_: int) -> bytes:
    """Return an array in the binary form of PostgreSQL."""
    packed = struct.pack(">iiiii", 1, 1, type_, len(values), 1)
    for value in values:
        if value is None:
            packed += struct.pack(">i", -1)
            continue
        data: bytes = value
        if type_ != BYTEA:
            data = struct.pack(">q", value) if type_ == INT8 else escaped(value).encode()
        packed += struct.pack(">i", len(data)) + data
    return packed


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (TEXT, ["plain", "", "東京"]),
        (TEXT, ["a\0b", "\U0010ffff", "plain"]),
        (TEXT, ["plain", None, "a\0b"]),
        (BYTEA, [b"", b"\0\xff", b"x" * 300]),
        (BYTEA, [None, b"x"]),
        (INT8, [0, -1, 2**63 - 1]),
        (INT8, [None, 7]),
    ],
)
def test_an_array_is_what_its_values_are(type_: int, values: list[Any]) -> None:
    assert array_of(values, type_).data == one_by_one(values, type_)
