"""Output: results on stdout, for a person or for a program, and errors as one line on stderr."""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from pdpp.cli.terminal import StyledText, columns, is_terminal
from pdpp.evidence.fence import visible
from pdpp.model.errors import PdppError


class Refused(click.ClickException):
    """An error with a code of its own, told with the command that mends it."""

    def __init__(self, error: Mapping[str, Any], fix: str | None, exit_code: int) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.error = error if fix is None else {**error, "fix": fix}
        self.status = exit_code

    def format_message(self) -> str:
        """Return the code, the message and the way on, on one line."""
        fix = self.error.get("fix")
        line = " ".join(self.message.split())
        ending = "" if line.endswith((".", "!", "?")) else "."
        return visible(line if fix is None else f"{line}{ending} Try: {fix}", lines=False)


def show(document: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print a result: the document as JSON, or the lines."""
    if as_json:
        click.echo(json.dumps(document))
    else:
        for line in lines:
            click.echo(line)


def note(text: str) -> None:
    """Print a remark for the person, out of the way of the result."""
    click.echo(text, err=True)


def stop_writing() -> None:
    """Discard further results, because their reader is gone and the work goes on."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def complain(problem: Exception, as_json: bool) -> None:
    """Print what went wrong on stderr, as one line or as JSON."""
    error = describe(problem)
    if as_json:
        text = json.dumps({"error": error})
    elif isinstance(problem, Refused):
        text = f"error: {problem.format_message()}"
    else:
        where = f"{error['param']}: " if error.get("param") else ""
        text = visible(" ".join(f"error: {where}{error['message']}".split()), lines=False)
    sys.stderr.write(text + "\n")


def describe(problem: Exception) -> Mapping[str, Any]:
    """Return an error as the members that tell it."""
    if isinstance(problem, PdppError):
        members = {"code": problem.code, "message": problem.message}
        return members if problem.param is None else members | {"param": problem.param}
    if isinstance(problem, Refused):
        return problem.error
    if isinstance(problem, click.UsageError):
        path = problem.ctx.command_path if problem.ctx is not None else "pdpp"
        text = problem.format_message().rstrip(".")
        message = f"{text}{'' if text.endswith(('?', '?)')) else '.'} See {path} --help."
        return {"code": "usage", "message": message}
    if isinstance(problem, click.ClickException):
        return {"code": "failed", "message": problem.format_message()}
    if isinstance(problem, OSError) and problem.filename is not None:
        name = click.format_filename(problem.filename)
        return {"code": "failed", "message": f"{name}: {problem.strerror}"}
    if isinstance(problem, UnicodeDecodeError):
        return {"code": "failed", "message": "a file that was named is not text in UTF-8"}
    return {"code": "failed", "message": str(problem)}


def table(rows: Sequence[Sequence[str]], *, indent: str = "") -> list[str]:
    """Return rows as lines with aligned columns, fitted to the screen where there is one."""
    if is_terminal():
        from pdpp.cli.table_layout import lay_out

        lines = lay_out(
            [[StyledText(cell) for cell in row] for row in rows], columns() - len(indent)
        )
        return [indent + "".join(span.text for span in line) for line in lines]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        (
            indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
