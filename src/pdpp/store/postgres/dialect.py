"""The dialect: a statement of the embedded engine as PostgreSQL reads it.

Both engines are asked the same statements. What SQLite says in its own way is put here into the
words of PostgreSQL, once for each statement: placeholders, the few functions, conflicts, lists
given as one value, and columns of mixed types, which are bytes here (``variant.py``). A statement
that has no likeness is replaced as a whole (``replaced.py``).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from pdpp.store.postgres.replaced import REPLACED
from pdpp.store.postgres.schema import NUMBERED, Table, tables
from pdpp.store.postgres.variant import INDEXED_BYTES, beyond_index, encode, index_key

Convert = Callable[[Any], Any]

MIXED = frozenset({"value", "field", "g", "m"})
"""The names under which columns of mixed types are read."""

_PLACE = re.compile(r"\?(@[a-z]+)?")
_NAMED = re.compile(r"(?<![:\w]):([a-z_]+)")
_INSERT = re.compile(
    r"^\s*(INSERT|INSERT OR IGNORE|INSERT OR REPLACE|REPLACE) INTO (\w+)(?: \(([^)]*)\))?"
    r"(?:\s+VALUES \((.*?)\))?",
    re.DOTALL,
)
_LISTED = re.compile(r"carray\(\?\) AS (\w)")
_INDEXED = re.compile(r"(\bw\.value\s*(?:<>|<=|>=|=|<|>)\s*)\?(?!@)")
_ROW_INDEXED = re.compile(r"(\bw\.value\s*, [\w.]+\)\s*[<>]=?\s*\()\?(?!@)")
_INDEXED_PLACE = re.compile(r"\bw\.value(\s*(?:<>|<=|>=|=|<|>)\s*)\?@indexed")
_ROW_INDEXED_PLACE = re.compile(r"\(\s*w\.value\s*, ([\w.]+\)\s*[<>]=?\s*)\(\?@indexed")
_INDEX_ORDER = re.compile(r"\bORDER BY w\.value( ASC| DESC), w\.surrogate")
_MIXED_VALUE = (
    r"(?:(?<![\w.])value|r\.cells\[\d+\]|json_number_key\(r\.data, \?@path\)"
    r"|variant_number_key\( (?:w\.value|r\.cells\[\d+\]) \)\)"
    r"|member_variant\(r\.data, \?@path\?@none, ARRAY\[[^\]]*\]\)(?:\s*\))?)"
)
_COMPARED = re.compile(rf"({_MIXED_VALUE}\s*(?:<>|<=|>=|=|<|>)\s*)\?(?!@)")
_ROW_COMPARED = re.compile(rf"({_MIXED_VALUE}\s*, [\w.]+\)\s*[<>]=?\s*\()\?(?!@)")

_NAMED_INDEX = re.compile(r" INDEXED BY \w+")
_FENCED = re.compile(
    r"CROSS JOIN (\w+) (\w+)\s+ON\b(.*?)(?=\s(?:WHERE|ORDER BY|LEFT JOIN|CROSS JOIN)\b|$)",
    re.DOTALL,
)
_WORDS: Sequence[tuple[re.Pattern[str], str]] = [
    (re.compile(pattern), words)
    for pattern, words in (
        (r"\b(FROM|INTO|UPDATE|JOIN) grant\b", r'\1 "grant"'),
        (r"IN\s+\(SELECT value FROM json_each\(\?\)\)", "= ANY (?@list)"),
        (r"json_each\(\?\) AS (\w)\b", r"unnest(?@list::text[]) AS \1(value)"),
        (
            r"ifnull\(json_extract\((\w+), '\$\.(\w+)'\), 0\) = 0",
            r"coalesce(as_json(\1) ->> '\2', 'false') = 'false'",
        ),
        (r"\bifnull\(", "coalesce("),
        (r"LIMIT -1 OFFSET", "OFFSET"),
        (r"\bWHERE 1\b", "WHERE TRUE"),
        (r"\bWHERE events AND\b", "WHERE events <> 0 AND"),
        (r"\? IS NULL", "?::text IS NULL"),
        (r"ORDER BY r\.time,", "ORDER BY r.time NULLS FIRST,"),
        (r"nullif\(w\.value, \?\)", "nullif(coalesce(w.whole, w.value), ?@mixed)"),
        (r"^SELECT w\.value AS value", "SELECT coalesce(w.whole, w.value) AS value"),
        (r"(DELETE FROM cell WHERE .*\bvalue = )\?", r"\1?@indexed"),
        (
            r"^SELECT min\(w\.value\) (FROM cell w .*)$",
            r"SELECT coalesce(w.whole, w.value) AS value \1 ORDER BY w.value LIMIT 1",
        ),
        (
            r"CASE WHEN json_type\(CAST\(r\.data AS TEXT\), \?\) IN \((.*?)\)"
            r" THEN json_extract\(CAST\(r\.data AS TEXT\), \?\) END",
            r"member_variant(r.data, ?@path?@none, ARRAY[\1])",
        ),
        (r"pdpp_instant\(", "instant_variant("),
        (r"pdpp_number_key\(CAST\(r\.data AS TEXT\) -> \?\)", "json_number_key(r.data, ?@path)"),
        (r"pdpp_number_key\(", "variant_number_key("),
        (r"SELECT e\.key FROM", r"SELECT '\\x02'::bytea || convert_to(e.key, 'UTF8') FROM"),
        (r"(FROM edit e .*?\be\.field = )\?", r"\1?@mixed"),
        (r"json_extract\((\w+), '\$\.(\w+)'\)", r"(as_json(\1) ->> '\2')"),
        (r"\bcells = \?", "cells = ?@cells"),
        (r"(FROM edit WHERE .*?\bfield = )\?", r"\1?@mixed"),
    )
]
_CELL_PLACE = re.compile(r"json_extract\(r\.cells, '\$\[(\d+)\]'\)")


class Statement(NamedTuple):
    """A statement for PostgreSQL, and what becomes of the values that are bound to it."""

    text: str
    names: Sequence[str] | None
    """The names of its values, in order, where they are named."""
    converts: Sequence[Convert | None] | None
    """What each value goes through, None where none has to."""
    takes: Sequence[int] | None
    """Which of the values are bound, None where all are."""
    numbered: bool
    whole: "Statement | None" = None
    """The same for values of which an index has the beginning only: it compares all of them."""
    by_index: bool = False
    """Whether its rows come in the order of the index, by the value that they begin with."""

    def needs_whole(self, converted: Sequence[Any]) -> bool:
        """Tell whether a value that is compared with an index is too long for one."""
        return self.converts is not None and any(
            convert is index_key and stored is not None and len(stored) > INDEXED_BYTES
            for convert, stored in zip(self.converts, converted, strict=True)
        )

    def values(self, given: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any]:
        """Return the values as they are bound."""
        if self.names is not None:
            assert isinstance(given, Mapping)  # noqa: S101 - a statement with names
            given = [given[name] for name in self.names]
        assert not isinstance(given, Mapping)  # noqa: S101 - a statement without names
        if self.takes is not None:
            given = [given[at] for at in self.takes]
        if self.converts is None:
            return given
        return [
            value if convert is None else convert(value)
            for value, convert in zip(given, self.converts, strict=True)
        ]


@lru_cache(2_000)
def statement(sql: str) -> Statement:
    """Return a statement in the words of PostgreSQL."""
    text = REPLACED.get(" ".join(sql.split()), sql)
    numbered = False
    if (insert := _INSERT.match(text)) is not None:
        text = _inserting(text, insert)
        numbered = insert[2] in NUMBERED
        text += " RETURNING id" if numbered else ""
    text = _NAMED_INDEX.sub("", text)
    # Whatever the sizes of tables are: rows are looked up one by one, in the order of the others.
    text = _FENCED.sub(r"CROSS JOIN LATERAL (SELECT * FROM \1 \2 WHERE\3 OFFSET 0) AS \2", text)
    text = _CELL_PLACE.sub(lambda match: f"r.cells[{int(match[1]) + 1}]", text)
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    text = _listed(text)
    text = _ROW_INDEXED.sub(r"\1?@indexed", _INDEXED.sub(r"\1?@indexed", text))
    text = _ROW_COMPARED.sub(r"\1?@mixed", _COMPARED.sub(r"\1?@mixed", text))
    short = _placed(text, numbered)
    if text.lstrip().startswith("SELECT") and "?@indexed" in text:
        by_index = _INDEX_ORDER.search(text) is not None
        return short._replace(whole=_placed(_comparing_whole(text), numbered), by_index=by_index)
    return short


def _comparing_whole(text: str) -> str:
    """Return a statement that compares and sorts by all of a value, not by what an index has.

    The index still leads to the rows: it has the first column of each comparison.
    """
    pair = "(w.value, coalesce(w.whole, ''::bytea)"
    text = _ROW_INDEXED_PLACE.sub(rf"{pair}, \1(?@indexed, ?@beyond", text)
    text = _INDEXED_PLACE.sub(rf"{pair})\1(?@indexed, ?@beyond)", text)
    return _INDEX_ORDER.sub(r"ORDER BY w.value\1, w.whole\1, w.surrogate", text)


def _inserting(text: str, insert: re.Match[str]) -> str:
    """Return an insertion with its conflicts told as PostgreSQL wants them."""
    verb, name, names, values = insert.groups()
    table = tables()[name]
    columns = names.split(", ") if names else list(table.columns)
    if values is not None:
        text = text[: insert.start(4)] + _mixed(table, columns, values) + text[insert.end(4) :]
    text = re.sub(r"^\s*(INSERT OR IGNORE|INSERT OR REPLACE|REPLACE)", "INSERT", text)
    if verb == "INSERT OR IGNORE" or (verb == "INSERT" and name == "cell"):
        return f"{text} ON CONFLICT DO NOTHING"
    if verb == "INSERT":
        return text
    given = columns[: len(values.split(", "))] if values and not names else columns
    kept = ", ".join(f"{column} = excluded.{column}" for column in given if column not in table.key)
    return f"{text} ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET {kept}"


def _mixed(table: Table, columns: Sequence[str], values: str) -> str:
    """Return the values of an insertion; those of columns of mixed types are marked."""
    marked = [
        value.replace("?", "?@mixed") if column in table.mixed else value
        for column, value in zip(columns, values.split(", "), strict=False)
    ]
    return ", ".join(marked)


def _listed(text: str) -> str:
    """Return a statement with its lists as arrays, in whose order its rows come."""
    aliases = _LISTED.findall(text)
    if not aliases:
        return text
    for alias in aliases:
        kind = "text" if f"term = {alias}.value" in text else "bigint"
        text = text.replace(
            f"carray(?) AS {alias}",
            f"unnest(?@array::{kind}[]) WITH ORDINALITY AS {alias}(value, rowid)",
        )
    if "ORDER BY" not in text:
        text += " ORDER BY " + ", ".join(f"{alias}.rowid" for alias in aliases)
    return text


def _placed(text: str, numbered: bool) -> Statement:
    """Return a statement with numbered places."""
    names = list(dict.fromkeys(_NAMED.findall(text)))
    if names:
        for number, name in enumerate(names, 1):
            text = re.sub(rf"(?<![:\w]):{name}\b", f"${number}", text)
        return Statement(text, names, None, None, numbered)
    converts: list[Convert | None] = []
    takes: list[int] = []
    count = 0

    def place(match: re.Match[str]) -> str:
        nonlocal count
        kind = match[1]
        # The rest of a value is bound beside its beginning: the same value once more.
        count += kind != "@beyond"
        if kind == "@none":
            return ""
        converts.append(_CONVERTS[kind])
        takes.append(count - 1)
        return f"${len(takes)}"

    text = _PLACE.sub(place, text)
    return Statement(
        text,
        None,
        converts if any(converts) else None,
        takes if takes != list(range(count)) else None,
        numbered,
    )


def _list(given: str) -> Any:
    return orjson.loads(given)


def _array(given: Any) -> Any:
    return given.tolist() if hasattr(given, "tolist") else list(given)


def _path(given: str) -> Any:
    """Return the name of a member that a path leads to."""
    return orjson.loads(given.removeprefix("$."))


def cells(given: str) -> list[bytes | None]:
    """Return the cells of a record, which are given as JSON."""
    return [encode(value) for value in orjson.loads(given)]


_CONVERTS: dict[str | None, Convert | None] = {
    None: None,
    "@mixed": encode,
    "@indexed": index_key,
    "@beyond": beyond_index,
    "@list": _list,
    "@array": _array,
    "@path": _path,
    "@cells": cells,
}
