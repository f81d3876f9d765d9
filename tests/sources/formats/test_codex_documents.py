"""Codex sessions of spring 2025, which are one document each."""

import json
from pathlib import Path
from typing import Any

from tests.sources.kit import (
    check_cuts,
    check_hostile_json,
    check_twice,
    findings,
    look,
    read,
    told,
)

from pdpp.sources.formats.codex.source import Codex
from pdpp.sources.item import Item
from pdpp.sources.source import Recognition

SOURCE = Codex()
SESSION = {"timestamp": "2025-05-05T22:58:00.000Z", "id": "b0a7", "instructions": "Be brief."}


def said(role: str, text: str) -> dict[str, Any]:
    piece = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": piece, "text": text}]}


ITEMS: list[dict[str, Any]] = [
    said("user", "Which buoy is adrift?"),
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look."}]},
    {"type": "function_call", "name": "shell", "call_id": "c1", "arguments": '{"command":["ls"]}'},
    {
        "type": "function_call_output",
        "call_id": "c1",
        "output": '{"output":"buoys.csv","metadata":{"exit_code":0}}',
    },
    {"type": "local_shell_call", "call_id": "c2", "action": {"command": ["cat", "buoys.csv"]}},
    {"type": "local_shell_call_output", "call_id": "c2", "output": "north"},
    said("assistant", "The northern one."),
]


def document(path: Path, items: list[dict[str, Any]], **session: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"session": {**SESSION, **session}, "items": items}, indent=2))
    return path


def texts(path: Path) -> list[str]:
    return [data["text"] for (_, _), data in read(SOURCE, path).items() if "text" in data]


def test_a_session_that_is_a_document_is_read(tmp_path: Path) -> None:
    path = document(tmp_path / "rollout-2025-05-05-b0a7.json", ITEMS)
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert seen.version == "1 session, documents"
    assert texts(path) == [
        "Which buoy is adrift?",
        "Look.",
        "buoys.csv",
        "north",
        "The northern one.",
    ]
    session = read(SOURCE, path)[("sessions", "b0a7")]
    assert session["title"] == "Which buoy is adrift?"
    assert session["message_count"] == 3
    assert session["ended_at"] == "2025-05-05T22:58:00.000Z"
    assert told(SOURCE, path) == []


def test_a_session_that_went_on_after_midnight_comes_in_once(tmp_path: Path) -> None:
    document(tmp_path / "rollout-2025-05-05-b0a7.json", ITEMS[:1])
    later = {"timestamp": "2025-05-06T00:10:00.000Z"}
    document(tmp_path / "rollout-2025-05-06-b0a7.json", ITEMS, **later)
    assert texts(tmp_path).count("Which buoy is adrift?") == 1
    [skipped] = told(SOURCE, tmp_path)
    assert skipped.reason == "a session as it was earlier, which another file holds whole"
    items = [item for item in findings(SOURCE, tmp_path) if isinstance(item, Item)]
    assert len(items) == len(ITEMS) + 1
    check_twice(tmp_path, tmp_path.parent / "homes")


def test_documents_and_logs_are_one_import(tmp_path: Path) -> None:
    document(tmp_path / "sessions" / "rollout-2025-05-05-b0a7.json", ITEMS)
    log = tmp_path / "sessions" / "2025" / "06" / "01" / "rollout-2025-06-01T10-00-00-c1.jsonl"
    log.parent.mkdir(parents=True)
    lines = [{**SESSION, "id": "c1"}, said("user", "And the southern one?")]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    seen = look(SOURCE, tmp_path)
    assert isinstance(seen, Recognition)
    assert seen.version == "2 sessions, documents, plain lines"
    assert {"The northern one.", "And the southern one?"} <= set(texts(tmp_path))


def test_a_document_that_is_cut_or_disturbed_is_told(tmp_path: Path) -> None:
    path = document(tmp_path / "rollout-2025-05-05-b0a7.json", ITEMS)

    def place(content: bytes) -> Path:
        path.write_bytes(content)
        return path

    check_cuts(SOURCE, path.read_bytes(), place)
    check_hostile_json(SOURCE, {"session": SESSION, "items": ITEMS}, place)


def test_a_document_of_another_kind_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"session": {"id": "1"}, "items": [1]}')
    assert look(SOURCE, path) is None
