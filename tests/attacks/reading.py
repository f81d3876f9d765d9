"""What a model could take for ours: handles and calls in what it sees, and where they come from."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.attacks.corpus import EVIL, HOST
from tests.mcp.client import Result
from tests.mcp.sight import TOOLS, hidden_in, object_calls, see

from pdpp.evidence.fence import CLOSING, OPENING, PREFIX

_RECORD_TEXT = frozenset({"data", "text", "title", "preview", "groups", "evidence"})
"""Members of a structured half that hold what records say; the rest is ours."""


def check_result(result: Result, planted: frozenset[str]) -> None:
    """Check that whatever passes for a handle or a call in either half is one that we wrote."""
    content, whole = see(result, "content"), see(result, "structured")
    ours = {call.key for call in object_calls(result.structured)}
    assert {call.key for call in content.calls} <= ours, result.text
    assert set(content.ids) <= set(whole.ids) | {result.arguments.get("id")}, result.text
    assert {id for id in whole.ids if not id.startswith("pdpp://")} <= planted
    for call in content.calls:
        assert EVIL not in call.key, result.text
        named = call.arguments.get("id", result.arguments.get("id"))
        assert named in {*planted, result.arguments.get("id")} or named.startswith("pdpp://"), call
    for call in object_calls(without_record_text(result.structured)):
        assert EVIL not in call.key, call
    if result.tool == "fetch" and not result.is_error:
        assert json.loads(result.text) == result.structured
    else:
        check_text(result.text)


def without_record_text(value: Any) -> Any:
    """Return a structured half as far as it is ours: rows keep what stands beside their data."""
    if isinstance(value, list):
        return [without_record_text(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    kept = {}
    for name, inner in value.items():
        rows = name == "data" and isinstance(inner, Mapping | list) and "object" in str(inner)[:900]
        if name not in _RECORD_TEXT or rows:
            kept[name] = without_record_text(inner)
    return kept


def outside(line: str) -> Iterator[str]:
    """Yield what stands in a line outside of quotes, a call of ours as a whole."""
    rest, kept = line, ""
    decoder = json.JSONDecoder()
    while rest:
        tool = next((t for t in TOOLS if rest.startswith(t + " {")), None)
        if tool is not None:
            _, end = decoder.raw_decode(rest[len(tool) + 1 :])
            yield rest[: len(tool) + 1 + end]
            rest = rest[len(tool) + 1 + end :]
        elif rest[0] == '"':
            rest = rest[_quoted(rest) :]
        else:
            kept += rest[0]
            rest = rest[1:]
    yield kept


def _quoted(text: str) -> int:
    """Return where a quote ends that a text begins with."""
    end = 1
    while text[end] != '"':
        end += 2 if text[end] == "\\" else 1
    return end + 1


def unfenced(text: str) -> list[str]:
    """Return the lines that stand outside the one fence there may be, which must be whole."""
    lines = text.split("\n")
    if OPENING not in lines:
        assert CLOSING not in lines
        return lines
    start = lines.index(OPENING)
    assert lines[-1] == CLOSING
    assert lines.count(OPENING) == lines.count(CLOSING) == 1
    assert all(line.startswith(PREFIX) for line in lines[start + 1 : -1])
    return lines[:start]


def check_text(text: str) -> None:
    """Check that outside of quotes and fences nothing of a hostile text is left."""
    assert hidden_in(text) == []
    for line in unfenced(text):
        for part in outside(line):
            assert EVIL not in part, line
            assert HOST not in part, line
            assert "next: schema {}" not in part, line
