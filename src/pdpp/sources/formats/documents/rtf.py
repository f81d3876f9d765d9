"""Rich text: words between marks that begin with a backslash, in groups between braces."""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from pdpp.sources.formats.documents.text import LONGEST_TEXT, NotReadable, PagedText

_TOKEN = re.compile(
    rb"\\([A-Za-z]{1,32})(-?\d{1,10})? ?|((?:\\'[0-9A-Fa-f]{2}){1,500})|\\([^A-Za-z])"
    rb"|([{}])|([^\\{}]+)"
)
"""A mark, some letters as codes, a sign, a brace, or words, over all their lines at once.

There is an end to letters as codes, because the matcher remembers each of them.
"""
_SIGNS = dict.fromkeys(("par", "line", "row", "sect", "\n", "\r"), "\n")
_SIGNS |= dict.fromkeys(("tab", "cell"), "\t")
_SIGNS |= {"emdash": "—", "endash": "–", "bullet": "•", "page": "\f", "~": " ", "_": "-"}
_SIGNS |= {"lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”"}
_SIGNS |= {"{": "{", "}": "}", "\\": "\\"}
_LEFT_OUT = frozenset(
    {"fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "fldinst", "themedata"}
    | {"colorschememapping", "datastore", "latentstyles", "listtable", "listoverridetable"}
    | {"rsidtbl", "generator", "xmlnstbl", "mmathPr", "header", "headerl", "headerr", "headerf"}
    | {"footer", "footerl", "footerr", "footerf", "filetbl", "revtbl", "annotation", "deleted"}
)
"""Groups that hold no words of the text."""
_DEEPEST = 1_000
_PROPERTY = re.compile(rb"\{\\(title|author)\s([^{}]{0,1000})\}")


@dataclass(slots=True)
class _Group:
    """What holds inside a pair of braces."""

    left_out: bool = False
    stand_ins: int = 1
    """How many letters stand behind one of Unicode for older programs."""


@dataclass(slots=True)
class _Text:
    """The words of a document as far as they are read."""

    charset: str = "cp1252"
    pieces: list[str] = field(default_factory=list)
    raw: bytearray = field(default_factory=bytearray)
    """Bytes of letters: in some charsets two of them are one."""
    length: int = 0
    """How many letters there are, with those that are still bytes."""

    def add_raw(self, letters: bytes) -> None:
        self.raw += letters
        self.length += len(letters)

    def add(self, text: str) -> None:
        self.end_raw()
        self.pieces.append(text)
        self.length += len(text)

    def end_raw(self) -> None:
        if self.raw:
            self.pieces.append(self.raw.decode(self.charset, "replace"))
            self.raw.clear()

    def result(self) -> str:
        self.end_raw()
        # A letter beyond the first 65,536 is written as two halves.
        joined = "".join(self.pieces).encode("utf-16-le", "surrogatepass")
        return joined.decode("utf-16-le", "replace")


def read_rtf(content: bytes) -> PagedText:
    """Return the text of a document and what it says of itself."""
    if not content.rstrip(b"\x00\r\n ").endswith(b"}"):
        raise NotReadable("a document that is damaged")
    document, text = PagedText(), _read(content)
    document.take(text.result().split("\f"))
    # Its letters were counted before two of them became one.
    document.is_cut |= text.length > LONGEST_TEXT
    for name, value in _PROPERTY.findall(content[: 1 << 16]):
        setattr(document, name.decode(), _read(b"{" + value + b"}").result().strip())
    return document


def _read(content: bytes) -> _Text:
    groups, text, skip = [_Group()], _Text(), 0
    for word, number, codes, sign, brace, words in _tokens(content):
        group = groups[-1]
        if codes or words:
            if not group.left_out:
                letters = _letters(codes) if codes else words.translate(None, b"\r\n")
                text.add_raw(letters[skip:])
                skip = max(0, skip - len(letters))
        elif brace == b"{":
            if len(groups) > _DEEPEST:
                raise NotReadable("a document that is damaged")
            groups.append(replace(group))
        elif brace:
            groups.pop()
            groups = groups or [_Group()]
        elif sign == b"*" or word.decode() in _LEFT_OUT:
            group.left_out = True
        elif word == b"uc":
            group.stand_ins = max(0, int(number or 1))
        elif group.left_out:
            continue
        elif word == b"u" and number:
            text.add(chr(int(number) & 0xFFFF))
            skip = group.stand_ins
        elif word == b"ansicpg" and number:
            text.charset = _codec(f"cp{int(number)}")
        elif shown := _SIGNS.get((word or sign).decode("latin-1")):
            text.add(shown)
        if text.length > LONGEST_TEXT:
            break
    return text


def _letters(codes: bytes) -> bytes:
    return bytes.fromhex(codes.replace(b"\\'", b"").decode())


def _tokens(content: bytes) -> Iterator[tuple[bytes, ...]]:
    """Yield the tokens of a document, without the bytes of pictures between them."""
    at = 0
    while match := _TOKEN.search(content, at):
        at = match.end()
        if match[1] == b"bin" and match[2]:
            at += max(0, int(match[2]))
        yield tuple(found or b"" for found in match.groups())


def _codec(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
