"""Hints: the exact command that goes on from here."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import click

from pdpp.evidence.fence import HIDDEN
from pdpp.evidence.handle import parse_handle, record_uri

_CARRIED = ("provider", "cache_root", "data")
"""What a next command needs where this one was told it."""


def next_command(read: str, *words: str, **options: Any) -> str:
    """Return a read as a person can type it, on the server that this command reads."""
    context = click.get_current_context()
    carried = {name: context.params.get(name) for name in _CARRIED}
    return _line(["pdpp", "read", read], words, {**options, **carried})


def same_command(**changed: Any) -> str:
    """Return this very command with some options changed."""
    context = click.get_current_context()
    words: list[str] = []
    options: dict[str, Any] = {}
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        # What is carried may have stood before the name of the command.
        given = source is click.core.ParameterSource.COMMANDLINE or name in _CARRIED
        value = context.params.get(name) if given else None
        if isinstance(parameter, click.Argument):
            words += _several(value)
        else:
            options[_spelling(parameter)] = changed.get(name, value)
    return _line(context.command_path.split(), words, options)


def _spelling(parameter: click.Parameter) -> str:
    return max(parameter.opts, key=len).removeprefix("--")


def _several(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def _line(command: list[str], words: Sequence[str], options: Mapping[str, Any]) -> str:
    """Return a command line; words that look like options go behind the last of them."""
    behind = any(word.startswith("-") for word in words)
    parts = [*command, *(() if behind else words)]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            parts.append(option)
        elif value is not None and value is not False:
            parts += [part for item in _several(value) for part in (option, item)]
    parts += ["--", *words] if behind else []
    return " ".join(shlex.quote(part) for part in parts)


def spelled_id(id: str) -> str:
    """Return an id as it can be copied: as it is, or as a URI where it is not seen as one word."""
    return record_uri(parse_handle(id)) if HIDDEN.search(id) or " " in id else id
