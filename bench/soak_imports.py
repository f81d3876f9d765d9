"""Imports beside the load: the real program brings in the same export, changed each time."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.exports import claude_code

_THINGS = 400
_REST_SECONDS = 3.0
_LONGEST_SECONDS = 300


class Imports:
    """How many imports ended well so far, and what was wrong with the others."""

    def __init__(self, folder: Path, data: Path) -> None:
        self.done = 0
        self.errors: list[str] = []
        self._data = data
        self._path = claude_code(folder, _THINGS)
        self._text = self._path.read_text()
        self._stop = threading.Event()

    def run(self) -> None:
        """Import, rest, and import again until told to stop."""
        while not self._stop.is_set():
            self._path.write_text(self._text.replace('"text": "', f'"text": "turn{self.done} '))
            self._import()
            self._stop.wait(_REST_SECONDS)

    def _import(self) -> None:
        ended = subprocess.run(
            [sys.executable, "-m", "pdpp", "import", str(self._path), "--yes", "--json"],
            env={**os.environ, "PDPP_DATA": str(self._data)},
            capture_output=True,
            text=True,
            timeout=_LONGEST_SECONDS,
            check=False,
        )
        if ended.returncode == 0:
            self.done += 1
        else:
            self.errors.append((ended.stderr or ended.stdout)[-300:])

    def stop(self) -> None:
        """Let the import that runs be the last."""
        self._stop.set()


@contextmanager
def importing(folder: Path, data: Path) -> Iterator[Imports]:
    """Import again and again until the block ends."""
    folder.mkdir()
    imports = Imports(folder, data)
    thread = threading.Thread(target=imports.run, daemon=True)
    thread.start()
    try:
        yield imports
    finally:
        imports.stop()
        thread.join()
