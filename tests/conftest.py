import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from hypothesis import HealthCheck, settings
from hypothesis.internal.charmap import intervals_from_codec
from tests.counting.plugin import line_counter
from tests.house.record import RECORD, Record, is_whole
from tests.house.requirements import PROPERTY, WrongClaim, claims_of
from tests.scheduling import FileScheduling, import_share, order_of, send_what_tells
from tests.soak import SOAK

Made = pytest.Item | pytest.Collector | list[pytest.Item | pytest.Collector] | None

ENGINE = os.environ.get("ENGINE", "sqlite")
_MEMORY = Path("/dev/shm")  # noqa: S108 - what is put there is in folders of its own
_LEAST_ROOM = 6 << 30

LINE_COUNTER = line_counter()
"""What counts lines, from here on: the rooms' own fixtures import the program."""

settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    # Every run makes up the same ones; a soak makes up forty times as many, and others each time.
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak",
    deadline=None,
    derandomize=False,
    max_examples=1_000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "soak" if SOAK else "ci"))


def pytest_configure(config: pytest.Config) -> None:
    """Keep how the lines of the scenarios end, where all tests are run.

    Programs that tests start take an interrupt even where a shell in the background ignores it.
    """
    _keep_files_in_memory()
    _keep_state_apart(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    send_what_tells(config)
    if LINE_COUNTER is not None:
        config.pluginmanager.register(LINE_COUNTER)
    if is_whole(config):
        config.pluginmanager.register(Record(config.rootpath / RECORD))


def _keep_state_apart(config: pytest.Config) -> None:
    """Let what the program remembers of stores stay out of the home of whoever runs the tests.

    The folder goes with the run: a mutant's process ends without what is asked for at its exit.
    """
    folder = tempfile.mkdtemp(prefix="pdpp-state-")
    os.environ["XDG_STATE_HOME"] = folder
    config.add_cleanup(partial(shutil.rmtree, folder, ignore_errors=True))


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Let each worker of a run of all tests import another share of the files first.

    The first import of a file rewrites its assertions and compiles it, and keeps what it compiled.
    Workers that all begin with the same file do so at the same time, each for itself. So it is with
    the constants of the program, which Hypothesis looks for. Which characters there are it tries
    out, for seconds, and keeps: whoever starts the workers does so, while they collect.

    Nearly all that is made until the tests begin stays, so that the garbage collector waits.
    """
    if session.config.getoption("numprocesses", None):  # others collect, and begin
        intervals_from_codec("utf-8")
    else:
        gc.disable()
    if share := getattr(session.config, "workerinput", None):
        import_share(session.config, int(share["workerid"][2:]), share["workercount"])


def pytest_collection_finish() -> None:
    """Let the garbage collector leave the tests themselves alone, and look less often.

    It takes a fourteenth of the processor time otherwise.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()


def _keep_files_in_memory() -> None:
    """Put temporary files into memory where it has room, unless the environment names a folder.

    Every write that a store acknowledges waits for the disk, and tests make thousands of stores.
    """
    if "TMPDIR" in os.environ or not os.access(_MEMORY, os.W_OK):
        return
    room = os.statvfs(_MEMORY)
    if not room.f_flag & os.ST_NOEXEC and room.f_bavail * room.f_frsize >= _LEAST_ROOM:
        os.environ["TMPDIR"] = str(_MEMORY)
        tempfile.tempdir = None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduling:
    """Keep the tests of a file on one worker."""
    config.option.loadscopereorder = False
    return FileScheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the longest files first; leave out what the chosen engine does not have."""
    if ENGINE != "sqlite":
        embedded = [item for item in items if item.get_closest_marker("embedded") is not None]
        config.hook.pytest_deselected(items=embedded)
        items[:] = [item for item in items if item.get_closest_marker("embedded") is None]
    items.sort(key=lambda item: order_of(item.nodeid))


@pytest.fixture(autouse=True, scope="session")
def slow_hasher() -> Iterator[Callable[[], PasswordHasher]]:
    """Hash passphrases in a moment; return what the program hashes them with.

    A hash that is slow enough takes an eighth of a second, and hundreds of tests log in.
    """
    from pdpp.authz import owner

    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    real = owner._hasher
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, "_hasher", lambda: cheap)
        yield real


@pytest.fixture(autouse=True, scope="session")
def made_once() -> Iterator[None]:
    """Make once in a process of tests what comes out the same every time."""
    from tests.made_once import make_once

    with pytest.MonkeyPatch.context() as patch:
        make_once(patch)
        yield


@pytest.fixture
def ram_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one, for tests that kill processes again and again.

    What a killed process had written is there on any disk; waiting for one shows nothing more.
    """
    if not os.access(_MEMORY, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="pdpp-", dir=_MEMORY))
    yield folder
    shutil.rmtree(folder)


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem() -> Generator[None, Made, Made]:
    """Put what a test claims of the scenarios on its reports; refuse what no scenario says."""
    made = yield
    for item in made if isinstance(made, list) else [made]:
        if isinstance(item, pytest.Item):
            _take_claims(item)
    return made


def _take_claims(item: pytest.Item) -> None:
    try:
        claims = claims_of(item)
    except WrongClaim as wrong:
        raise pytest.Collector.CollectError(f"{item.name}: {wrong}") from None
    if named := [list(claim) for claim in claims if claim.line is not None]:
        item.user_properties.append((PROPERTY, named))
