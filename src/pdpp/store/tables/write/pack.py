"""Packs: a new record's row as two lines, of which the engine takes a whole batch at once.

The first line is a JSON array of columns, the second one the record's own JSON. A statement for
each row would take and leave the interpreter's lock each time, and no other thread would come to
run in between. A pack knows only its turn in the batch; the number of the first record and those of
the batch's field sets are given once, beside all packs.
"""

from typing import Any, NamedTuple

import orjson

from pdpp.store.cell import CellValue

NEW_RECORDS = """
    INSERT INTO record (
      id, owner, feed, key, surrogate, created, emitted, version, time, field_set, digest, cells,
      data
    )
    SELECT :first + (head ->> 0), :owner, :feed, head ->> 2, head ->> 3, :version, head ->> 4,
           :version, head ->> 5, :field_sets ->> (head ->> 1), head ->> 6, head ->> 7, data
    FROM (
      SELECT CAST(substr(value, 1, line_end - 1) AS TEXT) AS head,
             substr(value, line_end + 1) AS data
      FROM (SELECT value, instr(value, x'0A') AS line_end FROM carray(:packs))
      LIMIT -1 OFFSET 0
    )
"""
"""The limit keeps the engine from taking the head apart anew for each column."""


class Head(NamedTuple):
    """The columns of a new record beside its data, in the order of the JSON array in its pack."""

    turn: int
    field_set: int
    key: str
    surrogate: int
    emitted: int
    time: int | None
    digest: str
    cells: list[CellValue]


def pack_record(head: tuple[Any, ...], data: bytes) -> bytes:
    """Return the row of a record: a line with the members of ``Head``, and a line of data."""
    return b"%b\n%b" % (orjson.dumps(head), data)


def head_of(pack: bytes) -> Head:
    """Return what was packed beside the data."""
    return Head(*orjson.loads(pack[: pack.index(b"\n")]))


def data_of(pack: bytes) -> bytes:
    """Return the data that was packed."""
    return pack[pack.index(b"\n") + 1 :]
