"""Export: records, documents and files saved under a grant, or everything for the owner."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click

from pdpp.cli.exporting.exporter import Exporter, ShowProgress
from pdpp.cli.exporting.manifest import BLOB, DECLARATION, RECORDS, Manifest
from pdpp.cli.exporting.origin import ExportOrigin
from pdpp.cli.exporting.writer import ExportWriter
from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.output import note, show
from pdpp.cli.progress import Progress
from pdpp.cli.progress_bar import ProgressBar
from pdpp.cli.reading import read_options
from pdpp.cli.reading.naming import Parts, record_of, stream_of, usage
from pdpp.cli.reading.provider import connected, granted, keyed, read_token
from pdpp.client.client import Client
from pdpp.evidence.amount import counted
from pdpp.evidence.fence import visible
from pdpp.evidence.handle import BLOB_URI, STREAM_URI, Handle
from pdpp.model import instant


class ExportSelection(NamedTuple):
    """What is to be exported: a stream, a record, a blob, or with none of them everything."""

    stream: str | None = None
    record: Handle | None = None
    blob: str | None = None
    connection: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it in the form of the manifest."""
        record = None if self.record is None else self.record.id
        members = {"stream": self.stream, "record": record, "connection_id": self.connection}
        return {name: value for name, value in members.items() if value is not None}


@click.command(
    epilog=examples(
        "pdpp export messages --connection cin_home -o messages.ndjson",
        "pdpp export cin_home/messages:m-1 -o letter.md",
        "pdpp export --all -o my-copy/",
        "pdpp export --all --data ~/pdpp -o everything/",
        "pdpp export --all --provider https://data.example.org \\",
        "  --token-file owner.txt -o all/",
        codes=REMOTE_CODES,
    )
)
@click.argument("what", metavar="STREAM|ID", required=False)
@click.option("--all", "every", is_flag=True, help="Everything that can be read.")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE|DIR",
    help="A file, or a folder if the name ends with / or is a folder; --all makes a folder.",
)
@read_options.connection
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="For the owner: read this data folder itself, declarations too.",
)
@click.option(
    "--token-file",
    type=click.File("r", encoding="utf-8"),
    metavar="FILE",
    help="Read with the token in a file, or - for standard input, instead of the kept grant.",
)
@granted
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def export(
    what: str | None,
    every: bool,
    output: str,
    connection: str | None,
    data: Path | None,
    token_file: Any,
    provider: str | None,
    cache_root: str | None,
    as_json: bool,
) -> None:
    """Save a STREAM, a record ID, or with --all everything, with a checksum for every file.

    Records are NDJSON that pdpp ingest reads; a folder gets the files they refer to as well. After
    an interruption, run the same command again; it continues where it stopped. pdpp restore brings
    back what the owner exports as a whole.
    """
    selection = _selection(what, every, connection)
    if data is not None:
        if token_file is not None or provider is not None:
            raise usage("--data reads a folder; leave --provider and --token-file out")
        _export_folder(data, selection, output, as_json=as_json)
        return
    with _client(provider, cache_root, token_file) as client:
        if selection.blob is not None:
            _save_blob(client, selection.blob, Path(output), as_json=as_json)
        elif selection.record is not None and not _is_folder(output):
            _save_document(client, selection.record, Path(output), as_json=as_json)
        else:
            from pdpp.cli.exporting.remote import RemoteOrigin

            origin = RemoteOrigin(
                client,
                stream=selection.stream,
                connection_id=selection.connection,
                record=selection.record,
            )
            _run(origin, selection, output, as_json=as_json)


def _selection(what: str | None, every: bool, connection: str | None) -> ExportSelection:
    if every == (what is not None):
        raise usage("Export what? Give a STREAM, a record ID, or --all")
    if what is None:
        return ExportSelection(connection=connection)
    if what.startswith(BLOB_URI):
        return ExportSelection(blob=what)
    if ":" in what and not what.startswith(STREAM_URI):
        return ExportSelection(record=record_of(what, Parts(connection, None, None)))
    return ExportSelection(stream=stream_of(what), connection=connection)


@contextmanager
def _client(provider: str | None, cache_root: str | None, token_file: Any) -> Iterator[Client]:
    if token_file is None:
        with connected(provider, cache_root) as client:
            yield client
        return
    if provider is None:
        raise usage("With --token-file, name the server with --provider")
    with keyed(provider, read_token(token_file)) as client:
        yield client


def _export_folder(data: Path, selection: ExportSelection, output: str, *, as_json: bool) -> None:
    """Export from the store itself, as it is at one moment."""
    from pdpp.cli.exporting.local import LocalOrigin
    from pdpp.serving.data_folder import open_store

    if selection.record is not None or selection.blob is not None:
        raise usage("From a folder, export a STREAM or --all; one record is read with a grant")
    with open_store(data) as store, store.reading():
        origin = LocalOrigin(
            store, str(data.resolve()), stream=selection.stream, connection_id=selection.connection
        )
        _run(origin, selection, output, as_json=as_json)


def _is_folder(output: str) -> bool:
    return output.endswith(("/", os.sep)) or Path(output).is_dir()


def _run(origin: ExportOrigin, selection: ExportSelection, output: str, *, as_json: bool) -> None:
    single = selection.stream is not None and not _is_folder(output)
    if single and len(origin.places()) > 1:
        names = ", ".join(place.connection_id for place in origin.places())
        raise usage(
            f"{selection.stream!r} is in several accounts; choose one with --connection ({names}), "
            "or give -o a folder that ends with /"
        )
    writer = ExportWriter(Path(output), single=single)
    asked = {"origin": origin.name, **selection.as_json()}
    manifest = Manifest(origin.scope, asked, instant.to_text(instant.now()))
    exporter = Exporter(origin, writer, manifest)
    with Progress("Exporting:") as progress:
        exporter.run(_show_progress(progress))
    _report(exporter.manifest, writer, output, as_json=as_json)


def _show_progress(progress: Progress) -> ShowProgress:
    """Return what shows how far an export is, with the time that is left."""
    bar = ProgressBar(time.monotonic())

    def show_progress(what: str, done: int, total: int) -> None:
        if what == "records":
            progress.say(lambda: bar.line(time.monotonic(), done, done, total))
        else:
            progress.say(lambda: f"{done:,} of {total:,} {what}")

    return show_progress


def _report(manifest: Manifest, writer: ExportWriter, output: str, *, as_json: bool) -> None:
    records = sum(entry.facts["records"] for entry in manifest.files if entry.kind == RECORDS)
    blobs = sum(1 for entry in manifest.files if entry.kind == BLOB)
    size = sum(entry.size for entry in manifest.files)
    document = {
        "output": output,
        "manifest": str(writer.manifest_path),
        "scope": manifest.scope,
        "records": records,
        "blobs": blobs,
        "bytes": size,
        "missing_blobs": manifest.missing_blobs,
    }
    amounts = f"{counted(records, 'record')} and {counted(blobs, 'file')}, {counted(size, 'byte')}"
    line = f"Saved in {output}: {amounts}."
    lines = [line, f"Every file's sha-256 is in {writer.manifest_path}."]
    if any(entry.kind == DECLARATION for entry in manifest.files):
        lines.append(f"Bring it back with: pdpp restore {output} --data NEW")
    show(document, map(visible, lines), as_json=as_json)
    if manifest.missing_blobs:
        missing = counted(len(manifest.missing_blobs), "file")
        note(f"Could not be read: {missing} that records refer to.")


def _save_blob(client: Client, blob: str, path: Path, *, as_json: bool) -> None:
    saved = client.save_blob(blob, path, resume=True)
    document = {"output": str(path), "bytes": saved.size_bytes, "sha256": saved.sha256}
    size = counted(saved.size_bytes, "byte")
    line = f"Saved in {path}: {size} of {saved.media_type}, sha256 {saved.sha256}."
    show(document, [visible(line)], as_json=as_json)


def _save_document(client: Client, handle: Handle, path: Path, *, as_json: bool) -> None:
    from pdpp.cli.exporting.document import write_document

    sha256, size = write_document(client, handle, path)
    document = {"output": str(path), "bytes": size, "sha256": sha256}
    show(document, [visible(f"{handle.id} is in {path}, sha256 {sha256}.")], as_json=as_json)
