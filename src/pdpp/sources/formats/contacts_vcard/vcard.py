"""vCard lines: split a vCard of version 2.1, 3.0 or 4.0 into its properties."""

import base64
import binascii
import quopri
import re
from collections.abc import Iterator
from typing import NamedTuple

_NESTED = re.compile(
    r"^AGENT:[ \t]*\r\n(BEGIN:VCARD\r\n.*?^END:VCARD\r\n)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PARTS = re.compile(r"(?<!\\);")
_ITEMS = re.compile(r"(?<!\\),")
_CUSTOM = re.compile(
    r"X-CUSTOM\((?:CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE,)?(.*)\)", re.IGNORECASE
)
"""What Android writes for a label that somebody chose."""
_LONGEST_HEAD = 1_000
"""So much is looked at for the encoding of a property whose name does not end."""
_ENCODINGS = {"QUOTED-PRINTABLE", "BASE64", "B", "8BIT", "7BIT"}


class VcardLine(NamedTuple):
    """One property: its name without a group, its parameters in capital letters, its value."""

    name: str
    parameters: dict[str, str]
    value: str
    group: str = ""

    @property
    def text(self) -> str:
        """Return the value as a person reads it."""
        return _plain(self.value).strip()

    @property
    def parts(self) -> list[str]:
        """Return the value split at its semicolons, as names and addresses are written."""
        return [_plain(part).strip() for part in _PARTS.split(self.value)]

    @property
    def items(self) -> list[str]:
        """Return the value split at its commas, as categories are written."""
        return [item for part in _ITEMS.split(self.value) if (item := _plain(part).strip())]

    @property
    def kind(self) -> str:
        """Return what the line is for, such as home or work."""
        kinds = self.parameters.get("TYPE", "").lower().replace('"', "").split(",")
        return ", ".join(kind for kind in kinds if kind and kind not in ("pref", "internet"))

    def content(self) -> bytes | None:
        """Return the bytes that the value carries; None where it is an address or text."""
        encoded = self.parameters.get("ENCODING", "").upper() in ("B", "BASE64")
        value = self.value
        if not encoded:
            head, mark, value = value.replace("\\", "").partition(";base64,")
            if not mark or not head.lower().startswith("data:"):
                return None
        try:
            return base64.b64decode("".join(value.split()), validate=True)
        except (binascii.Error, ValueError):
            return None


def cards_in(text: str) -> list[str]:
    """Return a card, and those of other people that vCard 2.1 writes inside it."""
    return [_NESTED.sub("", text), *_NESTED.findall(text)]


def vcard_lines(text: str) -> Iterator[VcardLine]:
    """Yield the properties of a card; a line that is none is passed over."""
    for line in _whole_lines(text):
        head, colon, value = _split(line)
        if not colon:
            continue
        name, *given = _split_head(head)
        parameters = _parameters(given)
        if parameters.get("ENCODING", "").upper() == "QUOTED-PRINTABLE":
            value = _unquoted(value, parameters.get("CHARSET", ""))
        group, _, bare = name.rpartition(".")
        yield VcardLine(bare.upper(), parameters, value, group.upper())


def _whole_lines(text: str) -> Iterator[str]:
    """Yield properties, each on one line.

    Some programs break a note or a picture into lines and do not move the next ones in: what
    begins with no name goes on too.
    """
    pieces: list[str] = []
    for line in _unfolded_lines(text):
        if not line.strip():
            continue
        if pieces and not _split(line)[1]:
            pieces.append(f"\n{line}")
            continue
        yield "".join(pieces)
        pieces = [line]
    yield "".join(pieces)


def _unfolded_lines(text: str) -> Iterator[str]:
    """Yield lines with those that are moved in; quoted text goes on after an equals sign too."""
    pieces, head = [""], ""
    for line in text.split("\r\n"):
        is_open = pieces[-1].endswith("=") and "QUOTED-PRINTABLE" in head.upper()
        if line[:1] not in (" ", "\t") and not is_open:
            yield "".join(pieces)
            pieces, head = [line], line.partition(":")[0]
            continue
        rest = line[1:] if line[:1] in (" ", "\t") else line
        if ":" not in pieces[0] and len(head) < _LONGEST_HEAD:
            head += rest.partition(":")[0]
        pieces.append(f"\n{rest}" if is_open else rest)
    yield "".join(pieces)


def _split(line: str) -> tuple[str, str, str]:
    """Split a line at the first colon outside quotation marks."""
    quoted = False
    for at, letter in enumerate(line):
        if letter == '"':
            quoted = not quoted
        elif letter == ":" and not quoted:
            return line[:at], ":", line[at + 1 :]
    return line, "", ""


def _split_head(head: str) -> list[str]:
    pieces, quoted = [""], False
    for letter in head:
        quoted = quoted != (letter == '"')
        if letter == ";" and not quoted:
            pieces.append("")
        else:
            pieces[-1] += letter
    return pieces


def _parameters(given: list[str]) -> dict[str, str]:
    """Return parameters by name; version 2.1 writes kinds and encodings without one."""
    parameters: dict[str, str] = {}
    for piece in given:
        name, equals, value = piece.partition("=")
        if label := _CUSTOM.fullmatch(piece):
            name, value = "TYPE", _unquoted(label[1], "").replace(",", " ")
        elif not equals:
            name, value = ("ENCODING" if piece.upper() in _ENCODINGS else "TYPE"), piece
        key = name.strip().upper()
        parameters[key] = f"{parameters[key]},{value}" if key in parameters else value
    return parameters


def _unquoted(value: str, charset: str) -> str:
    """Return letters that are written as codes; where no charset is named, UTF-8 or Windows'."""
    content = quopri.decodestring(value.encode("utf-8", "replace")).replace(b"\r\n", b"\n")
    for known in (charset.strip('"') or "utf-8", "utf-8"):
        try:
            return content.decode(known)
        except (LookupError, UnicodeDecodeError):
            continue
    return content.decode("cp1252", "replace")


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match.group(1) in "nN" else match.group(1), text)
