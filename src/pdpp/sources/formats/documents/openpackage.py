"""Packages: the parts of a Word, Excel or PowerPoint file, which is a zip of XML."""

import posixpath
import re
import zipfile
from collections.abc import Iterator
from types import MappingProxyType

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.documents.symbols import box_text, symbol_text
from pdpp.sources.item import Skipped
from pdpp.sources.reading.xmlstream import XmlElement, XmlEnd, XmlEvent, xml_elements

_LARGEST_PART = 256 << 20
_NUMBER = re.compile(r"(\d+)\.xml\Z")
_LEFT_OUT = frozenset({"pPr", "Fallback", "moveFrom", "rPh"})
"""Looks of a paragraph, and what stands there twice: a text box for older programs, words at the
place that they were moved away from, and how words of a sheet are spoken."""
_BEHIND = {"tc": "\t", "tr": "\n"}
"""What stands behind a cell and a row of a table."""
_BETWEEN = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_SIGNS = MappingProxyType({"sym": symbol_text, "checkBox": box_text})
_PAGE_BREAK = "lastRenderedPageBreak"


class OpenPackage:
    """The parts of a document; some programs write their names with other letters or slashes.

    ``lost`` counts what of them could not be read, and ``is_cut`` tells that the end was not.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.lost = 0
        self.is_cut = False
        self._archive = archive
        self._members = {_plain(name): name for name in archive.namelist()}

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._members

    def elements(self, name: str, *wanted: str) -> Iterator[XmlElement]:
        """Yield elements of a part; one that is absent has none."""
        return (event for event in self._events(name, *wanted) if isinstance(event, XmlElement))

    def words(self, name: str) -> Iterator[str]:
        """Yield the paragraphs of a part with what stands before each: rows of tables are lines."""
        before = ""
        for event in self._events(name, "p", around=tuple(_BEHIND)):
            if isinstance(event, XmlElement):
                yield before + paragraph_text(event)
                before = "\n"
            elif isinstance(event, XmlEnd):
                before = _BEHIND[event.name]

    def _events(self, name: str, *wanted: str, around: tuple[str, ...] = ()) -> Iterator[XmlEvent]:
        member = self._members.get(_plain(name))
        if member is None:
            return
        if self._archive.getinfo(member).file_size > _LARGEST_PART:
            raise DamagedFile("a part of it is too large")
        with self._archive.open(member) as stream:
            for event in xml_elements(stream, *wanted, around=around):  # type: ignore[arg-type]
                if isinstance(event, Skipped):
                    self.lost += 1
                    yield XmlElement("", {})  # It keeps its place: others are found by number.
                else:
                    yield event

    def lines(self, name: str) -> list[str]:
        """Return the lines of a part that say something."""
        return [line for line in "".join(self.words(name)).split("\n") if line.strip()]

    def main(self, usual: str) -> str:
        """Return the part that the document begins with, under its ``usual`` name or another."""
        return usual if usual in self else next(iter(self.related("", "officeDocument")), usual)

    def related(self, name: str, *kinds: str) -> list[str]:
        """Return the parts of some kinds that belong to another part, in the order of the kinds."""
        relations = list(self._relations(name))
        named = (
            self._absolute(name, relation.attributes.get("Target", ""))
            for kind in kinds
            for relation in relations
            if relation.attributes.get("Type", "").endswith(f"/{kind}")
        )
        return list(dict.fromkeys(named))

    def listed(self, name: str, element: str) -> list[tuple[str, str]]:
        """Return the titles and names of the parts that another part lists, in its order.

        It lists them by ids, which a part of its own translates; numbers in names are only the
        order in which parts were made.
        """
        targets = {
            relation.attributes.get("Id"): relation.attributes.get("Target", "")
            for relation in self._relations(name)
        }
        return [
            (listed.attributes.get("name", ""), self._absolute(name, targets[own]))
            for listed in (self.elements(name, element) if targets else ())
            if (own := _relation(listed)) in targets
        ]

    def numbered(self, prefix: str) -> list[str]:
        """Return the parts of a folder in the order of their numbers."""
        fitting = [
            (int(match[1]), name)
            for name in self._members
            if name.startswith(prefix) and (match := _NUMBER.search(name[len(prefix) :]))
        ]
        return [name for _, name in sorted(fitting)]

    def _relations(self, name: str) -> Iterator[XmlElement]:
        folder, base = posixpath.split(name)
        return self.elements(posixpath.join(folder, "_rels", f"{base}.rels"), "Relationship")

    def _absolute(self, name: str, target: str) -> str:
        """Return the name of a part as another one writes it."""
        place = posixpath.join("/", posixpath.dirname(name), target)
        return posixpath.normpath(place).lstrip("/")


def _plain(name: str) -> str:
    return name.replace("\\", "/").lower()


def _relation(element: XmlElement) -> str | None:
    """Return the id of another part that an element names, whatever the prefix of its attribute."""
    named = (value for name, value in element.attributes.items() if name.endswith(":id"))
    return next(named, None)


def paragraph_text(paragraph: XmlElement) -> str:
    """Return the words of a paragraph, with a form feed where a page began."""
    pieces: list[str] = []
    waiting = [paragraph]
    while waiting:
        element = waiting.pop()
        if element.name in _LEFT_OUT:
            continue
        waiting += reversed(element.children)
        if element.name == "t":
            pieces.append(element.text)
        elif element.name == _PAGE_BREAK:
            pieces.append("\f")
        elif element.name in _SIGNS:
            pieces.append(_SIGNS[element.name](element))
        else:
            pieces.append(_BETWEEN.get(element.name, ""))
    return "".join(pieces)
