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
from pdpp.cli.pace import Pace
from pdpp.cli.progress import Progress
from pdpp.cli.stopping import Stop
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.model.declaration import Declaration
from pdpp.model.errors import ImportRefused
from pdpp.resource.ingest import Intake
from pdpp.service.settings import Settings
from pdpp.sources.arrival import Arrival, Escort, Rails, destination
from pdpp.sources.drawer import Drawer
from pdpp.sources.report import COMPLETE, INTERRUPTED, Report, tell
from pdpp.sources.source import Wishes
from pdpp.sources.table.own import Own, own_sources, own_verdict
from pdpp.sources.tree import Tree, open_tree
from pdpp.sources.verdict import judge
from pdpp.sources.vigil import keep_watch
from pdpp.store.catalogue import Feed
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
class Manner:
    """How the owner wants it done; ``every`` is how often to look, where it is watched."""

    yes: bool
    as_json: bool
    mirror: bool = False
    every: float | None = None


class Prepared(NamedTuple):
    """An export that is ready to be brought in; ``own`` where a plan of the owner's reads it."""

    arrival: Arrival
    wishes: Wishes
    own: Own | None


def prepare(store: Store, drawer: Drawer, path: Path, choice: Choice) -> Prepared:
    """Find out what a path holds and where it goes; nothing is written yet."""
    tree = open_tree(path)
    wishes = Wishes(choice.settings, drawer.recall)
    own = _own(store, drawer, tree, choice)
    if own is not None:
        verdict = own_verdict(tree, wishes, own)
    else:
        verdict = judge(tree, wishes, choice.source, own_sources(drawer.plans()))
    unknown = sorted(choice.settings.keys() - verdict.source.settings.keys())
    if unknown:
        known = [f"{name} ({help_})" for name, help_ in verdict.source.settings.items()]
        has = ", ".join(known) or "none"
        raise ImportRefused(f"{verdict.source.label} has no setting {unknown[0]!r}; it has {has}")
    goal = destination(store.catalogue(), drawer, verdict, choice.connection_id)
    limits = Settings()
    rails = Rails(store, drawer, partial(_intake, store, limits.line_bytes), limits.blob_bytes)
    return Prepared(Arrival(tree, verdict, goal, rails), wishes, own)


def _own(store: Store, drawer: Drawer, tree: Tree, choice: Choice) -> Own | None:
    """Return the plan that is drafted, or that the owner's declaration makes."""
    if not choice.infer and choice.declaration is None:
        return None
    planned = {source.connector_key for source in own_sources(drawer.plans())}
    others = store.catalogue().sources.keys() - planned
    if choice.declaration is not None:
        return Own.declared(tree, choice.declaration, choice.stream, others)
    return Own.drafted(tree, choice.source, choice.settings, others)


def _intake(store: Store, line_bytes: int, feed: Feed) -> Intake:
    return Intake(store, feed, now=instant.now(), line_bytes=line_bytes)


def bring(prepared: Prepared, manner: Manner) -> str:
    """Ask, import and report one export; return how it ended."""
    arrival = prepared.arrival
    if not manner.as_json:
        for line in _preview(prepared):
            note(visible(line, lines=False))
    elif prepared.own is not None and not manner.yes:
        show({"draft": prepared.own.plan.as_json(), "notes": prepared.own.notes}, (), as_json=True)
        return COMPLETE
    if not manner.yes:
        _ask("Bring it in?")
    if prepared.own is not None:
        plan = prepared.own.plan
        arrival.rails.drawer.keep_plan(plan.connector_key, plan.as_json())
    with Progress("Indexing records again:") as progress:
        declaration = arrival.settle(progress.tell)
    stop = Stop()
    with stop.listening():
        _run(prepared, declaration, manner, stop)
    if manner.mirror and arrival.report.status != INTERRUPTED:
        _mirror(arrival, manner)
    show(arrival.document(), tell(arrival.document()), as_json=manner.as_json)
    if arrival.report.status == INTERRUPTED:
        again = shlex.join(["pdpp", "import", str(arrival.tree.path)])
        note(f"Interrupted; everything counted above is kept. To go on: {again}")
    return INTERRUPTED if stop() else arrival.report.status


def _run(prepared: Prepared, declaration: Declaration, manner: Manner, stop: Stop) -> None:
    arrival, every = prepared.arrival, manner.every
    with Progress("") as progress:
        escort = _escort(stop, progress)
        if every is None:
            arrival.run(declaration, escort, mirror=manner.mirror)
            return
        if not manner.as_json:
            note(f"Watching {arrival.tree.path}; Ctrl-C ends it.")
        keep_watch(arrival, declaration, prepared.wishes, escort, lambda: stop.wait(every))


def _escort(stop: Stop, progress: Progress) -> Escort:
    pace = Pace(time.monotonic())

    def tell_progress(report: Report, done: int, total: int) -> None:
        progress.say(lambda: pace.line(time.monotonic(), report.counts["read"], done, total))

    return Escort(stop, tell_progress)


def _mirror(arrival: Arrival, manner: Manner) -> None:
    """Show what the export no longer holds, ask, and delete it."""
    if arrival.report.cut:
        note("Nothing is deleted: the export could not be read whole.")
        return
    absent = arrival.absent()
    count = absent.counts.total()
    if not count:
        return
    each = ", ".join(f"{held:,} {stream}" for stream, held in sorted(absent.counts.items()))
    note(visible(f"No longer in the export: {each}, such as {'; '.join(absent.examples)}"))
    if manner.yes or _agrees(f"Delete these {count:,} records?"):
        arrival.delete_absent()


def _preview(prepared: Prepared) -> Iterator[str]:
    """Yield what is about to happen."""
    arrival = prepared.arrival
    source, found, goal = arrival.verdict.source, arrival.verdict.found, arrival.goal
    if prepared.own is not None:
        yield from prepared.own.lines()
    else:
        yield f"{arrival.tree.path.name}: {source.label}, {found.confidence}: {found.version}"
    if goal.is_new:
        yield f"Into: {goal.display_name} ({goal.connection_id}), a new connection"
    else:
        held = _held(arrival.rails.store, goal.connection_id)
        yield f"Into: {goal.display_name} ({goal.connection_id}), which holds {held:,} records"
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
