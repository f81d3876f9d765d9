"""Distinct numbers are those of plain sets."""

import subprocess
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.ranking.distinct import each_once, in_either, only_in

NUMBERS = st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(0, 9), max_size=30)

PROGRAM = """
import sys
import numpy
from pdpp.store.tables.search.analysis import analyse
analyse([["Meet me at the harbour, {number} o'clock".format(number=n) for n in range(99)]])
print("numpy.ma" in sys.modules)
"""


@given(NUMBERS, NUMBERS)
def test_each_number_stands_once_and_in_order(some: list[int], others: list[int]) -> None:
    one, other = np.array(some, dtype=np.int64), np.array(others, dtype=np.int64)
    assert each_once(one).tolist() == sorted({*some})
    assert in_either(one, other).tolist() == sorted({*some, *others})
    assert only_in(one, other).tolist() == sorted({*some} - {*others})


def test_a_kind_of_numbers_stays_what_it_is() -> None:
    slots = np.array([3, 3, 1], dtype=np.uint32)
    assert in_either(slots, slots).dtype == each_once(slots).dtype == np.uint32


def test_to_find_words_imports_no_arrays_with_gaps() -> None:
    said = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert said.stdout == "False\n"
