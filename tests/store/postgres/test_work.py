"""Work is bounded by what is visible, also before anybody has counted the rows of a database.

The rows and pages are counted that the database goes through. Each world has a database of its own,
because plans follow from how large tables are. Nothing is counted there but what the program itself
has counted: ``autovacuum`` is off.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
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
from tests.soak import SOAK

from pdpp.app import make_app
from pdpp.authz.selection import Selection
from pdpp.store.postgres.opening import prepare
from pdpp.store.postgres.store import PostgresStore

FACTOR, MORE = 1.3, 400
QUESTIONS = {
    f"{name} under {granted}": (grant, path, params)
    for grants, asked in ((GRANTS, ASKED), (SHARED_GRANTS, SHARED))
    for granted, grant in grants.items()
    for name, (path, params) in asked.items()
}
_READ = """
    SELECT sum(pg_stat_get_tuples_returned(oid) + pg_stat_get_blocks_fetched(oid))
    FROM pg_class WHERE relnamespace = 'pdpp'::regnamespace
"""
"""Of tables and indexes. The views that say the same look at what else they say."""


class World(NamedTuple):
    """A store in a database of its own, and who asks it."""

    store: PostgresStore
    session: "psycopg.Connection[tuple[int]]"
    caller: Caller

    def ask(self, grant: Selection, path: str, params: dict[str, str]) -> int:
        """Return what a request makes the database go through when it comes for the second time."""
        caller = self.caller.under(approve(self.store, grant).token)
        self._exchange(caller, path, params)
        before = self._read_so_far()
        self._exchange(caller, path, params)
        return self._read_so_far() - before

    def _exchange(self, caller: Caller, path: str, params: dict[str, str]) -> None:
        reply = caller.exchange("GET", path, list(params.items()))
        assert reply.status == 200, reply

    def _read_so_far(self) -> int:
        for db in database_of(self.store).connections.readers._idle:
            # A session tells what it did at its next pause of a second, or when it is told to.
            db.control("SELECT pg_stat_force_next_flush()")
        row = self.session.execute(_READ).fetchone()
        assert row is not None
        return int(row[0])


@contextmanager
def database(template: str = "template1") -> Iterator[str]:
    """Make a database as another one is; yield its name, and drop it when the block ends."""
    name = f"work_{uuid4().hex[:12]}"
    with psycopg.connect(server_url(), autocommit=True) as outside:
        # Copied as files: written to the log page by page, a large one takes twice as long.
        outside.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy".encode())
        try:
            yield name
        finally:
            outside.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def url_of(name: str) -> str:
    """Return where a database is."""
    return make_conninfo(server_url(), dbname=name)


@contextmanager
def world(folder: Path, template: str) -> Iterator[World]:
    """Open a store of an owner who has nothing, in a copy of a database."""
    clock = SetClock()
    with ExitStack() as stack:
        url = url_of(stack.enter_context(database(template)))
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


SHORT_STREAMS = {"owners": 1_000, "rows": 30, "streams": 10}
"""Many owners who have a few records in each of their streams."""
ONE_RECORD = {"owners": 20_000, "rows": 1, "streams": 1}
"""Very many owners who have next to nothing."""


def written_at_once(world: World, hidden: int) -> None:
    """Write everything before anything is asked."""
    fill(world.store, hidden)


def grown(world: World, hidden: int) -> None:
    """Ask for everything while little is there, so that plans are made for that; then write."""
    fill(world.store, 0)
    for question in QUESTIONS.values():
        world.ask(*question)
    hide(world.store, hidden)


@pytest.fixture(scope="module")
def made() -> Iterator[str]:
    """A database in which the program has made its tables, and nothing else was done."""
    with database() as name:
        prepare(url_of(name))
        yield name


@contextmanager
def crowded(made: str, crowd: Mapping[str, int] | None) -> Iterator[str]:
    """Make a database in which there are many others, or nobody."""
    with database(made) as name:
        if crowd is not None:
            with psycopg.connect(url_of(name), autocommit=True) as session:
                session.execute(_CROWD.format(**crowd).encode())
                session.execute("ANALYZE")
        yield name


class Worlds(NamedTuple):
    """A world without hidden records, and others with some."""

    without: World
    with_hidden: tuple[World, ...]


HISTORIES = {
    "written at once": (written_at_once, None, (300, HIDDEN)),
    "grown": (grown, None, (HIDDEN,)),
    "among short streams": (written_at_once, SHORT_STREAMS, (HIDDEN,)),
    "among owners of one record": (written_at_once, ONE_RECORD, (HIDDEN,)),
}


def questions() -> Iterator[tuple[str, str]]:
    """Yield what to ask of which worlds.

    All of it is asked where all was written at once. The plans of the others follow from how it
    came to what is there: each question is asked there under one grant or another, and in a soak
    under all of them.
    """
    first, *others = HISTORIES
    yield from ((first, question) for question in QUESTIONS)
    for number, other in enumerate(others):
        for at, question in enumerate(QUESTIONS):
            turn = at % len(ASKED) + at // len(ASKED)
            if SOAK or turn % len(others) == number:
                yield other, question


@pytest.fixture(scope="module")
def worlds(
    made: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Worlds]]:
    """Worlds by their histories, each made when it is first asked."""
    folder = tmp_path_factory.mktemp("work")
    with ExitStack() as stack:

        @cache
        def lived(name: str) -> Worlds:
            history, crowd, numbers = HISTORIES[name]
            template = stack.enter_context(crowded(made, crowd))
            opened = [
                stack.enter_context(world(folder / name / str(hidden), template))
                for hidden in (0, *numbers)
            ]
            for one, hidden in zip(opened, (0, *numbers), strict=True):
                history(one, hidden)
            return Worlds(opened[0], tuple(opened[1:]))

        yield lived


@pytest.mark.parametrize(("history", "question"), [*questions()])
def test_hidden_records_are_not_gone_through(
    worlds: Callable[[str], Worlds], history: str, question: str
) -> None:
    lived = worlds(history)
    without = lived.without.ask(*QUESTIONS[question])
    for world in lived.with_hidden:
        with_hidden = world.ask(*QUESTIONS[question])
        assert 0 < with_hidden <= FACTOR * without + MORE, (without, with_hidden)
