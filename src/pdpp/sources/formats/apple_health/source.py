"""The export of Apple Health: one XML document of any size, with routes and recordings beside it.

The document writes every time in the zone in which the telephone happens to be, and names devices
by their place in memory: records hold times in UTC and the names of devices alone, so that the next
export of the same measurement is the same record.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from types import MappingProxyType

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.apple_health.elements import READERS, moment
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present, with_file
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.textfile import text_lines
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.reading.xmlstream import XmlElement, xml_elements, xml_root
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    roots_of_exports,
)

_MOST_CANDIDATES = 200
_FIRST_ELEMENTS = 10
_MOST_HEADER_LINES = 40
_GPX = "application/gpx+xml"


class AppleHealth(Source):
    """The zip that the Health app makes of everything it knows."""

    connector_key = "apple_health"
    own_folders = (
        "workout-routes",
        "electrocardiograms",
        "clinical-records",
        "*_export",
    )
    label = "Apple Health export"
    passed_over = MappingProxyType(
        {
            "*cda.xml": "a shorter copy of the same measurements",
            "*/workout-routes/*": "a route that no workout names",
            "workout-routes/*": "a route that no workout names",
            "*/clinical-records/*": "a clinical record that the document does not name",
            "clinical-records/*": "a clinical record that the document does not name",
        }
    )

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return the folder of each document by itself."""
        return roots_of_exports(_documents(tree))

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for a document whose root only this export has; its name follows the language."""
        documents = _documents(tree)
        if not documents:
            return None
        return Recognition(
            Confidence.CERTAIN,
            f"{documents[0].size:,} bytes of measurements",
            account="Apple Health",
            identity=_identity(documents[0]),
            owner_known=False,
            detail={"entries": [entry.name for entry in documents]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return the document and the recordings of the heart."""
        files = _NamedFiles(tree)
        for entry in tree.these(recognition.detail["entries"]):
            yield ExportPart(entry, partial(_read, files, entry))
        for entry in tree.entries:
            if "electrocardiograms" in entry.name.split("/")[:-1] and entry.suffix == ".csv":
                yield ExportPart(entry, partial(_read_recording, entry))


def _documents(tree: Tree) -> list[FileEntry]:
    return [entry for entry in _candidates(tree) if _is_health(entry)]


def _candidates(tree: Tree) -> list[FileEntry]:
    return list(tree.entries) if tree.kind == "file" else tree.named("*.xml")[:_MOST_CANDIDATES]


def _is_health(entry: FileEntry) -> bool:
    root = xml_root(entry)
    return root is not None and root.name == "HealthData"


def _identity(entry: FileEntry) -> str:
    """Return what a person's exports have in common: the profile and the first measurement."""
    seen: list[str] = []
    try:
        with entry.open() as stream:
            for number, element in enumerate(xml_elements(stream)):
                if isinstance(element, XmlElement) and element.name != "ExportDate":
                    attributes = element.attributes
                    when = moment(attributes.get("startDate", "")) or ""
                    kept = {**attributes, "startDate": when, "endDate": "", "creationDate": ""}
                    seen += [f"{name}={kept[name]}" for name in sorted(kept) if name != "device"]
                    if element.name != "Me":
                        break
                if number > _FIRST_ELEMENTS:
                    break
    except DamagedFile:
        pass
    return digest_key(*seen)


class _NamedFiles:
    """The files of an export, found by the paths that the document writes."""

    def __init__(self, tree: Tree) -> None:
        self._files = {"/".join(entry.name.split("/")[-2:]): entry for entry in tree.entries}

    def find(self, path: str) -> FileEntry | None:
        """Return the file of a path; the folder around the export has a name in any language."""
        return self._files.get("/".join(path.split("/")[-2:]))


def _read(files: _NamedFiles, entry: FileEntry) -> Iterator[Finding]:
    with entry.open() as stream:
        for element in xml_elements(stream):
            if isinstance(element, XmlElement):
                where = f"{entry.name} {element.name} {element.number}"
                yield from account(_element(files, element, where), where, element.name)
            elif isinstance(element, Skipped):
                yield element


def _element(files: _NamedFiles, element: XmlElement, where: str) -> Iterator[Finding]:
    reader = READERS.get(element.name)
    if reader is None:
        yield Unknown(f"an element {element.name[:40]}", where)
        return
    item = reader(element)
    if item is None:
        yield Unknown("an element without a kind or a time", where)
        return
    if isinstance(item, Skipped):
        yield item._replace(example=where)
        return
    places = [(route, files.find(path)) for route, path in _places(element)]
    yield _with_file(item, places[0][1]) if places else item
    for number, (route, file) in enumerate(places, 1):
        if file is None:
            yield Skipped("a file that the document names and the export lacks", where)
        elif number > 1:
            yield _further_route(item, f"{number} of {len(places)}", route, file)


def _places(element: XmlElement) -> Iterator[tuple[XmlElement, str]]:
    """Yield the files that an element names, each with the element that names it."""
    if path := element.attributes.get("resourceFilePath"):
        yield element, path
    for route in element.each("WorkoutRoute"):
        for reference in route.each("FileReference"):
            yield route, reference.attributes.get("path", "")


def _with_file(item: Item, file: FileEntry | None) -> Item:
    field = "route" if item.stream == "workouts" else "file"
    kind = _GPX if field == "route" else "application/fhir+json"
    return with_file(item, None if file is None else file.open_exact, kind, field)


def _further_route(workout: Item, part: str, route: XmlElement, file: FileEntry) -> Item:
    """Return a way of a workout that has several, as after a long pause or a leg of another sport.

    The first stands with the workout. Names of files tell the hour in the zone of the export, so
    that a way is known by its place among the others.
    """
    key = digest_key("route", workout.key, part.partition(" ")[0])
    data = {
        "id": key,
        "workout_id": workout.key,
        "kind": workout.data["kind"],
        "part": part,
        "started_at": moment(route.attributes.get("startDate", "")) or workout.data["started_at"],
        "ended_at": moment(route.attributes.get("endDate", "")),
    }
    return Item("routes", key, present(data), (Attachment("file", file.open_exact, _GPX),))


def _read_recording(entry: FileEntry) -> Iterator[Finding]:
    yield from account(_recording(entry), entry.name, "electrocardiogram")


def _recording(entry: FileEntry) -> Iterator[Finding]:
    """Yield one recording: lines of names and values in any language, then samples."""
    header: list[tuple[str, str]] = []
    samples = 0
    for line in text_lines(entry):
        name, comma, value = line.text.partition(",")
        if not _is_number(name) and comma and len(header) < _MOST_HEADER_LINES and not samples:
            header.append((name.strip(), value.strip().strip('"')))
        elif line.text.strip():
            samples += 1
    times = [when for _, value in header if (when := moment(value)) is not None]
    if not header or not samples:
        yield Unknown("a recording without a header or samples", entry.name)
        return
    summary = [(name, value) for name, value in header if moment(value) is None]
    key = digest_key(*times[:1], *(f"{name}={value}" for name, value in header[:8]), str(samples))
    data = {
        "id": key,
        "classification": _classification(header),
        "recorded_at": times[0] if times else None,
        "summary": "\n".join(f"{name}: {value}" for name, value in summary if value),
        "samples": samples,
    }
    file = Attachment("file", entry.open_exact, "text/csv")
    yield Item("electrocardiograms", key, present(data), (file,))


def _classification(header: list[tuple[str, str]]) -> str | None:
    """Return the value on the line after the one with the time, whatever its name."""
    for number, (_, value) in enumerate(header[:-1]):
        if moment(value) is not None:
            return header[number + 1][1] or None
    return None


def _is_number(text: str) -> bool:
    return text.strip().lstrip("-").replace(".", "", 1).isdigit()
