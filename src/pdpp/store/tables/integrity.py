"""Integrity: what is wrong with rows and blobs, found by a look at all of them."""

from collections.abc import Iterator

from pdpp.store.tables.blob_folder import BlobFolder
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.predicate import OWNER


def row_problems(db: TableReader, blobs: BlobFolder, *, words: bool = True) -> Iterator[str]:
    """Yield what is wrong with what the tables say."""
    yield from _of_counts(db)
    if words:
        yield from _of_words(db)
    yield from _of_blobs(db, blobs)


def _of_counts(db: TableReader) -> Iterator[str]:
    rows = db.execute(
        "SELECT connection_id, stream, record_count,"
        " (SELECT count(*) FROM record WHERE owner = feed.owner AND feed = feed.id)"
        " FROM feed WHERE owner = ?",
        (OWNER,),
    )
    for connection_id, stream, kept, actual in rows:
        if kept != actual:
            yield f"{connection_id}/{stream} counts {kept} records and holds {actual}"


def _of_words(db: TableReader) -> Iterator[str]:
    from pdpp.store.tables.search.check import word_problems

    yield from word_problems(db)


def _of_blobs(db: TableReader, blobs: BlobFolder) -> Iterator[str]:
    rows = db.execute("SELECT blob_id, size_bytes FROM blob WHERE owner = ?", (OWNER,))
    for blob_id, size in rows:
        problem = blobs.problem(blob_id, size)
        if problem is not None:
            yield problem
