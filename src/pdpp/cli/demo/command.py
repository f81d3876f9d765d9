"""``pdpp demo``: an agent reads from a temporary server, shown step by step in the terminal."""

import json
import signal
import sys
from contextlib import closing
from pathlib import Path
from select import select
from types import FrameType
from typing import NoReturn

import click

from pdpp.cli.help_text import examples
from pdpp.cli.options import common
from pdpp.cli.output import show

_LOOK_SECONDS = 0.2
_TERMINATED = 128 + signal.SIGTERM


@click.group(
    invoke_without_command=True,
    epilog=examples("pdpp demo", "pdpp demo --fast", "pdpp demo --full | less", "pdpp demo --json"),
)
@click.option("--fast", is_flag=True, help="Do not wait for Enter between the steps.")
@click.option("--full", is_flag=True, help="Show every answer whole, however long.")
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
@click.pass_context
def demo(context: click.Context, fast: bool, full: bool, as_json: bool) -> None:
    """Watch an agent read an invented person's records: what it asks, sees, costs and cannot see.

    Needs nothing and leaves nothing behind: the server, its data and the grant are temporary.
    """
    if context.invoked_subcommand is None:
        _play(fast=fast, full=full, as_json=as_json)


def _play(*, fast: bool, full: bool, as_json: bool) -> None:
    signal.signal(signal.SIGTERM, _leave)
    from pdpp.cli.demo.printer import make_step_printer
    from pdpp.cli.demo.script import demo_steps
    from pdpp.cli.demo.server import running_demo_server
    from pdpp.cli.demo.step import DemoStep
    from pdpp.watch.logs import LogOptions, configure_logging

    configure_logging(LogOptions("error"))
    waits = not (fast or as_json) and sys.stdout.isatty() and sys.stdin.isatty()
    steps: list[DemoStep] = []
    printer = None if as_json else make_step_printer(whole=full)
    with running_demo_server() as server, closing(demo_steps(server)) as script:
        for number, step in enumerate(script, 1):
            steps.append(step)
            if printer is not None:
                printer.step(number, step)
                waits = waits and _go_on()
        if printer is None:
            click.echo(json.dumps({"steps": [step.as_json() for step in steps]}))
        else:
            printer.total(steps)


@demo.command(
    short_help="Remove the demo from a data folder.",
    epilog=examples("pdpp demo remove --dry-run", "pdpp demo remove", "pdpp demo remove --yes"),
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would happen.")
@common
def remove(yes: bool, dry_run: bool, data: Path, as_json: bool) -> None:
    """Remove the demo of pdpp serve --demo from a data folder: accounts, grants and tokens.

    Your own accounts and grants stay. A server may be running: the demo is gone at its next
    request. To see the demo again, start pdpp serve --demo.
    """
    from pdpp.cli.account_removal import RemovalOptions, delete_removed, run_removal
    from pdpp.cli.seeding import demo_accounts
    from pdpp.serving.data_folder import open_store

    with open_store(data) as store:
        accounts = demo_accounts(store.catalogue())
        if not dry_run:
            delete_removed(store)
        if not accounts:
            show({"status": "absent"}, ["There is no demo in this folder."], as_json=as_json)
            return
        options = RemovalOptions(yes=yes, dry_run=dry_run, as_json=as_json)
        run_removal(store, data, accounts, "demo", options)


def _go_on() -> bool:
    """Wait for Enter; tell whether to wait the next time too.

    A look at a time, because a signal that comes just before a read would else wait for its end.
    """
    click.echo(click.style("Enter goes on, Ctrl-C leaves.", dim=True), nl=False)
    try:
        while sys.platform != "win32" and not select([sys.stdin], [], [], _LOOK_SECONDS)[0]:
            continue
        return sys.stdin.readline() != ""
    except KeyboardInterrupt:
        click.echo()
        raise


def _leave(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - a signal handler
    raise SystemExit(_TERMINATED)
