"""The scribe: another process writes what this one would, and nothing depends on it."""

import errno
import gc
import io
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine import surrogate_by_key
from tests.store.records import KEYS, MESSAGES
from tests.store.world import Clock, Data, World, declare, stream

from pdpp import __version__
from pdpp.encryption.data_key import DataKey
from pdpp.model.errors import Overloaded
from pdpp.store.batch import CheckedRecords, RecordBatch, WriteResult
from pdpp.store.sqlite import scribe as scribe_module
from pdpp.store.sqlite.opening import EXISTING, open_connection
from pdpp.store.sqlite.scribe import Errand, Opening, Scribe
from pdpp.store.sqlite.scribe_process import NOT_WRITTEN, serve
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore
from pdpp.store.tables.positions import IndexedFeed, indexed
from pdpp.store.tables.write.batch import TableBatch
from pdpp.store.tables.write.parcel import pack, unpack
from pdpp.store.tables.write.prepared import PreparedBatch

pytestmark = [
    pytest.mark.embedded("about the process beside the embedded engine"),
    pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="counts processors"),
]

DEADLINE_SECONDS = 30
MANY = 600
TALKS = stream(thread="thread", thread_order="size")


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be a scribe on a machine with one processor too."""
    monkeypatch.setattr(scribe_module, "_processors", lambda: 2)


@pytest.fixture(autouse=True)
def ready_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let whoever starts a scribe wait until it can write, so that a test knows who writes."""
    begin = Scribe.__init__

    @wraps(begin)
    def begin_and_wait(self: Scribe, *place: Any) -> None:
        begin(self, *place)
        self._starter.join()

    monkeypatch.setattr(Scribe, "__init__", begin_and_wait)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[WriteResult | None]:
    """Return what becomes of each batch that is given to a scribe."""
    answers: list[WriteResult | None] = []
    write = Scribe.write

    def noted(self: Scribe, *given: Any) -> WriteResult | None:
        answers.append(write(self, *given))
        return answers[-1]

    monkeypatch.setattr(Scribe, "write", noted)
    return answers


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with closing(SqliteStore(tmp_path, Clock(), surrogate_by_key)) as store:
        yield World(store).settle(declare(TALKS))


def message(number: int, word: str = "apple") -> Data:
    return {
        "id": f"k{number}",
        "subject": f"{word} {number} été 犬",
        "body": f"the {word} of {number}" * (1 + number % 3),
        "at": f"2026-02-{1 + number % 28:02}T10:00:00Z",
        "size": number,
        "weight": Decimal("0.300000000000000001") if number % 50 == 7 else number / 2,
        "read": bool(number % 2),
        "thread": f"t{number % 9}",
        "note": "x" * (20_000 if number % 100 == 3 else 3),
        "file": {"blob_id": f"b{number}"} if number % 40 == 1 else None,
    }


def messages(count: int = MANY, word: str = "apple") -> dict[str, Data]:
    return {f"k{number}": message(number, word) for number in range(count)}


def scribe_of(world: World) -> Scribe:
    scribe = world.store._scribe  # type: ignore[attr-defined]
    assert isinstance(scribe, Scribe)
    return scribe


def process_of(world: World) -> "subprocess.Popen[bytes]":
    process = scribe_of(world)._process
    assert process is not None
    return process


def rows(folder: Path, key: DataKey | None = None) -> dict[str, list[Any]]:
    """Return every row of every table but the store's own secrets."""
    with closing(open_connection(folder / FILE_NAME, key, flags=EXISTING)) as db:
        names = [
            name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        ]
        kept = [name for name in names if name not in {"setting", "sqlite_stat1"}]
        return {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in kept}


def fill(store: SqliteStore) -> list[WriteResult]:
    """Write new, changed, equal, deleted and returning records."""
    clock = Clock()
    store._clock = clock
    world = World(store, clock).settle(declare(TALKS))
    done = [world.put(messages())]
    clock.pass_by()
    done.append(world.put(messages(MANY + 100, "pear")))
    clock.pass_by()
    done.append(world.put(messages(MANY + 100, "pear")))
    clock.pass_by()
    gone: dict[str, Data | None] = {f"k{number}": None for number in range(1_100)}
    done.append(world.put(gone))
    clock.pass_by()
    done.append(world.put(messages()))
    return done


@pytest.mark.parametrize("key", [None, DataKey(bytes(range(32)))], ids=["plain", "encrypted"])
def test_what_it_writes_is_what_this_process_writes(
    key: DataKey | None, tmp_path: Path, told: list[WriteResult | None]
) -> None:
    with closing(SqliteStore(tmp_path / "here", Clock(), surrogate_by_key, key=key)) as store:
        here = fill(store)
    assert not told
    with closing(SqliteStore(tmp_path / "beside", Clock(), surrogate_by_key, key=key)) as store:
        with store.writing_beside():
            beside = fill(store)
        assert store.check() == []
    assert beside == here == told
    assert [(one.new, one.changed, one.unchanged, one.deleted) for one in here] == [
        (MANY, 0, 0, 0),
        (100, MANY, 0, 0),
        (0, 0, MANY + 100, 0),
        (0, 0, 400, MANY + 100),
        (MANY, 0, 0, 0),
    ]
    assert rows(tmp_path / "beside", key) == rows(tmp_path / "here", key)


def nothing(batch: TableBatch, *, waiting: bool) -> None:
    """Make nothing ready."""


def fill_ahead(store: SqliteStore, *, waiting: bool = True) -> list[WriteResult]:
    """Write batches that were made ready as far as can be: new, returning, and grown afterwards."""
    clock = Clock()
    store._clock = clock
    world = World(store, clock).settle(declare(TALKS))
    done = []
    for numbers, gone in ((range(MANY), []), (range(MANY, MANY + 50), range(20)), (range(40), [])):
        batch = world.store.batch(world.feed())
        for number in [*range(MANY), *numbers]:
            batch.keep(f"k{number}", 1, message(number, f"pear{number // MANY}"), None)
        batch.work_ahead(waiting=waiting)
        for number in gone:
            batch.drop(f"k{number}", 1)
        if gone:
            batch.keep("late", 1, message(7, "late"), None)
        done.append(batch.write())
        clock.pass_by()
    return done


@pytest.mark.parametrize("beside", [False, True])
@pytest.mark.parametrize("waiting", [False, True])
def test_what_is_made_ready_ahead_is_written_as_it_would_be(
    beside: bool,
    waiting: bool,
    tmp_path: Path,
    told: list[WriteResult | None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with closing(SqliteStore(tmp_path / "ahead", Clock(), surrogate_by_key)) as store:
        if beside:
            with store.writing_beside():
                ahead = fill_ahead(store, waiting=waiting)
        else:
            ahead = fill_ahead(store, waiting=waiting)
        assert store.check() == []
    assert told == (ahead if beside else [])
    monkeypatch.setattr(TableBatch, "work_ahead", nothing)
    with closing(SqliteStore(tmp_path / "as ever", Clock(), surrogate_by_key)) as store:
        as_ever = fill_ahead(store)
    assert [(one.new, one.changed, one.unchanged, one.deleted) for one in as_ever] == [
        (MANY, 0, 0, 0),
        (51, 0, MANY - 20, 20),
        (20, 0, MANY - 20, 0),
    ]
    assert ahead == as_ever
    assert rows(tmp_path / "ahead") == rows(tmp_path / "as ever")


@pytest.mark.parametrize("ahead", [True, False])
def test_it_loads_no_arrays_for_words_that_are_worked_out(
    ahead: bool, world: World, told: list[WriteResult | None]
) -> None:
    """What works out words takes longer to load than some thousand records to write."""
    with world.store.writing_beside():
        batch = world.store.batch(world.feed())
        for number in range(MANY):
            batch.keep(f"k{number}", 1, message(number, "pear"), None)
        batch.keep("k1", 2, message(1, "plum"), None)
        if ahead:
            batch.work_ahead()
        assert batch.write() == WriteResult(new=MANY)
        mapped = Path(f"/proc/{process_of(world).pid}/maps").read_text()
    assert told == [WriteResult(new=MANY)]
    assert "apsw" in mapped
    assert ("_multiarray_umath" not in mapped) is ahead


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> IndexedFeed:
    with closing(SqliteStore(tmp_path_factory.mktemp("feed"))) as store:
        return indexed(World(store).settle(declare(TALKS)).feed())


@given(
    given_lines=st.lists(st.tuples(KEYS, MESSAGES | st.none()), max_size=12),
    keep_newer=st.booleans(),
    ahead=st.booleans(),
)
def test_a_parcel_holds_the_whole_batch(
    feed: IndexedFeed, given_lines: list[tuple[str, Data | None]], keep_newer: bool, ahead: bool
) -> None:
    batch = PreparedBatch(feed, None, keep_newer=keep_newer)
    for key, data in given_lines:
        if data is None:
            batch.drop(key, 5)
        else:
            batch.keep_all(CheckedRecords((key,), (3,), (data,), (None,)))
    if ahead:
        batch.work_out_words()
        batch.arrange()
    parcel = pack(batch)
    assert parcel is not None
    again = unpack(feed, parcel)
    ours, theirs = vars(batch), vars(again)
    made = {"_surrogate_of", "_cells", "_short_cells", "_entries", "words", "_field_set_of"}
    assert {name: ours[name] for name in ours.keys() - made} == {
        name: theirs[name] for name in theirs.keys() - made
    }
    assert [*map(type, again.entries)] == [*map(type, batch.entries)]
    assert str(again.words) == str(batch.words)
    assert [*again.lines()] == [*batch.lines()]


def test_a_value_that_has_no_parcel_is_written_here(
    world: World, told: list[WriteResult | None]
) -> None:
    exact = [Decimal("0.300000000000000001")]
    odd = {key: {**data, "subject": exact} for key, data in messages().items()}
    with world.store.writing_beside():
        assert world.put(odd).new == MANY
    assert told == [None]
    assert world.store.check() == []


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return how large the log of writes was each time the disk was waited for."""
    sizes: list[int] = []
    sync = scribe_module._sync

    def noted(file: int) -> None:
        sizes.append(os.fstat(file).st_size)
        sync(file)

    monkeypatch.setattr(scribe_module, "_sync", noted)
    return sizes


def batch_of(world: World, records: dict[str, Data]) -> RecordBatch:
    batch = world.store.batch(world.feed())
    for key, data in records.items():
        batch.keep(key, 1, data, None)
    return batch


def test_what_has_to_last_is_on_the_disk_when_it_is_answered(
    world: World, synced: list[int], told: list[WriteResult | None]
) -> None:
    with world.store.writing_beside():
        batch_of(world, messages()).write()
        assert len(synced) == len(told) == 1
        assert synced[0] > 0
        batch_of(world, messages(MANY, "pear")).write()
        assert len(synced) == 2
    assert len(synced) == 2


def test_what_need_not_last_at_once_is_on_the_disk_once_all_is_settled(
    world: World, synced: list[int], told: list[WriteResult | None]
) -> None:
    with world.store.writing_beside():
        batch_of(world, messages()).write(lasting=False)
        batch_of(world, messages(MANY * 2)).write(lasting=False)
        assert (len(told), synced) == (2, [])
        world.store.settle()
        world.store.settle()
        assert len(synced) == 1
        batch_of(world, messages(MANY * 3)).write(lasting=False)
    assert len(synced) == 2


def test_a_disk_that_fails_is_told_and_asked_again(
    world: World, synced: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = scribe_module._sync

    def fail(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with world.store.writing_beside():
        monkeypatch.setattr(scribe_module, "_sync", fail)
        with pytest.raises(OSError, match="output error") as failure:
            batch_of(world, messages()).write()
        assert isinstance(world.store.explain(failure.value), Overloaded)
        monkeypatch.setattr(scribe_module, "_sync", sync)
        world.store.settle()
        assert len(synced) == 1


def test_where_its_log_cannot_be_opened_everything_is_written_here(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ = os.open

    def refuse(path: Any, *given: Any) -> int:
        if str(path).endswith("-wal"):
            raise OSError(errno.EMFILE, "Too many open files")
        return open_(path, *given)

    monkeypatch.undo()
    monkeypatch.setattr(scribe_module, "_processors", lambda: 2)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with world.store.writing_beside():
            assert scribe_of(world)._process is None
            assert world.put(messages()).new == MANY


def test_few_records_are_written_here(world: World, told: list[WriteResult | None]) -> None:
    with world.store.writing_beside():
        assert world.put(messages(99)).new == 99
        assert not told
        assert world.put(messages(100)).new == 1
    assert len(told) == 1


def test_what_was_declared_anew_meanwhile_is_written_here_as_it_is_declared_now(
    world: World, told: list[WriteResult | None]
) -> None:
    with world.store.writing_beside():
        batch = world.store.batch(world.feed())
        for key, data in messages().items():
            batch.keep(key, 1, data, None)
        world.store.register(declare(stream(query={}, thread="thread"), version="2"))
        assert batch.write().new == MANY
    assert told == []
    assert world.store.check() == []


def test_what_is_declared_anew_right_before_it_writes_is_left_to_this_process(
    world: World, monkeypatch: pytest.MonkeyPatch, told: list[WriteResult | None]
) -> None:
    write = Scribe.write

    def late(self: Scribe, *given: Any) -> WriteResult | None:
        world.store.register(declare(stream(query={}, thread="thread"), version="2"))
        return write(self, *given)

    monkeypatch.setattr(Scribe, "write", late)
    with world.store.writing_beside():
        assert world.put(messages()).new == MANY
        assert told == [None]
        monkeypatch.setattr(Scribe, "write", write)
        # It was asked in vain, and is asked again.
        assert world.put(messages(MANY + 1)).new == 1
    assert world.store.check() == []


def test_whose_answer_cannot_be_read_writes_nothing_later(
    world: World, monkeypatch: pytest.MonkeyPatch, told: list[WriteResult | None]
) -> None:
    """It has the batch, and waits for the lock; what is newer is written meanwhile."""

    def no_memory(_: object) -> object:
        raise MemoryError

    with world.store.writing_beside():
        process = process_of(world)
        with world.store._database.writing():  # type: ignore[attr-defined]
            with monkeypatch.context() as patch:
                patch.setattr(pickle, "load", no_memory)
                beside = threading.Thread(target=world.put, args=(messages(),))
                beside.start()
                wait_until(lambda: told == [None])
            assert process.poll() is not None
        beside.join()
        assert world.put(messages(MANY, "pear")).changed == MANY
    assert world.store.check() == []


@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGTERM])
def test_what_it_was_killed_over_is_written_here(
    world: World, kind: signal.Signals, told: list[WriteResult | None]
) -> None:
    with world.store.writing_beside():
        assert world.put(messages()).new == MANY
        # It waits for the lock, with the batch in hand, when it is killed.
        database = world.store._database  # type: ignore[attr-defined]
        with database.writing():
            writing = threading.Thread(target=world.put, args=(messages(MANY * 2),))
            writing.start()
            wait_until(lambda: scribe_of(world)._lock.locked())
            time.sleep(0.2)
            os.kill(process_of(world).pid, kind)
            wait_until(lambda: len(told) == 2)
        writing.join()
        assert world.put(messages(MANY * 3)).new == MANY
    assert told[1:] == [None]
    assert sum(world.store.counts([world.reach()]).values()) == MANY * 3
    assert world.store.check() == []


def wait_until(happened: Any) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_ctrl_c_means_the_process_that_reads(world: World, told: list[WriteResult | None]) -> None:
    with world.store.writing_beside():
        assert world.put(messages()).new == MANY
        os.kill(process_of(world).pid, signal.SIGINT)
        assert world.put(messages(MANY * 2)).new == MANY
    assert None not in told


@pytest.fixture
def let_go(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Let a scribe start only once this is set."""
    may_open, opening = threading.Event(), Scribe._open

    def late(self: Scribe, *given: Any) -> None:
        assert may_open.wait(DEADLINE_SECONDS)
        opening(self, *given)

    begin = Scribe.__init__.__wrapped__  # type: ignore[attr-defined]
    monkeypatch.setattr(Scribe, "__init__", begin)
    monkeypatch.setattr(Scribe, "_open", late)
    return may_open


def test_while_it_starts_the_first_batch_is_written_here_and_the_next_waits(
    world: World, told: list[WriteResult | None], let_go: threading.Event
) -> None:
    with world.store.writing_beside():
        assert world.put(messages()).new == MANY
        assert not told
        threading.Timer(0.2, let_go.set).start()
        assert world.put(messages(MANY * 2)).new == MANY
    assert [answer is not None for answer in told] == [True]


def test_no_batch_waits_long_for_it_to_start(
    world: World,
    told: list[WriteResult | None],
    let_go: threading.Event,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scribe_module, "_LONGEST_START", 0.1)
    with world.store.writing_beside():
        for number in (1, 2, 3):
            assert world.put(messages(MANY * number)).new == MANY
        assert not told
        let_go.set()


def test_where_it_cannot_start_everything_is_written_here(
    world: World, monkeypatch: pytest.MonkeyPatch, told: list[WriteResult | None]
) -> None:
    monkeypatch.setattr(scribe_module, "_PROGRAM", "pdpp.no_such_program")
    with world.store.writing_beside():
        assert world.put(messages()).new == MANY
    monkeypatch.setattr(sys, "executable", "/no/such/program")
    with world.store.writing_beside():
        assert world.put(messages(MANY * 2)).new == MANY
    assert not told


@pytest.mark.parametrize("name", ["executable", "frozen"])
def test_a_program_without_an_interpreter_of_its_own_starts_none(
    name: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, name, {"executable": "", "frozen": True}[name], raising=False)
    with world.store.writing_beside():
        assert world.store._scribe is None  # type: ignore[attr-defined]
        assert world.put(messages()).new == MANY


def test_a_program_that_imports_nothing_does_not_load_it() -> None:
    loaded = "import sys, pdpp.store.sqlite.store as store; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, check=True)
    assert b"pdpp.store.sqlite.database" in done.stdout.split()
    assert not {b"pdpp.store.sqlite.scribe", b"subprocess"} & {*done.stdout.split()}


def test_one_processor_has_no_room_for_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scribe_module, "_processors", lambda: 1)
    with world.store.writing_beside():
        assert world.store._scribe is None  # type: ignore[attr-defined]
        assert world.put(messages()).new == MANY


def test_a_place_of_modules_that_has_a_colon_in_its_name_is_one(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever lies in the working folder is never run."""
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "pickle.py").write_text("open('was_run', 'w')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "one:two")
    with world.store.writing_beside():
        assert scribe_of(world)._is_ready
    assert not (tmp_path / "was_run").exists()


def test_what_is_no_place_of_modules_is_left_out(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", ["", tmp_path, *sys.path])
    with world.store.writing_beside():
        assert scribe_of(world)._is_ready


@pytest.mark.parametrize("flag", ["-E", "-S"])
def test_it_reads_no_more_of_its_surroundings_than_who_started_it(
    flag: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"open({str(tmp_path / 'was_run')!r}, 'w')")
    beginning = f"import sys; sys.path[:] = {[str(tmp_path), *sys.path]!r}"
    with subprocess.Popen(
        [sys.executable, flag, "-c", f"{beginning}{_PARENT}", str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().split()[1] == b"True"
        parent.kill()
    assert not (tmp_path / "was_run").exists()


def test_it_makes_no_database_where_there_is_none_any_more(world: World, tmp_path: Path) -> None:
    """An empty one would be taken for what was moved, and be in its way."""
    os.rename(tmp_path / FILE_NAME, tmp_path / "moved")
    with world.store.writing_beside():
        assert not scribe_of(world)._is_ready
    assert not (tmp_path / FILE_NAME).exists()
    os.rename(tmp_path / "moved", tmp_path / FILE_NAME)


def test_it_writes_into_no_other_file_in_the_place(world: World, tmp_path: Path) -> None:
    os.rename(tmp_path / FILE_NAME, tmp_path / "moved")
    (tmp_path / FILE_NAME).write_bytes((tmp_path / "moved").read_bytes())
    with world.store.writing_beside():
        assert not scribe_of(world)._is_ready
    os.rename(tmp_path / "moved", tmp_path / FILE_NAME)


def test_a_program_that_was_replaced_on_the_disk_writes_nothing_for_the_one_that_runs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scribe_module, "__version__", "0.0.9")
    with world.store.writing_beside():
        assert not scribe_of(world)._is_ready


def test_what_cannot_tell_when_that_for_which_it_writes_is_gone_writes_nothing(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    between = tmp_path / "python"
    between.write_text(f'#!/bin/sh\n{sys.executable} "$@"\nexit 0\n')
    between.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(between))
    with world.store.writing_beside():
        assert not scribe_of(world)._is_ready
        assert world.put(messages()).new == MANY


def test_what_is_no_answer_is_none(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd_program.py").write_text("print('cno.such\\nmodule\\n.')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(scribe_module, "_PROGRAM", "odd_program")
    with world.store.writing_beside():
        assert not scribe_of(world)._is_ready
        assert world.put(messages()).new == MANY


def test_a_system_that_refuses_threads_keeps_no_process(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    start = scribe_module._start

    def noted() -> Any:
        started.append(start())
        return started[-1]

    class Refused(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.undo()
    monkeypatch.setattr(scribe_module, "_processors", lambda: 2)
    monkeypatch.setattr(scribe_module, "_start", noted)
    with monkeypatch.context() as patch:
        patch.setattr(threading, "Thread", Refused)
        with world.store.writing_beside():
            assert world.put(messages()).new == MANY
            assert not is_alive(started[0].pid)
    with world.store.writing_beside():
        assert is_alive(process_of(world).pid)
    assert not is_alive(started[1].pid)


def test_what_memory_has_no_room_to_send_is_written_here(
    world: World, monkeypatch: pytest.MonkeyPatch, told: list[WriteResult | None]
) -> None:
    def dumps(value: object) -> bytes:
        raise MemoryError

    monkeypatch.setattr("pdpp.store.tables.write.parcel.marshal.dumps", dumps)
    with world.store.writing_beside():
        assert world.put(messages()).new == MANY
    assert told == [None]


def test_who_shares_one_has_the_answer_before_it_ends(
    world: World, monkeypatch: pytest.MonkeyPatch, told: list[WriteResult | None]
) -> None:
    """An import ends while another one, or an ingest, has a batch written by its process."""
    asked = Scribe._asked
    ending: list[threading.Thread] = []

    def meanwhile(self: Scribe, question: object) -> Any:
        ending.append(threading.Thread(target=self.close))
        ending[-1].start()
        ending[-1].join(0.2)
        return asked(self, question)

    with world.store.writing_beside():
        process = process_of(world)
        monkeypatch.setattr(Scribe, "_asked", meanwhile)
        assert world.put(messages()).new == MANY
        ending[0].join()
    assert told == [WriteResult(new=MANY)]
    assert process.returncode == 0


def test_imports_at_the_same_time_share_one_until_the_last_ends(
    world: World, told: list[WriteResult | None]
) -> None:
    with world.store.writing_beside():
        first = scribe_of(world)
        inner = world.store.writing_beside()
        with inner:
            assert scribe_of(world) is first
        assert world.put(messages()).new == MANY
        process = process_of(world)
    assert process.returncode == 0
    assert world.store._scribe is None  # type: ignore[attr-defined]
    assert len(told) == 1


def test_a_moved_folder_is_told_as_ever(world: World, tmp_path: Path) -> None:
    with world.store.writing_beside():
        assert world.put(messages()).new == MANY
        os.rename(tmp_path / FILE_NAME, tmp_path / "moved")
        with pytest.raises(Overloaded, match="moved or replaced"):
            world.put(messages(MANY * 2))
        os.rename(tmp_path / "moved", tmp_path / FILE_NAME)


def test_no_secret_stands_in_its_command_or_its_surroundings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PDPP_STORE_PASSPHRASE", "open sesame")
    key = DataKey(bytes(range(32)))
    with closing(SqliteStore(tmp_path, key=key)) as store, store.writing_beside():
        world = World(store).settle()
        world.put(messages())
        folder = Path("/proc") / str(process_of(world).pid)
        seen = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
    assert b"scribe_process" in seen
    assert b"open sesame" not in seen
    for secret in (key.secret, key.derived(b"databases")):
        assert secret not in seen
        assert secret.hex().encode() not in seen.lower()


_PARENT = """
import sys, time
from pathlib import Path
from pdpp.store.sqlite.store import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
with store.writing_beside():
    scribe = store._scribe
    scribe._starter.join()
    print(scribe._process.pid, scribe._is_ready, flush=True)
    time.sleep(60)
"""


_ORPHAN = """
import sys
from pathlib import Path
from tests.store.sqlite.test_scribe import messages
from tests.store.world import World
from pdpp.store.sqlite import scribe
from pdpp.store.sqlite.store import SqliteStore
store = SqliteStore(Path(sys.argv[1]))
scribe._processors = lambda: 2
with store.writing_beside():
    scribe = store._scribe
    scribe._starter.join()
    print(scribe._process.pid, scribe._is_ready, flush=True)
    World(store).put(messages())
"""


def test_what_a_killed_import_left_in_its_hands_is_not_written_later(
    world: World, tmp_path: Path
) -> None:
    """Somebody may have imported what is newer meanwhile."""
    with subprocess.Popen(
        [sys.executable, "-c", _ORPHAN, str(tmp_path)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as parent:
        assert parent.stdout is not None
        database = world.store._database  # type: ignore[attr-defined]
        with database.writing():
            pid, ready = parent.stdout.readline().split()
            assert ready == b"True"
            wait_until(lambda: waits_for_lock(int(pid)))
            parent.kill()
            parent.wait()
    wait_until(lambda: not is_alive(int(pid)))
    assert sum(world.store.counts([world.reach()]).values()) == 0
    assert world.put(messages()).new == MANY


def waits_for_lock(pid: int) -> bool:
    """Tell whether a process sleeps again and again, as one that waits for its turn to write."""
    naps = []
    for _ in range(2):
        status = Path(f"/proc/{pid}/status").read_text()
        naps.append(int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0]))
        time.sleep(0.1)
    return naps[1] - naps[0] > 20


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(tmp_path)], stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout is not None
        pid, ready = parent.stdout.readline().split()
        assert ready == b"True"
        assert is_alive(int(pid))
        parent.kill()
    wait_until(lambda: not is_alive(int(pid)))


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def opening_of(world: World) -> Opening:
    """Return what the process is told first by one whose process is the parent of this one."""
    database = world.store._database  # type: ignore[attr-defined]
    path, rounds = database._path, gc.get_threshold()
    return Opening(__version__, path, database.identity, None, os.getppid(), rounds)


def test_it_answers_for_each_batch_and_ends_when_no_more_come(world: World, tmp_path: Path) -> None:
    """The same in this process, where the lines that ran are counted."""
    feed = indexed(world.feed())
    version = world.store.catalogue().version
    batch = PreparedBatch(feed, surrogate_by_key)
    for key, data in messages(9).items():
        batch.keep(key, 1, data, None)
    parcel = pack(batch)
    assert parcel is not None
    errands = [
        opening_of(world),
        Errand(feed, version, 2, parcel),
        Errand(feed, version + 1, 2, parcel),
        Errand(feed, version, 2, b"torn"),
        Errand(feed, version, 2, parcel),
    ]
    answers = io.BytesIO()
    serve(io.BytesIO(b"".join(map(pickle.dumps, errands))), answers)
    answers.seek(0)
    assert [pickle.load(answers) for _ in errands] == [  # noqa: S301
        True,
        WriteResult(new=9),
        NOT_WRITTEN,
        NOT_WRITTEN,
        WriteResult(unchanged=9),
    ]
    assert (
        apsw.Connection(str(tmp_path / FILE_NAME)).execute("SELECT count(*) FROM record").get == 9
    )
