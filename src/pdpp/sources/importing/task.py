"""Import tasks: read one recognised export into one connection, and report what happened."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pdpp
from pdpp.model import instant
from pdpp.model.declaration import Declaration
from pdpp.model.validation import parse_declaration
from pdpp.sources.importing.destination import (
    Destination,
    connections_of,
    contents_of,
    find_destination,
    identity_of,
)
from pdpp.sources.importing.export_day import ExportDay, export_day
from pdpp.sources.importing.files import count_files
from pdpp.sources.importing.known_folders import (
    KnownFolder,
    KnownFolders,
    known_around,
    mirrored_place,
    place_below,
    report_folder,
)
from pdpp.sources.importing.mirror import (
    AbsentRecords,
    SeenRecords,
    delete_absent,
    find_absent,
    seen_mark,
)
from pdpp.sources.importing.namesakes import Namesakes
from pdpp.sources.importing.positions import PositionLog
from pdpp.sources.importing.recognition import RecognisedExport
from pdpp.sources.importing.report import (
    COMPLETE,
    DAMAGED,
    INTERRUPTED,
    ImportReport,
    ImportSubject,
)
from pdpp.sources.importing.run import ImportRun
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.talk_names import TalkNames
from pdpp.sources.importing.title import found_name
from pdpp.sources.importing.unreadable import still_readable
from pdpp.sources.importing.writer import OpenIntake, RecordWriter
from pdpp.sources.item import START, Item, Skipped
from pdpp.sources.keys import KeySealer
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import AccountKnowledge, AnyPart
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake
from pdpp.store.port import Store


@dataclass(frozen=True, slots=True)
class ImportEnvironment:
    """What an import runs on: where it writes, and how much it may."""

    store: Store
    state: ImportState
    intake: OpenIntake
    blob_bytes: int
    clock: instant.Clock = instant.now


STORED_RATIO = 100
"""An export may become so many times what its files hold: a short row becomes a record with names.
One that says a long thing once for thousands of records would fill the disk."""

STORED_FREELY = 64 << 20
"""So many bytes an export may become however small it is."""

_MANY_BYTES = 8 << 20
"""So many bytes of an export mostly hold more than ten thousand records."""

_KEEP_EVERY = instant.SECOND
"""How often the report of an import that runs is kept: it outlives a kill."""


def _never() -> bool:
    return False


def _quietly(report: ImportReport, done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class ImportCallbacks:
    """Callbacks: ``stop`` says whether to end, ``tell`` gets the bytes done and their total."""

    stop: Callable[[], bool] = _never
    tell: Callable[[ImportReport, int, int], None] = _quietly


class ImportTask:
    """One export on its way into one connection, with the report of it."""

    def __init__(
        self,
        tree: Tree,
        export: RecognisedExport,
        destination: Destination,
        environment: ImportEnvironment,
        within: Path | None = None,
    ) -> None:
        self.tree = tree
        self.within = within
        self.destination = destination
        self.environment = environment
        self._around: KnownFolder | None = None
        self._day = ExportDay()
        self.export = self._in_account(export)
        now = environment.clock()
        self.name = environment.state.new_report_name(now)
        self.report = ImportReport(self._subject(), now)
        self._contents = ""
        self._has_read = False
        self._kept_at = now
        self._seen: SeenRecords = set()
        self._others: Sequence[ImportTask] = ()
        self._refused: set[Skipped] = set()

    @contextmanager
    def turn(self, wait: Callable[[], None]) -> Iterator[None]:
        """Hold the turn of the source while a new account is filled; call ``wait`` until then.

        An account is known by its records and by the reports of its imports. Of two imports that
        ran at the same time neither would find the other's, and one export became two accounts.
        """
        with ExitStack() as stack:
            if self.destination.is_new:
                source = self.export.source.connector_key
                turn = self.environment.store.turn(f"import {source}", wait)
                stack.enter_context(turn)
                self.look_again()
            if not self.destination.is_new:
                stack.close()
            yield

    def look_again(self) -> None:
        """Find the destination anew: what was imported since may be of the same account.

        A new account that the owner chose may be there by now.
        """
        self.tree = still_readable(self.tree, self.export)
        if self.destination.is_new:
            environment, before = self.environment, self.destination
            chosen = None if before.is_proposed else before.connection_id
            found = find_destination(
                environment.store, environment.state, self.tree, self.export, chosen
            )
            # Whoever goes on with this import knows this id.
            new = replace(found, connection_id=before.connection_id)
            self.destination = new if found.is_new else found
            self.report = ImportReport(self._subject(), environment.clock())

    def settle(self, progress: Callable[[int], None] | None = None) -> Declaration:
        """Register the source where it is new or changed, and add the connection.

        The report is kept before that: if the program is killed, it tells whose the account is.
        """
        environment = self.environment
        store, source = environment.store, self.export.source
        # Of many exports that are prepared together each begins when those before it have ended.
        self.report.started_at = environment.clock()
        self.name = environment.state.new_report_name(self.report.started_at)
        declaration = parse_declaration(source.declaration())
        store.register(declaration, progress=progress)
        # Exports that were recognised together know nothing of each other.
        self.export = self._in_account(self.export)
        self.tree = still_readable(self.tree, self.export)
        self._contents = contents_of(self.tree, self.export)
        self._day = export_day(
            source, self.tree, environment.state, store.catalogue(), self.account
        )
        self.keep()
        if self.account not in store.catalogue().connections:
            store.connect(
                self.destination.connection_id, source.connector_key, self.destination.display_name
            )
        self._remember()
        return declaration

    def _remember(self) -> None:
        """Keep what the owner decided, and add what the source is to know to what it knows."""
        state, key = self.environment.state, self.export.source.connector_key
        recognition = self.export.recognition
        kept = {name: {**state.recall(key, name), **new} for name, new in recognition.keep.items()}
        for shape, choices in {recognition.shape: recognition.remember, **kept}.items():
            if choices:
                state.remember(key, shape, choices)
        if recognition.of_account:
            state.remember_account(self.account, recognition.of_account)

    def _in_account(self, export: RecognisedExport) -> RecognisedExport:
        """Return an export with what its source knows of the account that it goes into."""
        account, catalogue = self.account, self.environment.store.catalogue()
        recall = self.environment.state.recall_account
        parts = [part for part, whole in catalogue.merged.items() if whole == account]
        own = {name: one for part in (*parts, account) for name, one in recall(part).items()}
        every = connections_of(catalogue, export.source.connector_key)
        others = [recall(one.connection_id) for one in every if one.connection_id != account]
        folders = KnownFolders(catalogue, self.environment.state, export.source.connector_key)
        self._around = known_around(folders, self.tree, export, account)
        known = AccountKnowledge(own, others, place_below(self._around, self.tree))
        return replace(export, recognition=export.source.in_account(export.recognition, known))

    def run(
        self,
        declaration: Declaration,
        callbacks: ImportCallbacks | None = None,
        *,
        mirror: bool = False,
    ) -> ImportReport:
        """Import everything; continue where an earlier import of the same was interrupted.

        A mirror reads everything anew, because it must see every key that is still there.
        """
        with closing(self.journal(declaration)) as journal:
            going_on = journal.interrupted and not self.destination.is_new and not mirror
            journal.begin(anew=not going_on)
            self.report_refused()
            reached = self.read_parts(journal, callbacks or ImportCallbacks(), mirror=mirror)
            journal.end(complete=reached)
        self.end_reading(reached=reached)
        return self.report

    def end_reading(self, *, reached: bool) -> None:
        """Close the report once reading came to its end, or was stopped before."""
        whole = not self.report.cut and not self.report.unaccounted()
        self.end((COMPLETE if whole else DAMAGED) if reached else INTERRUPTED)

    def journal(self, declaration: Declaration) -> PositionLog:
        """Return the journal of this path and this connection."""
        revision = f"{pdpp.__version__} {declaration.revision}"
        return self.environment.state.journal(
            self.destination.connection_id, self.tree.path, revision
        )

    def report_refused(self) -> None:
        """Count the files that must not or cannot be read, each once."""
        for refused in dict.fromkeys(self.tree.refused):
            if refused not in self._refused:
                self._refused.add(refused)
                self.report.counts["read"] += 1
                self.report.skip(refused.reason, refused.example)
            self.report.cut |= refused.cut

    def read_parts(
        self,
        journal: PositionLog,
        callbacks: ImportCallbacks,
        *,
        mirror: bool = False,
        patient: bool = False,
    ) -> bool:
        """Read every part that is not read yet; return whether the end was reached."""
        if mirror:  # Its owner wants the account to be as the export is, however old that is.
            self._day = replace(self._day, newest={})
        parts = list(self.export.source.parts(self.tree, self.export.recognition))
        # What is followed grows by little, however long it is.
        many = self.tree.size >= _MANY_BYTES and not patient
        with closing(self._writer(mirror=mirror, many=many)) as writer:
            run = ImportRun(
                writer,
                self.report,
                journal,
                stop=callbacks.stop,
                tell=self._teller(parts, callbacks),
                patient=patient,
                parts_depend=self.export.source.parts_depend,
            )
            reached = run.run(self._named(parts, callbacks.stop))
        # A watch reads on, and what it reads may be of what is stored now.
        self._has_read = True
        if reached:
            count_files(self.report, self.tree, self.export, parts)
        return reached

    def _writer(self, *, mirror: bool, many: bool = False) -> RecordWriter:
        def see(stream: str, key: str) -> None:
            self._seen.add(seen_mark(stream, key))

        return RecordWriter(
            self.environment.store,
            self.destination.connection_id,
            self.environment.intake,
            self.report,
            blob_bytes=self.environment.blob_bytes,
            sealer=self._sealer(),
            most_bytes=max(STORED_FREELY, STORED_RATIO * self.tree.size),
            see=see if mirror else None,
            many=many,
            new=self.destination.is_new and not self._has_read,
        )

    @property
    def account(self) -> str:
        """Return the connection that the records go into: also one that it was merged into."""
        catalogue = self.environment.store.catalogue()
        return catalogue.account_of(self.destination.connection_id)

    def _sealer(self) -> KeySealer:
        secret = self.environment.store.import_secret()
        return KeySealer(secret, self.export.source.connector_key)

    def _named(
        self, parts: Sequence[AnyPart], stop: Callable[[], bool], *, as_told: bool = False
    ) -> Sequence[AnyPart]:
        """Return parts that leave chats the names of a newer export, and tell namesakes apart."""
        store, account, sealer = self.environment.store, self.account, self._sealer()
        namesakes = Namesakes(store, account, sealer, self.export.source.namesakes)
        day = ExportDay() if as_told else self._day
        parts = day.parts(namesakes.parts(parts))
        talks = TalkNames(
            store, account, sealer, parts, stop, as_told=as_told, outdated=day.outdated
        )
        return talks.parts()

    def _teller(self, parts: Sequence[AnyPart], callbacks: ImportCallbacks) -> Callable[[], None]:
        total = sum(part.entry.size for part in parts)
        meter = self.tree.meter
        meter.reset()

        def tell() -> None:
            callbacks.tell(self.report, min(meter.bytes_read, total), total)
            # Whoever goes on after a kill reads no more of what was skipped or not known before.
            if self.environment.clock() >= self._kept_at + _KEEP_EVERY:
                self.keep()

        return tell

    def end(self, status: str) -> None:
        """Close the report and keep it."""
        self.report.end(status, self.environment.clock())
        self.keep()

    def keep(self) -> None:
        """Keep the report as it is now."""
        self._kept_at = self.environment.clock()
        self.environment.state.keep_report(self.name, self.document())

    def document(self) -> Mapping[str, Any]:
        """Return the report as it is kept."""
        notes = [*self.export.recognition.notes, *self.destination.notes, *self._day.notes]
        report = self.report.document()
        kept = {"contents": self._contents, **report_folder(self._around, self.tree, self.export)}
        kept |= {"made_on": self._day.day} if self._day.day else {}
        return {"import_id": self.name, **report, "notes": notes, **kept}

    # Mirrors

    def see_also(self, others: Sequence["ImportTask"]) -> None:
        """Take what other exports of the same account hold for held: no export is the whole."""
        self._seen.update(*(other._seen for other in others))
        self._others = others

    def absent(self) -> AbsentRecords:
        """Return what the connection holds and the export, read whole, does not."""
        store, account = self.environment.store, self.destination.connection_id
        return find_absent(store, account, self._seen, self._places())

    def _places(self) -> frozenset[str]:
        """Return where in the folder of the account lies what this and the others hold."""
        return frozenset(mirrored_place(task._around, task.tree) for task in (self, *self._others))

    def delete_absent(self) -> None:
        """Let what stays be as the export has it, delete these records, and keep a report.

        Of several exports of an account none says how it is: the newest state of each record stays.
        """
        environment = self.environment
        # First, so that a mirror that was cut still has something to delete, and is done again.
        if not self._others:
            self._write_as_told()
        delete_absent(
            environment.store,
            self.destination.connection_id,
            self._seen,
            environment.intake,
            self.report,
            self._places(),
        )
        self.end(self.report.status)

    def _write_as_told(self) -> None:
        """Read the export again, and let its records replace later states of themselves.

        A chat would still tell when the messages were sent that are to be deleted, and count them.
        """
        open_intake = self.environment.intake

        def intake(feed: Feed) -> Intake:
            opened = open_intake(feed)
            opened.replace_newer()
            return opened

        environment = replace(self.environment, intake=intake)
        again = ImportTask(self.tree, self.export, self.destination, environment)
        parts = list(self.export.source.parts(self.tree, self.export.recognition))
        with closing(again._writer(mirror=False)) as writer:
            for part in again._named(parts, _never, as_told=True):
                for finding in part.findings(START):
                    if isinstance(finding, Item):
                        writer.add(finding)
                        if writer.full:
                            writer.send()
            writer.send()
            writer.settle()

    def _subject(self) -> ImportSubject:
        export, destination = self.export, self.destination
        return ImportSubject(
            path=str(self.tree.path),
            connector_key=export.source.connector_key,
            label=export.source.label,
            version=export.recognition.version,
            confidence=str(export.recognition.confidence),
            identity=identity_of(export),
            connection_id=destination.connection_id,
            display_name=destination.display_name,
            found=found_name(self.tree, export, self.within),
        )

    # Watching

    def replace_export(self, tree: Tree, export: RecognisedExport) -> None:
        """Continue with the files that the path holds now."""
        self.tree, self.export = tree, self._in_account(export)
        self._remember()
