"""SQLite files of other programs: looked at without a lock, and read from a copy of our own.

A browser or a chat program has its database open while it is imported. Nothing here ever locks or
changes it: the schema is read as if the file were immutable, and rows come from a private copy,
with the write-ahead log that lies beside the file taken in.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Skipped
from pdpp.sources.reading.folder import DATABASE_ENDINGS, file_entry
from pdpp.sources.reading.tree import FileEntry, Tree

SQLITE_HEAD = b"SQLite format 3\x00"
BESIDE = ("-wal", "-journal")
"""What lies beside a database and belongs to its content."""

_MOST_FILES = 200
_CHUNK = 1 << 20
_LONGEST_VALUE = 64 << 20
_SQL_BYTES = 100_000
_BROKEN = (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError)
"""How the engine fails on a database that is damaged; names that are no UTF-8 fail in Python."""
_LACKING = "what a table or column holds that is not there under its name"
Columns = Mapping[str, frozenset[str]]
"""The columns of every table."""


def databases(tree: Tree) -> list[FileEntry]:
    """Return the files of a tree that are SQLite databases."""
    single = tree.kind == "file"
    likely = [entry for entry in tree.entries if single or entry.suffix in DATABASE_ENDINGS]
    files = (entry for entry in likely if entry.head(len(SQLITE_HEAD)) == SQLITE_HEAD)
    return [entry for entry, _ in zip(files, range(_MOST_FILES), strict=False)]


def databases_with(tree: Tree, tables: Set[str]) -> list[FileEntry]:
    """Return the databases of a tree that have all of these tables."""
    return [entry for entry in databases(tree) if columns_of(tree, entry).keys() >= tables]


def columns_of(tree: Tree, entry: FileEntry) -> Columns:
    """Return the tables with their columns; none where the file is damaged."""
    try:
        place = tree.path if tree.kind == "file" else tree.path / entry.name
        # In an archive, or in a part of a folder, whose files have their names from above it.
        if tree.kind == "zip" or not place.is_file():
            with open_database(tree, entry, whole=False) as database:
                return database.columns
        address = f"file:{quote(str(place))}?mode=ro&immutable=1"
        with closing(_guarded(sqlite3.connect(address, uri=True))) as connection:
            columns = _columns(connection)
        if columns or _beside(tree, entry, "-wal") is None:
            return columns
        # A young database has its tables in the log until a program closes it or the log is full.
        with open_database(tree, entry, whole=False) as database:
            return database.columns
    except (DamagedFile, OSError, *_BROKEN):
        return {}


class SqliteCopy:
    """A private copy of a database, open for reading."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._lacking: dict[str, None] = {}
        self.columns = _columns(connection)

    def check_tables(self, tables: Set[str]) -> None:
        """Refuse a database that lost a table since it was recognised by them."""
        if not self.columns.keys() >= tables:
            raise DamagedFile("its tables are not there any more")

    def rows(self, sql: str, *values: object) -> Iterator[sqlite3.Row]:
        """Yield the rows of a query; damage is told as ``DamagedFile``."""
        try:
            # Not "yield from": a reader that is dropped would close the cursor after its database.
            for row in self._connection.execute(sql, values):  # noqa: UP028
                yield row
        except _BROKEN as problem:
            raise DamagedFile(f"{self._name} cannot be read further: {problem}") from problem

    def pick(
        self,
        table: str,
        alias: str,
        *names: str,
        later: Sequence[Set[str]] = (),
        maybe: Set[str] = frozenset(),
    ) -> str:
        """Return columns for a query; those that this version does not have are null.

        It is told which these are. ``later`` are columns that versions after the first brought, the
        oldest of these versions first: one may be absent where nothing of any later version is
        there. What ``maybe`` names may be absent from any version.
        """
        columns = self.columns.get(table, frozenset())
        newest = max((at for at, group in enumerate(later, 1) if group & columns), default=0)
        excused = frozenset(maybe).union(*later[newest:])
        self.has(table, *(name for name in names if name not in excused))
        picked = (f"{alias}.{name}" if name in columns else f"NULL AS {name}" for name in names)
        return ", ".join(picked)

    def has(self, table: str, *names: str) -> bool:
        """Say whether a table is there with some columns; it is told what of that is not."""
        columns = self.columns.get(table)
        if columns is None:
            self._lacking[table] = None
            return False
        lacking = [name for name in names if name not in columns]
        self._lacking.update((f"{table}.{name}", None) for name in lacking)
        return not lacking

    def has_one(self, table: str, *names: str) -> bool:
        """Say whether a table has at least one of some columns; it is told where it has none."""
        columns = self.columns.get(table, frozenset())
        return not columns.isdisjoint(names) or self.has(table, names[0])

    def lacking(self) -> Iterator[Skipped]:
        """Yield what was asked for and is not there: whatever it holds now is left out."""
        for name in self._lacking:
            yield Skipped(_LACKING, f"{self._name}: {name}", lost=True)


@contextmanager
def open_database(tree: Tree, entry: FileEntry, *, whole: bool = True) -> Iterator[SqliteCopy]:
    """Copy a database with its log into a private folder and open the copy.

    The engine reads what it can of a file that is cut off and says nothing where no query needs
    the missing pages. Where the ``whole`` file is wanted, that is told once everything is read.
    """
    with TemporaryDirectory(prefix="pdpp-") as folder:
        copy = Path(folder) / "copy.db"
        _copy(entry, copy)
        for ending in BESIDE:
            log = _beside(tree, entry, ending)
            if log is not None:
                _copy(log, Path(f"{copy}{ending}"))
        try:
            connection = _guarded(sqlite3.connect(copy))
        except _BROKEN as problem:
            raise DamagedFile(f"{entry.name} is not a database: {problem}") from problem
        with closing(connection):
            try:
                database = SqliteCopy(connection, entry.name)
            except _BROKEN as problem:
                raise DamagedFile(f"{entry.name} is a damaged database: {problem}") from problem
            yield database
    if whole and (words := cut_words(entry)):
        raise DamagedFile(words)


def cut_words(entry: FileEntry) -> str:
    """Say that a database is shorter than its head tells; nothing where it is not."""
    size = _told_size(entry)
    if entry.size >= size:
        return ""
    return f"{entry.name} is cut off: {entry.size:,} of {size:,} bytes are there"


def _told_size(entry: FileEntry) -> int:
    """Return the size that the head of a database tells, or 0 where it tells none.

    Bytes 16 and 17 are the size of a page, where 1 stands for 65,536; 28 to 31 are how many there
    are, which counts only where a change is numbered alike at 24 and at 92.
    """
    head = entry.head(100)
    if len(head) < 100 or head[24:28] != head[92:96]:
        return 0
    page = int.from_bytes(head[16:18], "big")
    return (65_536 if page == 1 else page) * int.from_bytes(head[28:32], "big")


def _beside(tree: Tree, entry: FileEntry, ending: str) -> FileEntry | None:
    """Return a log of a database; of a single file it lies beside it on the disk."""
    if tree.kind != "file":
        return tree.get(entry.name + ending)
    place = tree.path.with_name(tree.path.name + ending)
    with suppress(OSError):
        status = place.lstat()
        return file_entry(place, entry.name + ending, status, entry.meter)
    return None


def _copy(entry: FileEntry, place: Path) -> None:
    """Write a private copy; where there is no room for it, say where that is."""
    try:
        with entry.open() as stream, place.open("xb") as file:
            while chunk := stream.read(_CHUNK):
                file.write(chunk)
    except OSError as problem:  # Of writing: what goes wrong in reading is told as damage.
        words = f"cannot be copied to {place.parent.parent}, {problem.strerror}; make room there"
        raise DamagedFile(f"{entry.name} {words}, or let TMPDIR name another folder") from problem


def _guarded(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Return a connection on which a stranger's schema can do nothing but hold rows."""
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, _SQL_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _columns(connection: sqlite3.Connection) -> dict[str, frozenset[str]]:
    """Return the columns of the plain tables; views and virtual tables are nobody's data."""
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
    ).fetchall()
    named = "SELECT name FROM pragma_table_info(?)"
    return {
        table["name"]: frozenset(row["name"] for row in connection.execute(named, (table["name"],)))
        for table in tables
    }


def count_rows(tree: Tree, entry: FileEntry) -> dict[str, int]:
    """Return how many rows each table has."""
    with open_database(tree, entry, whole=False) as database:
        counts = {}
        for table in database.columns:
            quoted = table.replace('"', '""')
            [row] = database.rows(f'SELECT count(*) AS held FROM "{quoted}"')
            counts[table] = int(row["held"])
        return counts
