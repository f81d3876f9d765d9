"""``pdpp check`` and ``pdpp backup``: verify what is stored, and copy it elsewhere."""

import shutil
import tempfile
from pathlib import Path

import click

from pdpp.cli.options import common, examples
from pdpp.cli.output import show
from pdpp.cli.progress import Progress
from pdpp.model.errors import StoreError
from pdpp.serving.data_folder import open_store
from pdpp.sources.importing.state import ImportState

_FIRST, _COPY = "first", "copy"


@click.command(epilog=examples("pdpp check", "pdpp check --data ~/my-data --json"))
@common
def check(data: Path, as_json: bool) -> None:
    """Check the database, its counts and every stored file."""
    with open_store(data) as store:
        problems = store.check()
    lines = problems or [f"All is well in {data}."]
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
    with open_store(data) as store, Progress("Pages:") as progress:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise StoreError(f"{folder} is not an empty folder; choose a new one for the backup")
        target = folder.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}-"))
        try:
            # First what imports remember: it may be behind the records, never ahead of them.
            ImportState(data).copy(partial / _FIRST)
            store.backup(partial / _COPY, progress.tell)
            for file in (partial / _FIRST).glob("*"):
                file.rename(partial / _COPY / file.name)
            _settle(partial / _COPY, target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    show({"backup": str(folder)}, [f"Everything in {data} is copied to {folder}."], as_json=as_json)


def _settle(partial: Path, target: Path) -> None:
    if target.exists():
        target.rmdir()
    partial.rename(target)
