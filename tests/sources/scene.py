"""A scene: a data folder, an export of word lists that tests change, and imports of it."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.engine import open_store
from tests.serving import SetClock
from tests.sources.kit import stored

from pdpp.resource.ingest import Intake
from pdpp.sources.arrival import Arrival, Rails, destination
from pdpp.sources.drawer import Drawer
from pdpp.sources.item import Found, Item, Place, Skipped
from pdpp.sources.source import Confidence, Part, Recognition, Source, Wishes
from pdpp.sources.tree import Entry, Tree, open_tree
from pdpp.sources.verdict import Verdict
from pdpp.store.catalogue import Feed


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

    def recognise(self, tree: Tree, wishes: Wishes) -> Recognition | None:
        account = wishes.given.get("account", "Nora")
        return Recognition(Confidence.CERTAIN, "lists", account) if tree.entries else None

    def parts(self, tree: Tree, found: Recognition) -> Iterable[Part]:
        assert found.version
        return [Part(entry, self._reader(entry), grows=self.grows) for entry in tree.entries]

    def _reader(self, entry: Entry) -> Any:
        def read(place: Place) -> Iterator[Found]:
            offset, count = place.offset, place.state.get("count", 0)
            with entry.open(offset) as stream:
                for line in stream:
                    word = line.decode().strip()
                    offset, count = offset + len(line), count + 1
                    if word == "torn":
                        yield Skipped("torn", entry.name, cut=True)
                        return
                    yield Item("words", word, {"id": word, "line": count})
                    yield Place(offset, {"count": count})

        return read


class Scene:
    """A data folder, an export, and imports of it."""

    def __init__(self, folder: Path) -> None:
        self.export = folder / "export"
        self.export.mkdir()
        self.drawer = Drawer(folder / "data")
        self.store = open_store(folder / "data")
        self.clock = SetClock()
        self.source: Source = Words()

    def intake(self, feed: Feed) -> Intake:
        return Intake(self.store, feed, now=1, line_bytes=10_000)

    def put(self, name: str, *words: str) -> None:
        (self.export / name).write_text("".join(f"{word}\n" for word in words))

    def arrival(self, chosen: str | None = None, **given: str) -> Arrival:
        tree = open_tree(self.export)
        found = self.source.recognise(tree, Wishes(given))
        assert isinstance(found, Recognition)
        verdict = Verdict(self.source, found)
        goal = destination(self.store.catalogue(), self.drawer, verdict, chosen)
        rails = Rails(self.store, self.drawer, self.intake, 1_000, self.clock)
        return Arrival(tree, verdict, goal, rails)

    def bring(self, chosen: str | None = None, **options: Any) -> Arrival:
        arrival = self.arrival(chosen)
        arrival.run(arrival.settle(), **options)
        self.clock.advance(60)
        return arrival

    def keys(self) -> list[str]:
        return sorted(key for _, key in stored(self.store))
