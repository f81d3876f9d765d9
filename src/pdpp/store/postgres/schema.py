"""The tables in PostgreSQL: those of `store/tables`, for many owners in one schema.

Both engines have the same tables and columns, so they are declared once, in the rooms that they
share, and read from there. Here every table is led by its owner, is spread over partitions
by owner, and shows a session the rows of its owner only.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from pdpp.store.postgres.counting import counting, estimates
from pdpp.store.postgres.variant import INDEXED_BYTES
from pdpp.store.tables.receipts.tables import TABLES as RECEIPT_TABLES
from pdpp.store.tables.schema import TABLES

SCHEMA = "pdpp"
ROLE = "pdpp_worker"
VERSION = 6
PARTITIONS = 4
LOCK = 0x50445050
"""The advisory lock under which the schema is made and migrated."""

NUMBERED = ("feed", "field_set", "word_block")
"""Tables whose rows are numbered as they are added, from 1 for each owner."""

_TABLE = re.compile(r"^CREATE TABLE (\w+) \(\n(.*?)^\)", re.MULTILINE | re.DOTALL)
_INDEX = re.compile(r"^CREATE (UNIQUE )?INDEX (\w+) ON (\w+) \((.*?)\)([^;]*);", re.MULTILINE)
_COLUMN = re.compile(r"^  ([a-z_]+)( INTEGER| TEXT| BLOB)?( .*?)?,?$", re.MULTILINE)
_KEY = re.compile(r"^  (PRIMARY KEY|UNIQUE) \((.*?)\)", re.MULTILINE)
_TYPES = {" INTEGER": "BIGINT", " TEXT": 'TEXT COLLATE "C"', " BLOB": "BYTEA", "": "BYTEA"}
_OWNER = "nullif(current_setting('pdpp.owner', true), '')::bigint"
_CELLS = ("record", "cells")
"""A record's cells are an array here, so that a condition can look at one of them."""


_OWNER_COLUMN = f"BIGINT NOT NULL DEFAULT {_OWNER}"

RECEIPT_NAMES = frozenset(name for name, _ in _TABLE.findall(RECEIPT_TABLES))
"""The tables that the embedded engine keeps in a file of their own."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its columns with their declarations, and the columns of its key."""

    name: str
    columns: dict[str, str]
    key: tuple[str, ...]
    unique: tuple[tuple[str, ...], ...] = ()
    mixed: frozenset[str] = field(default_factory=frozenset)
    """The columns that hold values of mixed types."""


_BLOB_CONTENT = Table(
    "blob_content",
    {
        "blob_id": 'TEXT COLLATE "C" NOT NULL',
        "kept_at": "BIGINT NOT NULL",
        "content": "BYTEA",
        "owner": _OWNER_COLUMN,
    },
    ("owner", "blob_id"),
)
"""The bytes of small blobs; see ``blobs.py``. A row without
content says that the bytes are in an object store; see ``blob_bucket.py``."""


_UNCOMPRESSED = (
    ("blob_content", "content"),
    ("word_block", "times"),
    ("word_block", "numbers"),
    ("word_block", "postings"),
    ("word_list", "terms"),
)
"""What is kept as it comes. A part of a file is read without the rest, and most are compressed; the
words of a block are packed: to try again was a fifth of the database's time in an ingest, in vain.
"""


@cache
def tables() -> dict[str, Table]:
    """Return all tables by name."""
    declared = _TABLE.findall(TABLES + RECEIPT_TABLES)
    return {name: _table(name, body) for name, body in declared if name != "owner"}


def _table(name: str, body: str) -> Table:
    columns: dict[str, str] = {}
    key: tuple[str, ...] = ()
    mixed = set()
    for column, kind, rest in _COLUMN.findall(body):
        if "PRIMARY KEY" in rest:
            key = (column,)
            rest = " NOT NULL"
            if name in NUMBERED:
                rest += f" DEFAULT {SCHEMA}.next_number('{name}')"
        if not kind:
            mixed.add(column)
        type_ = "BYTEA[]" if (name, column) == _CELLS else _TYPES[kind]
        columns[column] = f"{type_}{rest}"
    constraints = [(kind, tuple(names.split(", "))) for kind, names in _KEY.findall(body)]
    key = next((names for kind, names in constraints if kind == "PRIMARY KEY"), key)
    unique = tuple(names for kind, names in constraints if kind == "UNIQUE")
    if name == "cell":
        columns["whole"] = "BYTEA"
    columns["owner"] = _OWNER_COLUMN
    return Table(name, columns, _led(key), unique, frozenset(mixed))


def _led(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return columns led by the owner."""
    return names if "owner" in names else ("owner", *names)


def statements(partitions: int = PARTITIONS) -> Iterator[str]:
    """Yield what makes the schema in an empty database."""
    yield f"CREATE SCHEMA {SCHEMA}"
    yield f"SET LOCAL search_path TO {SCHEMA}"
    yield from _FUNCTIONS_FIRST
    yield "CREATE TABLE about (version BIGINT NOT NULL)"
    yield f"INSERT INTO about VALUES ({VERSION})"
    yield f"GRANT SELECT ON about TO {ROLE}"
    yield "CREATE SEQUENCE owner_number"
    yield f"GRANT USAGE ON SEQUENCE owner_number TO {ROLE}"
    yield from _own_tables()
    for table in (*tables().values(), _BLOB_CONTENT):
        yield from _create(table, partitions)
    for name, column in _UNCOMPRESSED:
        yield f"ALTER TABLE {name} ALTER COLUMN {column} SET STORAGE EXTERNAL"
    for unique, name, table_name, names, rest in _INDEX.findall(TABLES + RECEIPT_TABLES):
        led = ", ".join(_led(tuple(names.split(", "))))
        rest = rest.replace("WHERE events", "WHERE events <> 0")
        yield f'CREATE {unique}INDEX {name} ON "{table_name}" ({led}){rest}'
    yield from _FUNCTIONS
    yield from COUNTING
    yield f"GRANT USAGE ON SCHEMA {SCHEMA} TO {ROLE}"


def _own_tables() -> Iterator[str]:
    """Yield the tables that only this engine has."""
    yield (
        'CREATE TABLE owner_name (name TEXT COLLATE "C" PRIMARY KEY,'
        " id BIGINT NOT NULL DEFAULT nextval('owner_number'))"
    )
    # A session has to find its owner before it is anybody's: names are all that is found here.
    yield f"GRANT SELECT, INSERT ON owner_name TO {ROLE}"
    # What workers tell of themselves: it is of no owner and names none.
    yield (
        'CREATE TABLE worker (name TEXT COLLATE "C" PRIMARY KEY, version TEXT NOT NULL,'
        " started_at BIGINT NOT NULL, seen_at BIGINT NOT NULL, told TEXT NOT NULL)"
    )
    yield f"GRANT SELECT, INSERT, UPDATE, DELETE ON worker TO {ROLE}"
    # Who has jobs to do, see ``owner_work.py``: a session that names nobody finds all of them.
    yield (
        "CREATE TABLE owner_work (owner BIGINT PRIMARY KEY, due_at BIGINT,"
        " leased_until BIGINT NOT NULL, ordered BOOLEAN NOT NULL,"
        " visited_until BIGINT NOT NULL DEFAULT 0)"
    )
    yield "CREATE INDEX owner_work_due ON owner_work (due_at)"
    yield from _walled("owner_work", "owner")
    yield f"CREATE POLICY nobody ON owner_work USING ({_OWNER} = 0) WITH CHECK ({_OWNER} = 0)"
    yield "CREATE TABLE owner (id BIGINT PRIMARY KEY, changes BIGINT NOT NULL DEFAULT 0)"
    yield from _walled("owner", "id")
    yield (
        f'CREATE TABLE counter (name TEXT COLLATE "C" NOT NULL, value BIGINT NOT NULL,'
        f" owner BIGINT NOT NULL DEFAULT {_OWNER}, PRIMARY KEY (owner, name))"
    )
    yield from _walled("counter", "owner")
    # Who asked how often. Nobody misses it after a crash, so it is not written to the log.
    yield (
        'CREATE UNLOGGED TABLE allowance (name TEXT COLLATE "C" NOT NULL,'
        " level DOUBLE PRECISION NOT NULL, given DOUBLE PRECISION NOT NULL,"
        f" at DOUBLE PRECISION NOT NULL, owner BIGINT NOT NULL DEFAULT {_OWNER},"
        " PRIMARY KEY (owner, name))"
    )
    yield from _walled("allowance", "owner")
    yield (
        'CREATE TABLE guess (name TEXT COLLATE "C" NOT NULL, count BIGINT NOT NULL DEFAULT 0,'
        f" until BIGINT NOT NULL DEFAULT 0, owner BIGINT NOT NULL DEFAULT {_OWNER},"
        " PRIMARY KEY (owner, name))"
    )
    yield from _walled("guess", "owner")


def _create(table: Table, partitions: int) -> Iterator[str]:
    lines = [f"{name} {declared}" for name, declared in table.columns.items()]
    lines.append(f"PRIMARY KEY ({', '.join(table.key)})")
    lines += [f"UNIQUE ({', '.join(_led(names))})" for names in table.unique]
    by = " PARTITION BY HASH (owner)" if partitions else ""
    yield f'CREATE TABLE "{table.name}" ({", ".join(lines)}){by}'
    for number in range(partitions):
        yield (
            f'CREATE TABLE "{table.name}_p{number}" PARTITION OF "{table.name}"'
            f" FOR VALUES WITH (MODULUS {partitions}, REMAINDER {number})"
        )
    yield from _estimates(table, partitions)
    yield from _walled(table.name, "owner")


def _estimates(table: Table, partitions: int) -> Iterator[str]:
    """Yield what the planner is told of a table that the records of a stream are in."""
    parts = [f"{table.name}_p{number}" for number in range(partitions)] or [table.name]
    for name in parts if "feed" in table.columns else []:
        yield from estimates(name, table.columns)


def _walled(table: str, column: str) -> Iterator[str]:
    """Yield what lets a session see and write the rows of its own owner only."""
    mine = f"{column} = {_OWNER}"
    yield f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY'
    yield f'ALTER TABLE "{table}" FORCE ROW LEVEL SECURITY'
    yield f'CREATE POLICY owner_only ON "{table}" USING ({mine}) WITH CHECK ({mine})'
    # Nothing is granted on the partitions: whoever names one of them is refused.
    yield f'GRANT SELECT, INSERT, UPDATE, DELETE ON "{table}" TO {ROLE}'


_FUNCTIONS_FIRST = (
    # The row is locked until the transaction ends, so that numbers have no gaps and no twins.
    f"""
    CREATE FUNCTION next_number(counted text) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE given bigint;
    BEGIN
      INSERT INTO {SCHEMA}.counter (name, value) VALUES (counted, 1)
        ON CONFLICT (owner, name) DO UPDATE SET value = {SCHEMA}.counter.value + 1
        RETURNING value INTO given;
      RETURN given;
    END $$
    """,
)

COUNTING = counting(SCHEMA, ROLE)

_ADDED_TABLES = ("long_posting", "dated_cell")
ADDED = tuple(text for name in _ADDED_TABLES for text in _create(tables()[name], PARTITIONS))
"""What makes the tables that the sixth version has and those before it had not."""

# Not even the owner of a table sees its rows while that is forced.
_OPEN, _CLOSED = (
    tuple(f"ALTER TABLE {name} {way} ROW LEVEL SECURITY" for name in ("thread_place", "record"))
    for way in ("NO FORCE", "FORCE")
)
ORDINALS = (
    *_OPEN,
    "CREATE TEMPORARY TABLE without_ordinal ON COMMIT DROP AS SELECT * FROM thread_place",
    "DROP TABLE thread_place",
    *_create(tables()["thread_place"], PARTITIONS),
    *_OPEN,
    "INSERT INTO thread_place (owner, feed, thread, time, ordinal, surrogate, record)"
    " SELECT t.owner, t.feed, t.thread, t.time,"
    " coalesce(substring(r.key FROM '[0-9]{1,18}$')::bigint, 0), t.surrogate, t.record"
    " FROM without_ordinal t LEFT JOIN record r ON r.owner = t.owner AND r.id = t.record",
    *_CLOSED,
)
"""What gives records an ordinal in their conversations: as ``ordinal_of`` has it, because no
declaration named another until then."""

EARLIER_TABLES = tuple(table for table in tables().values() if table.name not in _ADDED_TABLES)

ESTIMATES = tuple(text for table in EARLIER_TABLES for text in _estimates(table, PARTITIONS))

_FUNCTIONS = (
    # The two forms of a cell that is too long for an index, as ``variant.index_key`` makes them.
    f"""
    CREATE FUNCTION index_key(value bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN length(value) <= {INDEXED_BYTES} THEN value
                ELSE substr(value, 1, {INDEXED_BYTES}) || '\\x00'::bytea END
    """,
    f"""
    CREATE FUNCTION beyond_index(value bytea) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN length(value) > {INDEXED_BYTES} THEN value END
    """,
    # PostgreSQL refuses a NUL inside JSON that is looked into; no member looked for has one.
    r"""
    CREATE FUNCTION as_json(document text) RETURNS json LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN replace(document, '\u0000', '\u0020')::json
    """,
    # The bits of a double, turned so that they sort, as ``variant.py`` writes them.
    r"""
    CREATE FUNCTION number_variant(number numeric) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
      nearest double precision := number::double precision + 0.0;
      bits bigint := ('x' || encode(float8send(nearest), 'hex'))::bit(64)::bigint;
      rest int := CASE WHEN scale(number) = 0 AND abs(nearest) BETWEEN 9007199254740992 AND 9.3e18
                       THEN (number - (nearest / 2)::bigint::numeric * 2)::int ELSE 0 END;
    BEGIN
      bits := CASE WHEN bits < 0 THEN ~bits ELSE bits # (-9223372036854775807 - 1) END;
      RETURN '\x01'::bytea || int8send(bits) || int2send((rest # -32768)::smallint);
    END $$
    """,
    # The number that a variant is of: a whole one, or the decimal that a fraction is written as.
    r"""
    CREATE FUNCTION variant_number(value bytea) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
      bits bigint;
      power int;
      nearest double precision;
    BEGIN
      IF value IS NULL OR get_byte(value, 0) <> 1 THEN RETURN NULL; END IF;
      bits := ('x' || encode(substr(value, 2, 8), 'hex'))::bit(64)::bigint;
      bits := CASE WHEN bits < 0 THEN bits # (-9223372036854775807 - 1) ELSE ~bits END;
      power := ((bits >> 52) & 2047)::int;
      nearest := (bits & 4503599627370495)::double precision;
      IF power = 0 THEN nearest := nearest * 4.9406564584124654e-324;
      ELSE nearest := (nearest + 4503599627370496) * power(2::double precision, power - 1075);
      END IF;
      IF bits < 0 THEN nearest := -nearest; END IF;
      IF abs(nearest) BETWEEN 9007199254740992 AND 9.3e18 THEN
        RETURN (nearest / 2)::bigint::numeric * 2
          + get_byte(value, 9) * 256 + get_byte(value, 10) - 32768;
      END IF;
      RETURN nearest::text::numeric;
    END $$
    """,
    # The number that a variant, or a key of a number as a variant, is of; sums are made of these.
    r"""
    CREATE FUNCTION exact_number(value bytea) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
      key text;
      figures text;
    BEGIN
      IF value IS NULL OR get_byte(value, 0) <> 2 THEN RETURN variant_number(value); END IF;
      key := convert_from(substr(value, 2), 'UTF8');
      IF key = '1' THEN RETURN 0; END IF;
      IF left(key, 1) = '2' THEN figures := substr(key, 2);
      ELSE figures := translate(rtrim(substr(key, 2), '~'), '0123456789', '9876543210');
      END IF;
      RETURN ((CASE WHEN left(key, 1) = '2' THEN '' ELSE '-' END) || substr(figures, 5) || 'e'
        || (left(figures, 4)::int - 5000 - length(figures) + 4))::numeric;
    END $$
    """,
    # The key that sorts as numbers do, as ``number_key`` makes it, as a variant.
    r"""
    CREATE FUNCTION key_of_number(number numeric) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
      written text := abs(number)::text;
      part text := split_part(written, '.', 2);
      digits text := ltrim(split_part(written, '.', 1) || part, '0');
      key text := lpad((length(digits) - length(part) + 5000)::text, 4, '0') || rtrim(digits, '0');
    BEGIN
      IF number IS NULL THEN RETURN NULL; END IF;
      IF number = 0 THEN key := '1';
      ELSIF number < 0 THEN key := '0' || translate(key, '0123456789', '9876543210') || '~';
      ELSE key := '2' || key;
      END IF;
      RETURN '\x02'::bytea || convert_to(key, 'UTF8');
    END $$
    """,
    """
    CREATE FUNCTION variant_number_key(value bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN key_of_number(variant_number(value))
    """,
    """
    CREATE FUNCTION json_number_key(data bytea, name text) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN json_typeof(as_json(convert_from(data, 'UTF8')) -> name) = 'number'
      THEN key_of_number((as_json(convert_from(data, 'UTF8')) ->> name)::numeric) END
    """,
    # The value of a member of a record as a variant, NULL where it is of another kind.
    r"""
    CREATE FUNCTION member_variant(data bytea, name text, kinds text[]) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
      text_data text := convert_from(data, 'UTF8');
      member json := as_json(text_data) -> name;
      kind text := json_typeof(member);
    BEGIN
      IF kind = 'string' AND 'text' = ANY (kinds) THEN
        RETURN '\x02'::bytea || convert_to(member #>> '{}', 'UTF8');
      ELSIF kind = 'boolean' AND 'true' = ANY (kinds) THEN
        RETURN number_variant(CASE WHEN member::text = 'true' THEN 1 ELSE 0 END);
      ELSIF kind = 'number' AND 'integer' = ANY (kinds) THEN
        RETURN number_variant((member #>> '{}')::numeric);
      END IF;
      RETURN NULL;
    END $$
    """,
    # The instant that a text names, as ``instant.parse`` reads it.
    r"""
    CREATE FUNCTION instant_variant(value bytea) RETURNS bytea
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
    DECLARE
      written text;
      parts text[];
      moment timestamp;
      shift interval := interval '0';
    BEGIN
      IF value IS NULL OR get_byte(value, 0) <> 2 OR length(value) > 36 THEN RETURN NULL; END IF;
      written := convert_from(substr(value, 2), 'UTF8');
      parts := regexp_match(written,
        '^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2}:\d{2})(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})?)?$');
      IF parts IS NULL OR substr(parts[1], 1, 4) = '0000' OR substr(parts[2], 1, 2) > '23'
         OR substr(parts[2], 7, 2) > '59' THEN RETURN NULL; END IF;
      moment := (parts[1] || ' ' || coalesce(parts[2], '00:00:00')
                 || coalesce(substr(parts[3], 1, 7), ''))::timestamp;
      IF upper(coalesce(parts[4], 'Z')) <> 'Z' THEN
        IF substr(parts[4], 2, 2) > '23' OR substr(parts[4], 5, 2) > '59' THEN RETURN NULL; END IF;
        shift := parts[4]::interval;
      END IF;
      moment := moment - shift;
      IF moment < timestamp '0001-01-01' OR moment > timestamp '9999-12-31 23:59:59.999999' THEN
        RETURN NULL;
      END IF;
      RETURN number_variant((extract(epoch FROM moment) * 1000000)::numeric(30, 0));
    EXCEPTION WHEN OTHERS THEN RETURN NULL;
    END $$
    """,
)
