"""How tests are shared out to workers."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import configuration
from hypothesis.internal import constants_ast
from hypothesis.internal.constants_ast import constants_from_module
from tests.scheduling import FIRST, TOGETHER, modules_of, share_of

ROOT = Path(__file__).parents[2]
RAN_HERE: list[int] = []


@pytest.mark.parametrize("number", range(8))
def test_the_tests_of_a_file_run_in_one_process_in_their_order(number: int) -> None:
    """This fails where workers share the tests of one file, since each has a list of its own."""
    RAN_HERE.append(number)
    assert list(range(number + 1)) == RAN_HERE


def test_every_file_that_is_named_exists() -> None:
    assert [name for name in (*TOGETHER, *FIRST) if not (ROOT / name).is_file()] == []


def test_every_file_is_in_the_share_of_one_worker() -> None:
    shares = [share_of(ROOT / "tests", number, 3) for number in range(3)]
    files = [file for share in shares for file in share]
    assert len(set(files)) == len(files)
    assert Path(__file__) in files
    assert not any("node_modules" in file.parts for file in files)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_the_constants_of_every_module_are_looked_for_by_one_worker() -> None:
    shares = [{module.__name__ for module in modules_of(number, 3)} for number in range(3)]
    assert sum(map(len, shares)) == len(set[str]().union(*shares))
    assert {"pdpp.app", "pdpp.store.port"} <= set[str]().union(*shares)


def test_constants_that_one_worker_has_found_are_kept_for_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(configuration, "__hypothesis_home_directory", tmp_path)
    parsed: list[bytes] = []
    find = constants_ast._constants_from_source

    def find_and_tell(source: bytes, *, limit: bool) -> Any:
        parsed.append(source)
        return find(source, limit=limit)

    monkeypatch.setattr(constants_ast, "_constants_from_source", find_and_tell)
    module = next(module for module in modules_of(0, 1) if module.__name__ == "pdpp.app")
    for _ in range(2):
        constants_from_module.__wrapped__(module)
    assert parsed.count(Path(str(module.__file__)).read_bytes()) == 1


SPOILT = """
import time
import pytest

@pytest.fixture
def broken():
    yield
    raise ValueError("cannot be cleared away")

@pytest.fixture
def slow():
    time.sleep(0.6)

@pytest.fixture
def skipped():
    pytest.skip("not here")

def test_good(): pass
def test_spoilt(broken): pass
def test_left_out(skipped): pass
def test_prepared_for_long(slow): pass
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a run says whose worker tells what says anything."""
    folder = tmp_path_factory.mktemp("spoilt")
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "conftest.py").write_text(
        "from tests.scheduling import send_what_tells as pytest_configure\n"
    )
    (folder / "test_spoilt.py").write_text(SPOILT)
    plain = ("--disable-plugin-autoload", "-pxdist", "-pno:cacheprovider", "-n1")
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plain, "-rA", "--durations=9", "-vv", folder],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    ).stdout


def test_a_worker_tells_what_went_wrong_or_was_left_out_beside_a_test(told: str) -> None:
    assert "3 passed, 1 skipped, 1 error" in told
    assert "ERROR at teardown of test_spoilt" in told
    assert "cannot be cleared away" in told
    assert "not here" in told


def test_a_worker_tells_what_took_long_and_nothing_else_beside_a_test(told: str) -> None:
    parts = re.findall(r"^[\d.]+s (setup|teardown) +test_spoilt\.py::(\w+)$", told, re.MULTILINE)
    assert sorted(parts) == [
        ("setup", "test_left_out"),
        ("setup", "test_prepared_for_long"),
        ("teardown", "test_spoilt"),
    ]
