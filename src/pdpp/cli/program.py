"""The program: a table of commands, each imported only when it is used, and its exit codes."""

import contextlib
import io
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click

import pdpp
from pdpp.cli.output import complain
from pdpp.model.errors import PdppError

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 64, 130

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "serve": ("pdpp.cli.serve:serve", "Start the server."),
        "source": ("pdpp.cli.source:source", "Register kinds of data and list them."),
        "connection": ("pdpp.cli.connection:connection", "Add accounts and list them."),
        "ingest": ("pdpp.cli.ingest:ingest", "Bring in records from NDJSON."),
        "blob": ("pdpp.cli.blob:blob", "Bring in files that records point to."),
        "grant": ("pdpp.cli.grant:grant", "Let a client read, see what is granted, take it back."),
        "connect": ("pdpp.cli.connect:connect", "Keep a grant's token for a provider."),
        "mcp": ("pdpp.cli.mcp:mcp", "Serve an agent, or print how to connect one."),
        "owner": ("pdpp.cli.owner:owner", "Make tokens for yourself."),
        "check": ("pdpp.cli.care:check", "Check that everything stored is sound."),
        "backup": ("pdpp.cli.care:backup", "Copy everything into a new folder."),
    }
)


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the table without importing what it names."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with: pdpp serve --demo",
)
@click.version_option(pdpp.__version__, prog_name="pdpp", message="%(prog)s %(version)s")
def program() -> None:
    """A personal data server that you own and AI agents read through grants."""


def run(arguments: Sequence[str]) -> int:
    """Run one command and return the exit code; what goes wrong is one line on stderr."""
    _let_every_character_print()
    as_json = "--json" in arguments
    try:
        result: Any = program.main(list(arguments), prog_name="pdpp", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as problem:
        problem.show()
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except (click.ClickException, PdppError, OSError) as problem:
        with contextlib.suppress(BrokenPipeError):
            complain(problem, as_json)
        return USAGE if isinstance(problem, click.UsageError) else FAILED
    return result if isinstance(result, int) else OK


def _let_every_character_print() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
