import io
import sys

import click
import pytest

from pdpp.cli.output import describe
from pdpp.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_one_line_written_over_and_wiped_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with Progress("Pages:") as progress:
        progress.tell(1_000, 2_500)
        progress.tell(1_001, 2_500)
    assert terminal.getvalue() == "\r\x1b[KPages: 1,000 of 2,500\r\x1b[K"


def test_progress_of_unknown_length_says_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with Progress("Records:") as progress:
        progress.tell(12)
    assert "Records: 12\r" in terminal.getvalue()


def test_no_progress_is_shown_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with Progress("Records:") as progress:
        progress.tell(12)
    assert pipe.getvalue() == ""


def test_no_progress_is_shown_where_no_line_can_be_written_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "dumb")
    with Progress("Records:") as progress:
        progress.tell(12)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    ("problem", "code", "message"),
    [
        (FileNotFoundError(2, "No such file", "/a b"), "failed", "/a b: No such file"),
        (OSError("odd"), "failed", "odd"),
        (click.ClickException("it is so"), "failed", "it is so"),
        (click.UsageError("no such thing"), "usage", "no such thing. See pdpp --help."),
    ],
)
def test_every_kind_of_problem_has_its_words(problem: Exception, code: str, message: str) -> None:
    assert describe(problem) == {"code": code, "message": message}
