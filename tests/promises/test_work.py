"""Work is bounded by what is visible: hidden records do not make an answer cost more.

What is counted is what the engine does, in steps of its virtual machine: the clock of a busy
machine tells nothing. The bound: at most 1.3 times the steps without hidden records, and a few
hundred more, whatever their number.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest
from tests.engine import database_of, open_store, surrogate_by_key
from tests.promises.caller import Caller, calling
from tests.promises.letters import declaration
from tests.serving import UNLIMITED, SetClock, approve

from pdpp.app import make_app
from pdpp.authz.selection import Selection
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.model.validation import parse_declaration
from pdpp.store.batch import Line
from pdpp.store.port import Store

VISIBLE, HIDDEN = 40, 4_000
FACTOR, MORE = 1.3, 400
RECORDS = "/v1/streams/messages/records"
SUMS = "/v1/streams/messages/aggregate"
YEAR = Interval(instant.parse("2026-01-01"), instant.parse("2027-01-01"))
KEYS = tuple(f"v{at:03d}" for at in range(VISIBLE))
FIELDS = ("id", "subject", "sent_at", "amount", "size", "label")
GRANTS = {
    "a time": Selection(("home",), ("messages",), time=YEAR),
    "a list": Selection(("home",), ("messages",), keys=KEYS),
    "some fields": Selection(("home",), ("messages",), fields=FIELDS, time=YEAR),
    "a connection": Selection(("home",), ("messages", "threads"), time=YEAR),
}
ASKED: dict[str, tuple[str, dict[str, str]]] = {
    "a page": (RECORDS, {}),
    "a page by another field": (RECORDS, {"sort": "sent_at", "limit": "5"}),
    "a filtered page": (RECORDS, {"filter[label]": "a"}),
    "a count": (RECORDS, {"count": "exact", "limit": "1"}),
    "one record": (f"{RECORDS}/v003", {}),
    "changes": (RECORDS, {"changes_since": "beginning", "connection_id": "home"}),
    "a sum": (SUMS, {"metric": "sum", "field": "amount"}),
    "groups": (SUMS, {"group_by": "label"}),
    "months": (SUMS, {"group_by_time": "sent_at", "granularity": "month"}),
    "streams": ("/v1/streams", {}),
    "a search": ("/v1/search", {"q": "alpha"}),
    "a search for six words": ("/v1/search", {"q": "alpha beta gamma delta party garden"}),
    "a search for nothing": ("/v1/search", {"q": "zzyzx"}),
}


class Steps:
    """Counts what an engine does for one thread."""

    def __init__(self) -> None:
        self.steps = 0

    def take(self, event: dict[str, object]) -> None:
        """Take the account of one statement that has ended."""
        status = event["stmt_status"]
        assert isinstance(status, dict)
        self.steps += status["SQLITE_STMTSTATUS_VM_STEP"]


def fill(store: Store, hidden: int) -> None:
    """Write the visible records, and some that no grant shows, before and after them."""
    store.register(parse_declaration(declaration()))
    for name in ("home", "work"):
        store.connect(name, "letters", name.title())
    lines = [
        Line(at, key, 0, _data(key, f"2026-0{1 + at % 9}-15T00:00:00Z", at))
        for at, key in enumerate(KEYS)
    ]
    years = ("2019", "2025", "2028")
    others = [
        Line(at, f"h{at:05d}", 0, _data(f"h{at:05d}", f"{years[at % 3]}-06-01T00:00:00Z", at))
        for at in range(hidden)
    ]
    feeds = store.catalogue().feeds
    for place in (("home", "messages"), ("work", "messages")):
        feed = feeds[place]
        store.write(feed, [*others[: hidden // 2], *lines, *others[hidden // 2 :]])
        edited = [line._replace(data={**(line.data or {}), "size": -1}) for line in others[::3]]
        store.write(feed, [*edited, *(line._replace(data=None) for line in others[1::9])])
    while store.tend():
        pass


def _data(key: str, at: str, number: int) -> dict[str, object]:
    return {
        "id": key,
        "subject": "alpha beta gamma" if number % 2 else "alpha delta garden party",
        "body": "alpha again, and much more of it",
        "sent_at": at,
        "amount": number / 4,
        "size": number,
        "label": "ab"[number % 2],
    }


@contextmanager
def counting(folder: Path, hidden: int) -> Iterator[tuple[Store, Caller]]:
    clock = SetClock()
    store = open_store(folder, clock, surrogate_by_key)
    fill(store, hidden)
    try:
        with calling(make_app(store, UNLIMITED, clock), "") as caller:
            yield store, caller
    finally:
        store.close()


@pytest.fixture(scope="module")
def worlds(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[tuple[Store, Caller], tuple[Store, Caller]]]:
    folder = tmp_path_factory.mktemp("work")
    with counting(folder / "few", 0) as few, counting(folder / "many", HIDDEN) as many:
        yield few, many


def steps_of(store: Store, caller: Caller, path: str, params: dict[str, str]) -> int:
    """Return what one request costs when it is asked for the second time."""
    reader: apsw.Connection = database_of(store).reader
    steps = Steps()
    for _ in range(2):
        steps.steps = 0
        reader.trace_v2(apsw.SQLITE_TRACE_PROFILE, steps.take)
        try:
            reply = caller.exchange("GET", path, list(params.items()))
        finally:
            reader.trace_v2(0, None)
        assert reply.status == 200, reply
    return steps.steps


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("granted", GRANTS)
def test_hidden_records_cost_next_to_nothing(
    worlds: tuple[tuple[Store, Caller], tuple[Store, Caller]], granted: str, asked: str
) -> None:
    costs = []
    for store, caller in worlds:
        token = approve(store, GRANTS[granted]).token
        costs.append(steps_of(store, caller.under(token), *ASKED[asked]))
    without, with_hidden = costs
    assert without > 0
    assert with_hidden <= FACTOR * without + MORE, (without, with_hidden)
