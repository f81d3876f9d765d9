"""Work is bounded by what is visible, also before anybody has counted the rows of a database.

The rows and pages are counted that the database goes through. Each world has a database of its own,
because plans follow from how large tables are. Nothing is counted there but what the program itself
has counted: ``autovacuum`` is off.
"""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.engine import database_of, surrogate_by_key
from tests.postgres_server import server_url
from tests.promises.caller import Caller
from tests.promises.hidden_records import (
    ASKED,
    GRANTS,
    HIDDEN,
    SHARED,
    SHARED_GRANTS,
    fill,
    hide,
)
from tests.serving import UNLIMITED, SetClock, approve

from pdpp.app import make_app
from pdpp.authz.selection import Selection
from pdpp.store.postgres.store import PostgresStore

FACTOR, MORE = 1.3, 400
QUESTIONS = {
    f"{name} under {granted}": (grant, path, params)
    for grants, asked in ((GRANTS, ASKED), (SHARED_GRANTS, SHARED))
    for granted, grant in grants.items()
    for name, (path, params) in asked.items()
}
_READ = """
    SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
         + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes)
         + (SELECT sum(heap_blks_read + heap_blks_hit) FROM pg_statio_user_tables)
         + (SELECT sum(idx_blks_read + idx_blks_hit) FROM pg_statio_user_indexes)
"""


class World(NamedTuple):
    """A store in a database of its own, and who asks it."""

    store: PostgresStore
    session: "psycopg.Connection[tuple[int]]"
    caller: Caller

    def ask(self, grant: Selection, path: str, params: dict[str, str]) -> int:
        """Return what a request makes the database go through when it comes for the second time."""
        caller = self.caller.under(approve(self.store, grant).token)
        for _ in range(2):
            before = self._read_so_far()
            reply = caller.exchange("GET", path, list(params.items()))
            assert reply.status == 200, reply
        return self._read_so_far() - before

    def _read_so_far(self) -> int:
        for db in database_of(self.store).connections.readers._idle:
            # A session tells what it did at its next pause of a second, or when it is told to.
            db.control("SELECT pg_stat_force_next_flush()")
        row = self.session.execute(_READ).fetchone()
        assert row is not None
        return int(row[0])


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """Open a store that has nothing, in a database that is dropped when the block ends."""
    name = f"work_{uuid4().hex[:12]}"
    url, clock = make_conninfo(server_url(), dbname=name), SetClock()
    with ExitStack() as stack:
        outside = stack.enter_context(psycopg.connect(server_url(), autocommit=True))
        outside.execute(f"CREATE DATABASE {name}".encode())
        stack.callback(outside.execute, f"DROP DATABASE {name} WITH (FORCE)".encode())
        store = PostgresStore(url, folder, clock, surrogate_by_key, owner="anna")
        stack.callback(store.close)
        session = stack.enter_context(psycopg.connect(url, autocommit=True))
        runner = stack.enter_context(asyncio.Runner())
        # Not started: the jobs of a server would read beside what is asked.
        caller = Caller(runner, make_app(store, UNLIMITED, clock), "")
        yield World(store, session, caller)


_OTHERS = "FROM generate_series(1, {owners}) AS owner, generate_series(1, {rows}) AS row"
_CROWD = f"""
    INSERT INTO pdpp.record (id, owner, feed, key, surrogate, created, emitted, version, time,
                             field_set, digest, cells, data)
    SELECT row, 1000000 + owner, 1 + row % {{streams}}, 'k' || row, row, row, row, row, row, 1, 'd',
           ARRAY[]::bytea[], ''::bytea {_OTHERS};
    INSERT INTO pdpp.cell (owner, feed, field, value, surrogate, record)
    SELECT 1000000 + owner, 1 + row % {{streams}}, field, ''::bytea, row, row
    {_OTHERS}, generate_series(0, 3) AS field;
    INSERT INTO pdpp.ghost (owner, feed, version, surrogate, key, time, emitted)
    SELECT 1000000 + owner, 1 + row % {{streams}}, row, row, 'g' || row, row, row {_OTHERS}
"""


def among_owners_with_short_streams(world: World, hidden: int) -> None:
    """Come to a database of many others who have a few records in each of their streams."""
    _among(world, hidden, owners=1_000, rows=30, streams=10)


def among_owners_with_one_record(world: World, hidden: int) -> None:
    """Come to a database of very many others who have next to nothing."""
    _among(world, hidden, owners=20_000, rows=1, streams=1)


def _among(world: World, hidden: int, **crowd: int) -> None:
    world.session.execute(_CROWD.format(**crowd).encode())
    world.session.execute("ANALYZE")
    fill(world.store, hidden)


def written_at_once(world: World, hidden: int) -> None:
    """Write everything before anything is asked."""
    fill(world.store, hidden)


def grown(world: World, hidden: int) -> None:
    """Ask for everything while little is there, so that plans are made for that; then write."""
    fill(world.store, 0)
    for question in QUESTIONS.values():
        world.ask(*question)
    hide(world.store, hidden)


@pytest.fixture(
    scope="module",
    params=[
        (written_at_once, 300),
        (written_at_once, HIDDEN),
        (grown, HIDDEN),
        (among_owners_with_short_streams, HIDDEN),
        (among_owners_with_one_record, HIDDEN),
    ],
    ids=lambda param: f"{param[1]} {param[0].__name__}",
)
def worlds(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[World, World]]:
    folder = tmp_path_factory.mktemp("work")
    with world(folder / "few") as few, world(folder / "many") as many:
        history, hidden = request.param
        history(few, 0)
        history(many, hidden)
        yield few, many


@pytest.mark.parametrize("question", QUESTIONS)
def test_hidden_records_are_not_gone_through(worlds: tuple[World, World], question: str) -> None:
    without, with_hidden = (world.ask(*QUESTIONS[question]) for world in worlds)
    assert 0 < with_hidden <= FACTOR * without + MORE, (without, with_hidden)
