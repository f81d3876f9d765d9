"""What a failure means: to who asked, and to who can mend it."""

import errno
import logging
from pathlib import Path

import apsw
import pytest

from pdpp.model.errors import ApiError, Overloaded, PdppError
from pdpp.store.sqlite.failures import advice, explain

pytestmark = pytest.mark.embedded("about the file of the embedded engine")

FILE = Path("/data/pdpp.sqlite3")
PASSING = (OSError, apsw.FullError, apsw.ReadOnlyError, apsw.IOError, apsw.CantOpenError)
"""What a server outlasts; a locked database is for a person to see to."""


@pytest.mark.parametrize(
    ("problem", "told", "kind"),
    [
        (apsw.FullError("full"), "make room", Overloaded),
        (OSError(errno.ENOSPC, "full"), "make room", Overloaded),
        (OSError(errno.EDQUOT, "over quota"), "make room", Overloaded),
        (apsw.ReadOnlyError("no"), "make its disk writable", Overloaded),
        (OSError(errno.EROFS, "no"), "make its disk writable", Overloaded),
        (apsw.IOError("disk I/O error"), "see whether it is full, gone or broken", Overloaded),
        (apsw.CantOpenError("gone"), "see whether it is full, gone or broken", Overloaded),
        (OSError(errno.EIO, "Input/output error"), "full, gone or broken", Overloaded),
        (apsw.BusyError("database is locked"), "wait until that is done", Overloaded),
        (apsw.CorruptError("malformed"), "put a backup in its place", ApiError),
        (apsw.NotADBError("not a database"), "put a backup in its place", ApiError),
    ],
)
def test_a_failing_disk_or_file_is_named_in_the_log_with_what_helps(
    problem: Exception, told: str, kind: type[PdppError], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "pdpp.store")
    failure = explain(problem, FILE)
    assert isinstance(failure, kind)
    assert str(FILE) not in failure.message
    [line] = [record.getMessage() for record in caplog.records]
    assert line.startswith(f"{FILE}: ")
    assert told in line
    assert ("goes on by itself" in line) == isinstance(problem, PASSING)


@pytest.mark.parametrize(
    "problem", [ValueError("a bug"), apsw.SQLError("no such table"), OSError(errno.EPIPE, "gone")]
)
def test_any_other_failure_is_left_to_who_sees_it(
    problem: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    assert advice(problem) is None
    assert explain(problem, FILE) is None
    assert caplog.records == []
