"""One import, run as a job."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.jobs.context import JobContext
from pdpp.model import instant
from pdpp.model.errors import ImportRefused
from pdpp.service.settings import Settings
from pdpp.sources.importing.by_account import with_files
from pdpp.sources.importing.destination import as_remembered, find_destination
from pdpp.sources.importing.discovery import discover, usable_sources
from pdpp.sources.importing.known_folders import without_known
from pdpp.sources.importing.recognition import RecognisedExport, recognise_export
from pdpp.sources.importing.report import INTERRUPTED, ImportReport
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.stopping import told_what_stops
from pdpp.sources.importing.task import (
    ImportCallbacks,
    ImportEnvironment,
    ImportTask,
)
from pdpp.sources.importing.turns import short_turns
from pdpp.sources.reading.tree import Tree, open_tree
from pdpp.sources.source import OwnerChoices
from pdpp.sources.table.own import own_sources
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake
from pdpp.store.jobs import Json
from pdpp.store.port import Store

log = logging.getLogger("pdpp.jobs")


def run_import(store: Store, folder: Path, limits: Settings, context: JobContext) -> Json:
    """Bring in what the parameters name; go on where an earlier run was cut."""
    task = _task(store, ImportState(folder, store.files), limits, context.parameters)

    def wait() -> None:
        context.progress(0, 0, "waiting for another import of the same source")
        context.check()

    with told_what_stops(store, log.error), task.turn(wait):
        declaration = task.settle()
        with short_turns():
            task.run(declaration, import_callbacks(context))
    return import_result(task, context)


def import_callbacks(context: JobContext) -> ImportCallbacks:
    """Return what an import asks and tells while it runs as a job."""

    def tell(report: ImportReport, done: int, total: int) -> None:
        context.progress(done, total, f"{counted(report.counts['read'], 'record')} read")

    return ImportCallbacks(context.cancelled, tell)


def import_result(task: ImportTask, context: JobContext) -> dict[str, Any]:
    """Return the report of an import that came to its end; end one early that did not.

    What was read is in the import's own position log: the next run goes on from there.
    """
    if task.report.status == INTERRUPTED:
        context.check()
    return dict(task.document())


def _task(store: Store, state: ImportState, limits: Settings, asked: Json) -> ImportTask:
    chosen = bool(asked.get("chosen"))
    choices = OwnerChoices(asked.get("settings") or {}, state.recall, chosen=chosen)
    tree, export = _export(store, state, choices, asked)
    connection_id, proposed = asked.get("connection_id"), asked.get("new_connection_id")
    if proposed in store.catalogue().connections:  # An earlier run of this job has made it.
        connection_id = proposed
    export = as_remembered(state, tree, export)
    destination = find_destination(store, state, tree, export, connection_id)
    if destination.is_new and proposed and not connection_id:
        destination = replace(destination, connection_id=proposed)

    def intake(feed: Feed) -> Intake:
        now, line_bytes = instant.now(), limits.line_bytes
        return Intake(store, feed, now=now, line_bytes=line_bytes, keep_newer=True)

    environment = ImportEnvironment(store, state, intake, limits.blob_bytes)
    within = asked.get("within")
    return ImportTask(tree, export, destination, environment, Path(within) if within else None)


def _export(
    store: Store, state: ImportState, choices: OwnerChoices, asked: Json
) -> tuple[Tree, RecognisedExport]:
    """Return the export that the parameters name: a path alone, or one of several in a folder."""
    own, path, source = own_sources(state.plans()), Path(asked["path"]), asked.get("source")
    if asked.get("within") is None:
        tree = open_tree(path)
        return tree, recognise_export(tree, choices, source, own)
    sources, _ = usable_sources(source if choices.chosen else None, own)
    loose = not choices.chosen
    found = discover(Path(asked["within"]), choices, sources, loose=loose).exports
    if not asked.get("whole"):
        found = without_known(store.catalogue(), state, choices, found)
    for candidate in found:
        if candidate.export.source.connector_key != source:
            continue
        if files := asked.get("files"):
            if all(map(candidate.tree.get, files)):
                meant = with_files(candidate, choices, files)
                return meant.tree, meant.export
        elif candidate.tree.path.resolve() == path:
            return candidate.tree, candidate.export
    raise ImportRefused(f"{path.name} has changed or is gone since it was recognised")
