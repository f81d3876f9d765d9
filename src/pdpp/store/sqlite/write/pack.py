"""Packs: a new record's rows as bytes, of which the engine takes a whole table at once.

A statement for each row would take and leave the interpreter's lock each time, and no other thread
would come to run in between. A pack knows only its turn in the batch; which numbers that makes, and
what the field_sets of the batch are called, is told once, beside all packs.
"""

from typing import Any, NamedTuple

import orjson

from pdpp.store.cell import CellValue
from pdpp.store.sqlite.numbering import PLACE_BITS

_DIGITS = 9
_RECORD_FRONT = 3 * _DIGITS
_WORDS_FRONT = 2 * _DIGITS

NEW_RECORDS = f"""
    INSERT INTO record
    SELECT :first + turn, :owner, :feed, head ->> 0, :version, head ->> 1, :version, NULL,
           head ->> 2, :field_sets ->> field_set, head ->> 3, head ->> 4, data
    FROM (
      SELECT CAST(substr(front, 1, {_DIGITS}) AS INTEGER) AS turn,
             CAST(substr(front, {_DIGITS + 1}, {_DIGITS}) AS INTEGER) AS field_set,
             CAST(substr(value, {_RECORD_FRONT + 1}, size) AS TEXT) AS head,
             substr(value, {_RECORD_FRONT + 1} + size) AS data
      FROM (
        SELECT value, front, CAST(substr(front, {2 * _DIGITS + 1}) AS INTEGER) AS size
        FROM (
          SELECT value, CAST(substr(value, 1, {_RECORD_FRONT}) AS TEXT) AS front
          FROM carray(:packs)
        )
      )
      LIMIT -1 OFFSET 0
    )
"""
"""The limit keeps the engine from unpacking the head anew for each column."""

NEW_WORDS = f"""
    INSERT INTO lex (rowid, words)
    SELECT (:first - CAST(substr(front, 1, {_DIGITS}) AS INTEGER) << {PLACE_BITS})
             | CAST(substr(front, {_DIGITS + 1}) AS INTEGER),
           CAST(substr(value, {_WORDS_FRONT + 1}) AS TEXT)
    FROM (
      SELECT value, CAST(substr(value, 1, {_WORDS_FRONT}) AS TEXT) AS front FROM carray(:packs)
    )
"""
"""In the index a newer record has the smaller row."""


class Head(NamedTuple):
    """What is kept of a record beside its data."""

    key: str
    emitted: int
    time: int | None
    digest: str
    cells: list[CellValue]


def digits(number: int) -> bytes:
    """Return a number as it stands at the front of a pack."""
    return b"%9d" % number


def pack_record(turn: bytes, field_set: int, head: Any, data: bytes) -> bytes:
    """Return the row of a record; ``turn`` is in digits, ``head`` is the members of ``Head``."""
    text = orjson.dumps(head)
    return turn + b"%9d%9d" % (field_set, len(text)) + text + data


def pack_words(turn: bytes, place: bytes, words: bytes) -> bytes:
    """Return the words of one field of a record, at a place in digits too."""
    return turn + place + words


def turn_of(pack: bytes) -> int:
    """Return the turn of a packed record in its batch."""
    return int(pack[:_DIGITS])


def field_set_of(pack: bytes) -> int:
    """Return which of the batch's field_sets a packed record has."""
    return int(pack[_DIGITS : 2 * _DIGITS])


def head_of(pack: bytes) -> Head:
    """Return what was packed beside the data."""
    return Head(*orjson.loads(pack[_RECORD_FRONT : _data_from(pack)]))


def data_of(pack: bytes) -> bytes:
    """Return the data that was packed."""
    return pack[_data_from(pack) :]


def _data_from(pack: bytes) -> int:
    return _RECORD_FRONT + int(pack[2 * _DIGITS : _RECORD_FRONT])
