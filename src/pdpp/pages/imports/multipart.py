"""Multipart forms: files that a browser sends without a script, taken apart as they come."""

import re
from collections.abc import AsyncIterator
from typing import NamedTuple

from pdpp.model.errors import InvalidRequest, UnsupportedMediaType

_BOUNDARY = re.compile(r'boundary="?([^";,\s]{1,70})"?', re.IGNORECASE)
_PARAMETER = re.compile(r'(?<![\w*])(name|filename)="((?:[^"\\\r\n]|\\.){0,1000})"')
_IS_FILE = re.compile(r"(?<![\w*])filename=")
_ESCAPED = re.compile("%(22|0[DA])", re.IGNORECASE)
"""What browsers write otherwise in the name of a file: a quote and the ends of lines."""
_MOST_HEAD = 16 << 10


class FormPart(NamedTuple):
    """A piece of a field: ``begins`` with the first one. Fields without a file have no filename."""

    name: str
    filename: str | None
    content: bytes
    begins: bool


def boundary_of(content_type: str) -> bytes:
    """Return what stands between the parts of a form."""
    match = _BOUNDARY.search(content_type)
    if not content_type.lower().startswith("multipart/form-data") or match is None:
        raise UnsupportedMediaType("Send the files as multipart/form-data.")
    return b"--" + match[1].encode("latin-1")


async def form_parts(chunks: AsyncIterator[bytes], boundary: bytes) -> AsyncIterator[FormPart]:
    """Yield the fields of a form in pieces; none is ever held whole."""
    # Every boundary but the first begins on a line of its own.
    buffer, at, divider = b"\r\n", 0, b"\r\n" + boundary
    head: tuple[str, str | None] | None = None
    begins = False
    async for chunk in chunks:
        # The only copy of what waits: one for each of many short fields would take seconds.
        buffer, at = buffer[at:] + chunk, 0
        while True:
            place = buffer.find(divider, at)
            if head is None:
                if place < 0:
                    at = max(at, len(buffer) - len(divider))
                    break
                begun = place + len(divider)
                if buffer.startswith(b"--", begun):
                    return
                end = buffer.find(b"\r\n\r\n", begun)
                if (len(buffer) if end < 0 else end) - begun > _MOST_HEAD:
                    raise InvalidRequest("The form cannot be read.")
                if end < 0:
                    at = place
                    break
                head, begins, at = _head(buffer[begun:end]), True, end + 4
                continue
            if place >= 0:
                yield FormPart(*head, buffer[at:place], begins)
                head, at = None, place
                continue
            kept = max(at, len(buffer) - len(divider))
            if kept > at:
                yield FormPart(*head, buffer[at:kept], begins)
                begins, at = False, kept
            break
    raise InvalidRequest("The form was cut off before its end.")


def _head(raw: bytes) -> tuple[str, str | None]:
    text = raw.decode("utf-8", "replace")
    line = next((row for row in text.split("\r\n") if row.lower().startswith("content-disp")), "")
    values = {name: value.replace('\\"', '"') for name, value in _PARAMETER.findall(line)}
    if "name" not in values:
        raise InvalidRequest("A part of the form has no name.")
    if "filename" not in values:
        if _IS_FILE.search(line):  # As a field without a file it would be lost in silence.
            raise InvalidRequest("The name of a file cannot be read. Rename it.", param="file")
        return values["name"], None
    return values["name"], _ESCAPED.sub(lambda match: chr(int(match[1], 16)), values["filename"])
