"""Imports as jobs: an export on the server's own disk is brought in while nobody waits."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.service.settings import Settings
from pdpp.store.catalogue import new_connection_id
from pdpp.store.jobs import JobOrder, Json
from pdpp.store.port import Store

if TYPE_CHECKING:
    from pdpp.sources.importing.destination import Destination

IMPORT = "import"
AT_ONCE = 4


def import_order(
    path: Path,
    source: str | None = None,
    destination: "Destination | None" = None,
    settings: Json | None = None,
    within: Path | None = None,
    files: Sequence[str] = (),
    *,
    chosen: bool = False,
    whole: bool = False,
    title: str = "",
) -> JobOrder:
    """Return the order to bring in an export; the server must be able to read the path.

    ``within`` is the folder in which the export was found, beside others or in parts: what a path
    in it holds is then found again in the same way, by the source alone that the owner has
    ``chosen``, or by asking all. ``files`` are those of it that are meant, if the path does not
    tell; ``whole`` says that folders inside it are, which other accounts hold. A new account that
    nobody chose is made only if no account turns out to be the same when the import begins. Its id
    stands in the order: whoever goes on with the job after a kill, on another machine too, knows
    the account that was begun. The ``title`` is what a person calls the import.
    """
    account = new_connection_id() if destination is None else destination.connection_id
    proposed = destination is None or destination.is_proposed
    parameters = {
        "path": str(path.resolve()),
        "source": source,
        "connection_id": None if proposed else account,
        "new_connection_id": account if proposed else None,
        "settings": dict(settings or {}),
        "within": None if within is None else str(within.resolve()),
        "files": list(files),
        "chosen": chosen,
        "whole": whole,
        "title": title,
    }
    return JobOrder(IMPORT, parameters)


def import_kind(store: Store, folder: Path, limits: Settings) -> JobKind:
    """Return the kind of job that brings in exports; ``folder`` is the data folder."""

    def run(context: JobContext) -> Json:
        # The readers of all formats are loaded with the first import, not with the server.
        from pdpp.jobs.import_run import run_import

        return run_import(store, folder, limits, context)

    return JobKind(IMPORT, run, at_once=AT_ONCE)
