"""Scrubbing: the unused part of a page is overwritten, where copies of deleted rows can stay.

The engine overwrites a row that it deletes (``secure_delete``). But when it spreads rows over
neighbouring pages, it leaves copies of them in the gap between the pointers and the content of a
page. A row that is deleted later is overwritten where it stands, and not in such a gap.

Only unused bytes are written, and only while the log of writes is empty and nobody else can write:
then everybody reads the file itself, and to nobody do the zeros make a difference. The transaction
that ends it changes something, so that every connection forgets the pages that it remembers.
Whoever wrote a remembered page would bring the copies back.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

from pdpp.store.sqlite.opening import EXISTING, SqliteConnection, open_connection
from pdpp.store.tables import deletion
from pdpp.store.tables.database import TableReader

_PIECE_PAGES = 512
_WAIT_MILLISECONDS = 50
_MOST_REFUSALS = 20
"""How often a pass waits for somebody who reads, before it is left for another time."""

_HEADER_BYTES = 100
_LARGEST_PAGE = 65_536
_POINTERS_AT = {2: 12, 5: 12, 10: 8, 13: 8}
"""Where the pointers of a page begin, by the kind of the page. Pages of other kinds have no gap;
they begin with the number of another page, of which the first byte is zero."""

_MOST_PAGES = (1 << 24) - 1
"""In a larger file the number of a page could look like the kind of one."""


class _Layout(NamedTuple):
    """How a file is cut into pages."""

    page_bytes: int
    pages: int


class Scrubber:
    """Goes over a plain file, a piece at a time, after something was deleted."""

    def __init__(self, path: Path) -> None:
        self._path = path.resolve()
        self._next = 1
        self._mark: object = None
        self._refusals = 0

    def is_needed(self, db: TableReader) -> bool:
        """Tell whether something was deleted since the last whole pass."""
        if deletion.mark_of(db) is None:
            return False
        with _opened(self._path) as file:
            return _layout(file).pages <= _MOST_PAGES

    def step(self) -> bool:
        """Scrub a piece; tell whether there is more to do."""
        with closing(open_connection(self._path, None, flags=EXISTING)) as db:
            db.set_busy_timeout(_WAIT_MILLISECONDS)
            mark = deletion.mark_of(db)
            if mark is None:
                return False
            if self._next == 1:
                self._mark = mark
                # What is only in the log is not in the file, which is looked through.
                if not _shed(db):
                    return self._refused()
            with _opened(self._path) as file:
                return self._scrub(db, file)

    def _scrub(self, db: SqliteConnection, file: apsw.VFSFile) -> bool:
        layout = _layout(file)
        if layout.pages > _MOST_PAGES:
            return False
        numbers = range(self._next, min(self._next + _PIECE_PAGES, layout.pages + 1))
        unclean = [number for number in numbers if _residue(file, layout, number)]
        if unclean and not self._overwrite(db, file, layout, unclean):
            return self._refused()
        self._next += len(numbers)
        if self._next <= layout.pages:
            return True
        self._next, self._refusals = 1, 0
        return not deletion.unmark(db, self._mark)

    def _refused(self) -> bool:
        """Count that somebody was in the way; tell whether it is worth another try."""
        self._refusals += 1
        if self._refusals < _MOST_REFUSALS:
            return True
        self._next, self._refusals = 1, 0
        return False

    def _overwrite(
        self, db: SqliteConnection, file: apsw.VFSFile, layout: _Layout, numbers: Sequence[int]
    ) -> bool:
        """Overwrite the gaps of pages; tell whether nobody was in the way."""
        if not _shed(db):
            return False
        try:
            db.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            return False
        try:
            if _has_log(self._path):
                return False
            for number in numbers:
                if gap := _residue(file, layout, number):
                    start = (number - 1) * layout.page_bytes + gap.start
                    file.xWrite(bytes(len(gap)), start)
            file.xSync(apsw.SQLITE_SYNC_NORMAL)
            # This connection too remembers pages as they were.
            db.pragma("shrink_memory")
            deletion.touch(db)
            db.execute("COMMIT")
        finally:
            if db.in_transaction:
                db.execute("ROLLBACK")
        return True


@contextmanager
def _opened(path: Path) -> Iterator[apsw.VFSFile]:
    """Open a file as the engine does.

    A file that is opened in another way takes the engine's locks away when it is closed.
    """
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE
    file = apsw.VFSFile("", str(path), [flags, 0])
    try:
        yield file
    finally:
        file.xClose()


def _shed(db: SqliteConnection) -> bool:
    """Carry the log of writes over and empty it; tell whether nobody was in the way."""
    try:
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return False
    return True


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


def _layout(file: apsw.VFSFile) -> _Layout:
    header = file.xRead(_HEADER_BYTES, 0)
    page_bytes = int.from_bytes(header[16:18], "big")
    page_bytes = _LARGEST_PAGE if page_bytes == 1 else page_bytes
    return _Layout(page_bytes, file.xFileSize() // page_bytes)


def _residue(file: apsw.VFSFile, layout: _Layout, number: int) -> range | None:
    """Return the gap of a page where something is left in it."""
    page = file.xRead(layout.page_bytes, (number - 1) * layout.page_bytes)
    start = _HEADER_BYTES if number == 1 else 0
    pointers_at = _POINTERS_AT.get(page[start])
    if pointers_at is None:
        return None
    cells = int.from_bytes(page[start + 3 : start + 5], "big")
    content_at = int.from_bytes(page[start + 5 : start + 7], "big") or _LARGEST_PAGE
    gap = range(start + pointers_at + 2 * cells, min(content_at, layout.page_bytes))
    return gap if page[gap.start : gap.stop].strip(b"\0") else None
