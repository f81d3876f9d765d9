"""How tests are shared out to workers."""

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
