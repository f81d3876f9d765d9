"""Failures: what a failure of the disk or of a file means, to who asked and to who can mend it."""

import errno
import logging
from pathlib import Path

import apsw

from pdpp.model.errors import ApiError, Overloaded, PdppError

log = logging.getLogger("pdpp.store")

_LATER = {"Retry-After": "60"}
_FULL = (errno.ENOSPC, errno.EDQUOT)

_NO_ROOM = "there is no room on its disk: make room"
_READ_ONLY = "it cannot be written to: make its disk writable"
_FAILING = "its disk fails: see whether it is full, gone or broken"
_PASSING = (_NO_ROOM, _READ_ONLY, _FAILING)
"""What a server outlasts: a command has ended by then, and is to be given again."""
_BUSY = "another program is busy writing to it: wait until that is done, or end it"
DAMAGED = "it is damaged: stop the server, see what pdpp check says, and put a backup in its place"


def advice(problem: BaseException) -> str | None:
    """Return what the owner can do about a failure, None where it is none of a disk or a file."""
    if isinstance(problem, apsw.FullError) or _number(problem) in _FULL:
        return _NO_ROOM
    if isinstance(problem, apsw.ReadOnlyError) or _number(problem) == errno.EROFS:
        return _READ_ONLY
    if isinstance(problem, apsw.BusyError):
        return _BUSY
    if isinstance(problem, apsw.CorruptError | apsw.NotADBError):
        return DAMAGED
    if isinstance(problem, apsw.IOError | apsw.CantOpenError) or _number(problem) == errno.EIO:
        return _FAILING
    return None


def _number(problem: BaseException) -> int | None:
    return problem.errno if isinstance(problem, OSError) else None


def explain(problem: BaseException, path: Path) -> PdppError | None:
    """Return what a failure means to a caller, after logging which file it is and what to do."""
    if isinstance(problem, Overloaded):  # It was logged where it was raised.
        return problem
    sentence = advice(problem)
    if sentence is None:
        return None
    then = ", and it goes on by itself" if sentence in _PASSING else ""
    log.error("%s: %s%s (%s)", path, sentence, then, problem)
    if sentence == DAMAGED:
        return ApiError(
            "The database of this server is damaged. Its log names the file and what its owner "
            "can do; asking again does not help."
        )
    if sentence == _BUSY:
        return Overloaded(
            "Another program has been writing to the database of this server for long, and nothing "
            "of this request was kept. Send the same again later.",
            headers=_LATER,
        )
    return Overloaded(
        "This server cannot write to its disk at the moment, and nothing of this request was "
        "kept. Send the same again once its owner has seen to it; the log says what is needed.",
        headers=_LATER,
    )


def tell_replaced(path: Path) -> None:
    """Log what to do about a file that is no longer in its place."""
    log.error(
        "%s: it was moved, or another file was put in its place: start the server again", path
    )


def replaced() -> PdppError:
    """Return the refusal of a file that is no longer in its place."""
    return Overloaded(
        "The database of this server was moved or replaced while it ran, and nothing of this "
        "request was kept. It goes on once its owner has started it again.",
        headers=_LATER,
    )
