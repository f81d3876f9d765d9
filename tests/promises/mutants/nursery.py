"""Where mutants live: one process that has imported what all tests need, forked for each of them.

Nothing of the program itself may be imported before the fork: what a mutant replaces must be
replaced before anybody takes hold of it.
"""

import os
import signal
import sys
import traceback
from pathlib import Path

import apsw  # noqa: F401 - imported once for all
import httpx  # noqa: F401
import jsonschema_rs  # noqa: F401
import pytest
import starlette.applications  # noqa: F401
import uvicorn  # noqa: F401
from tests.promises.mutants import plugin
from tests.promises.mutants.mutant import Mutant
from tests.promises.mutants.table import MUTANTS, STRAYS

_SECONDS = 120
_OPTIONS = ("-x", "-q", "-p", "no:cacheprovider")


def main(folder: Path, names: list[str]) -> None:
    """Let each mutant live and leave its notes in a folder of its own."""
    assert not any(name.partition(".")[0] == "pdpp" for name in sys.modules)
    for number, name in enumerate(names):
        own = folder / str(number)
        own.mkdir()
        child = os.fork()
        if child == 0:
            _live({**MUTANTS, **STRAYS}[name], own)
        os.waitpid(child, 0)


def _live(mutant: Mutant, folder: Path) -> None:
    """Run a mutant's tests in this process and end it."""
    said = os.open(folder / "said", os.O_WRONLY | os.O_CREAT)
    os.dup2(said, 1)
    os.dup2(said, 2)
    signal.alarm(_SECONDS)
    try:
        os.environ |= {plugin.NOTES: str(folder / "notes"), "HYPOTHESIS_PROFILE": plugin.PROFILE}
        if mutant.name in MUTANTS:
            os.environ["MUTANT_NAME"] = mutant.name
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
    main(Path(sys.argv[1]), sys.argv[2:])
