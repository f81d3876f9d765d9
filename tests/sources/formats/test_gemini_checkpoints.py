"""Talks that were saved by hand in Gemini CLI."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import check_cuts, check_hostile_json, check_twice, read, told
from tests.sources.samples.agents import SESSION

from pdpp.sources.formats.gemini_cli.source import GeminiCli

SOURCE = GeminiCli()
HISTORY: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "This is the program. The folder is /mill."}]},
    {"role": "model", "parts": [{"text": "Got it."}]},
    {"role": "user", "parts": [{"text": "Where does the wheel leak?"}]},
    {
        "role": "model",
        "parts": [
            {"text": "Look at the paddles.", "thought": True},
            {"functionCall": {"id": "f1", "name": "read_file", "args": {"path": "wheel.md"}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "id": "f1",
                    "name": "read_file",
                    "response": {"output": "Paddle 7 is cracked"},
                }
            }
        ],
    },
    {"role": "model", "parts": [{"text": "At the seventh paddle."}]},
    {"role": "user", "parts": [{"text": "Thanks"}, {"inlineData": {"data": "AA=="}}]},
    {"role": "model", "parts": []},
]


def typed(message: str, minute: int, session: str = "s1") -> dict[str, Any]:
    stamp = f"2025-07-01T10:{minute:02}:00.000Z"
    about = {"sessionId": session, "messageId": minute, "type": "user"}
    return {**about, "message": message, "timestamp": stamp}


def save(folder: Path, document: Any, session: str = "s1") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    log = [typed("Where does the wheel leak?", 1, session), typed("Thanks", 5, session)]
    (folder / "logs.json").write_text(json.dumps(log))
    path = folder / "checkpoint-mill%20wheel.json"
    path.write_text(json.dumps(document, indent=2))
    return path


@pytest.mark.parametrize("document", [HISTORY, {"history": HISTORY, "authType": "oauth"}])
def test_a_saved_talk_has_the_times_of_what_was_typed(document: Any, tmp_path: Path) -> None:
    save(tmp_path / "ab", document)
    records = read(SOURCE, tmp_path)
    told_at = {data["text"]: data["sent_at"] for data in records.values() if "text" in data}
    assert told_at == {
        "This is the program. The folder is /mill.": "2025-07-01T10:01:00.000Z",
        "Got it.": "2025-07-01T10:01:00.000Z",
        "Where does the wheel leak?": "2025-07-01T10:01:00.000Z",
        "Look at the paddles.": "2025-07-01T10:01:00.000Z",
        "Paddle 7 is cracked": "2025-07-01T10:01:00.000Z",
        "At the seventh paddle.": "2025-07-01T10:01:00.000Z",
        "Thanks": "2025-07-01T10:05:00.000Z",
    }
    [session] = [data for (stream, _), data in records.items() if stream == "sessions"]
    assert (session["title"], session["message_count"]) == ("mill wheel", 6)
    assert session["ended_at"] == "2025-07-01T10:05:00.000Z"
    assert [finding.reason for finding in told(SOURCE, tmp_path)] == [
        "a file that was given to the agent",
        "an empty message",
    ]
    check_twice(tmp_path, tmp_path.parent / "homes")


def test_a_saved_talk_is_the_same_in_its_folder_and_above_it(tmp_path: Path) -> None:
    save(tmp_path / "ab", HISTORY)
    assert read(SOURCE, tmp_path) == read(SOURCE, tmp_path / "ab")


def test_a_saved_talk_whose_session_is_here_comes_in_once(tmp_path: Path) -> None:
    save(tmp_path / "ab", HISTORY, session=str(SESSION["sessionId"]))
    (tmp_path / "ab" / "session-1.json").write_text(json.dumps(SESSION))
    records = read(SOURCE, tmp_path)
    assert len([key for key in records if key[0] == "sessions"]) == 1
    reasons = [finding.reason for finding in told(SOURCE, tmp_path)]
    assert "a talk that was saved by hand, whose session is here" in reasons


def test_a_saved_talk_without_any_time_is_unknown(tmp_path: Path) -> None:
    save(tmp_path, HISTORY)
    (tmp_path / "logs.json").unlink()
    reasons = {finding.reason for finding in told(SOURCE, tmp_path)}
    assert reasons == {"a message of a talk of which no time is known"}


def test_a_saved_talk_that_is_cut_or_disturbed_is_told(tmp_path: Path) -> None:
    path = save(tmp_path, HISTORY)

    def place(content: bytes) -> Path:
        path.write_bytes(content)
        return tmp_path

    check_cuts(SOURCE, path.read_bytes(), place)
    check_hostile_json(SOURCE, HISTORY, place)
