"""Arrivals: an export whose source is known gets its connection, and its records are brought in."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pdpp
from pdpp.model import instant
from pdpp.model.declaration import Declaration
from pdpp.model.errors import ImportRefused
from pdpp.model.validation import parse_declaration
from pdpp.sources.drawer import Drawer
from pdpp.sources.journal import Journal
from pdpp.sources.journey import Journey
from pdpp.sources.mirror import Absent, Seen, delete_absent, find_absent, seen_mark
from pdpp.sources.report import COMPLETE, DAMAGED, INTERRUPTED, Report, Subject
from pdpp.sources.sink import Open, Sink
from pdpp.sources.source import Part
from pdpp.sources.tree import Tree
from pdpp.sources.verdict import Verdict
from pdpp.store.catalogue import Catalogue
from pdpp.store.port import Store


@dataclass(frozen=True, slots=True)
class Destination:
    """The connection that an export goes into."""

    connection_id: str
    display_name: str
    is_new: bool


def destination(
    catalogue: Catalogue, drawer: Drawer, verdict: Verdict, chosen: str | None
) -> Destination:
    """Return the chosen connection, else the one of the same account, else a new one."""
    key, identity = verdict.source.connector_key, identity_of(verdict)
    derived = f"cin_{hashlib.sha256(f'{key} {identity}'.encode()).hexdigest()[:12]}"
    candidates = [chosen] if chosen else [drawer.connection_of(key, identity), derived]
    for connection_id in candidates:
        held = catalogue.connections.get(connection_id or "")
        if held is not None and held.connector_key == key:
            return Destination(held.connection_id, held.display_name, is_new=False)
        if held is not None:
            raise ImportRefused(
                f"{held.connection_id} holds {held.connector_key}, not {key}; choose another one"
            )
    return Destination(chosen or derived, verdict.found.account, is_new=True)


def identity_of(verdict: Verdict) -> str:
    """Return what an account is known by."""
    return verdict.found.identity or verdict.found.account


@dataclass(frozen=True, slots=True)
class Rails:
    """What an import runs on: where it writes, and how much it may."""

    store: Store
    drawer: Drawer
    intake: Open
    blob_bytes: int
    clock: instant.Clock = instant.now


def _never() -> bool:
    return False


def _quietly(report: Report, done: int, total: int) -> None:
    """Say nothing of progress."""


@dataclass(frozen=True, slots=True)
class Escort:
    """Who goes along: ``stop`` is asked whether to end, ``tell`` is shown bytes done of a total."""

    stop: Callable[[], bool] = _never
    tell: Callable[[Report, int, int], None] = _quietly


class Arrival:
    """One export on its way into one connection, with the report of it."""

    def __init__(self, tree: Tree, verdict: Verdict, goal: Destination, rails: Rails) -> None:
        self.tree = tree
        self.verdict = verdict
        self.goal = goal
        self.rails = rails
        now = rails.clock()
        self.name = rails.drawer.new_name(now)
        self.report = Report(_subject(tree, verdict, goal), now)
        self._seen: Seen = set()

    def settle(self, progress: Callable[[int], None] | None = None) -> Declaration:
        """Register the source where it is new or changed, and add the connection."""
        store, source = self.rails.store, self.verdict.source
        declaration = parse_declaration(source.declaration())
        store.register(declaration, progress=progress)
        if self.goal.connection_id not in store.catalogue().connections:
            store.connect(self.goal.connection_id, source.connector_key, self.goal.display_name)
        found = self.verdict.found
        if found.remember:
            self.rails.drawer.remember(source.connector_key, found.shape, found.remember)
        return declaration

    def run(
        self, declaration: Declaration, escort: Escort | None = None, *, mirror: bool = False
    ) -> Report:
        """Bring everything in; go on where an earlier import of the same was interrupted.

        A mirror reads everything anew, because it must see every key that is still there.
        """
        with closing(self.journal(declaration)) as journal:
            going_on = journal.interrupted and not self.goal.is_new and not mirror
            journal.begin(anew=not going_on)
            self.tell_refused()
            reached = self.travel(journal, escort or Escort(), mirror=mirror)
            journal.end(complete=reached)
        status = DAMAGED if self.report.cut else COMPLETE
        self.end(status if reached else INTERRUPTED)
        return self.report

    def journal(self, declaration: Declaration) -> Journal:
        """Return the journal of this path and this connection."""
        revision = f"{pdpp.__version__} {declaration.revision}"
        return self.rails.drawer.journal(self.goal.connection_id, self.tree.path, revision)

    def tell_refused(self) -> None:
        """Count what nobody may read."""
        for refused in self.tree.refused:
            self.report.counts["read"] += 1
            self.report.skip(refused.reason, refused.example)

    def travel(
        self, journal: Journal, escort: Escort, *, mirror: bool = False, patient: bool = False
    ) -> bool:
        """Read every part that is not read yet; return whether the end was reached."""
        parts = list(self.verdict.source.parts(self.tree, self.verdict.found))
        with closing(self._sink(mirror=mirror)) as sink:
            journey = Journey(
                sink,
                self.report,
                journal,
                stop=escort.stop,
                tell=self._teller(parts, escort),
                patient=patient,
            )
            return journey.run(parts)

    def _sink(self, *, mirror: bool) -> Sink:
        def see(stream: str, key: str) -> None:
            self._seen.add(seen_mark(stream, key))

        return Sink(
            self.rails.store,
            self.goal.connection_id,
            self.rails.intake,
            self.report,
            blob_bytes=self.rails.blob_bytes,
            see=see if mirror else None,
        )

    def _teller(self, parts: Sequence[Part], escort: Escort) -> Callable[[], None]:
        total = sum(part.entry.size for part in parts)
        meter = self.tree.meter
        meter.bytes_read = 0
        return lambda: escort.tell(self.report, min(meter.bytes_read, total), total)

    def end(self, status: str) -> None:
        """Close the report and keep it."""
        self.report.end(status, self.rails.clock())
        self.keep()

    def keep(self) -> None:
        """Keep the report as it is now."""
        self.rails.drawer.keep_report(self.name, self.document())

    def document(self) -> Mapping[str, Any]:
        """Return the report as it is kept."""
        return {"import_id": self.name, **self.report.document()}

    # Mirrors

    def absent(self) -> Absent:
        """Return what the connection holds and the export, read whole, does not."""
        return find_absent(self.rails.store, self.goal.connection_id, self._seen)

    def delete_absent(self) -> None:
        """Delete that, and keep the report that says so."""
        rails = self.rails
        delete_absent(rails.store, self.goal.connection_id, self._seen, rails.intake, self.report)
        self.end(self.report.status)

    # Watching

    def see_again(self, tree: Tree, verdict: Verdict) -> None:
        """Go on with what the path holds now."""
        self.tree, self.verdict = tree, verdict


def _subject(tree: Tree, verdict: Verdict, goal: Destination) -> Subject:
    return Subject(
        path=str(tree.path),
        connector_key=verdict.source.connector_key,
        label=verdict.source.label,
        version=verdict.found.version,
        confidence=str(verdict.found.confidence),
        identity=identity_of(verdict),
        connection_id=goal.connection_id,
        display_name=goal.display_name,
    )
