"""XML streams: chosen elements of an XML document of any size, one at a time.

The document is never held as a whole, only the element that is being read. Entities can multiply
without end and name files of the machine: a document that declares any is refused, and its document
type is passed over without being parsed, because genuine exports carry broken ones.
"""

import codecs
import re
from collections import deque
from collections.abc import Collection, Iterator
from typing import BinaryIO, NamedTuple
from xml.parsers import expat

from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import FileEntry

LONGEST = 64 << 20
DEEPEST = 200

_CHUNK = 1 << 16
_LONGEST_PROLOG = 1 << 20
_SPACE = "\ufeff \t\r\n"
_ENCODING = re.compile(r"""\A\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*", re.IGNORECASE)
_SUBSET_END = re.compile(r"\]\s*>")
_ENTITY = re.compile(r"<!ENTITY", re.IGNORECASE)
_REFERENCE = re.compile(r"&#(?:[xX]([0-9a-fA-F]{1,8})|(\d{1,10}));")
_OPEN_REFERENCE = re.compile(
    r"(?:&#(?:[xX][dD][89abAB][0-9a-fA-F]{2}|55[2-9]\d\d|56[0-2]\d\d|563[01]\d);)?"
    r"(?:&#?[xX]?[0-9a-fA-F]{0,8})?\Z"
)
"""The first half of a character, or what may become a reference, at the end of a piece."""
_BAD = str.maketrans(dict.fromkeys((*range(9), 11, 12, *range(14, 32), 65534, 65535), "�"))
# 0x1A, which no document may hold, marks the bytes that become U+FFFD after decoding; a table over
# bytes costs next to nothing, one over text is only used where a mark is seen.
_ASCII_BAD = bytes(0x1A if code < 32 and code not in (9, 10, 13) else code for code in range(256))


class XmlElement:
    """An element with its attributes, its own text and the elements in it.

    Names are without prefix; ``number`` counts the elements of this name that were yielded.
    """

    __slots__ = ("attributes", "children", "name", "number", "pieces")

    def __init__(self, name: str, attributes: dict[str, str], number: int = 0) -> None:
        self.name = name
        self.attributes = attributes
        self.number = number
        self.pieces: list[str] = []
        self.children: list[XmlElement] = []

    @property
    def text(self) -> str:
        """Return the text that stands directly in the element."""
        return "".join(self.pieces)

    def each(self, name: str) -> Iterator["XmlElement"]:
        """Yield the direct children of a name."""
        return (child for child in self.children if child.name == name)

    def at(self, *names: str) -> "XmlElement | None":
        """Return the first element on a way of names down from here."""
        here: XmlElement | None = self
        for name in names:
            here = next(here.each(name), None) if here is not None else None
        return here

    def text_at(self, *names: str) -> str:
        """Return the text of the first element on a way of names, without space around it."""
        there = self.at(*names)
        return there.text.strip() if there is not None else ""

    def walk(self) -> Iterator["XmlElement"]:
        """Yield this element and everything in it in the order of the document."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(element.children)


class XmlStart(NamedTuple):
    """The beginning of an element that is not held as a whole."""

    name: str
    attributes: dict[str, str]
    namespace: str = ""


class XmlEnd(NamedTuple):
    """The end of such an element."""

    name: str


XmlEvent = XmlElement | XmlStart | XmlEnd | Skipped


def xml_elements(
    stream: BinaryIO,
    *wanted: str,
    around: Collection[str] = (),
    longest: int = LONGEST,
    deepest: int = DEEPEST,
) -> Iterator[XmlEvent]:
    """Yield every element of some names, whole, in the order of the document.

    Without names every child of the root is wanted. One that lies inside another that is wanted is
    a part of that one. Of the names in ``around`` the beginning and the end are yielded. An element
    that is longer than it may be is told and the reading goes on; a document that is cut, or is no
    XML from some place on, is ``DamagedFile``.
    """
    capture = _Capture(frozenset(wanted), frozenset(around), longest, deepest)
    for text in _texts(stream):
        capture.feed(text)
        yield from capture.ready()
    capture.end()
    yield from capture.ready()


def xml_root(entry: FileEntry) -> XmlStart | None:
    """Return the root of a file, by a bounded look; None where it is no XML."""
    if not entry.head(512).lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\x00").startswith(b"<"):
        return None
    finder = _RootFinder()
    try:
        with entry.open() as stream:
            for text in _texts(stream):
                finder.feed(text)
                if finder.root is not None or finder.taken > _LONGEST_PROLOG:
                    break
    except DamagedFile:
        return finder.root
    return finder.root


def _texts(stream: BinaryIO) -> Iterator[str]:
    """Yield a document as text that expat takes, without what stands before its root."""
    head = stream.read(_CHUNK)
    encoding = xml_encoding(head)
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    # In UTF-16 a zero byte is half of a letter, so that bytes cannot be looked at one by one.
    wide = encoding.startswith("utf-16")
    mend = _References()
    prolog: str | None = ""
    chunk = head
    while chunk:
        text = decoder.decode(chunk if wide else chunk.translate(_ASCII_BAD))
        if wide or "\x1a" in text or "\uffff" in text or "\ufffe" in text:
            text = text.translate(_BAD)
        if prolog is not None:
            prolog += text
            rest = _after_prolog(prolog)
            if rest is None and len(prolog) > _LONGEST_PROLOG:
                raise DamagedFile("it is no XML that can be read: it never begins")
            text, prolog = (rest, None) if rest is not None else ("", prolog)
        yield mend.take(text)
        chunk = stream.read(_CHUNK)
    if prolog:
        raise DamagedFile("it ends before it begins")
    yield mend.rest + decoder.decode(b"", True)


def xml_encoding(head: bytes) -> str:
    """Return the encoding of a document by its mark or its declaration."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head[1:2] == b"\x00":
        return "utf-16-le"
    if head[:1] == b"\x00":
        return "utf-16-be"
    declared = _ENCODING.search(head[:200].removeprefix(codecs.BOM_UTF8).decode("latin-1"))
    name = declared.group(1).lower() if declared else "utf-8"
    try:
        # The declaration was found as ASCII, so that one of a wide encoding cannot be true. What is
        # no encoding of text, such as zlib, fails here in one way, and below in many.
        marked = "".encode(name)
        decoder = codecs.getincrementaldecoder(name)("replace")
        plain = decoder.decode(b"\xff<?xml") if not marked else ""
    except (LookupError, ValueError, TypeError):
        return "utf-8"
    return name if isinstance(plain, str) and plain.endswith("<?xml") else "utf-8"


def _after_prolog(text: str) -> str | None:
    """Return a document from its root on; None as long as that has not come."""
    at = 0
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if len(text) - at < len("<!DOCTYPE"):
            return None
        if text.startswith("<?", at):
            end = text.find("?>", at) + 2
        elif text.startswith("<!--", at):
            end = text.find("-->", at) + 3
        elif (doctype := _DOCTYPE.match(text, at)) is not None:
            end = _after_doctype(text, doctype)
        else:
            return text[at:]
        if end <= at + 2:
            return None
        at = end


def _after_doctype(text: str, doctype: re.Match[str]) -> int:
    """Return where a document type ends, or -1; one that declares entities is refused."""
    at = doctype.end()
    if text[at : at + 1] == ">":
        return at + 1
    subset_end = _SUBSET_END.search(text, at)
    if _ENTITY.search(text, at, subset_end.start() if subset_end else len(text)):
        raise DamagedFile("it declares entities of its own, which is refused")
    return subset_end.end() if subset_end else -1


class _References:
    """Mends numbers of characters that are none: Android writes one emoji as two halves."""

    def __init__(self) -> None:
        self.rest = ""

    def take(self, text: str) -> str:
        """Return the next piece of a document; a reference cut in two waits for its end."""
        if self.rest:
            text, self.rest = self.rest + text, ""
        if "&" not in text:
            return text
        # 24 characters hold the first half of a pair and any reference that begins after it.
        tail = _OPEN_REFERENCE.search(text, max(0, len(text) - 24))
        if tail is not None and tail[0]:
            text, self.rest = text[: tail.start()], tail[0]
        if "&#" not in text:
            return text
        return _PAIR.sub(_joined, _REFERENCE.sub(_reference, text))


_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])|[\ud800-\udfff]")


def _reference(match: re.Match[str]) -> str:
    """Return a reference that expat takes as it is, half of a character as that half."""
    code = int(match[1], 16) if match[1] else int(match[2])
    if 0xD800 <= code <= 0xDFFF:
        return chr(code)
    bad = code > 0x10FFFF or code in _BAD
    return "\ufffd" if bad else match[0]


def _joined(match: re.Match[str]) -> str:
    if match[1] is None:
        return "\ufffd"
    return chr(0x10000 + ((ord(match[1]) - 0xD800) << 10) + ord(match[2]) - 0xDC00)


def _parser() -> expat.XMLParserType:
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = _refuse
    parser.EntityDeclHandler = _refuse
    return parser


def _refuse(*_: object) -> None:
    raise DamagedFile("it declares a document type of its own, which is refused")


class _Capture:
    """Puts the wanted elements together as expat reads on."""

    def __init__(
        self, wanted: frozenset[str], around: frozenset[str], longest: int, deepest: int
    ) -> None:
        self._wanted, self._around = wanted, around
        self._longest, self._deepest = longest, deepest
        self._parser = parser = _parser()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        self._stack: list[XmlElement] = []
        self._depth = 0
        self._events: deque[XmlEvent] = deque()
        self._numbers: dict[str, int] = {}
        self._length = self._silent = 0
        self._too_long = False

    def ready(self) -> Iterator[XmlEvent]:
        """Yield what is whole by now."""
        while self._events:
            yield self._events.popleft()

    def feed(self, text: str) -> None:
        """Read on."""
        self._silent += len(text)
        # expat holds an attribute or a tag until it ends and tells nobody; a file that never ends
        # one would fill the memory.
        if self._silent > 2 * self._longest:
            raise DamagedFile("a value is longer than anything this format holds")
        try:
            self._parser.Parse(text, False)
        except expat.ExpatError as problem:
            raise self._broken(problem) from None

    def end(self) -> None:
        """Check that the document is whole."""
        try:
            self._parser.Parse("", True)
        except expat.ExpatError as problem:
            raise self._broken(problem) from None

    def _broken(self, problem: expat.ExpatError) -> DamagedFile:
        words = expat.ErrorString(problem.code)
        return DamagedFile(f"not XML from line {problem.lineno:,} on: {words}")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._silent = 0
        name = name.rpartition(":")[2] if ":" in name else name
        if self._stack:
            self._nest(name, attributes)
            return
        if name in self._wanted or (self._depth == 1 and not self._wanted):
            self._numbers[name] = number = self._numbers.get(name, 0) + 1
            self._stack.append(XmlElement(name, attributes, number))
            # Only set inside a wanted element: elsewhere expat need not make a Python text of what
            # it reads.
            self._parser.CharacterDataHandler = self._text
            self._length, self._too_long = 0, False
            return
        self._depth += 1
        if self._depth > self._deepest:
            raise DamagedFile(f"its elements lie more than {self._deepest} deep in one another")
        if name in self._around:
            self._events.append(XmlStart(name, attributes))

    def _nest(self, name: str, attributes: dict[str, str]) -> None:
        element = XmlElement(name, attributes)
        # About what an empty element takes in memory: millions of them are large without any text.
        self._length += 64 + sum(map(len, attributes.values()))
        if self._check_length():
            self._stack[-1].children.append(element)
        self._stack.append(element)
        if self._depth + len(self._stack) > self._deepest:
            raise DamagedFile(f"its elements lie more than {self._deepest} deep in one another")

    def _text(self, text: str) -> None:
        self._silent = 0
        self._length += len(text)
        if self._check_length():
            self._stack[-1].pieces.append(text)

    def _check_length(self) -> bool:
        """Tell whether there is room for more of the element; else forget what it holds."""
        if self._length <= self._longest:
            return True
        if not self._too_long:
            self._too_long = True
            for element in self._stack:
                element.pieces.clear()
                element.children.clear()
        return False

    def _end(self, name: str) -> None:
        if not self._stack:
            self._depth -= 1
            name = name.rpartition(":")[2] if ":" in name else name
            if name in self._around:
                self._events.append(XmlEnd(name))
            return
        element = self._stack.pop()
        if self._stack:
            return
        self._parser.CharacterDataHandler = None
        if self._too_long:
            reason = f"larger than {self._longest >> 20} MiB"
            self._events.append(Skipped(reason, f"{element.name} {element.number}", lost=True))
        else:
            self._events.append(element)


class _RootFinder:
    """Reads a document up to its root."""

    def __init__(self) -> None:
        self.root: XmlStart | None = None
        self.taken = 0
        self._parser = _parser()
        self._parser.StartElementHandler = self._start

    def feed(self, text: str) -> None:
        self.taken += len(text)
        try:
            self._parser.Parse(text, False)
        except expat.ExpatError:
            if self.root is None:
                raise DamagedFile("not XML") from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        prefix, _, local = name.rpartition(":")
        if self.root is None:
            namespace = attributes.get(f"xmlns:{prefix}" if prefix else "xmlns", "")
            self.root = XmlStart(local, attributes, namespace)
