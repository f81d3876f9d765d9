"""The floor: the smallest server that returns the same rows, without tokens, grants or evidence."""

from bisect import bisect_left
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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

_PAGE = """
    SELECT r.data FROM cell w CROSS JOIN record r ON r.id = w.record
    WHERE w.owner = 1 AND w.feed = ? AND w.field = ?
    ORDER BY w.value DESC LIMIT ?
"""
_RECORD = "SELECT data FROM record WHERE owner = 1 AND feed = ? AND key = ?"
_WINDOW = """
    SELECT substr(json_extract(CAST(data AS TEXT), '$.body'), 1, 4096)
    FROM record WHERE owner = 1 AND feed = ? AND key = ?
"""
_MATCHES = "SELECT block, list, data FROM posting WHERE term = ?"
_SMALL = "SELECT id, times, numbers, postings FROM word_block WHERE spread = 0"
_NUMBERS = "SELECT numbers FROM word_block WHERE id = ?"
_BY_ID = "SELECT data FROM record WHERE id = ?"


class Floor:
    """Answers from one connection to the database that the measured server reads too."""

    def __init__(self, folder: Path) -> None:
        self._db = apsw.Connection(str(folder / FILE_NAME), statementcachesize=512)
        self._db.pragma("mmap_size", 1 << 28)
        self._db.pragma("query_only", True)
        rows: list[Any] = self._db.execute(_SMALL).fetchall()
        self._small = [(id, unpack(*columns)) for id, *columns in rows]
        self._bases = {
            (block, place): np.frombuffer(bases, np.uint8)
            for block, place, bases in self._db.execute("SELECT block, place, bases FROM word_list")
        }
        self._feeds = {
            (connection_id, stream): (number, _time_place(places))
            for number, connection_id, stream, places in self._db.execute(
                "SELECT id, connection_id, stream, places FROM feed"
            )
        }

    async def page(self, request: Request) -> Response:
        """Answer the newest records of a feed."""
        rows = self._db.execute(_PAGE, (*self._feed(request), PAGE))
        return _many(data for (data,) in rows)

    async def record(self, request: Request) -> Response:
        """Answer one record."""
        feed, _ = self._feed(request)
        return _json(self._db.execute(_RECORD, (feed, request.path_params["key"])).get)

    async def window(self, request: Request) -> Response:
        """Answer the first characters of a body."""
        feed, _ = self._feed(request)
        text = self._db.execute(_WINDOW, (feed, request.path_params["key"])).get
        return _json(orjson.dumps({"text": text}))

    async def search(self, request: Request) -> Response:
        """Answer the records in which a word weighs most."""
        terms = terms_of(request.path_params["word"])
        found: list[tuple[int, int, int]] = []
        for block, slots, impacts in [*self._in_spread(terms[0]), *self._in_small(terms[0])]:
            best = np.argsort(-impacts, kind="stable")[:PAGE]
            found += [(-int(impacts[at]), block, int(slots[at])) for at in best]
        found.sort()
        rows = (self._db.execute(_BY_ID, (self._number(b, s),)).get for _, b, s in found[:PAGE])
        return _many(rows)

    def _in_spread(self, term: str) -> Iterator[tuple[int, Longs, Longs]]:
        """Yield the slots and impacts of a term in blocks that are spread."""
        for block, list_, data in self._db.execute(_MATCHES, (term,)):
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
        numbers: Any = self._db.execute(_NUMBERS, (block,)).get
        return int(longs(numbers)[slot])

    def _feed(self, request: Request) -> tuple[int, int]:
        return self._feeds[request.path_params["connection"], request.path_params["stream"]]


def _time_place(places: str) -> int:
    return [name for name, _ in orjson.loads(places)["cells"]].index("sent_at")


def _many(rows: Any) -> Response:
    return _json(b'{"data":[%b]}' % b",".join(rows))


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")


def make_floor(folder: Path) -> Starlette:
    """Put the floor together over the database in a folder."""
    floor = Floor(folder)
    return Starlette(
        routes=[
            Route("/page/{connection}/{stream}", floor.page),
            Route("/record/{connection}/{stream}/{key}", floor.record),
            Route("/window/{connection}/{stream}/{key}", floor.window),
            Route("/search/{word}", floor.search),
        ]
    )
