"""Integrity: what is wrong with a database and its blobs, found by a look at all of them."""

from collections.abc import Iterator
from pathlib import Path

from pdpp.store.sqlite.blob_folder import BlobFolder
from pdpp.store.sqlite.failures import DAMAGED
from pdpp.store.sqlite.opening import SqliteConnection
from pdpp.store.sqlite.records.predicate import OWNER


def problems(db: SqliteConnection, path: Path, blobs: BlobFolder) -> Iterator[str]:
    """Yield what is wrong; nothing when all is well."""
    damage = _of_pages(db, path)
    yield from damage
    yield from row_problems(db, blobs, words=not damage)


def row_problems(db: SqliteConnection, blobs: BlobFolder, *, words: bool = True) -> Iterator[str]:
    """Yield what is wrong with what the tables say."""
    yield from _of_counts(db)
    if words:
        yield from _of_words(db)
    yield from _of_blobs(db, blobs)


def _of_pages(db: SqliteConnection, path: Path) -> list[str]:
    problems = [row[0] for row in db.execute("PRAGMA integrity_check") if row[0] != "ok"]
    return [*problems, f"{path}: {DAMAGED}"] if problems else []


def _of_counts(db: SqliteConnection) -> Iterator[str]:
    rows = db.execute(
        "SELECT connection_id, stream, record_count,"
        " (SELECT count(*) FROM record WHERE owner = feed.owner AND feed = feed.id)"
        " FROM feed WHERE owner = ?",
        (OWNER,),
    )
    for connection_id, stream, kept, actual in rows:
        if kept != actual:
            yield f"{connection_id}/{stream} counts {kept} records and holds {actual}"


def _of_words(db: SqliteConnection) -> Iterator[str]:
    from pdpp.store.sqlite.search.check import word_problems

    yield from word_problems(db)


def _of_blobs(db: SqliteConnection, blobs: BlobFolder) -> Iterator[str]:
    rows = db.execute("SELECT blob_id, size_bytes FROM blob WHERE owner = ?", (OWNER,))
    for blob_id, size in rows:
        problem = blobs.problem(blob_id, size)
        if problem is not None:
            yield problem
