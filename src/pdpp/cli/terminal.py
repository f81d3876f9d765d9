"""The terminal: styles of text, and how wide it is."""

import os
import sys
from typing import NamedTuple, TextIO

_USUAL = 80


class StyledText(NamedTuple):
    """A text and how it is told apart: mark, id, title, quiet or command."""

    text: str
    style: str = ""


def is_terminal(output: TextIO | None = None) -> bool:
    """Tell whether a person sees an output, on a screen that can do more than print."""
    return (output or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def columns() -> int:
    """Return how wide the screen is, or is said to be."""
    configured = os.environ.get("COLUMNS", "")
    if configured.isdecimal() and int(configured):
        return int(configured)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _USUAL
    except OSError:
        return _USUAL
