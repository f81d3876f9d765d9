"""``pdpp service``: the server starts when its owner logs in."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click

from pdpp.cli.command_group import CommandGroup
from pdpp.cli.help_text import examples
from pdpp.cli.hosts.launch import own_command
from pdpp.cli.options import common
from pdpp.cli.output import note, show
from pdpp.cli.service_files import ServiceFile, service_file
from pdpp.private import make_folder, write_file


@click.group(cls=CommandGroup)
def service() -> None:
    """Start the server at every login, see whether it runs, or turn this off."""


def make_service(data: Path) -> ServiceFile:
    """Return the service that serves a data folder on this machine."""
    try:
        return service_file([*own_command(), "serve", "--data", str(data.resolve())], Path.home())
    except ValueError as problem:
        raise click.ClickException(f"{problem}; start it with pdpp serve") from None


@service.command(
    epilog=examples("pdpp service install", "pdpp service install --data ~/my-data --dry-run")
)
@click.option("--dry-run", is_flag=True, help="Print the file and the commands; change nothing.")
@common
def install(dry_run: bool, data: Path, as_json: bool) -> None:
    """Write the service's file and start it, now and at every login.

    On Linux a systemd user unit, on macOS a launchd agent, on Windows a scheduled task. Settings
    come from pdpp.toml in the data folder.
    """
    unit = make_service(data)
    if dry_run:
        _show_plan(unit, as_json=as_json)
        return
    install_service(unit)
    lines = [f"The server runs with the data in {data}, now and at every login."]
    show({"service": str(unit.path), "data": str(data)}, lines, as_json=as_json)
    if not as_json:
        note(f"Its log: {unit.logs}\nIt ends with: pdpp service remove")


def _show_plan(unit: ServiceFile, *, as_json: bool) -> None:
    commands = [shlex.join(command) for command in unit.start]
    document = {"service": str(unit.path), "content": unit.content, "commands": commands}
    show(document, [f"# {unit.path}", unit.content, *commands], as_json=as_json)


def install_service(unit: ServiceFile) -> None:
    """Write the file of a service and run the commands that start it.

    Where one of them fails there is no new file: it would pass for a service that is installed.
    """
    make_folder(unit.path.parent)
    encoding = "utf-16" if unit.path.suffix == ".xml" else "utf-8"
    before = unit.path.read_bytes() if unit.path.is_file() else None
    write_file(unit.path, unit.content.encode(encoding))
    try:
        for command in unit.start:
            _run(command)
    except click.ClickException:
        if before is None:
            unit.path.unlink(missing_ok=True)
        else:
            write_file(unit.path, before)
        raise


def _run(command: tuple[str, ...]) -> None:
    program = shutil.which(command[0])
    if program is None:
        raise click.ClickException(
            f"{command[0]} is not on this machine, so nothing starts at login; run pdpp serve"
        )
    # Our own commands, from the table of systems; no shell is between.
    done = subprocess.run(  # noqa: S603
        [program, *command[1:]], capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise click.ClickException(
            f"{shlex.join(command)} ended with exit code {done.returncode}: "
            f"{said[-1] if said else 'it said nothing'}"
        )


@service.command(epilog=examples("pdpp service status"))
@common
def status(data: Path, as_json: bool) -> None:
    """Show whether the service is installed and whether the server answers."""
    from pdpp.cli.overview import answer_line, overview

    unit, seen = make_service(data), overview(data)
    document = {
        "installed": unit.path.is_file(),
        "service": str(unit.path),
        "answers": seen.running,
        "url": seen.address,
    }
    installed = (
        f"Installed: {unit.path}" if document["installed"] else "The service is not installed."
    )
    show(
        document,
        [installed, answer_line(seen), f"More: {shlex.join(unit.status)}"],
        as_json=as_json,
    )
    if not seen.running:
        click.get_current_context().exit(1)


@service.command(epilog=examples("pdpp service remove"))
@common
def remove(data: Path, as_json: bool) -> None:
    """Stop the server and no longer start it at login; the data stays."""
    unit = make_service(data)
    there = unit.path.is_file()
    if there:
        for command in unit.stop:
            _run(command)
        unit.path.unlink(missing_ok=True)
    line = "Removed; the data stays." if there else "There is no service."
    show({"removed": there, "service": str(unit.path)}, [line], as_json=as_json)


def can_install() -> bool:
    """Tell whether this machine has what starts services for a user."""
    programs = {"linux": "systemctl", "darwin": "launchctl", "win32": "schtasks"}
    program = programs.get(sys.platform)
    return program is not None and shutil.which(program) is not None
