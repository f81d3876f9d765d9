"""Blobs: files that records point to."""

import mimetypes
import re
from pathlib import Path
from typing import Any

import click

from pdpp.cli.command_group import CommandGroup
from pdpp.cli.help_text import examples
from pdpp.cli.options import common
from pdpp.cli.output import show
from pdpp.service.settings import Settings
from pdpp.serving.data_folder import open_store
from pdpp.store.port import Store

_MEDIA_TYPE = re.compile(r"[\w.+-]{1,90}/[\w.+-]{1,90}\Z", re.ASCII)
_UNKNOWN = "application/octet-stream"


@click.group(cls=CommandGroup)
def blob() -> None:
    """Store files that records refer to."""


def media_type(text: str) -> str:
    """Return a media type as HTTP can say it."""
    if not _MEDIA_TYPE.match(text):
        raise click.BadParameter(f"{text!r} is not a media type such as image/png.")
    return text


@blob.command(
    epilog=examples("pdpp blob add photo.jpg scan.pdf", "pdpp blob add notes --type text/plain")
)
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
@click.option(
    "--type", "chosen", type=media_type, metavar="MIME", help="Default: by the file's name."
)
@common
def add(files: tuple[Path, ...], chosen: str | None, data: Path, as_json: bool) -> None:
    """Store files under the sha-256 of their bytes, and print the ids that records use."""
    with open_store(data) as store:
        blobs = [_keep(store, path, chosen) for path in files]
    lines = [f"{ref['blob_id']}  {click.format_filename(ref['file'])}" for ref in blobs]
    show({"blobs": blobs}, lines, as_json=as_json)


def _keep(store: Store, path: Path, chosen: str | None) -> dict[str, Any]:
    guessed = chosen or mimetypes.guess_type(path.name)[0] or _UNKNOWN
    with path.open("rb") as content:
        blob = store.keep_blob(content, guessed, Settings().blob_bytes)
    return {
        "file": str(path),
        "blob_id": blob.blob_id,
        "mime_type": blob.media_type,
        "size_bytes": blob.size_bytes,
        "sha256": blob.blob_id,
    }
