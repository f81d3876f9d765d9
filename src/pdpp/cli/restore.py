"""Restore: an export of everything becomes a store again, checked before anything is written."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from pdpp.cli.exporting.manifest import (
    BLOB,
    DECLARATION,
    IMPORT_SECRET,
    NAME,
    RECORDS,
    Manifest,
    ManifestEntry,
    read_manifest,
)
from pdpp.cli.exporting.writer import checksum
from pdpp.cli.help_text import examples
from pdpp.cli.ingest import IngestResult, batches, find, read_lines
from pdpp.cli.options import common
from pdpp.cli.output import note, show
from pdpp.cli.progress import Progress
from pdpp.cli.source import read_document
from pdpp.evidence.amount import counted
from pdpp.model import instant
from pdpp.model.errors import Conflict, InvalidRequest, NotFound
from pdpp.model.validation import parse_declaration
from pdpp.service.settings import Settings
from pdpp.serving.data_folder import open_store
from pdpp.serving.unfinished import restoring_into
from pdpp.store.blobs import media_type_of
from pdpp.store.intake import IngestResultJson, write_lines
from pdpp.store.port import Store


@click.command(
    epilog=examples("pdpp restore everything/ --data ~/pdpp", "pdpp check --data ~/pdpp")
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@common
def restore(folder: Path, data: Path, as_json: bool) -> None:
    """Restore what pdpp export --all saved for the owner: sources, accounts, records, files.

    Every file is checked against the manifest before anything is written; the same folder twice
    changes nothing. After an interruption, run the same command again: until then nothing else
    opens a store that had no accounts before. Grants and tokens are not part of an export: approve
    clients again, or use pdpp backup.
    """
    manifest = _checked(folder)
    with (
        open_store(data, create=True, restoring=True) as store,
        restoring_into(store),
        Progress("Records:") as progress,
    ):
        known = _adopt_import_secret(store, folder, manifest)
        _declare(store, folder, manifest)
        _keep_blobs(store, folder, manifest)
        result = _write(store, folder, manifest, progress)
    document = {"connections": len(manifest.connections), **result.document()}
    lines = [
        f"{counted(len(manifest.connections), 'account')} restored into {data}.",
        *result.lines(),
    ]
    show(document, lines, as_json=as_json)
    if not known:
        note(
            "Records that were imported have keys that this store cannot make: an export of the "
            "same account, imported again, will become an account of its own."
        )
    if result.counts["rejected"]:
        click.get_current_context().exit(1)


def _checked(folder: Path) -> Manifest:
    """Return the manifest of a whole export, every file of which is as it says."""
    manifest = read_manifest(folder / NAME)
    if manifest is None:
        raise NotFound(f"there is no {NAME} in {folder}; is it an export?")
    if not manifest.complete:
        raise InvalidRequest(f"the export in {folder} is not finished; run its command again")
    if manifest.scope != "owner":
        raise InvalidRequest(
            f"the export in {folder} was made under a grant and holds no declarations; bring its "
            "records in with pdpp ingest"
        )
    if not all(isinstance(one.get("connector_key"), str) for one in manifest.connections):
        raise InvalidRequest(f"the export in {folder} does not say what source an account is of")
    with Progress("Checking files:") as progress:
        for number, entry in enumerate(manifest.files, 1):
            _check(folder, entry)
            progress.tell(number, len(manifest.files))
    return manifest


def _check(folder: Path, entry: ManifestEntry) -> None:
    path = folder / entry.path
    if not path.is_file():
        raise NotFound(f"{path} is missing from the export")
    if checksum(path) != (entry.size, entry.sha256):
        raise Conflict(f"{path} is not the file that was exported: its checksum differs")
    if entry.kind == BLOB and entry.facts["blob_id"] != entry.sha256:
        raise Conflict(f"{path} is not the file that records refer to: its checksum differs")


def _of_kind(manifest: Manifest, kind: str) -> Iterator[ManifestEntry]:
    return (entry for entry in manifest.files if entry.kind == kind)


def _adopt_import_secret(store: Store, folder: Path, manifest: Manifest) -> bool:
    """Take over how importers hash keys; tell whether this store will know the records again."""
    for entry in _of_kind(manifest, IMPORT_SECRET):
        try:
            secret = bytes.fromhex((folder / entry.path).read_text(encoding="ascii"))
        except ValueError:
            raise InvalidRequest(f"{folder / entry.path} holds no secret") from None
        return store.adopt_import_secret(secret)
    return False


def _declare(store: Store, folder: Path, manifest: Manifest) -> None:
    for entry in _of_kind(manifest, DECLARATION):
        with (folder / entry.path).open("rb") as file:
            store.register(parse_declaration(read_document(file)))
    for connection in manifest.connections:
        store.connect(
            connection["connection_id"], connection["connector_key"], connection["display_name"]
        )


def _keep_blobs(store: Store, folder: Path, manifest: Manifest) -> None:
    limit = Settings().blob_bytes
    for entry in _of_kind(manifest, BLOB):
        if store.blob(entry.facts["blob_id"]) is not None:
            continue
        with (folder / entry.path).open("rb") as source:
            media_type = media_type_of({"mime_type": entry.facts["media_type"]})
            store.keep_blob(source, media_type, limit)


def _write(store: Store, folder: Path, manifest: Manifest, progress: Progress) -> IngestResult:
    result = IngestResult()
    total = sum(entry.facts["records"] for entry in _of_kind(manifest, RECORDS))
    for entry in _of_kind(manifest, RECORDS):
        for answer, numbers in _written(store, folder / entry.path, entry.facts):
            result.add(answer, numbers)
            progress.tell(result.counts["attempted"], total)
    return result


def _written(store: Store, path: Path, facts: Any) -> Iterator[tuple[IngestResultJson, list[int]]]:
    """Yield what became of each batch of a file of records."""
    line_bytes = 2 * Settings().line_bytes
    with path.open("rb") as source:
        for batch in batches(read_lines(source, line_bytes)):
            feed = find(store, facts["connection_id"], facts["stream"])
            texts = [text for _, text in batch]
            answer = write_lines(store, feed, texts, now=instant.now(), line_bytes=line_bytes)
            yield answer, [number for number, _ in batch]
