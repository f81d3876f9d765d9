"""Chats with GitHub Copilot in VS Code."""

import json
import random
from pathlib import Path
from typing import Any

from tests.sources.kit import read, told, zipped
from tests.sources.samples import every_sample
from tests.sources.samples.agents import COPILOT_EVENTS, copilot_event

from pdpp.sources.formats.copilot.source import Copilot

SOURCE = Copilot()
SAMPLES = every_sample()
SESSION = {"sessionId": "s", "creationDate": 1_767_261_600_000, "requests": []}


def log(folder: Path, *changes: Any) -> Path:
    lines = [{"kind": 0, "v": SESSION}, *changes]
    path = folder / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def asked(name: str, text: str, *answer: Any) -> dict[str, Any]:
    return {"requestId": name, "message": {"text": text}, "response": list(answer)}


def said(path: Path) -> list[tuple[str, str]]:
    found = read(SOURCE, path).items()
    return [(data["role"], data["text"]) for (stream, _), data in found if stream == "messages"]


def reasons(path: Path) -> list[str]:
    return [finding.reason for finding in told(SOURCE, path)]


def test_a_session_has_its_answers_with_thoughts_and_tools(tmp_path: Path) -> None:
    path = SAMPLES["copilot: a document for each session"].folder(tmp_path)
    assert said(path) == [
        ("user", "Why does the foghorn stutter?"),
        ("reasoning", "Look at the valve."),
        ("assistant", "The foghorn stutters because valve.py opens the valve twice."),
        ("user", "Then mend it"),
        ("assistant", "Done."),
    ]
    records = read(SOURCE, path)
    [session] = [data for (stream, _), data in records.items() if stream == "sessions"]
    assert (session["title"], session["project"]) == ("A foghorn that stutters", "/home/nora/horn")
    [call] = [data for (stream, _), data in records.items() if stream == "tool_calls"]
    assert (call["tool"], call["input"]) == ("copilot_readFile", "task: Read valve.py\ninput: {}")
    [result] = [data for (stream, _), data in records.items() if stream == "tool_results"]
    assert result["text"] == "open()"
    assert [item.reason for item in told(SOURCE, path)] == ["an edit of a file"]


def test_a_log_is_what_its_changes_leave(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        {"kind": 2, "k": ["requests"], "v": [asked("r1", "Hoist the flag")]},
        {"kind": 2, "k": ["requests", 0, "response"], "v": [{"value": "A"}, {"value": "?"}]},
        {"kind": 2, "k": ["requests", 0, "response"], "i": 1, "v": [{"value": "ye."}]},
        {"kind": 1, "k": ["requests", 1], "v": asked("r2", "Lower it")},
        {"kind": 1, "k": ["responderUsername"], "v": "GitHub Copilot"},
        {"kind": 3, "k": ["responderUsername"]},
    )
    assert said(path) == [
        ("user", "Hoist the flag"),
        ("assistant", "Aye."),
        ("user", "Lower it"),
    ]
    assert told(SOURCE, path) == []


def test_a_change_that_nobody_knows_costs_no_other(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        {"kind": 9, "k": ["requests"]},
        {"kind": 1, "k": ["requests", 7, "response"], "v": []},
        {"kind": 2, "k": ["requests"], "v": [asked("r1", "Ahoy", {"kind": "hologram"}), {"a": 1}]},
    )
    assert said(path) == [("user", "Ahoy")]
    assert [item.reason for item in told(SOURCE, path)] == [
        "a shape that is not known",
        "a shape that is not known",
        "content of a type that is not known",
        "a message without an id or a time",
    ]


def test_a_session_in_which_nobody_asked_is_told(tmp_path: Path) -> None:
    assert [item.reason for item in told(SOURCE, log(tmp_path))] == ["a session without messages"]


def test_a_transcript_beside_its_chat_brings_nothing_twice(tmp_path: Path) -> None:
    workspace = tmp_path / "workspaceStorage" / "w1"
    events = [
        *COPILOT_EVENTS[:1],
        copilot_event(1, "user.message", content="Is the weir open?"),
        copilot_event(2, "assistant.message", content="Since six."),
    ]
    session = COPILOT_EVENTS[0]["data"]["sessionId"]
    transcript = workspace / "GitHub.copilot-chat" / "transcripts" / f"{session}.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text("".join(json.dumps(event) + "\n" for event in events))
    chats = workspace / "chatSessions"
    chats.mkdir()
    whole = {"sessionId": session, "creationDate": 1_777_406_400_000, "requests": []}
    talk = [("user", "Is the weir open?"), ("assistant", "Since six.")]
    question = asked("r1", "Is the weir open?", {"value": "Since six."})
    chat = chats / f"{session}.json"
    # A chat in which nobody asked hides no transcript.
    chat.write_text(json.dumps(whole))
    assert said(tmp_path) == talk
    for requests in ([question], [question, asked("r2", "And the mole?", {"value": "No."})]):
        chat.write_text(json.dumps({**whole, "requests": requests}))
        assert len(said(tmp_path)) == 2 * len(requests)
        assert "a session that is read from its chat" in reasons(tmp_path)
    chat.unlink()
    changes = [{"kind": 0, "v": whole}, {"kind": 2, "k": ["requests"], "v": [question]}]
    (chats / f"{session}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in changes))
    assert said(tmp_path) == talk
    assert "a session that is read from its chat" in reasons(tmp_path)


def test_a_chat_that_is_damaged_keeps_nothing_else_from_being_read(tmp_path: Path) -> None:
    (tmp_path / "chat").mkdir()
    noise = random.Random(0).randbytes(200_000).hex()
    chat = log(tmp_path / "chat", {"kind": 2, "k": ["requests"], "v": [asked("a", noise)]})
    events = [
        copilot_event(0, "session.start", sessionId=SESSION["sessionId"]),
        copilot_event(1, "user.message", content="Is the tide in?"),
    ]
    transcript = "".join(json.dumps(event) + "\n" for event in events).encode()
    files = {"w/transcripts/s.jsonl": transcript, "w/chatSessions/s.jsonl": chat.read_bytes()}
    path = zipped(tmp_path / "a.zip", files)
    content = path.read_bytes()
    path.write_bytes(content[:-50_000] + b"\xff" * 99 + content[-49_901:])
    assert said(path) == [("user", "Is the tide in?")]


def test_a_transcript_without_a_chat_is_of_the_folder_of_its_workspace(tmp_path: Path) -> None:
    transcripts = tmp_path / "w1" / "GitHub.copilot-chat" / "transcripts"
    transcripts.mkdir(parents=True)
    start = {**COPILOT_EVENTS[0], "data": {"sessionId": "s-7", "copilotVersion": "0.46"}}
    events = [start, copilot_event(1, "user.message", content="Is the weir open?")]
    (transcripts / "s-7.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    (tmp_path / "w1" / "workspace.json").write_text('{"folder": "file:///home/nora/weir"}')
    sessions = [d for (s, _), d in read(SOURCE, tmp_path).items() if s == "sessions"]
    assert [data["project"] for data in sessions] == ["/home/nora/weir"]
