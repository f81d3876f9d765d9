"""A scene: a data folder, an export of word lists that tests change, and imports of it."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from tests.engine import open_store
from tests.serving import SetClock
from tests.sources.kit import stored

from pdpp.sources.importing.destination import find_destination
from pdpp.sources.importing.recognition import RecognisedExport
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.task import ImportEnvironment, ImportTask
from pdpp.sources.item import START, Finding, Item, ResumePoint, Skipped
from pdpp.sources.reading.tree import FileEntry, Tree, open_tree
from pdpp.sources.source import (
    AnyPart,
    Confidence,
    ExportPart,
    GrowingPart,
    OwnerChoices,
    Recognition,
    Source,
)
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake


class Words(Source):
    """A note for each line of each file."""

    connector_key = "words"
    label = "Word lists"

    def __init__(self, version: str = "1", *, grows: bool = False) -> None:
        self.version = version
        self.grows = grows

    def declaration(self) -> Mapping[str, Any]:
        return {
            "protocol_version": "0.1.0",
            "source": {"kind": "connector", "id": "https://sources.example/words"},
            "connector_key": "words",
            "declaration_version": self.version,
            "publisher": {"id": "https://sources.example"},
            "display": {"name": "Words"},
            "streams": [
                {
                    "name": "words",
                    "semantics": "mutable_state",
                    "schema": {
                        "type": "object",
                        "properties": {"id": {"type": "string"}, "line": {"type": "integer"}},
                    },
                    "primary_key": ["id"],
                }
            ],
        }

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        account = choices.given.get("account", "Nora")
        return Recognition(Confidence.CERTAIN, "lists", account) if tree.entries else None

    def parts(self, tree: Tree, found: Recognition) -> Iterable[AnyPart]:
        assert found.version
        return [self._part(entry) for entry in tree.entries]

    def _part(self, entry: FileEntry) -> AnyPart:
        read = self._reader(entry)
        return GrowingPart(entry, read) if self.grows else ExportPart(entry, partial(read, START))

    def _reader(self, entry: FileEntry) -> Any:
        def read(place: ResumePoint) -> Iterator[Finding]:
            offset, count = place.offset, place.state.get("count", 0)
            with entry.open(offset) as stream:
                for line in stream:
                    word = line.decode().strip()
                    offset, count = offset + len(line), count + 1
                    if word == "torn":
                        yield Skipped("torn", entry.name, cut=True)
                        return
                    yield Item("words", word, {"id": word, "line": count})
                    yield ResumePoint(offset, {"count": count})

        return read


class WordLists:
    """A data folder, an export, and imports of it."""

    def __init__(self, folder: Path) -> None:
        self.export = folder / "export"
        self.export.mkdir()
        self.state = ImportState(folder / "data")
        self.store = open_store(folder / "data")
        self.clock = SetClock()
        self.source: Source = Words()

    def intake(self, feed: Feed) -> Intake:
        return Intake(self.store, feed, now=1, line_bytes=10_000)

    def put(self, name: str, *words: str) -> None:
        (self.export / name).write_text("".join(f"{word}\n" for word in words))

    def task(self, chosen: str | None = None, **given: str) -> ImportTask:
        tree = open_tree(self.export)
        found = self.source.recognise(tree, OwnerChoices(given))
        assert isinstance(found, Recognition)
        export = RecognisedExport(self.source, found)
        destination = find_destination(self.store, self.state, tree, export, chosen)
        environment = ImportEnvironment(self.store, self.state, self.intake, 1_000, self.clock)
        return ImportTask(tree, export, destination, environment)

    def bring(self, chosen: str | None = None, **options: Any) -> ImportTask:
        task = self.task(chosen)
        task.run(task.settle(), **options)
        self.clock.advance(60)
        return task

    def keys(self) -> list[str]:
        return sorted(key for _, key in stored(self.store))
