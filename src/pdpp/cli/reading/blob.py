"""``pdpp read blob``: the bytes of a file, into a file or another program."""

import sys
from pathlib import Path

import click

from pdpp.cli.help_text import REMOTE_CODES, examples
from pdpp.cli.output import note, show
from pdpp.cli.reading import read_options
from pdpp.cli.reading.naming import usage
from pdpp.cli.reading.provider import connected, sourced
from pdpp.client.client import Client
from pdpp.evidence.amount import counted
from pdpp.evidence.fence import visible


@click.command(
    epilog=examples(
        "pdpp read blob 3f2a… -o photo.jpg",
        "pdpp read blob pdpp://blob/3f2a… | file -",
        codes=REMOTE_CODES,
    )
)
@click.argument("id")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Save it in this file, complete or not at all. Default: standard output.",
)
@read_options.as_json
@sourced
def blob(
    id: str, output: Path | None, as_json: bool, provider: str | None, cache_root: str | None
) -> None:
    """Save the bytes of the blob ID, as a record names it.

    The bytes are checked against the id where that is their sha-256.
    """
    if output is None and (as_json or sys.stdout.isatty()):
        raise usage("Bytes are not for a terminal or JSON; save them with -o FILE")
    with connected(provider, cache_root) as client:
        if output is None:
            _pass_on(client, id)
            return
        saved = client.save_blob(id, output)
    facts = {
        "file": str(saved.path),
        "media_type": saved.media_type,
        "size_bytes": saved.size_bytes,
        "sha256": saved.sha256,
    }
    line = f"{counted(saved.size_bytes, 'byte')} of {saved.media_type}, sha256 {saved.sha256}"
    show(facts, [visible(f"{click.format_filename(output)}: {line}")], as_json=as_json)


def _pass_on(client: Client, id: str) -> None:
    with client.blob(id) as blob:
        for chunk in blob:
            sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
    note(visible(blob.media_type))
