"""Import tasks: show what was recognised, ask, import it and report."""

import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from pdpp.cli.output import note, show, table
from pdpp.cli.progress import Progress
from pdpp.cli.progress_bar import ProgressBar
from pdpp.cli.stopping import Stop
from pdpp.evidence.amount import counted
from pdpp.evidence.fence import visible
from pdpp.jobs.context import JobContext
from pdpp.jobs.import_run import import_callbacks
from pdpp.jobs.importing import IMPORT, import_order
from pdpp.jobs.kind import JobKind
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.model.declaration import Declaration
from pdpp.model.errors import ImportRefused
from pdpp.service.settings import Settings
from pdpp.sources.importing.destination import (
    connections_of,
    find_destination,
    identity_of,
    of_account,
    remembered_account,
)
from pdpp.sources.importing.discovery import Discovery, discover, usable_sources
from pdpp.sources.importing.recognition import RecognisedExport, recognise_export
from pdpp.sources.importing.report import COMPLETE, INTERRUPTED, ImportReport, tell
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.task import (
    ImportCallbacks,
    ImportEnvironment,
    ImportTask,
)
from pdpp.sources.importing.watching import watch
from pdpp.sources.importing.writer import short_turns
from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import Tree, open_tree
from pdpp.sources.source import OwnerChoices, Source
from pdpp.sources.table.own import OwnTable, own_export, own_sources
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake
from pdpp.store.port import Store
from pdpp.store.scope import owner_reaches

_MAIL = "mail"


@dataclass(frozen=True, slots=True)
class Choice:
    """What the owner said of the export."""

    source: str | None = None
    connection_id: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    infer: bool = False
    declaration: Mapping[str, Any] | None = None
    stream: str | None = None
    account: str | None = None
    asks: bool = False
    """Whether a person can be asked whose export it is."""


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


class PreparedImports(NamedTuple):
    """The exports that some paths hold, words for what no source knows, and what is damaged."""

    imports: list[PreparedImport]
    unknown: list[str]
    refused: list[Skipped]


def prepare_all(
    store: Store, state: ImportState, paths: Sequence[Path], choice: Choice
) -> PreparedImports:
    """Find out what paths hold and where it goes; nothing is written yet."""
    choices = OwnerChoices(choice.settings, state.recall, chosen=choice.source is not None)
    sources, broken = usable_sources(choice.source, own_sources(state.plans()))
    imports: list[PreparedImport] = []
    unknown: list[str] = []
    refused: list[Skipped] = []
    for path in paths:
        discovery = discover(path, choices, sources)
        unknown += _unknown_words(path, discovery, choice, sources)
        refused += discovery.refused
        for export in discovery.exports:
            task = _task(store, state, export.tree, export.export, choice)
            imports.append(PreparedImport(task, choices, None))
    if not imports:
        raise ImportRefused("; ".join([*unknown, *map(_refused_words, refused), *broken]))
    return PreparedImports(imports, unknown, refused)


def _refused_words(refused: Skipped) -> str:
    return f"{refused.example} ({refused.reason})"


def _unknown_words(
    path: Path, discovery: Discovery, choice: Choice, sources: Sequence[Source]
) -> list[str]:
    if choice.source is None or discovery.exports or not discovery.unknown:
        return discovery.unknown
    named = f"{path.name} does not look like {sources[0].label}"
    return [f"{named}: {words}" for words in discovery.unknown]


def prepare(store: Store, state: ImportState, path: Path, choice: Choice) -> PreparedImport:
    """Find out what one path holds as a whole, as a watch and a plan of the owner's need it."""
    tree = open_tree(path)
    choices = OwnerChoices(choice.settings, state.recall, chosen=choice.source is not None)
    own = _own(store, state, tree, choice)
    if own is not None:
        export = own_export(tree, choices, own)
    else:
        export = recognise_export(tree, choices, choice.source, own_sources(state.plans()))
    return PreparedImport(_task(store, state, tree, export, choice), choices, own)


def _task(
    store: Store, state: ImportState, tree: Tree, export: RecognisedExport, choice: Choice
) -> ImportTask:
    unknown = sorted(choice.settings.keys() - export.source.settings.keys())
    if unknown:
        known = [f"{name} ({help_})" for name, help_ in export.source.settings.items()]
        has = ", ".join(known) or "none"
        raise ImportRefused(f"{export.source.label} has no setting {unknown[0]!r}; it has {has}")
    name = choice.account or remembered_account(state, tree, export)
    if name is not None:
        export = of_account(export, tree, name)
    destination = find_destination(store, state, tree, export, choice.connection_id)
    if choice.asks and destination.is_new and not export.recognition.owner_known:
        name = _ask_account(store, tree, export)
        if name:
            export = of_account(export, tree, name)
            destination = find_destination(store, state, tree, export, choice.connection_id)
    limits = Settings()
    environment = ImportEnvironment(
        store, state, partial(_intake, store, limits.line_bytes), limits.blob_bytes
    )
    return ImportTask(tree, export, destination, environment)


def _ask_account(store: Store, tree: Tree, export: RecognisedExport) -> str:
    """Ask once whose an export is that does not tell; nothing is an answer too.

    Mail has an address that is worth knowing. Of anything else the first account needs no name.
    """
    others = connections_of(store.catalogue(), export.source.connector_key)
    if export.source.connector_key == _MAIL:
        words, wanted = "whose mail it holds", "Its owner's address"
    elif others and not identity_of(export):
        names = ", ".join(repr(other.display_name) for other in others)
        words = f"whose it is, and no account holds the same; there is {names}"
        wanted = "The account that it belongs to"
    else:
        return ""
    note(visible(f"{tree.path.name} does not say {words}.", lines=False))
    known = visible(export.recognition.account, lines=False)
    prompt = f"{wanted}, or Enter for an account {known!r}"
    answer: str = click.prompt(prompt, default="", show_default=False, err=True)
    return answer.strip()


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
    return Intake(store, feed, now=instant.now(), line_bytes=line_bytes, keep_newer=True)


def bring_all(prepared: PreparedImports, options: ImportOptions) -> list[str]:
    """Show everything that was found, ask once, and import it; return how each import ended."""
    if not options.as_json:
        for line in overview(prepared):
            note(line)
    if not options.yes:
        _ask(f"Import {counted(len(prepared.imports), 'export')}?")
    ends: list[str] = []
    documents = []
    for number, planned in enumerate(prepared.imports):
        if number:
            planned.task.look_again()
        ends.append(_import(planned, options))
        documents.append(planned.task.document())
        if not options.as_json:
            show({}, tell(planned.task.document()), as_json=False)
        if ends[-1] == INTERRUPTED:
            break
    if options.as_json:
        left_out = [*prepared.unknown, *map(_refused_words, prepared.refused)]
        show({"imports": documents, "not_known": left_out}, (), as_json=True)
    return ends


def overview(prepared: PreparedImports) -> list[str]:
    """Return a table of what was found, and where each goes."""
    rows = [("FOUND", "SOURCE", "ACCOUNT", "")]
    for planned in prepared.imports:
        task = planned.task
        state = "new" if task.destination.is_new else task.destination.reason
        name = task.tree.path.name
        rows.append((name, task.export.source.label, task.destination.display_name, state))
    for refused in prepared.refused:
        damaged, _, problem = refused.example.partition(": ")
        rows.append(
            (damaged, "", "", f"{refused.reason}: {problem}" if problem else refused.reason)
        )
    lines = table([[visible(cell, lines=False) for cell in row] for row in rows])
    return [*lines, *(visible(f"Not known: {words}", lines=False) for words in prepared.unknown)]


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
        _ask("Import it?")
    status = _import(prepared, options)
    show(task.document(), tell(task.document()), as_json=options.as_json)
    if task.report.status == INTERRUPTED:
        again = shlex.join(["pdpp", "import", str(task.tree.path)])
        note(f"Interrupted; everything counted above is kept. To go on: {again}")
    return status


def _import(prepared: PreparedImport, options: ImportOptions) -> str:
    """Import one export; return how it ended."""
    task = prepared.task
    if prepared.own is not None:
        plan = prepared.own.plan
        task.environment.state.keep_plan(plan.connector_key, plan.as_json())
    stop = Stop()
    with stop.listening(), short_turns():
        _run(prepared, options, stop)
    if options.mirror and task.report.status != INTERRUPTED:
        _mirror(task, options)
    return INTERRUPTED if stop() else task.report.status


def _settle(task: ImportTask) -> Declaration:
    with Progress("Indexing records again:") as progress:
        return task.settle(progress.tell)


def _waiting(task: ImportTask, stop: Stop) -> Callable[[], None]:
    """Return what is done while another import of the same source has its turn."""
    label, told = task.export.source.label, list[str]()

    def wait() -> None:
        if stop():
            raise ImportRefused(f"Stopped while another import of {label} was running")
        if not told:
            told.append(f"Another import of {label} is running. This one begins when it has ended.")
            note(told[0])

    return wait


def _run_as_job(
    prepared: PreparedImport, callbacks: ImportCallbacks, wait: Callable[[], None]
) -> None:
    """Import as a job: others see it run, and a server goes on with it if this program is killed.

    Not what asks or depends on what only this program knows: mirrors, and tables of one's own.
    """
    task, problems = prepared.task, list[Exception]()

    def run(context: JobContext) -> Mapping[str, Any]:
        job = import_callbacks(context)

        def tell_both(report: ImportReport, done: int, total: int) -> None:
            callbacks.tell(report, done, total)
            job.tell(report, done, total)

        both = ImportCallbacks(lambda: callbacks.stop() or job.stop(), tell_both)
        try:
            with task.turn(wait):
                task.run(_settle(task), both)
        except Exception as problem:
            problems.append(problem)
            raise
        if task.report.status == INTERRUPTED:
            context.give_up()
        return task.document()

    order = import_order(
        task.tree.path,
        task.export.source.connector_key,
        task.destination,
        prepared.choices.given,
    )
    JobRunner(task.environment.store, [JobKind(IMPORT, run)], instant.now).run_now(order)
    if problems:
        raise problems[0]


def _run(prepared: PreparedImport, options: ImportOptions, stop: Stop) -> None:
    task, every = prepared.task, options.every
    wait = _waiting(task, stop)
    with Progress("") as progress:
        callbacks = _callbacks(stop, progress)
        if every is None and not options.mirror and prepared.own is None:
            _run_as_job(prepared, callbacks, wait)
            return
        if every is None:
            with task.turn(wait):
                task.run(_settle(task), callbacks, mirror=options.mirror)
            return
        with task.turn(wait):  # Its turn ends here, because a watch has no end.
            declaration = _settle(task)
        if not options.as_json:
            note(f"Watching {task.tree.path}; Ctrl-C ends it.")
        watch(task, declaration, prepared.choices, callbacks, lambda: stop.wait(every))


def _callbacks(stop: Stop, progress: Progress) -> ImportCallbacks:
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
    listed = ", ".join(f"{number:,} {stream}" for stream, number in sorted(absent.counts.items()))
    note(visible(f"No longer in the export: {listed}, such as {'; '.join(absent.examples)}"))
    if options.yes or _agrees(f"Delete {counted(count, 'record')}?"):
        task.delete_absent()


def _preview(prepared: PreparedImport) -> Iterator[str]:
    """Yield what is about to happen."""
    task = prepared.task
    source, recognition, destination = task.export.source, task.export.recognition, task.destination
    if prepared.own is not None:
        yield from prepared.own.lines()
    else:
        certain, version = recognition.confidence, recognition.version
        yield f"{task.tree.path.name}: {source.label}, {certain}: {version}"
    if destination.is_new:
        yield f"Into: {destination.display_name} ({destination.connection_id}), a new connection"
    else:
        count = _record_count(task.environment.store, destination.connection_id)
        into = f"{destination.display_name} ({destination.connection_id})"
        yield f"Into: {into}, which holds {counted(count, 'record')}"
    if recognition.records is not None:
        yield f"Records: {recognition.records:,}"
    yield from recognition.notes


def _record_count(store: Store, connection_id: str) -> int:
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
        raise click.UsageError("There was no answer; say --yes to import without being asked.")
    return answer.strip().lower() in ("y", "yes")
