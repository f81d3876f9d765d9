"""Property lists: what Apple's chat database keeps of a message beside its text.

An edited message has its texts in a summary, the last one last. A message of an app, such as a
payment, has its words in a dictionary that NSKeyedArchiver wrote: keys and values are numbers of
objects in one list.
"""

import binascii
import plistlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

import orjson

from pdpp.sources.formats.imessage.typedstream import archived_text
from pdpp.sources.reading.propertylist import property_list

_WORDS = (
    *("ldtext", "image-title", "image-subtitle", "caption", "subcaption"),
    *("secondary-subcaption", "tertiary-subcaption"),
)
_EDITED, _UNSENT = "ec", "rp"
_INLINE = "data:,"


def edited_text(summary: object) -> str:
    """Return the last text of each part of a message that was edited."""
    parts = property_list(summary).get(_EDITED)
    return "\n".join(_last_texts(parts if isinstance(parts, Mapping) else {}))


def _last_texts(parts: Mapping[str, Any]) -> Iterator[str]:
    for _, versions in sorted(parts.items()):
        last = versions[-1] if isinstance(versions, list) and versions else None
        archive = last.get("t") if isinstance(last, Mapping) else None
        if isinstance(archive, bytes) and (text := archived_text(archive)):
            yield text


def has_unsent_parts(summary: object) -> bool:
    """Tell whether a summary names parts that were taken back."""
    return bool(property_list(summary).get(_UNSENT))


def app_text(payload: object) -> str:
    """Return what an app shows in its bubble: the app's name, and each different line."""
    archive = property_list(payload)
    objects, top = archive.get("$objects"), archive.get("$top")
    if not isinstance(objects, list) or not isinstance(top, Mapping):
        return ""
    root = _dictionary(objects, top.get("root"))
    words = {**root, **_dictionary(objects, root.get("userInfo"))}
    shown = [_string(objects, words.get(name)) for name in _WORDS]
    lines = list(dict.fromkeys(line for line in (*shown, *_poll(objects, root.get("URL"))) if line))
    app = _string(objects, root.get("an"))
    return "\n".join([f"[{app}]", *lines] if app else lines)


def _poll(objects: Sequence[Any], held: object) -> Iterator[str]:
    """Yield the question of a poll and its options: JSON, as base64 inside an address."""
    address = _object(objects, held)
    if isinstance(address, Mapping):
        address = _object(objects, address.get("NS.relative"))
    if not isinstance(address, str) or not address.startswith(_INLINE):
        return
    packed = unquote(address.removeprefix(_INLINE).partition("?")[0])
    try:
        item = orjson.loads(binascii.a2b_base64(packed + "==")).get("item")
        yield str(item.get("title") or "").strip()
        yield from (f"- {option['text']}" for option in item.get("orderedPollOptions") or ())
    except (ValueError, AttributeError, KeyError, TypeError):
        return


def _object(objects: Sequence[Any], held: object) -> object:
    """Return an object of an archive, which may stand in its list under a number."""
    if isinstance(held, plistlib.UID):
        return objects[held.data] if held.data < len(objects) else None
    return held


def _dictionary(objects: Sequence[Any], held: object) -> dict[str, object]:
    value = _object(objects, held)
    if not isinstance(value, Mapping):
        return {}
    keys, values = value.get("NS.keys"), value.get("NS.objects")
    if not isinstance(keys, list) or not isinstance(values, list):
        return {}
    named = zip((_string(objects, key) for key in keys), values, strict=False)
    return {name: inner for name, inner in named if name}


def _string(objects: Sequence[Any], held: object) -> str:
    value = _object(objects, held)
    if isinstance(value, Mapping):
        value = _object(objects, value.get("NS.string"))
    return value.strip() if isinstance(value, str) else ""
