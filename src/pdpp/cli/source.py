"""Sources: the kinds of data that a store knows."""

import shlex
from pathlib import Path
from typing import Any, BinaryIO

import click
import orjson

from pdpp.cli.command_group import CommandGroup
from pdpp.cli.help_text import examples
from pdpp.cli.options import common
from pdpp.cli.output import note, show, table
from pdpp.cli.overview import for_folder
from pdpp.cli.progress import Progress
from pdpp.evidence.fence import visible
from pdpp.model.declaration import Declaration
from pdpp.model.errors import InvalidDeclaration
from pdpp.model.validation import parse_declaration
from pdpp.serving.data_folder import open_store

_MOST_BYTES = 16 << 20


@click.group(cls=CommandGroup)
def source() -> None:
    """Register kinds of data and list them."""


@source.command(epilog=examples("pdpp source add mail.json", "pdpp source add - < mail.json"))
@click.argument("file", type=click.File("rb"))
@common
def add(file: BinaryIO, data: Path, as_json: bool) -> None:
    """Register the source declaration in FILE, or a new revision of it."""
    declaration = _read(file)
    key = declaration.connector_key
    with open_store(data, create=True) as store:
        earlier = store.catalogue().sources.get(key)
        with Progress("Indexing records again:") as progress:
            store.register(declaration, progress=progress.tell)
    document = {"status": _status(earlier, declaration), **_document(declaration)}
    if declaration.warnings:
        document["warnings"] = [warning._asdict() for warning in declaration.warnings]
    lines = [
        f"{document['status'].capitalize()}: {key}, revision {declaration.revision}",
        f"Streams: {', '.join(declaration.streams)}",
    ]
    for pointer, message in declaration.warnings:
        note(visible(f"warning: {pointer}: {message}", lines=False))
    if earlier is None:
        connect = f"pdpp connection add {key} --name {shlex.quote(declaration.display_name)}"
        lines.append(f"Next: {for_folder(connect, data)}")
    show(document, map(visible, lines), as_json=as_json)


def _read(file: BinaryIO) -> Declaration:
    try:
        return parse_declaration(read_document(file))
    except InvalidDeclaration as problem:
        name, place = getattr(file, "name", "-"), problem.param or "the top"
        raise InvalidDeclaration(f"{name}, at {place}: {problem.message}") from None


def read_document(file: BinaryIO) -> Any:
    """Return the JSON in a file of a bounded length."""
    name, text = getattr(file, "name", "-"), file.read(_MOST_BYTES + 1)
    if len(text) > _MOST_BYTES:
        raise click.ClickException(f"{name} is longer than {_MOST_BYTES} bytes")
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as problem:
        raise click.ClickException(f"{name} is not JSON: {problem}") from None


def _status(earlier: Declaration | None, declaration: Declaration) -> str:
    if earlier is None:
        return "registered"
    return "unchanged" if earlier.revision == declaration.revision else "updated"


def _document(declaration: Declaration) -> dict[str, Any]:
    return {
        "connector_key": declaration.connector_key,
        "display_name": declaration.display_name,
        "declaration_version": declaration.declaration_version,
        "revision": declaration.revision,
        "streams": list(declaration.streams),
    }


@source.command("list", epilog=examples("pdpp source list", "pdpp source list --json"))
@common
def list_sources(data: Path, as_json: bool) -> None:
    """List the sources with their streams."""
    with open_store(data) as store:
        sources = [declaration for _, declaration in sorted(store.catalogue().sources.items())]
    rows = [[visible(text, lines=False) for text in _row(declaration)] for declaration in sources]
    lines = table([("KEY", "NAME", "REVISION", "STREAMS"), *rows]) if rows else ["No sources yet."]
    show({"sources": [_document(declaration) for declaration in sources]}, lines, as_json=as_json)


def _row(declaration: Declaration) -> tuple[str, str, str, str]:
    return (
        declaration.connector_key,
        declaration.display_name,
        declaration.revision,
        ", ".join(declaration.streams),
    )
