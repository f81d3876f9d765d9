"""Tests of turns: how long the threads of a process go on while others wait."""

import sys
from contextlib import closing

from tests.sources.harness import Harness

from pdpp.sources.importing.turns import short_turns


def test_only_a_program_that_imports_changes_how_threads_take_turns(harness: Harness) -> None:
    usual = sys.getswitchinterval()
    with closing(harness.writer()):
        assert sys.getswitchinterval() == usual
    with short_turns():
        assert sys.getswitchinterval() < usual / 10
    assert sys.getswitchinterval() == usual


def test_turns_are_short_until_the_last_of_several_imports_ends() -> None:
    usual = sys.getswitchinterval()
    first, second = short_turns(), short_turns()
    with first:
        second.__enter__()
    assert sys.getswitchinterval() < usual / 10
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == usual
