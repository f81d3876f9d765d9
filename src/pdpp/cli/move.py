"""``pdpp move``: a store goes from its file into a database, or back."""

import os
from pathlib import Path

import click

from pdpp.cli.help_text import examples
from pdpp.cli.options import common
from pdpp.cli.output import note, show
from pdpp.cli.overview import for_folder
from pdpp.cli.progress import Progress
from pdpp.configuration.database import DatabaseAddress
from pdpp.configuration.effective import configured_bucket
from pdpp.configuration.kind import DATABASE
from pdpp.evidence.amount import counted
from pdpp.model.errors import StoreError
from pdpp.serving.data_folder import has_store, keep_private, store_key
from pdpp.serving.database import database_of
from pdpp.serving.moving import StorePlace, move_store

_SCHEMES = ("postgresql://", "postgres://")


@click.command(
    epilog=examples(
        "pdpp move --to postgresql://pdpp@localhost/pdpp",
        "pdpp move --to ~/my-data-again --data ~/my-data",
    )
)
@click.option(
    "--to",
    "target",
    metavar="URL|DIR",
    required=True,
    help="The database to move into, or a new folder for a store that is in a database.",
)
@click.option(
    "--owner", default="owner", show_default=True, help="The owner of the data in the database."
)
@common
def move(target: str, owner: str, data: Path, as_json: bool) -> None:
    """Copy everything into a PostgreSQL database, or from there into a new folder.

    Stop the server first. Records, grants, tokens, receipts and files are copied and then compared;
    tokens that agents hold stay good. If it is interrupted, run the same command again. The old
    store stays as it is: delete it when the new one serves, because it does not learn what you
    revoke there.
    """
    source = StorePlace(data, database_of(data), store_key(data))
    place = _target(target, owner, data)
    if (source.database is None) == (place.database is None):
        raise click.UsageError(
            "A store in a folder moves into a database, and one in a database into a folder."
        )
    if not has_store(data):
        raise StoreError(f"there is no store in {source}; name another folder with --data")
    with Progress("Rows:") as progress:
        done = 0

        def tell(rows: int) -> None:
            nonlocal done
            done += rows
            progress.tell(done)

        moved = move_store(source, place, tell)
    show(
        {"moved": moved, "from": str(source), "to": str(place)},
        [f"{counted(moved, 'row')} moved from {source} to {place}, and compared."],
        as_json=as_json,
    )
    if not as_json:
        note(_next(place))


def _target(text: str, owner: str, data: Path) -> StorePlace:
    if not text.startswith(_SCHEMES):
        folder = Path(text).expanduser()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        keep_private(folder)
        return StorePlace(folder)
    try:
        url = str(DATABASE.read_text(text))
        bucket = configured_bucket(data, os.environ)
        return StorePlace(data, DatabaseAddress(url, owner, bucket=bucket))
    except ValueError as problem:
        raise click.UsageError(f"--to: {problem}.") from None


def _next(place: StorePlace) -> str:
    if place.database is None:
        return (
            f"Serve it with: {for_folder('pdpp serve', place.folder)}, "
            "without the setting database."
        )
    whose = "" if place.database.owner == "owner" else f" and PDPP_OWNER={place.database.owner}"
    return f"Serve it with PDPP_DATABASE set to that address{whose}: pdpp serve"
