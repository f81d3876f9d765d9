"""Where mutants live: one process that has imported what all tests need, forked for each of them.

It reads a folder and the names of mutants as a line of JSON, lets them live, and answers with an
empty line; it ends with its input.
"""

import gc
import json
import os
import signal
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from _pytest.config import get_config
from hypothesis.internal.conjecture.providers import _get_local_constants
from tests.launching.imports import import_program
from tests.promises.mutants import plugin
from tests.promises.mutants.mutant import Mutant
from tests.promises.mutants.table import MUTANTS, STRAYS

_SECONDS = 1_800
"""How long a mutant may live. This ends one that hangs: on a busy machine others need minutes."""
_OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=native")
"""A failure is told in few words: to quote its source, the runner would look at every module."""
_NAME = "MUTANT_NAME"


def main() -> None:
    """Let mutants live as they are asked for."""
    _import_tests()
    gc.collect()
    gc.freeze()
    print(flush=True)
    for line in sys.stdin:
        folder, names = json.loads(line)
        for number, name in enumerate(names):
            own = Path(folder) / str(number)
            own.mkdir()
            child = os.fork()
            if child == 0:
                _live({**MUTANTS, **STRAYS}[name], own)
            _, status = os.waitpid(child, 0)
            if os.WIFSIGNALED(status):
                ending = signal.Signals(os.WTERMSIG(status)).name
                with (own / "said").open("a") as said:
                    said.write(f"the mutant was ended by {ending}, at most {_SECONDS} s old")
        print(flush=True)


def _import_tests() -> None:
    """Import the tests of all mutants, and with them the program, as every mutant would.

    What they decide while they are imported, they decide as in the process of a mutant.
    """
    os.environ |= {"HYPOTHESIS_PROFILE": plugin.PROFILE, _NAME: ""}
    import_module("tests.conftest")
    files = {test.partition("::")[0] for mutant in MUTANTS.values() for test in mutant.tests}
    for file in sorted(files):
        *folders, name = Path(file).with_suffix("").parts
        with suppress(ModuleNotFoundError):
            import_module(".".join([*folders, "conftest"]))
        import_module(".".join([*folders, name]))
    _import_what_tests_need()
    # The demo world is what the real program has written; mutants write what their tests write.
    import_module("tests.serving").demo_template()


def _import_what_tests_need() -> None:
    """Import what the runner, a client and a server import when they begin: a fifth of a life."""
    get_config()
    for name in ("_hypothesis_pytestplugin", "pdb", "httpcore"):
        import_module(name)
    import_program()
    _get_local_constants()  # else every mutant whose tests make up examples looks for them


def _live(mutant: Mutant, folder: Path) -> None:
    """Run a mutant's tests in this process and end it."""
    said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    signal.alarm(_SECONDS)
    try:
        os.environ |= {plugin.NOTES: str(folder / "notes"), _NAME: mutant.name}
        if mutant.name not in MUTANTS:
            del os.environ[_NAME]
        mutant.apply()
        options = (*_OPTIONS, f"--basetemp={folder / 'tmp'}")
        pytest.main([*options, *mutant.tests], plugins=[plugin])
    except BaseException:  # noqa: BLE001 - a child never goes on as its parent
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
