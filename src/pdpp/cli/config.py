"""Configuration: what a server would be told, from where, and a file to begin with."""

import json
import textwrap
from collections.abc import Iterator
from typing import Any

import click

from pdpp.cli.command_group import CommandGroup
from pdpp.cli.help_text import examples
from pdpp.cli.output import show as show_result
from pdpp.cli.output import table
from pdpp.cli.setting_options import configured
from pdpp.configuration.effective import Configuration
from pdpp.configuration.table import GROUPS, SETTINGS
from pdpp.evidence.fence import visible

_WIDTH = 98


@click.group(cls=CommandGroup)
def config() -> None:
    """See the settings of a server and where each comes from."""


@config.command(
    epilog=examples(
        "pdpp config show",
        "pdpp config show --data ~/my-data --json",
        "PDPP_PORT=8000 pdpp config show --workers 2",
    )
)
@configured
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def show(configuration: Configuration, as_json: bool) -> None:
    """Show every setting that pdpp serve would run with, and where it comes from.

    Takes the flags of pdpp serve, so that a command line can be tried before it is used. A flag
    wins over the environment, which wins over the file.
    """
    rows = [
        (name, SETTINGS[name].plain(value), origin)
        for name, (value, origin) in configuration.chosen.items()
    ]
    read = "No file was read." if configuration.file is None else f"Read: {configuration.file}"
    lines = [*table([("SETTING", "VALUE", "FROM"), *rows]), "", read]
    show_result(_document(configuration), [visible(line) for line in lines], as_json=as_json)


def _document(configuration: Configuration) -> dict[str, Any]:
    return {
        "file": None if configuration.file is None else str(configuration.file),
        "settings": [
            {
                "name": name,
                "value": None if value is None else json.loads(SETTINGS[name].kind.write(value)),
                "from": origin,
                "variable": SETTINGS[name].variable,
            }
            for name, (value, origin) in configuration.chosen.items()
        ],
    }


@config.command(epilog=examples("pdpp config example", "pdpp config example > ~/my-data/pdpp.toml"))
def example() -> None:
    """Print a settings file in which every line is commented out."""
    for line in example_lines():
        click.echo(line)


def example_lines() -> Iterator[str]:
    """Yield a file that changes nothing and names every setting with its default."""
    yield "# Settings of pdpp serve. The environment (PDPP_PORT=8000) and flags win over them."
    for heading, settings in GROUPS.items():
        yield from ("", f"# {heading}")
        for setting in settings:
            yield ""
            unless = f" Unless set: {setting.unset}." if setting.unset else ""
            comment = f"{setting.meaning} Takes {setting.kind.taken}.{unless}"
            yield from textwrap.wrap(comment, _WIDTH, initial_indent="# ", subsequent_indent="# ")
            value = setting.sample if setting.default is None else setting.default
            yield f"#{setting.name} = {setting.kind.write(value)}"
