"""Options: what several commands take, and the values they are parsed to."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from pdpp.model import instant

F = TypeVar("F", bound=Callable[..., Any])

_LONGEST = 1_000
_LONGEST_PASSPHRASE = 4_096
"""More than any that is taken, so that one too long is refused and not cut."""
_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_DURATION = re.compile(r"([1-9]\d{0,3})([mhdw])\Z", re.ASCII)
_UNITS = {
    "m": 60 * instant.SECOND,
    "h": 3_600 * instant.SECOND,
    "d": instant.DAY,
    "w": 7 * instant.DAY,
}

OWNER_DATA = "pdpp.data"
"""Where a context keeps the data folder that the owner reads."""

OWNER_FOLDER = click.option(
    "--data",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="For the owner: read this data folder itself, with receipts and without a grant.",
)
"""The option of the commands that read a grant, and of their group."""


def common(function: F) -> F:
    """Give a command ``--data`` and ``--json``."""
    data = click.option(
        "--data",
        metavar="DIR",
        type=click.Path(path_type=Path),
        envvar="PDPP_DATA",
        default=_own_folder,
        help="Data folder. Or set PDPP_DATA. Default on Linux: ~/.local/share/pdpp",
    )
    as_json = click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
    return data(as_json(function))


def _own_folder() -> Path:
    """Return the default data folder; a command that opens no store does not import one."""
    from pdpp.serving.data_folder import own_folder

    return own_folder()


def words(text: str) -> str:
    """Return one line that a person wrote, without the space around it."""
    line = text.strip()
    if not line or len(line) > _LONGEST or _HIDDEN.search(line):
        raise click.BadParameter(f"Write one line of 1 to {_LONGEST} characters.")
    return line


def time(text: str) -> int:
    """Return the moment that RFC 3339 text names."""
    moment = instant.parse(text)
    if moment is None:
        raise click.BadParameter(
            f"{text!r} is not a time such as 2026-01-31 or 2026-01-31T08:00:00Z."
        )
    return moment


def expiry(text: str) -> int:
    """Return a moment to come, from a time or from how long it is until then."""
    now = instant.now()
    moment = moment_after(now, text)
    if moment is None:
        raise click.BadParameter(
            f"{text!r} is neither a duration such as 30d or 12h nor a time such as 2026-01-31."
        )
    if moment <= now:
        raise click.BadParameter(f"{text!r} has passed.")
    return moment


def moment_after(now: int, text: str) -> int | None:
    """Return the moment that a duration counted from now reaches or a time names, or None."""
    match = _DURATION.match(text)
    if match is None:
        return instant.parse(text)
    return now + int(match[1]) * _UNITS[match[2]]


def passphrase_in(source: TextIO) -> str:
    """Return the passphrase in the first line of a file."""
    return source.readline(_LONGEST_PASSPHRASE).rstrip("\r\n")
