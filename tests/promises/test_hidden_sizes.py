"""The size of a hidden field of a visible record changes no byte, and costs next to nothing.

Two worlds differ only in how long the hidden fields of their records are. What is compared besides
the answers is how many pages of the file the engine looks at, in its cache or not: a row of
half a megabyte is one step of the engine like any other, and the clock of a busy machine tells
nothing. In a soak it has two megabytes. The bound: at most 1.3 times the pages of the world with
short texts, and a dozen more.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import apsw
import pytest
from tests.engine import database_of, open_store, surrogate_by_key
from tests.promises.caller import Caller, calling
from tests.promises.letters import declaration
from tests.serving import UNLIMITED, SetClock, approve
from tests.soak import SOAK

from pdpp.app import make_app
from pdpp.authz.selection import Selection
from pdpp.model.validation import parse_declaration
from pdpp.store.batch import Line
from pdpp.store.port import Store

pytestmark = pytest.mark.embedded("counts pages of a file")

SHORT, LONG = 20, 400_000 if SOAK else 100_000
FACTOR, MORE = 1.3, 12
PATIENT = replace(UNLIMITED, inline_seconds=30.0)
"""All reads are done by the connection whose pages are counted, however busy the machine is."""
KEYS = tuple(f"v{at:03d}" for at in range(25))
SHOWN = ("id", "subject", "sent_at", "amount", "size", "thread_id")
HIDDEN = ("body", "note", "sender", "label")
"""Searched, searched and not a body, an actor, and compared."""

RECORDS = "/v1/streams/messages/records"
SUMS = "/v1/streams/messages/aggregate"
ASKED: dict[str, tuple[str, dict[str, str]]] = {
    "a page": (RECORDS, {}),
    "the last page": (RECORDS, {"order": "asc", "limit": "100"}),
    "a page by another field": (RECORDS, {"sort": "-amount", "limit": "5"}),
    "a filtered page": (RECORDS, {"filter[size][gte]": "5"}),
    "a page by a field without an index": (RECORDS, {"filter[subject]": "alpha beta gamma"}),
    "a count": (RECORDS, {"count": "exact", "limit": "1"}),
    "one record": (f"{RECORDS}/v003", {}),
    "some fields": (f"{RECORDS}/v003", {"fields": "subject"}),
    "a window": (f"{RECORDS}/v003/field-window", {"field": "subject"}),
    "changes": (RECORDS, {"changes_since": "beginning"}),
    "a sum": (SUMS, {"metric": "sum", "field": "amount"}),
    "months": (SUMS, {"group_by_time": "sent_at", "granularity": "month"}),
    "streams": ("/v1/streams", {}),
    "a search": ("/v1/search", {"q": "alpha"}),
    "a phrase": ("/v1/search", {"q": '"alpha beta"'}),
    "a search for two words": ("/v1/search", {"q": "alpha garden"}),
}


def fill(store: Store, chars: int) -> None:
    """Write records with hidden fields of so many characters, and write half of them again."""
    store.register(parse_declaration(declaration()))
    store.connect("home", "letters", "Home")
    feed = store.catalogue().feeds["home", "messages"]
    store.write(feed, [Line(at, key, 0, _data(key, at, chars)) for at, key in enumerate(KEYS)])
    again = [Line(at, KEYS[at], 0, _data(KEYS[at], at, chars) | {"size": 99}) for at in range(12)]
    store.write(feed, again)
    while store.tend():
        pass


def _data(key: str, number: int, chars: int) -> dict[str, object]:
    hidden = {name: f"{name} alpha {key} {'x ' * (chars // 2)}" for name in HIDDEN}
    return {
        "id": key,
        "subject": "alpha beta gamma" if number % 2 else "alpha delta garden party",
        "sent_at": f"2026-0{1 + number % 9}-15T00:00:00Z",
        "amount": number / 4,
        "size": number,
        "thread_id": "ab"[number % 2],
        "extra": [{"deep": "y" * chars}],
        **hidden,
    }


class Pages:
    """Counts the pages of the file that a connection looks at."""

    def __init__(self, reader: apsw.Connection) -> None:
        self._reader = reader
        self._before = self._count()

    def _count(self) -> int:
        kinds = (apsw.SQLITE_DBSTATUS_CACHE_HIT, apsw.SQLITE_DBSTATUS_CACHE_MISS)
        return sum(self._reader.status(kind)[0] for kind in kinds)

    def read(self) -> int:
        """Return how many it was since the beginning."""
        return self._count() - self._before


@contextmanager
def serving(folder: Path, chars: int) -> Iterator[tuple[Store, Caller]]:
    clock = SetClock()
    store = open_store(folder, clock, surrogate_by_key)
    fill(store, chars)
    try:
        with calling(make_app(store, PATIENT, clock), "") as caller:
            token = approve(store, Selection(("home",), ("messages",), fields=SHOWN)).token
            yield store, caller.under(token)
    finally:
        store.close()


@pytest.fixture(scope="module")
def worlds(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[tuple[Store, Caller], tuple[Store, Caller]]]:
    folder = tmp_path_factory.mktemp("sizes")
    with serving(folder / "short", SHORT) as short, serving(folder / "long", LONG) as long:
        yield short, long


def asked_of(world: tuple[Store, Caller], path: str, params: dict[str, str]) -> tuple[str, int]:
    """Return an answer and how many pages it takes when it is asked for the second time."""
    store, caller = world
    reader: apsw.Connection = database_of(store).reader
    text, pages = "", 0
    for _ in range(2):
        counted = Pages(reader)
        reply = caller.exchange("GET", path, list(params.items()))
        pages = counted.read()
        assert reply.status == 200, reply
        text = reply.body.decode()
    return _without_secrets(text), pages


def _without_secrets(text: str) -> str:
    """Return an answer without what each grant and store seals with its own secret."""
    text = re.sub(r'"(next_cursor|next_changes_since)":"[^"]*"', r'"\1":""', text)
    return re.sub(r"cursor=[\w%.~-]+", "cursor=", text)


@pytest.mark.parametrize("asked", ASKED)
def test_long_hidden_fields_change_no_byte_and_cost_next_to_nothing(
    worlds: tuple[tuple[Store, Caller], tuple[Store, Caller]], asked: str
) -> None:
    (short, few), (long, many) = (asked_of(world, *ASKED[asked]) for world in worlds)
    assert long == short
    assert 0 < many <= FACTOR * few + MORE, (few, many)
