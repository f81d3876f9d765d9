"""The floor on PostgreSQL: the same routes, over the bare tables, through the same driver."""

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
import psycopg
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.engine import DatabasePlace
from bench.floor import Floor, FloorStatements, as_json, floor_routes
from pdpp.store.postgres.opening import open_session
from pdpp.store.postgres.variant import encode
from pdpp.store.tables.search.packing import longs

_STATEMENTS = FloorStatements(
    page="""
        SELECT r.data FROM cell w JOIN record r ON r.owner = w.owner AND r.id = w.record
        WHERE w.owner = {owner} AND w.feed = $1 AND w.field = $2
        ORDER BY w.value DESC LIMIT $3
    """,
    record="SELECT data FROM record WHERE owner = {owner} AND feed = $1 AND key = $2",
    window="""
        SELECT substr(convert_from(data, 'UTF8')::json ->> 'body', 1, 4096)
        FROM record WHERE owner = {owner} AND feed = $1 AND key = $2
    """,
    matches="SELECT block, list, data FROM posting WHERE owner = {owner} AND term = $1",
    small="""
        SELECT id, times, numbers, postings FROM word_block WHERE owner = {owner} AND spread = 0
    """,
    numbers="SELECT numbers FROM word_block WHERE owner = {owner} AND id = $1",
    by_id="SELECT data FROM record WHERE owner = {owner} AND id = $1",
    bases="SELECT block, place, bases FROM word_list WHERE owner = {owner}",
    feeds="SELECT id, connection_id, stream, places FROM feed WHERE owner = {owner}",
)
_SCHEMA = """
    SELECT json_agg(json_build_array(f.connection_id, f.stream, f.record_count, (
      SELECT encode(w.value, 'hex') FROM cell w
      WHERE w.owner = f.owner AND w.feed = f.id AND w.field = $1 AND w.value < '\\x03'
      ORDER BY w.value DESC LIMIT 1)))::text
    FROM feed f WHERE f.owner = {owner}
"""
_BLOCKS = "SELECT id, numbers FROM word_block WHERE owner = {owner} AND id = ANY ($1)"
_BY_IDS = """
    SELECT r.data FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, place)
    JOIN record r ON r.owner = {owner} AND r.id = w.id ORDER BY w.place
"""
_COUNT = "SELECT record_count FROM feed WHERE owner = {owner} AND id = $1"
_RANGE = """
    SELECT count(*) FROM cell
    WHERE owner = {owner} AND feed = $1 AND field = $2 AND value >= $3 AND value < '\\x03'
"""
_GROUPED = """
    SELECT convert_from(substr(cells[$2], 2), 'UTF8'), count(*) FROM record
    WHERE owner = {owner} AND feed = $1 GROUP BY cells[$2]
"""
_MONTHS = """
    SELECT extract(epoch FROM date_trunc('month', to_timestamp(time / 1e6), 'Europe/Berlin'))
             ::bigint, count(*)
    FROM record WHERE owner = {owner} AND feed = $1 GROUP BY 1 ORDER BY 1
"""
_LEAST = 45_000


class _Rows(list[Any]):
    """Rows, of which the first one may have a single value."""

    @property
    def get(self) -> Any:
        return self[0][0] if self else None


class _Bare:
    """A connection with every statement prepared, which sees the rows of its owner only.

    No server for many owners can do with less: row security holds for its session, and the owner is
    a value of each statement, because sessions serve one owner after another and a statement for
    each owner would be planned anew for each. It asks for nothing but the rows: not who the caller
    is, not for one snapshot, and not for an end in time.
    """

    def __init__(self, place: DatabasePlace) -> None:
        self._raw = open_session(place.url)
        self._raw.prepare_threshold = 0
        self._cursor = psycopg.RawCursor(self._raw)
        self._cursor.execute("SELECT id FROM owner_name WHERE name = $1", (place.owner,))
        row: Any = self._cursor.fetchone()
        self._owner = int(row[0])
        self._cursor.execute("SELECT set_config('pdpp.owner', $1, false)", (str(self._owner),))

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> _Rows:
        text = sql.format(owner=f"${len(values) + 1}::bigint")
        self._cursor.execute(text, (*values, self._owner), binary=True)
        return _Rows(self._cursor.fetchall())


class PostgresFloor(Floor):
    """Answers the same, and what has no floor on a file too."""

    def __init__(self, place: DatabasePlace) -> None:
        self._bare = _Bare(place)
        super().__init__(self._bare, _STATEMENTS)

    def _field(self, request: Request, name: str) -> tuple[int, int]:
        key = request.path_params["connection"], request.path_params["stream"]
        return self._feeds[key][0], self._cells[key].index(name)

    def _records(self, found: Sequence[tuple[int, int]]) -> Iterable[bytes]:
        """Return records in two statements, because each is a way to the database and back."""
        blocks = list({block for block, _ in found})
        numbers = {id: longs(packed) for id, packed in self._bare.execute(_BLOCKS, (blocks,))}
        wanted = [int(numbers[block][slot]) for block, slot in found]
        return [data for (data,) in self._bare.execute(_BY_IDS, (wanted,))]

    async def schema(self, _request: Request) -> Response:
        """Answer what there is, how much of it and how new."""
        place = next(iter(self._feeds.values()))[1]
        return as_json(self._bare.execute(_SCHEMA, (place,)).get.encode())

    async def count(self, request: Request) -> Response:
        """Answer how many records a feed has."""
        feed, _ = self._feed(request)
        return as_json(orjson.dumps({"count": self._bare.execute(_COUNT, (feed,)).get}))

    async def range(self, request: Request) -> Response:
        """Answer how many records have a size in a range."""
        values = (*self._field(request, "size"), encode(_LEAST))
        return as_json(orjson.dumps({"count": self._bare.execute(_RANGE, values).get}))

    async def grouped(self, request: Request) -> Response:
        """Answer how many records each channel has."""
        feed, place = self._field(request, "channel")
        return as_json(orjson.dumps(dict(self._bare.execute(_GROUPED, (feed, place + 1)))))

    async def months(self, request: Request) -> Response:
        """Answer how many records each month has."""
        feed, _ = self._feed(request)
        return as_json(orjson.dumps([list(row) for row in self._bare.execute(_MONTHS, (feed,))]))


def make_postgres_floor(place: DatabasePlace) -> Starlette:
    """Put the floor together over a database."""
    floor = PostgresFloor(place)
    feed = "{connection}/{stream}"
    return Starlette(
        routes=[
            *floor_routes(floor),
            Route("/schema", floor.schema),
            Route(f"/count/{feed}", floor.count),
            Route(f"/range/{feed}", floor.range),
            Route(f"/grouped/{feed}", floor.grouped),
            Route(f"/months/{feed}", floor.months),
        ]
    )
