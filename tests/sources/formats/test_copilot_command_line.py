"""Sessions of Copilot's command line."""

import json
from pathlib import Path

from tests.sources.kit import read, told
from tests.sources.samples import every_sample
from tests.sources.samples.agents import COPILOT_EVENTS, copilot_event

from pdpp.sources.formats.copilot.source import Copilot

SOURCE = Copilot()
SAMPLE = every_sample()["copilot: events of the command line"]


def test_a_session_has_what_was_asked_thought_done_and_said_once(tmp_path: Path) -> None:
    records = read(SOURCE, SAMPLE.folder(tmp_path))
    rows = [(stream, data) for (stream, _), data in records.items()]
    assert [(d["role"], d["text"]) for s, d in rows if s == "messages"] == [
        ("user", "Who opened the weir?"),
        ("reasoning", "Read the book."),
        ("assistant", "Ivo opened the weir at six."),
    ]
    assert [(d["tool"], d["input"]) for s, d in rows if s == "tool_calls"] == [
        ("view", "path: book.md"),
        ("bash", "c: 1"),
    ]
    assert [d["text"] for s, d in rows if s == "tool_results"] == ["Ivo, 6 am", "denied"]
    [session] = [data for stream, data in rows if stream == "sessions"]
    assert (session["title"], session["project"]) == ("The open weir", "/home/nora/weir")
    assert (session["model"], session["version"]) == ("gpt-5", "0.0.370")


def test_what_an_agent_asks_its_helper_is_not_said_by_the_user(tmp_path: Path) -> None:
    asked = {**copilot_event(1, "user.message", content="Read the gauge"), "agentId": "helper-1"}
    events = [COPILOT_EVENTS[0], asked, copilot_event(2, "user.message", content="How high is it?")]
    path = tmp_path / "c-1.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    rows = [(stream, data) for (stream, _), data in read(SOURCE, path).items()]
    assert [data["role"] for stream, data in rows if stream == "messages"] == ["agent", "user"]
    [session] = [data for stream, data in rows if stream == "sessions"]
    assert session["title"] == "How high is it?"


def test_what_is_no_message_is_told(tmp_path: Path) -> None:
    reasons = [finding.reason for finding in told(SOURCE, SAMPLE.folder(tmp_path))]
    assert sorted(reasons) == [
        "a file that was given to the agent",
        "a line about the session, kept in the session's record",
        "a note of the program",
        "a note of the program",
        "a tool that begins, told before",
    ]


def test_a_session_under_the_name_of_its_file_and_odd_events_are_read(tmp_path: Path) -> None:
    odd = [
        COPILOT_EVENTS[0],
        copilot_event(1, "user.message", content=" "),
        copilot_event(2, "hologram.shown"),
        {"type": "assistant.message", "data": {"content": "When?"}},
        copilot_event(3, "assistant.message", content="", toolRequests=None),
    ]
    path = tmp_path / "c-1.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in odd))
    assert [finding.reason for finding in told(SOURCE, path)] == [
        "a line about the session, kept in the session's record",
        "an empty message",
        "a line of a type that is not known",
        "a message without an id or a time",
        "an empty message",
        "a session without messages",
    ]
