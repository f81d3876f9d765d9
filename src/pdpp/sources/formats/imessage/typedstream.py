"""Typed streams: the text inside an archived attributed string, as Apple's chat database keeps it.

Since 2022 most messages have their text only there. The archive is a typed stream, in which the
string follows a mark and its own length, or a property list of NSKeyedArchiver.
"""

import plistlib

from pdpp.sources.reading.propertylist import property_list

_MARK = b"\x84\x01+"
_SHORT, _LONG = 0x81, 0x82
"""A length below 0x80 is one byte; these say that two or four bytes follow, the lowest first."""


def archived_text(archive: bytes) -> str | None:
    """Return the text of an attributed string, or None where there is none."""
    if archive.startswith(b"bplist"):
        return _keyed(archive)
    start = archive.find(_MARK)
    if start < 0:
        return None
    at = start + len(_MARK)
    first = archive[at : at + 1]
    if not first:
        return None
    size = {_SHORT: 2, _LONG: 4}.get(first[0], 0)
    length = int.from_bytes(archive[at + 1 : at + 1 + size], "little") if size else first[0]
    begin = at + 1 + size
    return archive[begin : begin + length].decode("utf-8", "replace")


def _keyed(archive: bytes) -> str | None:
    objects = property_list(archive).get("$objects")
    if not isinstance(objects, list):
        return None
    for item in objects:
        text = item.get("NS.string") if isinstance(item, dict) else None
        if isinstance(text, plistlib.UID) and text.data < len(objects):
            text = objects[text.data]
        if isinstance(text, str):
            return text
    return None
