"""The program: a table of commands, each imported only when it is used, and its exit codes."""

import contextlib
import io
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

import pdpp
from pdpp.cli.help_text import examples
from pdpp.cli.lazy import LazyGroup
from pdpp.cli.output import Refused, complain
from pdpp.cli.terminal import is_terminal
from pdpp.model.errors import PdppError

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 64, 130

COMMANDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "demo": (
            "pdpp.cli.demo.command:demo",
            "Watch an agent read invented records, step by step.",
        ),
        "setup": ("pdpp.cli.setup:setup", "Choose folder and passphrase, and start at login."),
        "serve": ("pdpp.cli.serve:serve", "Start the server."),
        "service": ("pdpp.cli.service:service", "Start the server when you log in."),
        "source": ("pdpp.cli.source:source", "Register kinds of data and list them."),
        "connection": (
            "pdpp.cli.connection:connection",
            "Add, list, rename, merge and remove accounts.",
        ),
        "import": ("pdpp.cli.importing:importing", "Import the exports you already have."),
        "ingest": ("pdpp.cli.ingest:ingest", "Import records from NDJSON."),
        "blob": ("pdpp.cli.blob:blob", "Store files that records refer to."),
        "grant": ("pdpp.cli.grant:grant", "Let a client read; list and revoke grants."),
        "connect": ("pdpp.cli.connect:connect", "Ask a server's owner for a grant, and keep it."),
        "read": ("pdpp.cli.reading.group:read", "Read what a grant opens."),
        "export": ("pdpp.cli.export:export", "Save records and files, checked and resumable."),
        "restore": ("pdpp.cli.restore:restore", "Restore an export of everything."),
        "mcp": ("pdpp.cli.mcp:mcp", "Serve an agent, or print how to connect one."),
        "owner": (
            "pdpp.cli.owner:owner",
            "Choose your passphrase; make and revoke tokens of your own.",
        ),
        "config": ("pdpp.cli.config:config", "See the settings of a server and their origin."),
        "fleet": ("pdpp.cli.fleet:fleet", "List the processes that serve a database."),
        "jobs": ("pdpp.cli.jobs:jobs", "See background jobs, and cancel them."),
        "search": ("pdpp.cli.meaning:search", "Turn on search by meaning, stream by stream."),
        "receipts": ("pdpp.cli.receipts:receipts", "See what each client read."),
        "doctor": ("pdpp.cli.doctor:doctor", "Find out why an agent cannot connect."),
        "check": ("pdpp.cli.maintenance:check", "Check that everything stored is sound."),
        "backup": ("pdpp.cli.maintenance:backup", "Copy everything into a new folder."),
        "move": ("pdpp.cli.move:move", "Move everything into a PostgreSQL database, or back."),
        "encryption": (
            "pdpp.cli.encryption:encryption",
            "Encrypt the store on the disk, and change its key.",
        ),
        "completion": ("pdpp.cli.completion:completion", "Let your shell complete commands."),
    }
)


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples("pdpp", "pdpp demo", "pdpp COMMAND --help"),
    invoke_without_command=True,
)
@click.version_option(pdpp.__version__, prog_name="pdpp", message="%(prog)s %(version)s")
@click.pass_context
def program(context: click.Context) -> int | None:
    """A personal data server that you own and AI agents read through grants."""
    if context.invoked_subcommand is not None:
        return None
    if not is_terminal():
        click.echo(context.get_help(), err=True)
        return USAGE
    from pdpp.cli.overview import overview, overview_lines

    for line in overview_lines(overview()):
        click.echo(line)
    return OK


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
    except (click.ClickException, PdppError, OSError, UnicodeDecodeError) as problem:
        with contextlib.suppress(BrokenPipeError):
            complain(problem, as_json)
        return USAGE if isinstance(problem, click.UsageError) else _code(problem)
    return result if isinstance(result, int) else OK


def _code(problem: Exception) -> int:
    return problem.status if isinstance(problem, Refused) else FAILED


def _let_every_character_print() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
