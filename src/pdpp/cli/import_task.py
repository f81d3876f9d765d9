"""Import tasks: show what was recognised, ask, import it and report."""

import select
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click

from pdpp.cli.import_preparation import PreparedImport, PreparedImports, refused_text
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
from pdpp.serving.memory import keep_memory
from pdpp.sources.importing.destination import but_for
from pdpp.sources.importing.report import (
    COMPLETE,
    INTERRUPTED,
    MOST_EXAMPLES,
    ImportReport,
    tell,
)
from pdpp.sources.importing.stopping import told_what_stops
from pdpp.sources.importing.task import (
    ImportCallbacks,
    ImportTask,
)
from pdpp.sources.importing.title import import_title
from pdpp.sources.importing.turns import short_turns
from pdpp.sources.importing.watching import watch
from pdpp.sources.item import Skipped
from pdpp.sources.reading.folder import UNFINISHED
from pdpp.sources.reading.nested import UNREADABLE_ARCHIVE
from pdpp.store.port import Store
from pdpp.store.scope import owner_reaches

_PATIENCE_SECONDS = 60.0
_STOPPED = 130


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How the owner wants it done; ``every`` is how often to look, where it is watched."""

    yes: bool
    as_json: bool
    mirror: bool = False
    every: float | None = None


def bring_all(prepared: PreparedImports, options: ImportOptions) -> list[str]:
    """Show everything that was found, ask once, and import it; return how each import ended."""
    if not options.as_json:
        for line in overview(prepared):
            note(line)
    if not options.yes:
        _ask(f"Import {counted(len(prepared.imports), 'export')}?")
    ends: list[str] = []
    for number, planned in enumerate(prepared.imports):
        if number:
            planned.task.look_again()
        ends.append(_import(planned, options))
        if not (options.as_json or options.mirror):
            _tell_one(planned.task)
        if ends[-1] == INTERRUPTED:
            break
    tasks = [planned.task for planned in prepared.imports[: len(ends)]]
    if options.mirror:
        if ends[-1] != INTERRUPTED:
            _mirror_accounts(tasks, prepared.refused, options)
        if not options.as_json:
            for task in tasks:
                _tell_one(task)
    documents = [task.document() for task in tasks]
    if options.as_json:
        left_out = [*prepared.unknown, *map(refused_text, prepared.refused)]
        show({"imports": documents, "not_known": left_out}, (), as_json=True)
    elif ends[-1] == INTERRUPTED:
        later = counted(len(prepared.imports) - len(ends), "export")
        words = f"Interrupted; what is counted above is kept, {later} not begun."
        note(f"{words} The same command goes on.")
    else:
        note(_sum(documents))
    return ends


def _tell_one(task: ImportTask) -> None:
    """Show the report of one of many exports."""
    first, *rest = tell(task.document())
    found = visible(f"{task.report.subject.found}: {first}", lines=False)
    show({}, [found, *rest], as_json=False)


def _sum(documents: Sequence[Mapping[str, Any]]) -> str:
    """Return what all imports together did: their reports fill more than one screen."""
    counts = {
        kind: sum(document["counts"][kind] for document in documents)
        for kind in ("new", "changed", "unchanged")
    }
    lacking = sum(document["status"] != COMPLETE for document in documents)
    ending = f"; {counted(lacking, 'export')} not complete, see above" if lacking else ""
    numbers = ", ".join(f"{count:,} {kind}" for kind, count in counts.items())
    return f"All together: {counted(len(documents), 'export')}, records: {numbers}{ending}"


def overview(prepared: PreparedImports) -> list[str]:
    """Return a table of what was found, and where each goes."""
    rows = [("FOUND", "SOURCE", "HOLDS", "ACCOUNT", "WHICH IS")]
    above: list[str] = []
    for planned in prepared.imports:
        task = planned.task
        destination = task.destination
        new = f"new{but_for(destination, task.export, above)}"
        state = new if destination.is_new else destination.reason
        name, account = task.report.subject.found, destination.display_name
        above.append(task.export.source.connector_key)
        rows.append(
            (name, task.export.source.label, task.export.recognition.version, account, state)
        )
    lines = table([[visible(cell, lines=False) for cell in row] for row in rows])
    below = [*_notes(prepared), *(f"Not known: {words}" for words in prepared.unknown)]
    below += _refused_lines(prepared.refused)
    return [*lines, *(visible(line, lines=False) for line in below)]


def _notes(prepared: PreparedImports) -> list[str]:
    """Return the remarks on all exports, each once."""
    remarks = [
        f"{planned.task.report.subject.found}: {remark}"
        for planned in prepared.imports
        for remark in (*planned.task.export.recognition.notes, *planned.task.destination.notes)
    ]
    return list(dict.fromkeys(remarks))


def _refused_lines(refused: Sequence[Skipped]) -> Iterator[str]:
    """Yield what is refused with the reason: a few for each reason, and how many more there are."""
    by_reason: dict[str, list[str]] = {}
    for skip in refused:
        by_reason.setdefault(skip.reason, []).append(skip.example)
    for reason, examples in by_reason.items():
        if reason == UNREADABLE_ARCHIVE:
            # Each may have been an export; of links there are thousands.
            yield from (f"Cannot be read: {_once(example)}" for example in examples)
            continue
        more = f" and {len(examples) - MOST_EXAMPLES:,} more" if examples[MOST_EXAMPLES:] else ""
        yield f"Left out, {reason}: {', '.join(examples[:MOST_EXAMPLES])}{more}"


def _once(example: str) -> str:
    """Return what is wrong with a file without its name in front of words that begin with it."""
    name, _, problem = example.partition(": ")
    return problem if problem.startswith(f"{name} ") else example


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
    if options.mirror and task.report.status != INTERRUPTED:
        _mirror(task, options)
    show(task.document(), tell(task.document()), as_json=options.as_json)
    if task.report.status == INTERRUPTED:
        note("Interrupted; everything counted above is kept. The same command goes on.")
    return status


def _import(prepared: PreparedImport, options: ImportOptions) -> str:
    """Import one export; return how it ended."""
    task = prepared.task
    if prepared.own is not None:
        plan = prepared.own.plan
        task.environment.state.keep_plan(plan.connector_key, plan.as_json())
    stop = Stop()
    store = task.environment.store
    with stop.listening(), short_turns(), told_what_stops(store):
        _run(prepared, options, stop)
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
            with told_what_stops(task.environment.store), task.turn(wait):
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
        prepared.within,
        prepared.files,
        chosen=prepared.choices.chosen,
        whole=prepared.whole,
        title=import_title(task.export, task.report.subject.found),
    )
    JobRunner(task.environment.store, [JobKind(IMPORT, run)], instant.now).run_now(order)
    if problems:
        raise problems[0]


def _run(prepared: PreparedImport, options: ImportOptions, stop: Stop) -> None:
    task, every = prepared.task, options.every
    wait = _waiting(task, stop)
    with Progress("") as progress:
        callbacks = _callbacks(stop, progress)
        if every is None:  # A watch has no end, and would keep it while nothing changes.
            keep_memory()
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


def _mirror_accounts(
    tasks: Sequence[ImportTask], refused: Sequence[Skipped], options: ImportOptions
) -> None:
    """Mirror each account once, with what all of its exports hold together."""
    of_account: dict[str, list[ImportTask]] = {}
    for task in tasks:
        of_account.setdefault(task.account, []).append(task)
    broken = any(skip.cut or skip.reason in (UNREADABLE_ARCHIVE, UNFINISHED) for skip in refused)
    for *others, last in of_account.values():
        last.see_also(others)
        last.report.cut |= broken or any(task.report.cut for task in others)
        _mirror(last, options)


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
    yield from destination.notes


def _record_count(store: Store, connection_id: str) -> int:
    with store.reading():
        every = owner_reaches(store.catalogue())
        mine = [reach for reach in every if reach.connection_id == connection_id]
        return sum(store.counts(mine).values())


def _ask(question: str) -> None:
    """Ask whether to import; end the program with that if the answer is no, or Ctrl-C."""
    try:
        agreed = _agrees(question)
    except KeyboardInterrupt:
        note("\nNothing was imported.")
        click.get_current_context().exit(_STOPPED)
    if not agreed:
        note("Nothing was imported.")
        click.get_current_context().exit(1)


def _agrees(question: str) -> bool:
    """Ask once; without an answer, say how a script answers."""
    click.echo(f"{question} [y/N] ", nl=False, err=True)
    answer = sys.stdin.readline() if _may_answer() else ""
    if not answer:
        note("")
        raise click.UsageError("There was no answer; say --yes to import without being asked.")
    return answer.strip().lower() in ("y", "yes")


def _may_answer() -> bool:
    """Tell whether an answer can come: a pipe that stays silent for long will never give one."""
    if sys.stdin.isatty() or sys.platform == "win32":
        return True
    try:
        return bool(select.select([sys.stdin], [], [], _PATIENCE_SECONDS)[0])
    except (OSError, ValueError):  # Nothing that can be waited for, such as a text in memory.
        return True
