"""Blind hosts: what a model sees when its host shows it one half of a result, and what it can do.

A *sight* deletes the other half and everything beside it before anything is looked at; ids, calls
and text are then taken from what is left, as a model would.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.mcp.client import KINDS, Client, Result
from tests.soak import SOAK

from pdpp.evidence.fence import CLOSING, HIDDEN, OPENING, PREFIX

TOOLS = ("schema", "query_records", "aggregate", "search", "fetch", "read_record_field")
SIGHTS = ("content", "structured")
HOSTS = (
    [(sight, kind) for sight in SIGHTS for kind in KINDS]
    if SOAK
    else [
        ("content", "stdio-legacy"),
        ("structured", "stdio-modern"),
        ("structured", "http-legacy"),
        ("content", "http-modern"),
    ]
)
"""What hosts show, and how they are connected: every half, transport and era; each half over each
transport and in each era. A soak tries every one with every other."""

_BEGUN_CALL = re.compile(rf": (?:{'|'.join(TOOLS)}) \{{")
_CALL = re.compile(rf"(?:^|[ ;])(?P<what>[^:;]+): (?P<tool>{'|'.join(TOOLS)}) (?=\{{)")
_ID = r'(?P<id>[^ "/]+/[^ "/:]+:[^ ]+|"(?:[^"\\]|\\.)+")(?: · .*)?\Z'
_HIT = re.compile(rf"\d+\. (?:[^ ]+ (?:\d+–\d+ of \d+ )?in )?{_ID}")
_ROW = re.compile(rf" *(?:\d+\.|-) {_ID}")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was shown, with the words beside it."""

    what: str
    tool: str
    arguments: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Return the call as one text."""
        return f"{self.tool} {json.dumps(self.arguments, sort_keys=True)}"


def text_calls(text: str) -> Iterator[Call]:
    """Yield the calls that stand at the ends of lines, record text apart."""
    for line in text.split("\n"):
        if line.startswith(PREFIX):
            continue
        for found in _calls(line):
            arguments, rest = _decode(line[found.end() :])
            if arguments is not None and rest in ("", ")"):
                yield Call(found["what"].strip(), found["tool"], arguments)


def _calls(line: str) -> Iterator[re.Match[str]]:
    """Yield the calls of a line with the words before each, up to the mark before them.

    In a long line the pattern alone would look for the end of these words from each space on.
    """
    end = 0
    for begun in _BEGUN_CALL.finditer(line):
        mark = max(line.rfind(mark, end, begun.start()) for mark in ":;")
        if found := _CALL.search(line, max(mark, end), begun.end()):
            end = found.end()
            yield found


def _decode(text: str) -> tuple[dict[str, Any] | None, str]:
    try:
        arguments, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None, text
    return arguments, text[end:]


def object_calls(value: Any, where: str = "") -> Iterator[Call]:
    """Yield the calls of a structured half, wherever they are."""
    if isinstance(value, list):
        for item in value:
            yield from object_calls(item, where)
    if not isinstance(value, dict):
        return
    if set(value) == {"tool", "arguments"}:
        yield Call(where, value["tool"], value["arguments"])
        return
    for name, inner in value.items():
        if name in ("fetch", "read_record_field") and isinstance(inner, dict):
            yield Call(where, name, inner)
        else:
            yield from object_calls(inner, name)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is left of a result for a model to see."""

    tool: str
    arguments: Mapping[str, Any]
    visible: str
    calls: tuple[Call, ...]
    ids: tuple[str, ...]

    @property
    def size(self) -> int:
        """Return how many characters a model reads."""
        return len(self.visible)

    def shown(self, tool: str, *, holding: str = "") -> Call:
        """Return the first call of a tool that was shown whose arguments hold a text."""
        for call in self.calls:
            if call.tool == tool and holding in call.key:
                return call
        raise AssertionError(f"no {tool} with {holding!r} is shown in: {self.visible}")

    def passing(self, name: str) -> Call | None:
        """Return the shown call of the same tool that carries an argument anew."""
        for call in self.calls:
            value = call.arguments.get(name)
            if call.tool == self.tool and value is not None and value != self.arguments.get(name):
                return call
        return None


@dataclass(frozen=True, slots=True)
class Agent:
    """A model behind a host that shows one half of each result and reads no resources."""

    client: Client
    sight: str

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Seen:
        """Call a tool and see what the host shows."""
        return see(self.client.call(tool, arguments), self.sight)

    def follow(self, call: Call, **changed: Any) -> Seen:
        """Make a call that was shown, with arguments of one's own where they are given."""
        return self.call(call.tool, {**call.arguments, **changed})

    def passage(self, seen: Seen) -> str:
        """Return the text of the field that was read."""
        if self.sight == "structured":
            return str(json.loads(seen.visible)["window"]["text"])
        return fenced(seen.visible)

    def document(self, seen: Seen) -> dict[str, Any]:
        """Return the document that was fetched."""
        found: dict[str, Any] = json.loads(seen.visible)
        return found


def fenced(text: str) -> str:
    """Return the record text between the fences."""
    lines = text.split("\n")
    start, end = lines.index(OPENING), lines.index(CLOSING)
    return "\n".join(line.removeprefix(PREFIX) for line in lines[start + 1 : end])


def see(result: Result, sight: str) -> Seen:
    """Return what a host of a sight shows of a result."""
    if sight == "structured":
        return _see_object(result, result.raw["structuredContent"])
    blocks = [block["text"] for block in result.raw["content"] if block["type"] == "text"]
    text = "\n".join(blocks)
    if text.startswith("{"):
        return _see_object(result, json.loads(text))
    pattern = _HIT if result.tool == "search" else _ROW
    ids = [_bare(found["id"]) for line in text.split("\n") if (found := pattern.match(line))]
    return Seen(result.tool, result.arguments, text, tuple(text_calls(text)), tuple(ids))


def _bare(id: str) -> str:
    return str(json.loads(id)) if id.startswith('"') else id


def _see_object(result: Result, body: Mapping[str, Any]) -> Seen:
    visible = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Seen(
        result.tool,
        result.arguments,
        visible,
        tuple(object_calls(body)),
        tuple(_object_ids(result.tool, body)),
    )


def _object_ids(tool: str, body: Mapping[str, Any]) -> Iterator[str]:
    if tool == "search":
        yield from (hit["id"] for hit in body.get("results", []))
    elif tool == "query_records":
        rows = body.get("data", {}).get("data", [])
        yield from (row["fetch"]["id"] for row in rows if "fetch" in row)
    elif "id" in body:
        yield body["id"]


def follow_all(agent: Agent, seen: Seen, argument: str = "cursor") -> Iterator[Seen]:
    """Yield a page and those after it, by the calls that each shows."""
    while True:
        yield seen
        following = seen.passing(argument)
        if following is None:
            return
        seen = agent.follow(following)


def read_to_the_end(agent: Agent, seen: Seen, **wider: Any) -> str:
    """Return the text from a window on to the end of its field."""
    pieces = []
    while True:
        pieces.append(agent.passage(seen))
        start = seen.arguments.get("offset_chars", 0)
        onward = [c for c in seen.calls if c.arguments.get("offset_chars", -1) > start]
        if not onward:
            return "".join(pieces)
        seen = agent.follow(onward[0], **wider)


def hidden_in(text: str) -> list[str]:
    """Return the hidden characters of a text; the lines of a record may hold tabs in a fence."""
    lines = (
        line.replace("\t", "") if line.startswith(PREFIX) else line for line in text.split("\n")
    )
    return HIDDEN.findall("".join(lines))
