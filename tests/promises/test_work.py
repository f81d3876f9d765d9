"""Work is bounded by what is visible: hidden records do not make an answer cost more.

What is counted is what the engine does, in steps of its virtual machine or in pages that it looks
at: the clock of a busy machine tells nothing. The bound: at most 1.3 times the steps without hidden
records, and a few hundred more, whatever their number; three times the pages and some tens, because
a tree of one page has become one of three levels, and each record is looked up in it: to go through
4,000 hidden records takes thousands. Of a search the terms that it goes through and looks up count
too, because a part of them is in memory.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest
from tests.engine import ENGINE, counted_work, open_store, surrogate_by_key
from tests.promises.caller import Caller, calling
from tests.promises.hidden_records import (
    ASKED,
    FIELDS,
    GRANTS,
    HIDDEN,
    KEYS,
    PICTURE,
    RECORDS,
    SHARED,
    SHARED_GRANTS,
    SUMS,
    THREADS,
    WORDS,
    YEAR,
    fill,
    letter_data,
)
from tests.promises.letters import declaration
from tests.serving import UNLIMITED, SetClock, approve

from pdpp.app import make_app
from pdpp.authz.principal import Gate
from pdpp.authz.selection import Selection
from pdpp.model.declaration import Kind
from pdpp.model.validation import parse_declaration
from pdpp.store.batch import Line
from pdpp.store.port import Store
from pdpp.store.query import ChangePosition, ChangeQuery, PageQuery, Record, Tombstone
from pdpp.store.ranking.postings import Postings, TermGroup, TermLines
from pdpp.store.scope import Condition, Reach
from pdpp.store.tables.records import predicate
from pdpp.store.tables.search.visible import Visible

FACTOR, MORE = (1.3, 400) if ENGINE == "sqlite" else (3.0, 80)
GROWN = 1.05 if ENGINE == "sqlite" else 1.35
"""How much more a read may cost among several times as many hidden records."""
DEEPER = 0 if ENGINE == "sqlite" else MORE
"""How many pages more a read of few may look at, because trees have become deeper."""


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


def steps_of(
    store: Store, caller: Caller, path: str, params: dict[str, str], status: int = 200
) -> int:
    """Return what one request costs when all that has to be found out once is known."""
    costs = []
    for _ in range(4):
        with counted_work(store) as work:
            reply = caller.exchange("GET", path, list(params.items()))
        assert reply.status == status, reply
        costs.append(work.units)
    # Each session of a database plans a statement when it is asked for the first time.
    return min(costs)


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


@pytest.mark.parametrize("path", ["/v1/schema", "/v1/streams", "/v1/streams/messages"])
def test_hidden_accounts_cost_next_to_nothing(tmp_path: Path, path: str) -> None:
    costs = []
    for hidden in (0, 400):
        with counting(tmp_path / str(hidden), 0) as (store, caller):
            key = store.catalogue().connections["home"].connector_key
            for number in range(hidden):
                store.connect(f"hidden{number}", key, f"Hidden {number}")
            token = approve(store, Selection(("home",), ("messages",))).token
            costs.append(steps_of(store, caller.under(token), path, {}))
    without, with_hidden = costs
    assert 0 < with_hidden <= FACTOR * without + MORE, (without, with_hidden)


@pytest.mark.parametrize("asked", SHARED)
@pytest.mark.parametrize("granted", SHARED_GRANTS)
def test_hidden_records_that_share_something_cost_next_to_nothing(
    worlds: tuple[tuple[Store, Caller], tuple[Store, Caller]], granted: str, asked: str
) -> None:
    costs = []
    for store, caller in worlds:
        token = approve(store, SHARED_GRANTS[granted]).token
        costs.append(steps_of(store, caller.under(token), *SHARED[asked]))
    without, with_hidden = costs
    assert 0 < with_hidden <= FACTOR * without + MORE, (without, with_hidden)


@pytest.mark.parametrize("path", ["", "/field-window"])
@pytest.mark.parametrize("granted", [*GRANTS, "a long list"])
def test_a_hidden_record_is_refused_as_quickly_as_one_that_is_not_there(
    worlds: tuple[tuple[Store, Caller], tuple[Store, Caller]], granted: str, path: str
) -> None:
    store, caller = worlds[1]
    listed = (*KEYS, *(f"listed {at}" for at in range(900)))
    grants = {**GRANTS, "a long list": Selection(("home",), ("messages",), keys=listed)}
    client = caller.under(approve(store, grants[granted]).token)
    params = {"field": "subject"} if path else {}
    hidden, missing = (
        steps_of(store, client, f"{RECORDS}/{key}{path}", params, status=404)
        for key in ("h00000", "nobody")
    )
    assert abs(hidden - missing) <= 30, (hidden, missing)


@pytest.mark.parametrize("granted", GRANTS)
def test_a_hidden_file_is_refused_as_quickly_as_one_that_is_not_there(
    worlds: tuple[tuple[Store, Caller], tuple[Store, Caller]], granted: str
) -> None:
    store, caller = worlds[0]
    kept = store.keep_blob(BytesIO(b"a file that no visible record has"), "text/plain", 100)
    client = caller.under(approve(store, GRANTS[granted]).token)
    hidden, missing = (
        steps_of(store, client, f"/v1/blobs/{blob_id}", {}, status=404)
        for blob_id in (kept.blob_id, "f" * 64)
    )
    assert abs(hidden - missing) <= 30, (hidden, missing)


MANY_VISIBLE = 300
"""More than are always walked."""


def shared_steps(folder: Path, hidden: int) -> dict[str, int]:
    """Return what it costs to find a thread's messages and to open a file among hidden users."""
    with closing(open_store(folder, SetClock(), surrogate_by_key)) as store:
        store.register(parse_declaration(declaration()))
        store.connect("home", "letters", "Home")
        feed = store.catalogue().feeds["home", "messages"]
        visible = {
            f"v{at}": letter_data(f"v{at}", "2026-03-01T00:00:00Z", at % 8)
            for at in range(MANY_VISIBLE)
        }
        visible["v7"]["thread_id"] = THREADS[9]
        others = {
            f"h{at}": letter_data(f"h{at}", "2019-01-01T00:00:00Z", 8) for at in range(hidden)
        }
        for data in others.values():
            data["thread_id"] = THREADS[9]
        records = enumerate((visible | others).items())
        store.write(feed, [Line(at, key, 0, data) for at, (key, data) in records])
        token = approve(store, Selection(("home",), ("messages",), time=YEAR)).token
        (reach,) = Gate(store, SetClock()).admit(f"Bearer {token}").reaches
        related = store.related(reach, "thread_id")
        blob_id = sha256(PICTURE).hexdigest()
        return {
            "related": _steps(store, lambda: related.first(THREADS[9], 5).records),
            "blob": _steps(store, lambda: store.blob_shown(blob_id, [reach])),
        }


def _steps(store: Store, read: Callable[[], object]) -> int:
    """Return what one read costs."""
    for _ in range(2):
        with counted_work(store) as work, store.reading():
            assert read()
    return work.units


def test_more_hidden_records_that_share_something_cost_no_more(tmp_path: Path) -> None:
    some, more = (shared_steps(tmp_path / str(hidden), hidden) for hidden in (1_500, 6_000))
    for what, steps in some.items():
        assert more[what] <= GROWN * steps, (what, steps, more[what])


def scarce_steps(folder: Path, hidden: int) -> dict[str, int]:
    """Return what reads of 100 visible records cost, before which all hidden ones come."""
    with closing(open_store(folder, SetClock(), surrogate_by_key)) as store:
        store.register(parse_declaration(declaration()))
        store.connect("home", "letters", "Home")
        feed = store.catalogue().feeds["home", "messages"]
        numbers = range(90_000, 90_100)
        visible = {f"v{at}": letter_data(f"v{at}", "2026-03-01T00:00:00Z", at) for at in numbers}
        others = {
            f"h{at}": letter_data(f"h{at}", "2019-01-01T00:00:00Z", at) for at in range(hidden)
        }
        for records in (others, visible):
            lines = enumerate(records.items())
            store.write(feed, [Line(at, key, 0, data) for at, (key, data) in lines])
        token = approve(store, Selection(("home",), ("messages",), time=YEAR)).token
        (reach,) = Gate(store, SetClock()).admit(f"Bearer {token}").reaches
        some = reach.narrowed([Condition("label", Kind.TEXT, "eq", "a")])
        page = PageQuery((reach,), 5, sort="size", descending=False)
        return {
            "page": _steps(store, lambda: store.page(page).records),
            "count": _steps(store, lambda: store.count(some)),
            "changes": _steps(store, lambda: changes_of(store, reach, 5)),
        }


FILTERED: dict[str, tuple[str, dict[str, str]]] = {
    "a page": (RECORDS, {}),
    "a sorted page": (RECORDS, {"sort": "size"}),
    "a count": (RECORDS, {"count": "exact", "limit": "1"}),
    "a sum": (SUMS, {"metric": "sum", "field": "amount"}),
}


EQUAL = {
    "a text": {"filter[label]": "rare"},
    "a boolean": {"filter[starred]": "true"},
    "a text and a range": {"filter[label]": "rare", "filter[size][gte]": "7000"},
    "a text and a time": {"filter[label]": "rare", "filter[sent_at][gte]": "2026-02-01"},
}
MEASURED = {
    "a range": {"filter[size][gte]": "7000"},
    "a measure": {"filter[size]": "7000"},
}
"""Filters that one visible record meets, and all hidden ones."""

MOST_MEASURED = 2 if ENGINE == "sqlite" else 4
"""How many times as much a filter by a measure may cost: where visible records are a small part of
all, each is looked up, and else all are read one after another."""


def filtered_steps(folder: Path, hidden: int) -> dict[str, int]:
    """Return what it costs to ask for the one visible record that meets a filter."""
    with counting(folder, 0) as (store, caller):
        feed = store.catalogue().feeds["home", "messages"]
        years = {"2026": ("v", MANY_VISIBLE), "2019": ("h", hidden)}
        for year, (letter, count) in years.items():
            keys = [f"{letter}{at}" for at in range(count)]
            records = [letter_data(key, f"{year}-03-01T00:00:00Z", 0) for key in keys]
            for at, data in enumerate(records):
                if letter == "h" or at == 0:
                    data |= {"label": "rare", "starred": True, "size": 7_000}
            pairs = enumerate(zip(keys, records, strict=True))
            store.write(feed, [Line(at, key, 0, data) for at, (key, data) in pairs])
        client = caller.under(approve(store, GRANTS["a time"]).token)
        return {
            f"{name} by {what}": steps_of(store, client, path, params | asked)
            for name, (path, params) in FILTERED.items()
            for what, asked in (EQUAL | MEASURED).items()
        }


def test_hidden_records_that_meet_a_condition_cost_nothing(tmp_path: Path) -> None:
    without, among = (filtered_steps(tmp_path / str(hidden), hidden) for hidden in (0, 2_000))
    for what, steps in without.items():
        assert among[what] <= GROWN * steps + DEEPER, (what, steps, among[what])


def test_hidden_records_that_meet_a_condition_cost_nothing_where_many_are_visible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if the visible records were many: few are gone through whatever is asked.
    monkeypatch.setattr(predicate, "_SELECTIVE", 40)
    without, among = (filtered_steps(tmp_path / str(hidden), hidden) for hidden in (0, 2_000))
    measured = {f"{name} by {what}" for name in FILTERED for what in MEASURED}
    for what in without.keys() - measured:
        most = GROWN * without[what] + DEEPER
        assert among[what] <= most, (what, without[what], among[what])
    # A page that is sorted by another field than the time is walked past hidden records.
    for what in {what for what in measured if "sorted" not in what}:
        assert among[what] <= MOST_MEASURED * without[what], (what, without[what], among[what])


def changes_of(store: Store, reach: Reach, limit: int) -> Sequence[Record | Tombstone]:
    """Return the first changes that a reach shows."""
    horizon = store.latest_version(reach)
    query = ChangeQuery(reach, limit, ChangePosition(0, None), horizon, tombstones=True)
    return store.changes(query).changes


def test_hidden_records_that_come_first_are_not_walked_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if the visible records were many: what is few is read first and then sorted.
    monkeypatch.setattr(predicate, "_SELECTIVE", 40)
    some, more = (scarce_steps(tmp_path / str(hidden), hidden) for hidden in (4_000, 8_000))
    for what, steps in some.items():
        assert more[what] <= GROWN * steps, (what, steps, more[what])


def edited_steps(folder: Path, hidden: int) -> int:
    """Return what a page of changes costs where so many members that nobody declared changed."""
    with closing(open_store(folder, SetClock(), surrogate_by_key)) as store:
        store.register(parse_declaration(declaration()))
        store.connect("home", "letters", "Home")
        feed = store.catalogue().feeds["home", "messages"]
        for size in (1, 2):
            data = letter_data("v1", "2026-03-01T00:00:00Z", size)
            store.write(feed, [Line(0, "v1", 0, data)])
            other = letter_data("h1", "2026-03-01T00:00:00Z", 0)
            names = (f"hidden {at}" for at in range(hidden))
            store.write(feed, [Line(0, "h1", 0, other | dict.fromkeys(names, size))])
        token = approve(store, Selection(("home",), ("messages",), fields=FIELDS)).token
        (reach,) = Gate(store, SetClock()).admit(f"Bearer {token}").reaches
        return _steps(store, lambda: len(changes_of(store, reach, 5)) == 2)


def test_hidden_members_that_changed_are_not_gone_through(tmp_path: Path) -> None:
    some, more = (edited_steps(tmp_path / str(hidden), hidden) for hidden in (100, 2_000))
    assert more <= GROWN * some, (some, more)


MOVED_OFTEN = 100
MOVED_GRANTS = {
    "a time": Selection(("home",), ("messages",), fields=("id", "subject"), time=YEAR),
    "a list": Selection(("home",), ("messages",), fields=("id", "subject"), keys=KEYS),
    "some fields": Selection(("home",), ("messages",), fields=("id", "subject")),
}
MOST_A_TRACE = 60
"""What a trace of a record that is still shown may cost: a look at it and one at its record."""


def moved_steps(folder: Path, moves: int) -> dict[str, int]:
    """Return what a page of changes costs where the hidden time of visible records changed."""
    with closing(open_store(folder, clock := SetClock(), surrogate_by_key)) as store:
        store.register(parse_declaration(declaration()))
        store.connect("home", "letters", "Home")
        feed = store.catalogue().feeds["home", "messages"]
        for at in range(moves + 1):
            moment = f"2026-03-01T{at // 60:02d}:{at % 60:02d}:00Z"
            clock.advance(1)
            records = [(key, letter_data(key, moment, 0)) for key in KEYS]
            store.write(feed, [Line(i, key, 0, data) for i, (key, data) in enumerate(records)])
        costs = {}
        for name, chosen in MOVED_GRANTS.items():
            token = approve(store, chosen).token
            (reach,) = Gate(store, SetClock()).admit(f"Bearer {token}").reaches
            with counted_work(store) as work, store.reading():
                assert changes_of(store, reach, 5)
                assert store.latest_trace(reach) == 0
            costs[name] = work.units
        return costs


def test_hidden_moves_of_a_record_cost_a_look_at_each(tmp_path: Path) -> None:
    without, moved = (moved_steps(tmp_path / str(moves), moves) for moves in (0, MOVED_OFTEN))
    traces = MOVED_OFTEN * len(KEYS)
    for granted, steps in without.items():
        # A first page of changes looks at them twice: for those after it and for the last one.
        assert moved[granted] <= steps + 2 * MOST_A_TRACE * traces, (granted, steps, moved[granted])


class Terms:
    """Counts the terms that searches go through and look up."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        vocabulary, postings = Visible.vocabulary, Visible.postings

        def counted_vocabulary(visible: Visible) -> Iterator[TermLines]:
            for lines in vocabulary(visible):
                self.count += lines.lines.count(b"\n") + 1
                yield lines

        def counted_postings(
            visible: Visible, groups: Sequence[TermGroup]
        ) -> dict[TermGroup, Postings]:
            self.count += sum(map(len, groups))
            return postings(visible, groups)

        monkeypatch.setattr(Visible, "vocabulary", counted_vocabulary)
        monkeypatch.setattr(Visible, "postings", counted_postings)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("granted", GRANTS)
def test_words_of_hidden_records_are_not_gone_through(
    worlds: tuple[tuple[Store, Caller], tuple[Store, Caller]],
    monkeypatch: pytest.MonkeyPatch,
    granted: str,
    word: str,
) -> None:
    terms = Terms(monkeypatch)
    counts = []
    for store, caller in worlds:
        token = approve(store, GRANTS[granted]).token
        terms.count = 0
        reply = caller.under(token).exchange("GET", "/v1/search", [("q", WORDS[word])])
        assert reply.status == 200, reply
        counts.append(terms.count)
    without, with_hidden = counts
    assert 0 < with_hidden <= without
