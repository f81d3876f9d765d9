"""How tests are shared out to workers."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.scheduling import FIRST, TOGETHER, share_of

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
