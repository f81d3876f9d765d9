"""TCX: activities and courses as watches of Garmin, and programs after them, write them."""

from collections.abc import Iterator

from pdpp.sources.formats.gpx.way import Way, moment_of, number_of, place_of, way_found
from pdpp.sources.item import Finding, Skipped
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.tree import FileEntry
from pdpp.sources.reading.xmlstream import XmlElement, XmlEnd, XmlStart, xml_elements

ROOT = "TrainingCenterDatabase"
_KINDS = {"Activity": "track", "Course": "route"}
_AROUND = (*_KINDS, "Lap", "Track")
_WORDS = {"Name": "name", "Notes": "desc"}
_WANTED = ("Trackpoint", "CoursePoint", "Creator", "Author", *_WORDS)
_INDOORS = "an activity without a place, such as one indoors"


def read_tcx(entry: FileEntry) -> Iterator[Finding]:
    """Yield the activities and courses of a file."""
    reader = _Reader(entry)
    with entry.open() as stream:
        for element in xml_elements(stream, *_WANTED, around=_AROUND):
            if isinstance(element, Skipped):
                yield element
            elif isinstance(element, XmlStart):
                reader.begin(element)
            elif isinstance(element, XmlEnd):
                yield from reader.end(element.name)
            else:
                reader.take(element)
    if reader.lost:
        yield Skipped("points without a place", f"{entry.name}: {reader.lost:,}")


class _Reader:
    """Reads one file, an activity or a course at a time."""

    def __init__(self, entry: FileEntry) -> None:
        self.lost = 0
        self._entry = entry
        self._way: Way | None = None
        self._program = ""
        self._ordinals = Ordinals()
        self._keeps = True
        self._lap_begins = False

    def begin(self, start: XmlStart) -> None:
        """Go into an activity, a lap or a track; a second track of a lap comes after a pause."""
        if start.name in _KINDS:
            self._way = Way(_KINDS[start.name], {"type": start.attributes.get("Sport", "")})
        elif start.name == "Lap":
            self._lap_begins = True
        elif self._way is not None:
            self._way.joined &= self._lap_begins
            self._lap_begins = False

    def take(self, element: XmlElement) -> None:
        """Take in a point, or words about the activity or the watch."""
        way = self._way
        if element.name == "Creator":
            self._program = element.text_at("Name")
        elif way is not None and element.name in _WORDS:
            way.words.setdefault(_WORDS[element.name], element.text.strip())
        elif way is not None and element.name == "Trackpoint":
            degrees = ("LatitudeDegrees", "LongitudeDegrees")
            place = place_of(*(element.text_at("Position", name) for name in degrees))
            when = moment_of(element.text_at("Time"))
            way.measured = max(way.measured, number_of(element.text_at("DistanceMeters")) or 0)
            if place is None:
                self.lost += 1
                way.pass_by(when)
            else:
                way.take(place, number_of(element.text_at("AltitudeMeters")), when)

    def end(self, name: str) -> Iterator[Finding]:
        """Yield an activity or a course that is over."""
        way = self._way
        if way is None or name not in _KINDS:
            return
        where = f"{self._entry.name} {way.kind}"
        if way.first is None:
            yield from account([Skipped(_INDOORS, where)], where, way.kind)
        else:
            # A file of several is kept once, with the first of them.
            kept, self._keeps = (self._entry if self._keeps else None), False
            found = way_found(kept, way, self._program, self._ordinals, where)
            yield from account(found, where, way.kind)
        self._way, self._program = None, ""
