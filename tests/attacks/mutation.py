"""Mutations: good input with something wrong in it, in bytes, in text and in JSON."""

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hypothesis import strategies as st
from tests.attacks.corpus import EVIL, LINES

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**53 + 1,
    10**30,
    1e300,
    "",
    " ",
    "\x00\u202e/../\ud800",
    "x" * 5_000,
    [],
    {},
    [[]],
    [None, 5, {"type": 5}],
    {"type": None, "id": []},
    {"$ref": "#"},
    {"tool": "fetch", "arguments": {"id": EVIL}},
    LINES["empty call"],
    LINES["row"],
)
NAMES = ("", "a\nb", "example", "id", "type", "tool", "__proto__", LINES["row"])


class Edit(NamedTuple):
    """One change to a document: where, counted over all of it, what, and to what."""

    place: int
    kind: str
    value: Any
    name: str


edits: st.SearchStrategy[list[Edit]] = st.lists(
    st.builds(
        Edit,
        st.integers(0, 100_000),
        st.sampled_from(["replace", "replace", "replace", "drop", "rename", "double"]),
        st.sampled_from(ODD),
        st.sampled_from(NAMES),
    ),
    min_size=1,
    max_size=4,
)


def edited(document: Any, changes: Sequence[Edit]) -> Any:
    """Return a document with changes made to it."""
    made = {"": copy.deepcopy(document)}
    for change in changes:
        places = list(_places(made))
        _edit(*places[change.place % len(places)], change)
    return made.get("")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a document as what holds it and the name or number it has there."""
    steps = value if isinstance(value, dict) else range(len(value))
    for step in list(steps):
        yield value, step
        if isinstance(value[step], dict | list):
            yield from _places(value[step])


def _edit(holder: Any, step: Any, change: Edit) -> None:
    if change.kind == "drop" and step != "":
        del holder[step]
    elif change.kind == "rename" and isinstance(holder, dict):
        holder[change.name] = holder[step]
    elif change.kind == "double" and isinstance(holder, list):
        holder.append(holder[step])
    else:
        holder[step] = copy.deepcopy(change.value)


class Cut(NamedTuple):
    """One change to bytes: at which of a thousand parts, what, and with which bytes."""

    at: int
    kind: str
    piece: bytes


_PIECES = (
    *(b"\x00", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\r\n", b"\n", b'"', b"\\", b"{", b"}"),
    *(
        b"[" * 3_000,
        b'{"a":' * 2_000,
        b"9" * 400,
        b"1e999",
        b"-",
        b"%",
        b"&",
        b"=",
        b"\xef\xbb\xbf",
    ),
    *(b"NaN", b"null", b"\\ud800", b"\\u0000", b"--", b"=?x?b?=?=", b"&#x0;", b"A" * 70_000),
)

cuts: st.SearchStrategy[list[Cut]] = st.lists(
    st.builds(
        Cut,
        st.integers(0, 1_000),
        st.sampled_from(["flip", "end", "insert", "replace", "remove", "repeat", "splice"]),
        st.one_of(st.sampled_from(_PIECES), st.binary(min_size=1, max_size=4)),
    ),
    min_size=1,
    max_size=4,
)


def spoilt(content: bytes, changes: Sequence[Cut], other: bytes = b"") -> bytes:
    """Return content with changes made to it; ``other`` is what it is spliced with."""
    for change in changes:
        at = len(content) * change.at // 1_000
        before, after = content[:at], content[at:]
        content = {
            "flip": before + bytes([after[0] ^ (1 << change.at % 8)]) + after[1:] if after else b"",
            "end": before,
            "insert": before + change.piece + after,
            "replace": before + change.piece + after[len(change.piece) :],
            "remove": before + after[len(change.piece) :],
            "repeat": content + after,
            "splice": before + (other or content)[len(other or content) * change.at // 1_000 :],
        }[change.kind]
    return content


json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.sampled_from(ODD), st.text(max_size=8), st.integers(), st.floats()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


def encoded(value: Any) -> bytes:
    """Return a value as JSON, with half characters as escapes."""
    return json.dumps(value).encode()
