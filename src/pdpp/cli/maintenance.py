"""``pdpp check`` and ``pdpp backup``: verify what is stored, and copy it elsewhere."""

from pathlib import Path

import click

from pdpp.cli.help_text import examples
from pdpp.cli.options import common
from pdpp.cli.output import show
from pdpp.cli.progress import Progress
from pdpp.jobs.backup import copies_itself, make_backup
from pdpp.model import instant
from pdpp.serving.data_folder import open_store
from pdpp.serving.database import database_of, refuse_database


@click.command(
    epilog=examples("pdpp check", "pdpp check --mend", "pdpp check --data ~/my-data --json")
)
@click.option("--mend", is_flag=True, help="Index every stream anew from its records, then check.")
@common
def check(mend: bool, data: Path, as_json: bool) -> None:
    """Check the database, its counts, its indexes and every stored file.

    With --mend whatever is made of records is made anew. Records and files are left as they are: a
    lost or damaged one takes a backup.
    """
    with open_store(data) as store:
        if mend:
            with Progress("Records:") as progress:
                store.mend(progress.tell)
        problems = store.check()
    lines = problems or [f"All is well in {database_of(data) or data}."]
    show({"ok": not problems, "problems": problems}, lines, as_json=as_json)
    if problems:
        click.get_current_context().exit(1)


@click.command(
    epilog=examples("pdpp backup ~/backups/monday", "pdpp serve --data ~/backups/monday")
)
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@common
def backup(folder: Path, data: Path, as_json: bool) -> None:
    """Copy everything into the new folder DIR, while a server may run.

    The copy is a data folder like any other: serve it, or put it in the place of a lost one.
    """
    refuse_database(
        database_of(data),
        "back it up with pg_dump or your provider's backups, and copy the blobs in the data "
        "folder afterwards",
    )
    with open_store(data) as store, Progress("Pages:") as progress:
        if not copies_itself(store):  # pragma: no cover - a database was refused above
            raise TypeError(store)
        make_backup(store, data, folder, instant.now, progress.tell)
    show({"backup": str(folder)}, [f"Everything in {data} is copied to {folder}."], as_json=as_json)
