"""The floor: the smallest server that returns the same rows, without tokens, grants or evidence."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import numpy as np
import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pdpp.evidence.language.terms import terms_of
from pdpp.store.ranking.postings import Longs
from pdpp.store.sqlite.store import FILE_NAME
from pdpp.store.tables.numbering import PLACE_BITS
from pdpp.store.tables.search.blocks import IMPACT_MASK, SLOT_SHIFT
from pdpp.store.tables.search.packing import joined_pieces, longs, unpack

PAGE = 25


class FloorStatements(NamedTuple):
    """The smallest statements for the same rows."""

    page: str
    record: str
    window: str
    matches: str
    small: str
    numbers: str
    by_id: str
    bases: str
    feeds: str


_STATEMENTS = FloorStatements(
    page="""
        SELECT r.data FROM cell w CROSS JOIN record r ON r.id = w.record
        WHERE w.owner = 1 AND w.feed = ? AND w.field = ?
        ORDER BY w.value DESC LIMIT ?
    """,
    record="SELECT data FROM record WHERE owner = 1 AND feed = ? AND key = ?",
    window="""
        SELECT substr(json_extract(CAST(data AS TEXT), '$.body'), 1, 4096)
        FROM record WHERE owner = 1 AND feed = ? AND key = ?
    """,
    matches="SELECT block, list, data FROM posting WHERE term = ?",
    small="SELECT id, times, numbers, postings FROM word_block WHERE spread = 0",
    numbers="SELECT numbers FROM word_block WHERE id = ?",
    by_id="SELECT data FROM record WHERE id = ?",
    bases="SELECT block, place, bases FROM word_list",
    feeds="SELECT id, connection_id, stream, places FROM feed",
)


class Floor:
    """Answers from one connection to the database that the measured server reads too."""

    def __init__(self, db: Any, statements: FloorStatements = _STATEMENTS) -> None:
        """``db`` is a connection, of either engine."""
        self._db = db
        self._sql = statements
        rows: list[Any] = list(db.execute(statements.small))
        self._small = [(id, unpack(*columns)) for id, *columns in rows]
        self._bases = {
            (block, place): np.frombuffer(bases, np.uint8)
            for block, place, bases in db.execute(statements.bases)
        }
        feeds: list[Any] = list(db.execute(statements.feeds))
        self._cells = {
            (connection_id, stream): [name for name, _ in orjson.loads(places)["cells"]]
            for _, connection_id, stream, places in feeds
        }
        self._feeds = {
            (connection_id, stream): (number, self._cells[connection_id, stream].index("sent_at"))
            for number, connection_id, stream, _ in feeds
        }

    async def page(self, request: Request) -> Response:
        """Answer the newest records of a feed."""
        rows = self._db.execute(self._sql.page, (*self._feed(request), PAGE))
        return _many(data for (data,) in rows)

    async def record(self, request: Request) -> Response:
        """Answer one record."""
        feed, _ = self._feed(request)
        return as_json(self._db.execute(self._sql.record, (feed, request.path_params["key"])).get)

    async def window(self, request: Request) -> Response:
        """Answer the first characters of a body."""
        feed, _ = self._feed(request)
        text = self._db.execute(self._sql.window, (feed, request.path_params["key"])).get
        return as_json(orjson.dumps({"text": text}))

    async def search(self, request: Request) -> Response:
        """Answer the records in which a word weighs most."""
        terms = terms_of(request.path_params["word"])
        found: list[tuple[int, int, int]] = []
        for block, slots, impacts in [*self._in_spread(terms[0]), *self._in_small(terms[0])]:
            best = np.argsort(-impacts, kind="stable")[:PAGE]
            found += [(-int(impacts[at]), block, int(slots[at])) for at in best]
        found.sort()
        return _many(self._records([(block, slot) for _, block, slot in found[:PAGE]]))

    def _records(self, found: Sequence[tuple[int, int]]) -> Iterable[bytes]:
        """Return records by their block and their slot in it."""
        numbers = [self._number(block, slot) for block, slot in found]
        return (self._db.execute(self._sql.by_id, (number,)).get for number in numbers)

    def _in_spread(self, term: str) -> Iterator[tuple[int, Longs, Longs]]:
        """Yield the slots and impacts of a term in blocks that are spread."""
        for block, list_, data in self._db.execute(self._sql.matches, (term,)):
            slots, _, changed, values = joined_pieces([data])
            impacts = self._bases[block, list_ & (1 << PLACE_BITS) - 1][slots].astype(np.int64)
            impacts[changed] = values
            yield block, slots, impacts

    def _in_small(self, term: str) -> Iterator[tuple[int, Longs, Longs]]:
        """Yield the same of blocks that keep their postings in their own row."""
        for id, block in self._small:
            for held in block.places.values():
                at = bisect_left(held.terms, term)
                if at < len(held.terms) and held.terms[at] == term:
                    data = held.data[held.starts[at] : held.starts[at + 1]].astype(np.int64)
                    yield id, data >> SLOT_SHIFT, data & IMPACT_MASK

    def _number(self, block: int, slot: int) -> int:
        numbers: Any = self._db.execute(self._sql.numbers, (block,)).get
        return int(longs(numbers)[slot])

    def _feed(self, request: Request) -> tuple[int, int]:
        return self._feeds[request.path_params["connection"], request.path_params["stream"]]


def _many(rows: Any) -> Response:
    return as_json(b'{"data":[%b]}' % b",".join(rows))


def as_json(body: bytes) -> Response:
    """Return an answer."""
    return Response(body, media_type="application/json")


def floor_routes(floor: Floor) -> list[Route]:
    """Return the routes that every floor has."""
    return [
        Route("/page/{connection}/{stream}", floor.page),
        Route("/record/{connection}/{stream}/{key}", floor.record),
        Route("/window/{connection}/{stream}/{key}", floor.window),
        Route("/search/{word}", floor.search),
    ]


def make_floor(folder: Path) -> Starlette:
    """Put the floor together over the database in a folder."""
    db = apsw.Connection(str(folder / FILE_NAME), statementcachesize=512)
    db.pragma("mmap_size", 1 << 28)
    db.pragma("query_only", True)
    return Starlette(routes=floor_routes(Floor(db)))
