"""Rows of OpenCode's second version: a message is one row that holds everything it is made of.

They are turned into a message and its parts as the first version has them, so that both are read
by the same rules and a message that was moved over is the same record.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pdpp.sources.formats.agent_talk import text_of

TABLES = {
    "session_v2": frozenset({"id", "title", "time_created"}),
    "session_message": frozenset({"id", "session_id", "type", "data"}),
}
SPOKEN = frozenset({"user", "assistant"})
LEFT_OUT = {
    "system": "instructions that the program gives itself",
    "synthetic": "instructions that the program gives itself",
    "idle": "a mark of the program",
    "agent-switched": "a mark of the program",
    "model-switched": "a mark of the program",
    "location-switched": "a mark of the program",
}
Members = Mapping[str, Any]


def as_message(kind: str, value: Members, created: object) -> Members:
    """Return what the first version says of a message: who said it, when, and by which model."""
    time = value.get("time")
    model = value.get("model")
    return {
        "role": "user" if kind == "user" else "assistant",
        "time": time if isinstance(time, dict) and "created" in time else {"created": created},
        "modelID": model.get("id") if isinstance(model, dict) else None,
        "tokens": value.get("tokens"),
    }


def as_parts(kind: str, name: str, value: Members) -> Iterator[Members] | None:
    """Return the parts of a message as the first version has them; None for a kind not known."""
    makers = {
        "user": _of_user,
        "assistant": _of_assistant,
        "shell": _of_shell,
        "skill": _of_skill,
        "compaction": _of_compaction,
    }
    maker = makers.get(kind)
    return None if maker is None else maker(name, value)


def _of_user(name: str, value: Members) -> Iterator[Members]:  # noqa: ARG001 - like the others
    yield {"type": "text", "text": value.get("text")}
    for file in _members(value.get("files")):
        yield {"type": "file", "filename": file.get("name"), "mime": file.get("mime")}


def _of_assistant(name: str, value: Members) -> Iterator[Members]:
    for number, piece in enumerate(_members(value.get("content"))):
        if piece.get("type") == "tool":
            call = str(piece.get("callID") or piece.get("id") or f"{name}.{number}")
            yield _tool(call, piece.get("name"), piece.get("state"))
        else:
            yield piece


def _of_shell(name: str, value: Members) -> Iterator[Members]:
    """Yield a command that the person ran without the model."""
    call = str(value.get("callID") or name)
    state = {"input": {"command": value.get("command")}, "output": value.get("output")}
    yield _tool(call, "shell", state)


def _of_skill(name: str, value: Members) -> Iterator[Members]:
    state = {"input": {"name": value.get("name")}, "output": value.get("text")}
    yield _tool(name, "skill", state)


def _of_compaction(name: str, value: Members) -> Iterator[Members]:  # noqa: ARG001 - like the others
    """Yield the summary alone: what was said last before it is repeated beside it."""
    yield {"type": "text", "text": value.get("summary")}


def _tool(call: str, tool: object, state: object) -> Members:
    about = state if isinstance(state, dict) else {}
    results = (about.get(member) for member in ("output", "content", "result"))
    error = about.get("error")
    message = error.get("message") if isinstance(error, dict) else error
    return {
        "type": "tool",
        "tool": tool,
        "callID": call,
        "state": {
            "input": about.get("input"),
            "output": next(filter(None, map(text_of, results)), ""),
            "error": message,
        },
    }


def _members(value: object) -> list[Members]:
    pieces = value if isinstance(value, list) else []
    return [piece for piece in pieces if isinstance(piece, dict)]
