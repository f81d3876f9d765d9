"""What keeps a store usable: its secret, its state, snapshots, checks and backups."""

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.engine import back_up, blob_content, blob_file, damage_blob, revoke_grant
from tests.store.questions import ask
from tests.store.world import Clock, Engine, World, declare

from pdpp.model.errors import StoreError
from pdpp.model.grant import AccessMode, Grant
from pdpp.store.aggregation import AggregateQuery
from pdpp.store.deadline import DeadlinePassed, Timer
from pdpp.store.port import Store
from pdpp.store.query import HitPage, PageQuery, Record, SearchPosition, SearchQuery
from pdpp.store.vault import Token


class Countdown:
    """A deadline that passes after it was asked some number of times."""

    def __init__(self, times: int) -> None:
        self._left = times

    def passed(self) -> bool:
        self._left -= 1
        return self._left < 0

    def left(self) -> float:
        """Let a single statement take its time."""
        return 60.0

    def take(self, size: int) -> None:
        """Let large records pass."""


def found(store: Store, query: SearchQuery) -> tuple[HitPage, list[tuple[SearchPosition, Record]]]:
    """Return a page of hits in values that can be compared."""
    page = store.search(query)
    return page._replace(hits=()), [(hit.position, hit.record) for hit in page.hits]


def stop() -> None:
    raise RuntimeError("stop")


def test_the_secret_stays_the_same(engine: Engine, tmp_path: Path, clock: Clock) -> None:
    store, other = engine(tmp_path, clock), engine(tmp_path, clock)
    secret = store.secret()
    assert len(secret) == 32
    assert store.secret() == other.secret() == secret
    store.close()
    other.close()
    again = engine(tmp_path, clock)
    assert again.secret() == secret
    again.close()


def test_two_stores_have_two_secrets(engine: Engine, tmp_path: Path, clock: Clock) -> None:
    first, second = engine(tmp_path / "a", clock), engine(tmp_path / "b", clock)
    assert first.secret() != second.secret()
    first.close()
    second.close()


def test_the_state_differs_after_every_write(world: World) -> None:
    token = Token("h", "owner", "x", 0)
    grant = Grant("g", "c", "p", AccessMode.CONTINUOUS, (), 0)
    states = [world.store.state()]
    assert world.store.state() == states[0]
    for write in (
        lambda: world.put({"a": {}}),
        lambda: world.store.vault.keep_token(token),
        lambda: world.store.vault.keep_grant(grant, []),
        lambda: revoke_grant(world.store, "g"),
        lambda: world.store.connect("c2", "mail", "Two"),
        lambda: world.store.register(declare(version="2")),
    ):
        write()
        states.append(world.store.state())
        assert world.store.state() == states[-1]
    assert len(set(states)) == len(states)


def test_the_state_differs_after_a_write_by_another_store(
    engine: Engine, tmp_path: Path, clock: Clock
) -> None:
    one, two = engine(tmp_path, clock), engine(tmp_path, clock)
    before = one.state()
    two.register(declare())
    assert one.state() != before
    assert "mail" in one.catalogue().sources
    one.close()
    two.close()


def test_stores_on_one_folder_see_and_heed_each_other(
    engine: Engine, tmp_path: Path, clock: Clock
) -> None:
    one = World(engine(tmp_path, clock), clock).settle()
    two = World(engine(tmp_path, clock), clock)
    one.put({"a": {"note": "x", "size": 1}})
    two.put({"b": {"subject": "y"}, "a": {"note": "z"}})
    assert one.keys() == two.keys() == ["a", "b"]
    noted = one.reach(fields=["note"])
    hidden = one.store.record(noted, one.id(noted, "b"))
    assert hidden is not None
    assert hidden.data == b"{}"
    one.store.close()
    two.store.close()


def test_writers_in_several_threads_take_turns(world: World) -> None:
    def put(number: int) -> None:
        world.put({f"k{number}-{n}": {"size": n} for n in range(20)})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(put, range(8)))
    assert world.store.count(world.reach()) == 160
    assert world.store.check() == []


def test_a_reading_holds_one_snapshot(world: World) -> None:
    world.put({"a": {}})
    reach = world.reach()
    with world.store.reading():
        assert world.store.count(reach) == 1
        writer = threading.Thread(target=lambda: world.put({"b": {}}))
        writer.start()
        writer.join()
        with world.store.reading():
            assert world.store.count(reach) == 1
        assert world.store.count(reach) == 1
    assert world.store.count(reach) == 2


def test_a_snapshot_ends_when_its_reading_fails(world: World) -> None:
    with pytest.raises(RuntimeError, match="stop"), world.store.reading():
        stop()
    world.put({"a": {}})
    with world.store.reading():
        assert world.store.count(world.reach()) == 1


def test_a_read_ends_when_its_time_is_up_and_the_next_one_works(world: World) -> None:
    world.put({str(n): {"subject": "apple pear", "size": n, "weight": n} for n in range(3_000)})
    reach = world.reach()
    sums = AggregateQuery((reach,), "sum", "size", group_by="subject")
    find = SearchQuery((reach,), ask("apple pear"), 5)
    for read in (
        lambda: world.store.aggregate(sums),
        lambda: world.store.search(find),
        lambda: world.store.page(PageQuery((reach,), 5_000)),
    ):
        for asked in (0, 1):
            with pytest.raises(DeadlinePassed), world.store.reading(Countdown(asked)):
                read()
        with world.store.reading(Timer(60)):
            read()
    assert world.store.search(find).ranked == 3_000


def test_a_timer_passes_after_its_seconds() -> None:
    assert not Timer(60).passed()
    assert Timer(-1).passed()


def test_tending_comes_to_an_end_and_changes_no_answer(world: World) -> None:
    for number in range(40):
        world.put({f"{number}-{n}": {"subject": f"apple {n} pear"} for n in range(5)})
        world.put({f"{number}-0": None})
    find = SearchQuery((world.reach(),), ask("apple pear"), 200)
    before = found(world.store, find)
    rounds = 0
    while world.store.tend():
        rounds += 1
        assert rounds < 1_000
    assert found(world.store, find) == before
    assert world.store.check() == []


def test_a_sound_store_has_no_problems(world: World) -> None:
    world.put({"a": {"subject": "apple"}})
    world.store.keep_blob(io.BytesIO(b"x"), "text/plain", 9)
    assert world.store.check() == []


def test_a_check_finds_a_damaged_and_a_missing_blob(store: Store) -> None:
    damaged = store.keep_blob(io.BytesIO(b"one"), "text/plain", 9)
    missing = store.keep_blob(io.BytesIO(b"two"), "text/plain", 9)
    damage_blob(store, damaged, b"eno")
    damage_blob(store, missing, None)
    problems = store.check()
    assert len(problems) == 2
    assert any(damaged.blob_id in problem and "other" in problem for problem in problems)
    assert any(missing.blob_id in problem and "missing" in problem for problem in problems)


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_opens_as_a_store_that_equals_the_original(
    engine: Engine, world: World, tmp_path: Path, clock: Clock
) -> None:
    world.put({str(n): {"subject": f"apple {n}", "size": n} for n in range(500)})
    small = world.store.keep_blob(io.BytesIO(b"bytes"), "text/plain", 9)
    content = b"many bytes" * 10_000
    blob = world.store.keep_blob(io.BytesIO(content), "text/plain", 1 << 20)
    token = Token("h", "owner", "x", 0)
    world.store.vault.keep_token(token)
    secret = world.store.secret()
    told: list[tuple[int, int]] = []
    back_up(world.store, tmp_path / "backup", lambda done, total: told.append((done, total)))
    assert told[-1][0] == told[-1][1] > 0
    copy = World(engine(tmp_path / "backup", clock), clock)
    assert copy.store.check() == []
    assert copy.store.secret() == secret
    copy.store.vault.confirm(None)
    assert copy.store.vault.token("h") == token
    assert copy.store.catalogue() == world.store.catalogue()
    everything = PageQuery((world.reach(),), 999)
    assert copy.store.page(everything) == world.store.page(everything)
    find = SearchQuery((world.reach(),), ask("apple 77"), 5)
    assert found(copy.store, find) == found(world.store, find)
    kept = copy.store.blob(blob.blob_id)
    assert kept is not None
    assert blob_content(copy.store, small) == b"bytes"
    assert blob_file(copy.store, kept).read_bytes() == content
    assert blob_file(copy.store, kept) != blob_file(world.store, blob)
    copy.put({"new": {}})
    assert world.store.record(world.reach(), "new") is None
    copy.store.close()


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_without_blobs_or_listeners_is_whole_too(
    engine: Engine, world: World, tmp_path: Path, clock: Clock
) -> None:
    world.put({"a": {}})
    back_up(world.store, tmp_path / "deep" / "backup")
    copy = World(engine(tmp_path / "deep" / "backup", clock), clock)
    assert copy.keys() == ["a"]
    copy.store.close()


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_goes_only_into_an_empty_folder(store: Store, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").write_text("mine")
    with pytest.raises(StoreError, match="not empty"):
        back_up(store, tmp_path / "full")
    assert [path.name for path in (tmp_path / "full").iterdir()] == ["letter"]
    with pytest.raises(StoreError, match="cannot write the backup"):
        back_up(store, tmp_path / "full" / "letter")


def test_a_store_keeps_everything_when_it_is_opened_again(
    engine: Engine, tmp_path: Path, clock: Clock
) -> None:
    first = World(engine(tmp_path, clock), clock).settle()
    first.put({"a": {"subject": "apple", "note": "x"}})
    first.store.close()
    second = World(engine(tmp_path, clock), clock)
    assert second.keys() == ["a"]
    (record,) = second.store.page(PageQuery((second.reach(fields=["note"]),), 9)).records
    assert record.data == b'{"note":"x"}'
    second.store.close()
