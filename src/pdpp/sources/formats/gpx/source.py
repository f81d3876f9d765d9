"""Tracks, routes and places as GPX, KML, TCX and Google's GeoJSON, one file or a folder of them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from types import MappingProxyType

from pdpp.sources.formats.gpx.google_places import ENDINGS, holds_places, read_places
from pdpp.sources.formats.gpx.kml import read_kml
from pdpp.sources.formats.gpx.tcx import ROOT, read_tcx
from pdpp.sources.formats.gpx.way import Place, Way, moment_of, number_of, place_of, way_found
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.gunzip import unpacked
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.reading.xmlstream import XmlElement, XmlEnd, XmlStart, xml_elements, xml_root
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    part_of_each,
)

_MOST_CANDIDATES = 20_000
_MOST_LISTS = 300
_PACKED_MAP = ".kmz"
_ENDINGS = (".gpx", ".kml", ".tcx", ".gpx.gz", ".kml.gz", ".tcx.gz")
_WORDS = ("name", "desc", "cmt", "type")
_POINTS = frozenset({"trkpt", "rtept"})


class Gpx(Source):
    """Files that watches, telephones and programs for hiking write."""

    connector_key = "gpx"
    lies_among_others = True
    files_stand_alone = True
    collects = True
    label = "Tracks and maps (GPX, KML)"
    passed_over = MappingProxyType({f"*{_PACKED_MAP}/*": "a picture of a map"})

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for documents whose root only this format has."""
        tracks = _candidates(tree)
        places = _google_places(tree)
        if not any(map(_root, tracks)):
            tracks = []
        tracks += places
        if not tracks:
            return None
        return Recognition(
            Confidence.CERTAIN,
            f"{len(tracks):,} files" if len(tracks) > 1 else "a file",
            account="Tracks and maps",
            identity="GPX",
            owner_known=False,
            detail={"entries": [entry.name for entry in tracks]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file."""
        return part_of_each(tree.these(recognition.detail["entries"]), _read)

    def belongings(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the packed maps: their pictures are no photos of anybody."""
        if tree.path.suffix.lower() == _PACKED_MAP:
            return ("",)
        found = {entry.name for entry in tree.entries if entry.suffix == _PACKED_MAP}
        read = recognition.detail["entries"]
        return [name for name in found if any(part.startswith(f"{name}/") for part in read)]


def _candidates(tree: Tree) -> list[FileEntry]:
    """Return the files to look at; those of a health export belong to its workouts."""
    if tree.kind == "file":
        return list(tree.entries)
    tracks = [
        entry
        for entry in tree.entries
        if entry.plain_base.lower().endswith(_ENDINGS)
        and "workout-routes" not in entry.name.split("/")[:-1]
    ]
    return tracks[:_MOST_CANDIDATES]


def _google_places(tree: Tree) -> list[FileEntry]:
    """Return the files of places saved in Google Maps; nobody has very many of them."""
    named = [entry for entry in tree.entries if entry.suffix in ENDINGS]
    beside = Counter(entry.name.rpartition("/")[0] for entry in named)
    return [
        entry
        for entry in named
        if beside[entry.name.rpartition("/")[0]] <= _MOST_LISTS and holds_places(entry)
    ]


def _root(entry: FileEntry) -> str:
    """Return what the root of a document is called, if it is one of ours."""
    root = xml_root(unpacked(entry))
    return root.name if root is not None and root.name in ("gpx", "kml", ROOT) else ""


def _read(entry: FileEntry) -> Iterator[Finding]:
    empty = True
    for finding in _found(entry):
        empty = False
        yield finding
    if empty:
        yield Skipped("a file without tracks or places", entry.name)


def _found(entry: FileEntry) -> Iterator[Finding]:
    if entry.suffix in ENDINGS:
        return read_places(entry)
    read = {"kml": read_kml, ROOT: read_tcx}.get(_root(entry), _read_gpx)
    return read(unpacked(entry))


def _read_gpx(entry: FileEntry) -> Iterator[Finding]:
    way: Way | None = None
    program, lost, ordinals, keeps = "", 0, Ordinals(), True
    wanted = (*_POINTS, "wpt", "metadata", "extensions", *_WORDS)
    with entry.open() as stream:
        for element in xml_elements(stream, *wanted, around=("gpx", "trk", "rte", "trkseg")):
            if isinstance(element, Skipped):
                yield element
            elif isinstance(element, XmlStart):
                program = (
                    element.attributes.get("creator", "") if element.name == "gpx" else program
                )
                if element.name in ("trk", "rte"):
                    way = Way("track" if element.name == "trk" else "route")
                elif way is not None:
                    way.joined = False
            elif isinstance(element, XmlEnd):
                if way is not None and element.name in ("trk", "rte"):
                    where = f"{entry.name} {way.kind}"
                    # A file of a thousand tracks is kept once, with the first of them.
                    kept, keeps = (entry if keeps else None), False
                    finding = way_found(kept, way, program, ordinals, where)
                    yield from account(finding, where, way.kind)
                    way = None
            elif element.name in _POINTS and way is not None:
                place = _place(element)
                lost += place is None
                if place is not None:
                    height = number_of(element.text_at("ele"))
                    way.take(place, height, moment_of(element.text_at("time")))
            elif element.name == "wpt":
                where = f"{entry.name} waypoint {element.number}"
                yield from account(_waypoint(element, ordinals, where), where, "waypoint")
            elif way is not None and element.name in _WORDS:
                way.words.setdefault(element.name, element.text.strip())
    if lost:
        yield Skipped("points without a place", f"{entry.name}: {lost:,}")


def _waypoint(point: XmlElement, ordinals: Ordinals, where: str) -> Iterator[Finding]:
    place = _place(point)
    if place is None:
        yield Unknown("a waypoint without a place", where)
        return
    name, when = point.text_at("name"), moment_of(point.text_at("time"))
    key = ordinals.key("waypoint", name, when or "", str(place[0]), str(place[1]))
    words = [point.text_at("desc"), point.text_at("cmt")]
    data = {
        "id": key,
        "name": name or f"{place[0]:.5f}, {place[1]:.5f}",
        "description": "\n".join(dict.fromkeys(filter(None, words))),
        "kind": point.text_at("type") or point.text_at("sym"),
        "latitude": place[0],
        "longitude": place[1],
        "elevation_metres": number_of(point.text_at("ele")),
        "marked_at": when,
    }
    yield Item("waypoints", key, present(data, ""))


def _place(point: XmlElement) -> Place | None:
    return place_of(point.attributes.get("lat", ""), point.attributes.get("lon", ""))
