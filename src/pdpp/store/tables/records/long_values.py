"""Long values: members of records that are kept beside them, and read only where they are shown.

A row is read whole. Were a long text part of it, whoever sees the record would pay for it, also
those to whom its field is hidden. So the row holds a short form of each long member: the beginning
of a text, by which it is compared, then its size and its digest. The short form of a member follows
from the member alone; were it to follow from the whole record, the version that a grant sees would
tell the size of fields that it hides.

The data of a record that has such members is marked by a tab after its brace, which JSON allows and
which no other data has.
"""

import hashlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import orjson

from pdpp.model.decimals import read_json
from pdpp.model.errors import DamagedRecord
from pdpp.store.cell import LONG_CHARS, SHORT_FORM, TEXT_MARK, text_cell
from pdpp.store.numbers import read_data, write_data, write_decimal
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.predicate import OWNER

LONG_FIELDS = "\x01"
"""Stands among the fields of a record in its field set where some of them are kept beside it."""

_LONGEST_NAME = 256
_EXACT = "e"

_OF_RECORDS = (
    "SELECT l.surrogate, l.name, l.json FROM carray(?) AS c"
    " CROSS JOIN long_value l ON l.owner = ? AND l.feed = ? AND l.surrogate = c.value"
    " AND l.name IN (SELECT value FROM json_each(?))"
)


_MARK_JSON = orjson.dumps(TEXT_MARK)[1:-1]
_ESCAPE = _MARK_JSON[:1]


class LongValue(NamedTuple):
    """A long member as its short form describes it."""

    size: int
    exact: bool


class SplitData(NamedTuple):
    """Data with its long members in their short form, marked and not, and the members' JSON."""

    text: bytes
    plain: bytes
    values: Mapping[str, bytes]


ReadLongValues = Callable[[int, Sequence[int], Collection[str]], Mapping[tuple[int, str], bytes]]
"""Returns the JSON of the named members of some records of a feed, by surrogate and name."""


def may_be_split(text: bytes, longest: int) -> bool:
    """Tell whether a record may have a long member: mostly not, which takes few steps to tell.

    ``text`` may be that of many records, of which the longest has so many bytes.
    """
    # One byte is looked for fifty times as quickly as six, and many texts escape nothing.
    return longest > LONG_CHARS or (_ESCAPE in text and _MARK_JSON in text)


def split(data: Mapping[str, Any]) -> SplitData | None:
    """Return data without its long members, None where it has none."""
    values: dict[str, bytes] = {}
    short: dict[str, Any] = {}
    for name, value in data.items():
        kind = type(value)
        if kind is str:
            if (text := text_cell(value)) is not value:
                values[name], short[name] = orjson.dumps(value), text
        elif kind is list or kind is dict:
            json, exact = _json(value)
            if len(json) > LONG_CHARS:
                values[name], short[name] = json, _described(json, exact)
    if not values:
        return None
    plain = write_data({**data, **short}, orjson.OPT_SORT_KEYS)
    at = plain.index(b'"')
    return SplitData(b"%b\t%b" % (plain[:at], plain[at:]), plain, values)


def _json(value: Any) -> tuple[bytes, bool]:
    """Return the JSON of a list or an object, and whether it holds a decimal."""
    exact = False

    def write(member: object) -> orjson.Fragment:
        nonlocal exact
        exact = exact or isinstance(member, Decimal)
        return write_decimal(member)

    return orjson.dumps(value, default=write, option=orjson.OPT_SORT_KEYS), exact


def _described(json: bytes, exact: bool) -> str:
    kind = _EXACT if exact else ""
    return f"{TEXT_MARK}{kind}{len(json)}:{hashlib.sha256(json).hexdigest()}"


def has_long_values(data: bytes) -> bool:
    """Tell whether stored data lacks members that are kept beside it."""
    return b"\t" in data[:3]


def long_value(value: Any) -> LongValue | None:
    """Return what a member of marked data is the short form of, None where it is the member."""
    match = SHORT_FORM.search(value) if type(value) is str and TEXT_MARK in value else None
    return None if match is None else LongValue(int(match[2]), match[1] == _EXACT)


def long_members(record: Mapping[str, Any]) -> dict[str, LongValue]:
    """Return the long members of marked data, which was parsed."""
    return {
        name: described
        for name, value in record.items()
        if (described := long_value(value)) is not None
    }


def joined(record: Mapping[str, Any], values: Mapping[str, bytes], *, exact: bool) -> bytes:
    """Return the JSON of parsed data with its long members; ``exact`` says that one has decimals.

    The members are written as they are kept: texts of megabytes need no parsing.
    """
    full = {
        name: orjson.Fragment(values[name]) if name in values else record[name] for name in record
    }
    text = write_data(full)
    return b"{ %b" % text[1:] if exact and text[:2] != b"{ " else text


def whole_text(data: bytes, values: Mapping[str, bytes]) -> bytes:
    """Return the data of a record with all of its members; what is not marked is whole."""
    if not has_long_values(data):
        return data
    record = read_data(data)
    exact = any(described.exact for described in long_members(record).values())
    return joined(record, values, exact=exact)


def whole_data(db: TableReader, feed: int, surrogate: int, data: bytes) -> bytes:
    """Return the stored data of a record with all of its members."""
    data = bytes(data)
    if not has_long_values(data):
        return data
    names = long_members(read_data(data))
    values = read_long_values(db, feed, [surrogate], names)
    try:
        return whole_text(data, {name: values[surrogate, name] for name in names})
    except KeyError:
        raise lost_value() from None


def read_member(json: bytes) -> Any:
    """Return a long member; a text, which most are, is read quickly."""
    return orjson.loads(json) if json[:1] == b'"' else read_json(json)


def read_long_values(
    db: TableReader,
    feed: int,
    surrogates: Sequence[int],
    names: Collection[str],
    count: Callable[[int], None] | None = None,
) -> dict[tuple[int, str], bytes]:
    """Return the JSON of the named members of some records, as far as they are long.

    What is read is counted as it comes, so that too much of it is noticed before it is too late.
    """
    name_of = {long_name(name): name for name in names}
    rows = db.execute(
        _OF_RECORDS,
        (
            db.array(array("q", surrogates)),
            OWNER,
            feed,
            orjson.dumps(list(name_of)).decode(),
        ),
    )
    values: dict[tuple[int, str], bytes] = {}
    for surrogate, name, json in rows:
        if count is not None:
            count(len(json))
        values[surrogate, name_of[name]] = bytes(json)
    return values


def long_name(name: str) -> str:
    """Return the name of a field as an index has room for it."""
    if len(name) <= _LONGEST_NAME:
        return name
    return TEXT_MARK + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def lost_value() -> DamagedRecord:
    """Return the refusal to show a record of which a part is lost."""
    return DamagedRecord("a long value of a record is missing; run pdpp check and restore a backup")


def stored_rows(
    feed: int, surrogate: int, values: Mapping[str, bytes]
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a record's long members."""
    for name, value in values.items():
        yield OWNER, feed, surrogate, long_name(name), value


def row_keys(feed: int, surrogate: int, names: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    """Yield what the rows of a record's long members are found by."""
    for name in names:
        yield OWNER, feed, surrogate, long_name(name)
