"""``pdpp setup``: three questions, and the server is ready."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from pdpp.cli.help_text import examples
from pdpp.cli.options import passphrase_in
from pdpp.cli.output import note
from pdpp.cli.service import can_install, install_service, make_service

_HOW_TO_CHOOSE = "Give the passphrase with --passphrase-file, or run this in a terminal."


@click.command(
    epilog=examples(
        "pdpp setup",
        "pdpp setup --data ~/my-data --no-service --passphrase-file - < phrase.txt",
    )
)
@click.option(
    "--data", metavar="DIR", type=click.Path(path_type=Path), help="Where the data lives."
)
@click.option(
    "--passphrase-file",
    type=click.File("r", encoding="utf-8"),
    metavar="FILE",
    help="Read the passphrase from the first line of a file, or of standard input with -.",
)
@click.option("--service/--no-service", default=None, help="Start the server at every login.")
@click.option("--open/--no-open", "opens", default=None, help="Open your page in a browser.")
def setup(
    data: Path | None, passphrase_file: TextIO | None, service: bool | None, opens: bool | None
) -> None:
    """Choose where the data lives, your passphrase, and whether the server starts at login.

    Asks three questions in a terminal; a script answers them with options. Run it again to change
    an answer: nothing that is stored is lost.
    """
    chosen = _data(data)
    _passphrase(chosen, passphrase_file)
    starts_at_login = _service(service)
    if starts_at_login:
        install_service(make_service(chosen))
    _tell(chosen, started=starts_at_login, opens=opens)


def _data(given: Path | None) -> Path:
    from pdpp.cli.overview import folder_of

    if given is None:
        usual = folder_of(None)
        if not sys.stdin.isatty():
            return usual
        given = _asked_folder(usual)
    # A whole path: the service starts elsewhere, and so does the next command.
    return given.expanduser().absolute()


def _asked_folder(usual: Path) -> Path:
    """Ask where the data should live until the answer is a folder that can be used."""
    while True:
        with _ended_by_interrupt():
            typed: str = click.prompt("Where should your data live?", default=str(usual), err=True)
        folder = Path(typed).expanduser().absolute()
        problem = _unusable(folder)
        if problem is None:
            return folder
        note(problem)


@contextmanager
def _ended_by_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the program at once while it waits for an answer that can be seen.

    A signal that comes between the prompt and the read is only noted by the interpreter, and the
    read then waits on: of 21 trials under load one stood still. Before a passphrase the terminal
    shows nothing that is typed, so there the interpreter has to put it back.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _unusable(folder: Path) -> str | None:
    """Say why data cannot live in a folder; a new one is made later."""
    from pdpp.serving.data_folder import has_store

    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        return f"{there} is a file. Name a folder."
    if not os.access(there, os.W_OK):
        return f"You may not write to {there}. Choose another folder."
    if there == folder and not has_store(folder) and any(folder.iterdir()):
        return f"{folder} holds other files. Choose a new or an empty folder."
    return None


def _passphrase(data: Path, source: TextIO | None) -> None:
    """Keep a passphrase; one that is there stays unless a new one is given."""
    from pdpp.authz.owner import has_passphrase, hash_passphrase, keep_passphrase
    from pdpp.serving.data_folder import has_store, open_store

    if source is None and not sys.stdin.isatty() and not has_store(data):
        raise click.UsageError(_HOW_TO_CHOOSE)
    with open_store(data, create=True) as store:
        if has_passphrase(store.vault) and source is None:
            note("There is a passphrase already; pdpp owner init --reset replaces it.")
            return
        if source is not None:
            hashed = hash_passphrase(passphrase_in(source))
        elif sys.stdin.isatty():
            hashed = _asked_passphrase()
        else:
            raise click.UsageError(_HOW_TO_CHOOSE)
        with store.vault.transaction() as transaction:
            keep_passphrase(transaction, hashed)


def _asked_passphrase() -> bytes:
    """Ask for a passphrase until it is a good one; return its hash."""
    from pdpp.authz.owner import hash_passphrase
    from pdpp.model.errors import InvalidRequest

    while True:
        text = click.prompt(
            "Choose a passphrase; you will approve with it what agents may read",
            hide_input=True,
            confirmation_prompt="The same passphrase again",
            err=True,
        )
        try:
            return hash_passphrase(text)
        except InvalidRequest as problem:
            note(problem.message)


def _service(given: bool | None) -> bool:
    if given is not None:
        return given
    if not sys.stdin.isatty() or not can_install():
        return False
    with _ended_by_interrupt():
        return click.confirm("Start the server now and at every login?", default=True, err=True)


def _tell(data: Path, *, started: bool, opens: bool | None) -> None:
    from pdpp.cli.overview import address_of, folder_of, for_folder

    address = address_of(data)
    click.echo(f"Ready. The data lives in {data}.")
    if started:
        click.echo(f"Your page: {address}/agents")
    else:
        click.echo(f"Start the server: {for_folder('pdpp serve', data)}")
    click.echo(f"Next: {for_folder('pdpp import FILE', data)}, and pdpp mcp install CLIENT.")
    if folder_of(None) != data:
        folder = shlex.quote(str(data))
        click.echo(f"To leave out --data, set PDPP_DATA={folder} in your shell's profile.")
    if started and (opens if opens is not None else sys.stdout.isatty()):
        import webbrowser

        webbrowser.open(f"{address}/agents")
