"""Google Timeline: where a phone was, in the layouts of the phone and of Takeout."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType

from pdpp.sources.formats.google_timeline.phone import read_android, read_iphone
from pdpp.sources.formats.google_timeline.takeout import read_month, read_positions
from pdpp.sources.formats.takeout import (
    TAKEOUT_FILES,
    TAKEOUT_OWNER,
    json_files,
    looks_like,
    takeout_recognition,
)
from pdpp.sources.item import Finding
from pdpp.sources.reading.named_days import day_in
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
)

_NAMES = (
    *("Timeline*.json", "location-history*.json", "Records*.json", "Zeitachse*.json"),
    *("Chronologie*.json", "Vos trajets*.json", "타임라인*.json", "20??_*.json"),
)
_MARKS = (b'"semanticSegments"', b'"rawSignals"', b'"timelineObjects"', b'"latitudeE7"')
_MARKS_OF_LISTS = (b'"timelinePath"', b'"topCandidate"', b'"timelineMemory"')
_PATHS = frozenset(
    {
        *("semanticSegments", "timelineObjects", "locations.item.latitudeE7"),
        "rawSignals.item.position",
        *("item.startTime", "item.endTime", "locations.item"),
    }
)
_LAYOUTS = MappingProxyType(
    {
        "semanticSegments": "a phone with Android",
        "timelineObjects": "Takeout, by month",
        "locations": "Takeout, every position",
        "item": "an iPhone",
    }
)


_EDITS = b'"timelineEdits"'
_ONLY_EDITS = (
    "this Takeout has edits of Google's Timeline and not the Timeline, which Google keeps on the "
    "phone; export it there: Settings, Location, Location services, Timeline, Export (Android), or "
    "in Google Maps: Settings, Personal content, Export Timeline data (iPhone)"
)


class GoogleTimeline(Source):
    """Files of Google Maps' timeline, exported on the phone or from Takeout."""

    connector_key = "google_timeline"
    owner_files = TAKEOUT_OWNER
    lies_among_others = True
    files_stand_alone = True
    label = "Google Timeline"
    passed_over = MappingProxyType(
        {
            **TAKEOUT_FILES,
            "Settings.json": "settings",
            "Timeline Edits.json": "raw edits, which the timeline holds",
            "Tombstones.csv": "what was deleted",
        }
    )

    def recognise(
        self,
        tree: Tree,
        choices: OwnerChoices,  # noqa: ARG002
    ) -> Recognition | ExportRefusal | None:
        """Look for the members that only a timeline has."""
        documents = {
            entry.name: layout
            for entry, expected in json_files(tree, *_NAMES)
            if (layout := _layout(entry, expected)) is not None
        }
        if not documents:
            edits = any(_EDITS in entry.head() for entry, _ in json_files(tree, *_NAMES))
            return ExportRefusal(_ONLY_EDITS, lies_among_others=True) if edits else None
        version = ", ".join(sorted({_LAYOUTS[layout] for layout in documents.values()}))
        return takeout_recognition(tree, self.label, version, {"documents": documents})

    def made_on(self, tree: Tree) -> str:
        """Return the day that the name of an archive tells."""
        return day_in(tree.called)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each document."""
        documents = recognition.detail["documents"]
        for entry in tree.these(documents):
            yield ExportPart(entry, partial(_READERS[documents[entry.name]], entry))


def _layout(entry: FileEntry, expected: bool) -> str | None:
    paths = looks_like(entry, _MARKS + _MARKS_OF_LISTS, _PATHS, expected=expected)
    if paths & {"semanticSegments", "rawSignals.item.position"}:
        return "semanticSegments"
    if "timelineObjects" in paths:
        return "timelineObjects"
    if "locations.item.latitudeE7" in paths:
        return "locations"
    is_list = {"item.startTime", "item.endTime"} <= paths
    return "item" if is_list and any(mark in entry.head() for mark in _MARKS_OF_LISTS) else None


_READERS: Mapping[str, Callable[[FileEntry], Iterator[Finding]]] = MappingProxyType(
    {
        "semanticSegments": read_android,
        "item": read_iphone,
        "locations": read_positions,
        "timelineObjects": read_month,
    }
)
