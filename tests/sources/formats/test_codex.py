"""Codex logs, in both of their layouts."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_cuts,
    check_hostile_lines,
    check_overlap,
    check_twice,
    counts,
    findings,
    golden,
    look,
    read,
    told,
)
from zstandard import ZstdCompressor

from pdpp.sources.formats.agent_log import ABOUT_SESSION
from pdpp.sources.formats.codex.source import Codex
from pdpp.sources.item import START, Item, ResumePoint
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import Confidence, Recognition

SOURCE = Codex()
NAME = "rollout-2026-02-01T10-00-00-0198.jsonl"


def line(kind: str, payload: dict[str, Any], second: int) -> dict[str, Any]:
    """Return one line of the newer layout."""
    stamp = f"2026-02-01T10:00:{second:02}.500Z"
    return {"timestamp": stamp, "type": kind, "payload": payload}


def said(role: str, text: str, second: int) -> dict[str, Any]:
    part = "output_text" if role == "assistant" else "input_text"
    content = [{"type": part, "text": text}]
    return line("response_item", {"type": "message", "role": role, "content": content}, second)


META = {
    "id": "0198",
    "timestamp": "2026-02-01T10:00:00.000Z",
    "cwd": "/home/nora/tides",
    "originator": "codex_cli",
    "cli_version": "0.42.0",
    "instructions": None,
    "git": {"branch": "main", "commit_hash": "ab"},
}
TALK: list[dict[str, Any]] = [
    line("session_meta", META, 0),
    line("turn_context", {"cwd": "/home/nora/tides", "model": "gpt-5"}, 0),
    said("user", "<environment_context>linux</environment_context>", 1),
    said("user", "Why does the ferry leave twice?", 2),
    line("event_msg", {"type": "user_message", "message": "Why does the ferry leave twice?"}, 2),
    line(
        "response_item",
        {
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": "Look at the timetable."}],
            "encrypted_content": "gAAA",
        },
        3,
    ),
    line(
        "response_item",
        {
            "type": "function_call",
            "name": "shell",
            "arguments": '{"command": ["rg", "ferry"]}',
            "call_id": "call_1",
        },
        4,
    ),
    line(
        "response_item",
        {
            "type": "function_call_output",
            "call_id": "call_1",
            "output": '{"output": "ferry.csv: 2 rows", "metadata": {"exit_code": 0}}',
        },
        5,
    ),
    line(
        "response_item",
        {"type": "custom_tool_call", "name": "apply_patch", "input": "*** Patch", "call_id": "c2"},
        6,
    ),
    line(
        "response_item",
        {"type": "custom_tool_call_output", "call_id": "c2", "output": {"content": "done"}},
        7,
    ),
    line("response_item", {"type": "web_search_call", "action": {"query": "ferry times"}}, 8),
    said("assistant", "The summer timetable was never taken down.", 9),
]

PLAIN: list[dict[str, Any]] = [
    {"id": "0101", "timestamp": "2025-05-01T08:00:00.000Z", "instructions": None, "git": {}},
    {"record_type": "state"},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]},
]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in lines))
    return path


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    """A folder with a log of each layout."""
    folder = tmp_path / "sessions"
    write(folder / "2026" / "02" / "01" / NAME, TALK)
    write(folder / "2025" / "05" / "01" / "rollout-2025-05-01-0101.jsonl", PLAIN)
    return folder


def test_both_layouts_are_recognised(sessions: Path) -> None:
    seen = look(SOURCE, sessions)
    assert isinstance(seen, Recognition)
    assert seen.confidence is Confidence.CERTAIN
    assert seen.version == "2 sessions, lines with payloads, plain lines"
    assert seen.account == "Codex"


@pytest.mark.parametrize(
    "lines", [[{"type": "click"}], [line("other", {"a": 1}, 0)], [{"id": 1, "payload": {}}]]
)
def test_json_lines_of_another_kind_are_not_taken(
    lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert look(SOURCE, write(tmp_path / "a.jsonl", lines)) is None


def test_the_records_are_the_expected_ones(sessions: Path) -> None:
    golden("codex", read(SOURCE, sessions))


def test_lines_that_are_no_messages_are_told(sessions: Path) -> None:
    assert sorted(item.reason for item in told(SOURCE, sessions)) == [
        ABOUT_SESSION,
        ABOUT_SESSION,
        "a line of type event_msg, which is no message",
        "a line of type state, which is no message",
        "a line of type turn_context, which is no message",
    ]


def test_lines_and_content_of_a_new_type_are_unknown(tmp_path: Path) -> None:
    odd = [TALK[0], line("novelty", {}, 1), line("response_item", {"type": "hologram"}, 2)]
    found = told(SOURCE, write(tmp_path / NAME, odd))
    assert [item.reason for item in found] == [
        ABOUT_SESSION,
        "a line of a type that is not known",
        "content of a type that is not known",
    ]
    assert found[1].example == f"{NAME} line 2: novelty"


def test_a_message_before_any_time_is_unknown(tmp_path: Path) -> None:
    lines = [{**PLAIN[0], "timestamp": "soon"}, PLAIN[2]]
    _, found = told(SOURCE, write(tmp_path / NAME, lines))
    assert found.reason == "a message without a time"


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain", "plain"),
        ('{"output": broken', '{"output": broken'),
        ('{"output": "inner"}', "inner"),
        ([{"type": "input_text", "text": "listed"}], "listed"),
        ({"output": "mapped"}, "mapped"),
        (None, ""),
    ],
)
def test_the_output_of_a_tool_is_read_in_every_form(output: Any, text: str, tmp_path: Path) -> None:
    result = {"type": "function_call_output", "call_id": "c", "output": output}
    path = write(tmp_path / NAME, [TALK[0], line("response_item", result, 1)])
    record, _ = read(SOURCE, path).values()
    assert record["text"] == text


@pytest.mark.parametrize(
    ("given_to", "text"),
    [("not json", "not json"), ("5", "5"), ({"a": 1}, "a: 1")],
)
def test_what_a_tool_was_given_is_spelled_out(given_to: Any, text: str, tmp_path: Path) -> None:
    call = {"type": "function_call", "name": "x", "arguments": given_to, "call_id": "c"}
    path = write(tmp_path / NAME, [TALK[0], line("response_item", call, 1)])
    record, _ = read(SOURCE, path).values()
    assert record["input"] == text


def test_the_same_folder_twice_changes_nothing(sessions: Path, tmp_path: Path) -> None:
    check_twice(sessions, tmp_path)


def test_a_session_and_then_all_of_them_come_to_the_same(sessions: Path, tmp_path: Path) -> None:
    check_overlap(write(tmp_path / "early" / NAME, TALK[:5]), sessions, tmp_path)


def test_an_older_copy_of_a_session_is_that_session_and_changes_nothing(tmp_path: Path) -> None:
    name = "rollout-2026-02-01T10-00-00-01980000-0000-7000-8000-00000000000a"
    whole = write(tmp_path / "sessions" / f"{name}.jsonl", TALK)
    home = Home(tmp_path / "home")
    home.bring(whole)
    before = home.records()
    older = write(tmp_path / "Downloads" / f"{name} (1).jsonl", TALK[:6])
    assert not {"new", "changed"} & counts(home.bring(older)).keys()
    write(tmp_path / "sessions" / f"{name} copy.jsonl", TALK[:6])
    assert not {"new", "changed"} & counts(home.bring(tmp_path / "sessions")).keys()
    assert home.records() == before


def test_a_session_in_which_nothing_was_said_is_one(tmp_path: Path) -> None:
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}
    log = [line("session_meta", META, 0), line("response_item", call, 7)]
    records = read(SOURCE, write(tmp_path / NAME, log))
    [called] = [data for (stream, _), data in records.items() if stream == "tool_calls"]
    [session] = [data for (stream, _), data in records.items() if stream == "sessions"]
    assert session["id"] == called["session_id"]
    assert (session["message_count"], session["project"]) == (0, "/home/nora/tides")
    assert (session["started_at"], session["ended_at"]) == (
        "2026-02-01T10:00:00.000Z",
        "2026-02-01T10:00:07.500Z",
    )
    nothing = write(tmp_path / "e" / NAME, log[:1])
    assert not read(SOURCE, nothing)


def test_a_log_that_is_cut_loses_only_its_tail(tmp_path: Path) -> None:
    path = tmp_path / NAME

    def place(content: bytes) -> Path:
        path.write_bytes(content)
        return path

    check_cuts(SOURCE, write(path, TALK).read_bytes(), place)


@pytest.mark.parametrize("lines", [TALK, PLAIN])
def test_hostile_lines_are_told_and_harm_nothing(
    lines: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = tmp_path / NAME

    def place(content: bytes) -> Path:
        path.write_bytes(content)
        return path

    check_hostile_lines(SOURCE, lines, place)


@given(cut=st.integers(0, len(TALK)))
def test_reading_on_from_any_place_finds_what_reading_all_at_once_finds(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write(tmp_path_factory.mktemp("log") / NAME, TALK)
    found = findings(SOURCE, path)
    whole = {(item.stream, item.key): item.data for item in found if isinstance(item, Item)}
    point = [START, *(item for item in found if isinstance(item, ResumePoint))][cut]
    [part] = SOURCE.parts(open_tree(path), Recognition(Confidence.CERTAIN, "", ""))
    after = {
        (item.stream, item.key): item.data for item in part.findings(point) if type(item) is Item
    }
    assert after.items() <= whole.items()
    assert ("sessions", META["id"]) in after


def test_an_agent_finds_a_sentence_of_a_session(sessions: Path, tmp_path: Path) -> None:
    report = bring_and_ask(
        sessions, tmp_path, "summer timetable", "The summer timetable was never taken down."
    )
    assert counts(report) == {"read": 18, "new": 13, "skipped": 5}


def test_archived_and_compressed_sessions_are_read_alike(tmp_path: Path) -> None:
    plain = write(tmp_path / "plain" / "archived_sessions" / NAME, TALK)
    folder = tmp_path / "packed" / "archived_sessions"
    folder.mkdir(parents=True)
    (folder / f"{NAME}.zst").write_bytes(ZstdCompressor().compress(plain.read_bytes()))
    (folder / "session_index.jsonl").write_text('{"id": "s", "thread_name": "Tides"}\n')
    assert read(SOURCE, tmp_path / "packed") == read(SOURCE, tmp_path / "plain")


PIXEL = base64.b64encode(b"\x89PNG not really").decode()
SHOWN = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}"}
LINKED = {"type": "input_image", "image_url": "https://harbour.example/a.png"}


def test_images_that_were_given_seen_and_made_are_kept(tmp_path: Path) -> None:
    given = {"type": "message", "role": "user", "content": [SHOWN, LINKED]}
    seen = {"type": "function_call_output", "call_id": "c-1", "output": [SHOWN]}
    made = {"type": "image_generation_call", "id": "ig-1", "result": PIXEL}
    log = tmp_path / NAME
    lines = [line("session_meta", META, 0)]
    lines += [line("response_item", each, 1) for each in (given, seen, made)]
    log.write_text("".join(json.dumps(value) + "\n" for value in lines))
    images = [item for item in findings(SOURCE, log) if isinstance(item, Item) and item.attachments]
    assert [item.stream for item in images] == ["images"] * 3
    assert {item.data["media_type"] for item in images} == {"image/png"}
    assert [finding.reason for finding in told(SOURCE, log)] == [
        ABOUT_SESSION,
        "an image that is only a link",
    ]


def test_a_session_has_the_name_that_was_given_to_it_and_open_thoughts(tmp_path: Path) -> None:
    thought = {"type": "reasoning", "summary": [], "content": [{"type": "x", "text": "Ebb first"}]}
    names = [{"id": "0198", "thread_name": name} for name in ("Ferry", "Ferry times")]
    logs = {
        f"sessions/{NAME}": [*TALK, line("response_item", thought, 59)],
        "session_index.jsonl": names,
    }
    (tmp_path / "sessions").mkdir()
    for name, lines in logs.items():
        (tmp_path / name).write_text("".join(json.dumps(value) + "\n" for value in lines))
    records = read(SOURCE, tmp_path)
    [session] = [data for (stream, _), data in records.items() if stream == "sessions"]
    assert session["title"] == "Ferry times"
    assert ("reasoning", "Ebb first") in [
        (data["role"], data["text"])
        for (stream, _), data in records.items()
        if stream == "messages"
    ]


def test_a_log_is_known_behind_a_very_long_first_line(tmp_path: Path) -> None:
    log = tmp_path / NAME
    first = line("session_meta", {**META, "base_instructions": {"text": "reef " * 40_000}}, 0)
    lines = [first, said("user", "Why?", 1)]
    log.write_text("".join(json.dumps(value) + "\n" for value in lines))
    assert isinstance(look(SOURCE, log), Recognition)


def test_tools_that_were_looked_for_and_words_of_other_agents_come_in(tmp_path: Path) -> None:
    found = {"type": "tool_search_output", "call_id": "t", "tools": [{"name": "tide_table"}]}
    words = [{"type": "output_text", "text": "The buoy is adrift."}]
    log = write(
        tmp_path / NAME,
        [
            line("session_meta", META, 0),
            line("response_item", {"type": "tool_search_call", "call_id": "t", "arguments": {}}, 1),
            line("response_item", found, 2),
            line("response_item", {"type": "agent_message", "content": words}, 3),
            line("inter_agent_communication", {"author": "a", "content": "Send a boat."}, 4),
            line("response_item", {"type": "ghost_snapshot", "ghost_commit": {}}, 5),
            line("response_item", {"type": "compaction", "encrypted_content": "gA"}, 6),
            line("world_state", {"full": True}, 7),
            line("token_usage_record", {"response_id": "r", "usage": {"total_tokens": 9}}, 8),
            line("security_risk_score", {"score": 0.1}, 9),
        ],
    )
    records = read(SOURCE, log)
    of_stream = [(stream, data.get("text")) for (stream, _), data in records.items()]
    assert ("tool_results", "tide_table") in of_stream
    assert ("messages", "The buoy is adrift.") in of_stream
    assert ("messages", "Send a boat.") in of_stream
    assert [item.reason for item in told(SOURCE, log)] == [
        ABOUT_SESSION,
        *["a mark of the program, which is no message"] * 2,
        "a line of type world_state, which is no message",
        "a line of type token_usage_record, which is no message",
        "a line of type security_risk_score, which is no message",
    ]


def test_an_answer_of_a_tool_that_is_a_list_in_an_object_is_its_text(tmp_path: Path) -> None:
    output = {"content": [{"type": "text", "text": "Low water"}], "success": True}
    answer = {"type": "function_call_output", "call_id": "c", "output": output}
    lines = [line("session_meta", META, 0), line("response_item", answer, 1)]
    log = write(tmp_path / NAME, lines)
    [text] = [data["text"] for (name, _), data in read(SOURCE, log).items() if name != "sessions"]
    assert text == "Low water"


def test_the_summary_of_a_thought_and_the_thought_itself_are_both_kept(tmp_path: Path) -> None:
    thought = {
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "The tide"}],
        "content": [{"type": "reasoning_text", "text": "It ebbs at six"}],
    }
    log = write(tmp_path / NAME, [line("session_meta", META, 0), line("response_item", thought, 1)])
    [message] = [data for (stream, _), data in read(SOURCE, log).items() if stream == "messages"]
    assert (message["role"], message["text"]) == ("reasoning", "The tide\n\nIt ebbs at six")
