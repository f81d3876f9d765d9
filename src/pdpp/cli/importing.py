"""Import: the exports that services hand out become records of a connection."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import click

from pdpp.cli.help_text import examples
from pdpp.cli.import_audit import show_audit
from pdpp.cli.import_history import show_history
from pdpp.cli.import_preparation import Choice, prepare, prepare_all
from pdpp.cli.import_task import ImportOptions, bring, bring_all
from pdpp.cli.options import common
from pdpp.cli.output import note
from pdpp.cli.overview import next_after_import
from pdpp.cli.source import read_document
from pdpp.encryption.files import data_files
from pdpp.serving.data_folder import open_store, store_key, temporary_files
from pdpp.sources.importing.report import COMPLETE, INTERRUPTED
from pdpp.sources.importing.state import ImportState
from pdpp.store.port import Store

_INTERRUPTED = 130


def setting(text: str) -> tuple[str, str]:
    """Return a name and its value."""
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE.")
    return name, value


@click.command(
    "import",
    epilog=examples(
        "pdpp import ~/Downloads/export.zip",
        "pdpp import ~/.claude/projects --yes",
        "pdpp import --watch ~/.claude/projects",
        "pdpp import orders.csv --infer",
        "pdpp import --audit ~/Downloads",
        "pdpp import history",
    ),
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option(
    "--as", "source", metavar="KEY", help="The kind of export. Default: recognised by its content."
)
@click.option("--connection", "connection_id", metavar="ID", help="Import into this account.")
@click.option(
    "--account",
    metavar="NAME",
    help="Whose export it is, if the files do not say; for mail, an address.",
)
@click.option(
    "--set",
    "settings",
    type=setting,
    metavar="NAME=VALUE",
    multiple=True,
    help="A fact that the files do not tell, such as time_zone=Europe/Lisbon.",
)
@click.option("--infer", is_flag=True, help="Draft a declaration for CSV, JSON or NDJSON.")
@click.option(
    "--declaration", type=click.File("rb"), metavar="FILE", help="A declaration of your own."
)
@click.option("--stream", metavar="NAME", help="With --declaration, which of its streams.")
@click.option(
    "--mirror", is_flag=True, help="Delete records that the export no longer holds; asks first."
)
@click.option("--watch", is_flag=True, help="Keep running, and import what is added.")
@click.option(
    "--every",
    type=click.FloatRange(0.05, 3_600),
    default=2.0,
    metavar="SECONDS",
    help="With --watch, how often to look. Default: 2.",
)
@click.option(
    "--audit", "audited", is_flag=True, help="Count what the export holds; write nothing."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def importing(
    paths: Sequence[str],
    source: str | None,
    connection_id: str | None,
    account: str | None,
    settings: Sequence[tuple[str, str]],
    infer: bool,
    declaration: BinaryIO | None,
    stream: str | None,
    mirror: bool,
    watch: bool,
    every: float,
    audited: bool,
    yes: bool,
    data: Path,
    as_json: bool,
) -> None:
    """Import exports: files, folders and zips, as you downloaded them.

    The program recognises each PATH by its content, shows what it is, and asks once. Importing the
    same export twice changes nothing. Where a mailbox does not say whose it is, you are asked once;
    --account says so in a script. pdpp import history shows what earlier imports did.
    """
    key = store_key(data)
    state = ImportState(data, data_files(key))
    if paths[0] == "history" and not Path("history").exists():
        show_history(state, paths[1:], as_json=as_json)
        return
    if watch and (mirror or len(paths) > 1):
        raise click.UsageError("--watch takes one PATH and goes without --mirror.")
    if mirror and len(paths) > 1 and (infer or declaration is not None):
        raise click.UsageError("--mirror takes one PATH with --infer and with --declaration.")
    if audited and (infer or declaration is not None or mirror or watch):
        raise click.UsageError(
            "--audit counts exports of known formats, and goes without --infer, --declaration, "
            "--mirror and --watch."
        )
    choice = Choice(
        source,
        connection_id,
        dict(settings),
        infer,
        _document(declaration),
        stream,
        account,
        asks=sys.stdin.isatty() and not (yes or as_json or audited),
        mirror=mirror,
    )
    if audited:
        with temporary_files(data, key):
            show_audit([Path(path) for path in paths], state, choice, as_json=as_json)
        return
    for path in paths:
        Path(path).stat()  # One that is not there is told before a store is begun.
    options = ImportOptions(yes=yes, as_json=as_json, mirror=mirror, every=every if watch else None)
    with open_store(data, create=True, key=key) as store:
        _bring_all(store, paths, state, choice, options)
    if not as_json:
        note("Next:")
        for line in next_after_import(data):
            note(line)


def _bring_all(
    store: Store,
    paths: Sequence[str],
    state: ImportState,
    choice: Choice,
    options: ImportOptions,
) -> None:
    empty: Sequence[Path] = ()
    if choice.infer or choice.declaration is not None or options.every is not None:
        ends = [bring(prepare(store, state, Path(path), choice), options) for path in paths]
    else:
        prepared = prepare_all(store, state, [Path(path) for path in paths], choice)
        empty = prepared.empty
        single = len(prepared.imports) == 1 and not prepared.unknown and not prepared.refused
        ends = [bring(prepared.imports[0], options)] if single else bring_all(prepared, options)
    if INTERRUPTED in ends:
        click.get_current_context().exit(_INTERRUPTED)
    if empty or any(status != COMPLETE for status in ends):
        click.get_current_context().exit(1)


def _document(file: BinaryIO | None) -> dict[str, Any] | None:
    """Return the declaration in a file."""
    if file is None:
        return None
    document = read_document(file)
    if not isinstance(document, dict):
        raise click.ClickException(f"{file.name} is not a declaration")
    return document
