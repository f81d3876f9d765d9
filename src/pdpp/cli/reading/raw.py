"""Raw output: what the server said, for a program to read."""

import json
import sys
from collections.abc import Mapping
from typing import Any

import click

from pdpp.client.session import RawAnswer
from pdpp.evidence.fence import HIDDEN
from pdpp.evidence.text import json_text


def verbatim(answer: RawAnswer) -> None:
    """Write an answer as it was sent; on a terminal with what cannot be seen escaped."""
    if not sys.stdout.isatty():
        click.echo(answer.text.rstrip())
        return
    text = answer.text.decode("utf-8", "replace").replace("\r", " ").replace("\t", " ")
    for line in text.split("\n"):
        click.echo(_escaped(line))


def one_line(item: Mapping[str, Any]) -> None:
    """Write one thing of a list as a line of JSON."""
    try:
        text = json_text(item).encode()
    except UnicodeEncodeError:
        text = json.dumps(item).encode()
    click.echo(_escaped(text.decode()) if sys.stdout.isatty() else text)


def _escaped(text: str) -> str:
    """Return JSON that means the same and in which every character can be seen."""
    return HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], text)
