"""Bulk: the new records of a batch and their cells, written in a few statements."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from pdpp.store.postgres.values import BYTEA, INT8, TEXT, array_of
from pdpp.store.postgres.variant import encode
from pdpp.store.tables.write.pack import NEW_RECORDS, data_of, head_of
from pdpp.store.tables.write.rows import NEW_CELLS

if TYPE_CHECKING:
    from pdpp.store.postgres.connection import PostgresConnection

_RECORDS = """
    INSERT INTO record (
      id, owner, feed, key, surrogate, created, emitted, version, time, field_set, digest, cells,
      data
    )
    SELECT n.id, $1, $2, n.key, n.surrogate, $3, n.emitted, $3, n.time, n.field_set, n.digest,
           n.cells::bytea[], n.data
    FROM unnest(
      $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[],
      $10::text[], $11::text[], $12::bytea[]
    ) AS n(id, key, surrogate, emitted, time, field_set, digest, cells, data)
"""

_CELLS = """
    INSERT INTO cell (owner, feed, field, value, surrogate, record, whole)
    SELECT $1, $2, c.place - 1, coalesce(index_key(c.value), '\\x03'::bytea), r.surrogate, r.id,
           beyond_index(c.value)
    FROM record r, unnest(r.cells) WITH ORDINALITY AS c(value, place)
    WHERE r.owner = $1 AND r.id BETWEEN $3 AND $4 AND c.place - 1 = ANY ($5::bigint[])
"""

_KINDS = (INT8, TEXT, INT8, INT8, INT8, INT8, TEXT, TEXT, BYTEA)


def _new_records(db: "PostgresConnection", given: Mapping[str, Any]) -> None:
    field_sets: list[int] = orjson.loads(given["field_sets"])
    columns: list[list[Any]] = [[] for _ in range(9)]
    for pack in given["packs"]:
        head = head_of(pack)
        row = (
            given["first"] + head.turn,
            head.key,
            head.surrogate,
            head.emitted,
            head.time,
            field_sets[head.field_set],
            head.digest,
            array_literal([encode(value) for value in head.cells]),
            data_of(pack),
        )
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    arrays = [array_of(column, kind) for column, kind in zip(columns, _KINDS, strict=True)]
    db.run(_RECORDS, (given["owner"], given["feed"], given["version"], *arrays))


def array_literal(values: Sequence[bytes | None]) -> str:
    """Return cells as PostgreSQL reads an array of bytes."""
    # An array of arrays would have to be of one length; a text for each record is unfolded there.
    items = ["NULL" if value is None else f'"\\\\x{value.hex()}"' for value in values]
    return "{" + ",".join(items) + "}"


def _new_cells(db: "PostgresConnection", given: Mapping[str, Any]) -> None:
    places = orjson.loads(given["places"])
    db.run(_CELLS, (given["owner"], given["feed"], given["first"], given["last"], places))


BULK: dict[str, Callable[["PostgresConnection", Mapping[str, Any]], None]] = {
    NEW_RECORDS: _new_records,
    NEW_CELLS: _new_cells,
}
