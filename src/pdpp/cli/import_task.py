"""Arrivals: what was recognised is shown and asked about, then brought in and reported."""

import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from pdpp.cli.output import note, show
from pdpp.cli.progress import Progress
from pdpp.cli.progress_bar import ProgressBar
from pdpp.cli.stopping import Stop
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.model.declaration import Declaration
from pdpp.model.errors import ImportRefused
from pdpp.service.settings import Settings
from pdpp.sources.importing.recognition import recognise_export
from pdpp.sources.importing.report import COMPLETE, INTERRUPTED, ImportReport, tell
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.task import (
    ImportCallbacks,
    ImportEnvironment,
    ImportTask,
    find_destination,
)
from pdpp.sources.importing.watching import watch
from pdpp.sources.importing.writer import short_turns
from pdpp.sources.reading.tree import Tree, open_tree
from pdpp.sources.source import OwnerChoices
from pdpp.sources.table.own import OwnTable, own_export, own_sources
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake
from pdpp.store.port import Store
from pdpp.store.scope import owner_reaches


@dataclass(frozen=True, slots=True)
class Choice:
    """What the owner said of the export."""

    source: str | None = None
    connection_id: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    infer: bool = False
    declaration: Mapping[str, Any] | None = None
    stream: str | None = None


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How the owner wants it done; ``every`` is how often to look, where it is watched."""

    yes: bool
    as_json: bool
    mirror: bool = False
    every: float | None = None


class PreparedImport(NamedTuple):
    """An export that is ready to be brought in; ``own`` where a plan of the owner's reads it."""

    task: ImportTask
    choices: OwnerChoices
    own: OwnTable | None


def prepare(store: Store, state: ImportState, path: Path, choice: Choice) -> PreparedImport:
    """Find out what a path holds and where it goes; nothing is written yet."""
    tree = open_tree(path)
    choices = OwnerChoices(choice.settings, state.recall)
    own = _own(store, state, tree, choice)
    if own is not None:
        export = own_export(tree, choices, own)
    else:
        export = recognise_export(tree, choices, choice.source, own_sources(state.plans()))
    unknown = sorted(choice.settings.keys() - export.source.settings.keys())
    if unknown:
        known = [f"{name} ({help_})" for name, help_ in export.source.settings.items()]
        has = ", ".join(known) or "none"
        raise ImportRefused(f"{export.source.label} has no setting {unknown[0]!r}; it has {has}")
    destination = find_destination(store.catalogue(), state, export, choice.connection_id)
    limits = Settings()
    environment = ImportEnvironment(
        store, state, partial(_intake, store, limits.line_bytes), limits.blob_bytes
    )
    return PreparedImport(ImportTask(tree, export, destination, environment), choices, own)


def _own(store: Store, state: ImportState, tree: Tree, choice: Choice) -> OwnTable | None:
    """Return the plan that is drafted, or that the owner's declaration makes."""
    if not choice.infer and choice.declaration is None:
        return None
    planned = {source.connector_key for source in own_sources(state.plans())}
    others = store.catalogue().sources.keys() - planned
    if choice.declaration is not None:
        return OwnTable.declared(tree, choice.declaration, choice.stream, others)
    return OwnTable.drafted(tree, choice.source, choice.settings, others)


def _intake(store: Store, line_bytes: int, feed: Feed) -> Intake:
    return Intake(store, feed, now=instant.now(), line_bytes=line_bytes)


def bring(prepared: PreparedImport, options: ImportOptions) -> str:
    """Ask, import and report one export; return how it ended."""
    task = prepared.task
    if not options.as_json:
        for line in _preview(prepared):
            note(visible(line, lines=False))
    elif prepared.own is not None and not options.yes:
        show({"draft": prepared.own.plan.as_json(), "notes": prepared.own.notes}, (), as_json=True)
        return COMPLETE
    if not options.yes:
        _ask("Bring it in?")
    if prepared.own is not None:
        plan = prepared.own.plan
        task.environment.state.keep_plan(plan.connector_key, plan.as_json())
    with Progress("Indexing records again:") as progress:
        declaration = task.settle(progress.tell)
    stop = Stop()
    with stop.listening(), short_turns():
        _run(prepared, declaration, options, stop)
    if options.mirror and task.report.status != INTERRUPTED:
        _mirror(task, options)
    show(task.document(), tell(task.document()), as_json=options.as_json)
    if task.report.status == INTERRUPTED:
        again = shlex.join(["pdpp", "import", str(task.tree.path)])
        note(f"Interrupted; everything counted above is kept. To go on: {again}")
    return INTERRUPTED if stop() else task.report.status


def _run(
    prepared: PreparedImport, declaration: Declaration, options: ImportOptions, stop: Stop
) -> None:
    task, every = prepared.task, options.every
    with Progress("") as progress:
        callbacks = _escort(stop, progress)
        if every is None:
            task.run(declaration, callbacks, mirror=options.mirror)
            return
        if not options.as_json:
            note(f"Watching {task.tree.path}; Ctrl-C ends it.")
        watch(task, declaration, prepared.choices, callbacks, lambda: stop.wait(every))


def _escort(stop: Stop, progress: Progress) -> ImportCallbacks:
    bar = ProgressBar(time.monotonic())

    def tell_progress(report: ImportReport, done: int, total: int) -> None:
        progress.say(lambda: bar.line(time.monotonic(), report.counts["read"], done, total))

    return ImportCallbacks(stop, tell_progress)


def _mirror(task: ImportTask, options: ImportOptions) -> None:
    """Show what the export no longer holds, ask, and delete it."""
    if task.report.cut:
        note("Nothing is deleted: the export could not be read whole.")
        return
    absent = task.absent()
    count = absent.counts.total()
    if not count:
        return
    each = ", ".join(f"{held:,} {stream}" for stream, held in sorted(absent.counts.items()))
    note(visible(f"No longer in the export: {each}, such as {'; '.join(absent.examples)}"))
    if options.yes or _agrees(f"Delete these {count:,} records?"):
        task.delete_absent()


def _preview(prepared: PreparedImport) -> Iterator[str]:
    """Yield what is about to happen."""
    task = prepared.task
    source, found, destination = task.export.source, task.export.recognition, task.destination
    if prepared.own is not None:
        yield from prepared.own.lines()
    else:
        yield f"{task.tree.path.name}: {source.label}, {found.confidence}: {found.version}"
    if destination.is_new:
        yield f"Into: {destination.display_name} ({destination.connection_id}), a new connection"
    else:
        held = _held(task.environment.store, destination.connection_id)
        into = f"{destination.display_name} ({destination.connection_id})"
        yield f"Into: {into}, which holds {held:,} records"
    if found.records is not None:
        yield f"Records: {found.records:,}"
    yield from found.notes


def _held(store: Store, connection_id: str) -> int:
    with store.reading():
        every = owner_reaches(store.catalogue())
        mine = [reach for reach in every if reach.connection_id == connection_id]
        return sum(store.counts(mine).values())


def _ask(question: str) -> None:
    if not _agrees(question):
        raise click.ClickException("Nothing was imported.")


def _agrees(question: str) -> bool:
    """Ask once; without an answer, say how a script answers."""
    click.echo(f"{question} [y/N] ", nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer:
        note("")
        raise click.UsageError("Nobody answered; say --yes to import without being asked.")
    return answer.strip().lower() in ("y", "yes")
