"""Progress: one line on stderr that says how far a long command is, only for a person to see."""

import sys
import time
from collections.abc import Callable
from types import TracebackType

from pdpp.cli.terminal import is_terminal

_SECONDS_BETWEEN = 0.1


class Progress:
    """A line that is written over as work goes on, and wiped away at the end."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._last_written = 0.0
        self._visible = is_terminal(sys.stderr)

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._visible and self._last_written:
            self._write("")

    def tell(self, done: int, total: int | None = None) -> None:
        """Say how much is done, of how much."""
        self.say(lambda: f"{self._what} {done:,}" + (f" of {total:,}" if total else ""))

    def say(self, line: Callable[[], str]) -> None:
        """Show a line, which is only made when it is time for a new one."""
        now = time.monotonic()
        if not self._visible or now - self._last_written < _SECONDS_BETWEEN:
            return
        self._last_written = now
        self._write(line())

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
