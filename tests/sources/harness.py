"""A harness: a store with one connection, and journeys of a folder into it."""

import io
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from tests.engine import open_store
from tests.made_once import parse_once
from tests.sources.kit import stored

from pdpp.model.errors import DamagedFile
from pdpp.sources.importing.positions import PositionLog
from pdpp.sources.importing.report import ImportReport, ImportSubject
from pdpp.sources.importing.run import ImportRun
from pdpp.sources.importing.writer import RecordWriter
from pdpp.sources.item import START, Attachment, Finding, Item, ResumePoint, Skipped, Unknown
from pdpp.sources.keys import KeySealer
from pdpp.sources.reading.tree import Tree, open_tree
from pdpp.sources.source import ExportPart, GrowingPart
from pdpp.store.catalogue import Feed
from pdpp.store.intake import IngestResultJson, Intake
from pdpp.store.port import Store

DECLARATION: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://sources.example/notes"},
    "connector_key": "notes",
    "declaration_version": "1",
    "publisher": {"id": "https://sources.example"},
    "display": {"name": "Notes"},
    "streams": [
        {
            "name": name,
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "text": {"type": "string"},
                    "file": {"type": ["object", "null"], "x_pdpp_type": "blob"},
                },
                "required": ["id", "text"],
            },
            "primary_key": ["id"],
        }
        for name in ("notes", "tags")
    ],
}


class Counted(Intake):
    """A batch whose size is noted at the harness when it is written."""

    def __init__(self, harness: "Harness", feed: Feed) -> None:
        super().__init__(harness.store, feed, now=1, line_bytes=10_000)
        self.harness = harness
        self.stream = feed.stream.name

    def write(self, *, lasting: bool = True) -> IngestResultJson:
        answer = super().write(lasting=lasting)
        self.harness.batches.append((self.stream, answer["records_attempted"]))
        return answer


@dataclass(slots=True)
class Harness:
    """A store with one connection, and what an import of a folder into it needs."""

    store: Store
    folder: Path
    batches: list[tuple[str, int]] = field(default_factory=list)
    report: ImportReport = field(init=False)

    def __post_init__(self) -> None:
        self.report = self.new_report()

    def new_report(self) -> ImportReport:
        subject = ImportSubject("/x", "notes", "Notes", "1", "certain", "me", "c1", "Me", "x")
        self.report = ImportReport(subject, 0)
        return self.report

    def intake(self, feed: Feed) -> Intake:
        return Counted(self, feed)

    def journal(self) -> PositionLog:
        return PositionLog(self.folder / "positions" / "j.ndjson", "1")

    def read_parts(
        self,
        read: Callable[[Any, ResumePoint], Iterator[Finding]],
        *,
        grows: bool = False,
        anew: bool = True,
        **options: Any,
    ) -> bool:
        """Import every file of the folder with one reader."""
        parts = [
            GrowingPart(entry, partial(read, entry))
            if grows
            else ExportPart(entry, partial(read, entry, START))
            for entry in self.tree().entries
        ]
        with closing(self.writer()) as writer, closing(self.journal()) as journal:
            journal.begin(anew=anew)
            reached = ImportRun(writer, self.report, journal, **options).run(parts)
            journal.end(complete=reached)
        return reached

    def writer(self, **options: Any) -> RecordWriter:
        return RecordWriter(
            self.store,
            "c1",
            self.intake,
            self.report,
            blob_bytes=1_000,
            sealer=KeySealer(b"secret", "notes"),
            **options,
        )

    def tree(self) -> Tree:
        return open_tree(self.folder / "export")

    def put(self, name: str, content: str) -> None:
        path = self.folder / "export" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)

    def keys(self) -> list[str]:
        return sorted(key for _, key in stored(self.store))


def new_desk(folder: Path) -> Harness:
    """Open a store for a test."""
    store = open_store(folder / "data")
    store.register(parse_once(DECLARATION))
    store.connect("c1", "notes", "Me")
    return Harness(store, folder)


def note(key: str, text: str = "x", **more: Any) -> Item:
    return Item("notes", key, {"id": key, "text": text}, **more)


def words(entry: Any, place: ResumePoint) -> Iterator[Finding]:
    """Yield a note for each line; a line says what else may come."""
    with entry.open(place.offset) as stream:
        offset, count = place.offset, place.state.get("count", 0)
        for line in stream:
            offset += len(line)
            word = line.decode().strip()
            count += 1
            if word == "skip":
                yield Skipped("a word to skip", f"{entry.name} {count}")
            elif word == "odd":
                yield Unknown("an odd word", f"{entry.name} {count}")
            elif word == "damage":
                raise DamagedFile("it is torn here")
            elif word == "surprise":
                raise KeyError(word)
            elif word == "tail":
                yield Skipped("a tail", entry.name, cut=True)
            else:
                yield note(word, str(count))
            yield ResumePoint(offset, {"count": count})


def counts(report: ImportReport) -> dict[str, int]:
    return {name: count for name, count in report.document()["counts"].items() if count}


def items(*found: Item) -> Callable[[Any, ResumePoint], Iterator[Finding]]:
    def read(entry: Any, place: ResumePoint) -> Iterator[Finding]:
        assert place == START
        assert entry.name
        yield from found

    return read


def attachment(content: bytes, media_type: str = "text/plain") -> tuple[Attachment, ...]:
    return (Attachment("file", lambda: io.BytesIO(content), media_type),)
