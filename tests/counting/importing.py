"""Imports the program's modules with probes, and writes down at the end what was run.

Programs that tests start import this too, from ``hook``, so it imports little itself.
"""

import atexit
import hashlib
import json
import marshal
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import NoReturn

FOLDER = "COVERAGE_FOLDER"
"""The environment variable that names where marks are written; nothing is counted without it."""

HOOK = Path(__file__).with_name("hook")
"""What a program needs on its path to be counted."""

_MARKS = "__marks__"
_COUNTED = "pdpp"
_STARTED = "pdpp.__main__"
"""The module that an interpreter runs itself, without the loader."""


class _Counter:
    """The marks of this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.marks: dict[str, list[int]] = {}
        self._process = os.getpid()

    def follow_fork(self) -> None:
        """Count for the process that this one has become."""
        self._process = os.getpid()

    def write(self) -> None:
        """Write down what was run so far."""
        if os.getpid() != self._process:
            # A fork, which a test may have made to run out of files or of room, ends as it would.
            return
        # A copy: other threads may still import something while the process ends.
        reached = {
            path: [at for at, mark in enumerate(marks) if mark]
            for path, marks in list(self.marks.items())
        }
        handle, name = tempfile.mkstemp(prefix="writing-", dir=self.folder)
        with os.fdopen(handle, "w") as file:
            json.dump(reached, file)
        Path(name).rename(Path(name).with_name(Path(name).name.replace("writing", "marks")))


class _Loader(SourceFileLoader):
    """Loads a module with probes; what it has compiled is kept for other processes."""

    def __init__(self, counter: _Counter, name: str, path: str) -> None:
        super().__init__(name, path)
        self._counter = counter

    def get_code(self, fullname: str) -> CodeType:
        code, count = self._compiled(fullname)
        self._counter.marks.setdefault(self.path, [0] * count)
        return code

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        vars(module)[_MARKS] = self._counter.marks[self.path]
        exec(code, vars(module))  # noqa: S102 - what a loader is for

    def _compiled(self, fullname: str) -> tuple[CodeType, int]:
        source = self.get_data(self.get_filename(fullname))
        kept = self._counter.folder / f"code-{hashlib.sha256(source).hexdigest()}"
        if kept.exists():
            code, count = marshal.loads(kept.read_bytes())  # noqa: S302 - written below
            if code.co_filename == self.path:
                return code, count
        from tests.counting.probes import probe

        probed = probe(source)
        code = compile(probed.tree, self.path, "exec", dont_inherit=True)
        count = len(probed.probes)
        handle, name = tempfile.mkstemp(dir=self._counter.folder)
        with os.fdopen(handle, "wb") as file:
            file.write(marshal.dumps((code, count)))
        Path(name).rename(kept)
        return code, count


class _Finder(MetaPathFinder):
    """Finds the program's modules where they are, and gives them the loader above."""

    def __init__(self, counter: _Counter) -> None:
        self.counter = counter

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] != _COUNTED or fullname == _STARTED:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(self.counter, spec.loader.name, spec.loader.path)
        return spec


def count_imports(folder: Path) -> Callable[[], None]:
    """Count what this process imports from now on, and write it down when it ends or is asked."""
    assert _COUNTED not in sys.modules
    counter = _Counter(folder)
    sys.meta_path.insert(0, _Finder(counter))
    atexit.register(counter.write)
    really_exit = os._exit

    def write_and_exit(status: int) -> NoReturn:
        counter.write()
        really_exit(status)

    os._exit = write_and_exit
    return counter.write


def count_this_fork() -> None:
    """Write down what a fork runs too, where its parent was counted."""
    for finder in sys.meta_path:
        if isinstance(finder, _Finder):
            finder.counter.follow_fork()
