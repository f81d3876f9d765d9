"""Claude Code logs, in the layouts of several versions."""

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

from pdpp.sources.formats.agent_log import ABOUT_SESSION
from pdpp.sources.formats.claude_code.source import ClaudeCode
from pdpp.sources.item import START, Item, ResumePoint
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import Confidence, Recognition

PIXEL = base64.b64encode(b"\x89PNG not really").decode()
SOURCE = ClaudeCode()


def line(kind: str, uuid: str, content: Any, second: int, **more: Any) -> dict[str, Any]:
    """Return one line as the agent writes it."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message["model"] = "claude-sonnet-4"
    return {
        "parentUuid": more.pop("parent", None),
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/nora/tides",
        "sessionId": "5f2c-11",
        "version": "1.0.17",
        "gitBranch": "main",
        "type": kind,
        "message": message,
        "uuid": uuid,
        "timestamp": f"2026-02-01T10:00:{second:02}.250Z",
        **more,
    }


TALK: list[dict[str, Any]] = [
    {"type": "summary", "summary": "Tide table an hour late", "leafUuid": "u-2"},
    line("user", "u-1", "Why is the tide table an hour late?", 0),
    line(
        "assistant",
        "u-2",
        [
            {"type": "thinking", "thinking": "Summer time, probably.", "signature": "x"},
            {"type": "text", "text": "The lighthouse clock ignores summer time."},
            {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "date"}},
        ],
        5,
        parent="u-1",
    ),
    line(
        "user",
        "u-3",
        [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": [
                    {"type": "text", "text": "Sun Feb  1 10:00"},
                    {
                        "type": "image",
                        "source": {"type": "base64", "media_type": "image/png", "data": PIXEL},
                    },
                ],
            }
        ],
        6,
        parent="u-2",
    ),
    line("assistant", "u-4", [{"type": "text", "text": "Now it is right."}], 9, parent="u-3"),
    {"type": "file-history-snapshot", "messageId": "u-4", "snapshot": {}},
]


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in lines))
    return path


@pytest.fixture
def projects(tmp_path: Path) -> Path:
    """A folder of one project with two sessions."""
    folder = tmp_path / "projects"
    write(folder / "-home-nora-tides" / "5f2c-11.jsonl", TALK)
    other = [line("user", "u-9", "Rename the harbour map", 30, version="2.0.1")]
    write(folder / "-home-nora-tides" / "77aa-22.jsonl", other)
    return folder


def test_a_folder_of_sessions_is_recognised_with_its_versions(projects: Path) -> None:
    seen = look(SOURCE, projects)
    assert isinstance(seen, Recognition)
    assert seen.confidence is Confidence.CERTAIN
    assert seen.version == "2 sessions, written by versions 1.0.17 to 2.0.1"
    assert seen.account == "Claude Code"


def test_json_lines_of_another_kind_are_not_taken(tmp_path: Path) -> None:
    path = write(tmp_path / "events.jsonl", [{"type": "click", "at": 5}])
    assert look(SOURCE, path) is None


def test_the_records_are_the_expected_ones(projects: Path) -> None:
    golden("claude_code", read(SOURCE, projects))


def test_what_is_no_message_is_told(projects: Path) -> None:
    assert [item.reason for item in told(SOURCE, projects)] == [
        ABOUT_SESSION,
        "a line of type file-history-snapshot, which is no message",
    ]


def test_content_that_cannot_be_brought_in_is_told(tmp_path: Path) -> None:
    content = [
        {"type": "hologram"},
        {"type": "image", "source": {"type": "url", "url": "https://x.example/a.png"}},
        {"type": "image", "source": {"type": "base64", "data": "not base64!"}},
        {"type": "redacted_thinking", "data": "x"},
    ]
    path = write(tmp_path / "s.jsonl", [line("user", "u-1", content, 1), {"type": "novelty"}])
    assert [item.reason for item in told(SOURCE, path)] == [
        "content of a type that is not known",
        "an image that is only a link",
        "an image that cannot be decoded",
        "a line of a type that is not known",
    ]
    assert read(SOURCE, path) == {}


def test_a_message_without_an_id_or_a_time_is_unknown(tmp_path: Path) -> None:
    whole = line("user", "u-1", "hello", 1)
    odd = [whole, {**whole, "uuid": None}, {**whole, "timestamp": "soon"}]
    path = write(tmp_path / "s.jsonl", odd)
    assert [item.reason for item in told(SOURCE, path)] == ["a message without an id or a time"] * 2


def test_a_session_that_was_resumed_repeats_lines_without_mixing_them_up(tmp_path: Path) -> None:
    write(tmp_path / "first.jsonl", TALK[1:3])
    write(tmp_path / "second.jsonl", TALK[1:5])
    records = read(SOURCE, tmp_path)
    assert records[("messages", "first.u-1")]["session_id"] == "first"
    assert records[("messages", "second.u-1")]["session_id"] == "second"


def test_a_copy_of_a_session_is_that_session_unless_it_went_on_otherwise(tmp_path: Path) -> None:
    name = "5f2c0011-0000-4000-8000-00000000000b"
    other = line("user", "u-x", "Something else", 7)
    write(tmp_path / f"{name}.jsonl", TALK)
    before = read(SOURCE, tmp_path)
    write(tmp_path / f"{name} (1).jsonl", TALK[:3])
    assert read(SOURCE, tmp_path) == before
    write(tmp_path / f"{name} (2).jsonl", [*TALK[:3], other])
    sessions = {key for stream, key in read(SOURCE, tmp_path) if stream == "sessions"}
    assert sessions == {name, f"{name} (2)"}


def test_the_same_folder_twice_changes_nothing(projects: Path, tmp_path: Path) -> None:
    check_twice(projects, tmp_path)


def test_a_session_and_then_all_of_them_come_to_the_same(projects: Path, tmp_path: Path) -> None:
    early = write(tmp_path / "early" / "5f2c-11.jsonl", TALK[:3])
    check_overlap(early, projects, tmp_path)


def test_a_log_that_is_cut_loses_only_its_tail(tmp_path: Path) -> None:
    path = tmp_path / "5f2c-11.jsonl"

    def place(content: bytes) -> Path:
        path.write_bytes(content)
        return path

    check_cuts(SOURCE, write(path, TALK).read_bytes(), place)


def test_hostile_lines_are_told_and_harm_nothing(tmp_path: Path) -> None:
    path = tmp_path / "5f2c-11.jsonl"

    def place(content: bytes) -> Path:
        path.write_bytes(content)
        return path

    check_hostile_lines(SOURCE, TALK, place)


@given(cut=st.integers(0, len(TALK)))
def test_reading_on_from_any_place_finds_what_reading_all_at_once_finds(
    cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write(tmp_path_factory.mktemp("log") / "5f2c-11.jsonl", TALK)
    whole = {(item.stream, item.key): item for item in findings(SOURCE, path) if type(item) is Item}
    places = [START, *(item for item in findings(SOURCE, path) if isinstance(item, ResumePoint))]
    before = (
        {
            (item.stream, item.key): item
            for item in findings(SOURCE, write(path, TALK[:cut]))
            if type(item) is Item
        }
        if cut
        else {}
    )
    write(path, TALK)
    tree = open_tree(path)
    [part] = SOURCE.parts(tree, Recognition(Confidence.CERTAIN, "", ""))
    after = {(i.stream, i.key): i for i in part.findings(places[cut]) if type(i) is Item}
    strip = {key: item.data for key, item in {**before, **after}.items()}
    assert strip == {key: item.data for key, item in whole.items()}


def test_an_agent_finds_a_sentence_of_a_session(projects: Path, tmp_path: Path) -> None:
    report = bring_and_ask(
        projects, tmp_path, "lighthouse clock", "The lighthouse clock ignores summer time."
    )
    assert counts(report) == {"read": 11, "new": 9, "skipped": 2}


def test_an_image_becomes_a_blob(projects: Path, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert home.bring(projects)["files"]["kept"] == 1
    [image] = [data for (stream, _), data in home.records().items() if stream == "images"]
    assert image["image"]["size_bytes"] == len(base64.b64decode(PIXEL))
    assert image["image"]["mime_type"] == "image/png"


def test_the_logs_of_two_machines_are_two_accounts_and_those_of_one_are_one(
    tmp_path: Path,
) -> None:
    def logs(place: str, cwd: str, session: str) -> Path:
        folder = tmp_path / place / "projects"
        folder.mkdir(parents=True, exist_ok=True)
        said = line("user", f"u-{session}", f"What is in {session}?", 0, cwd=cwd)
        (folder / f"{session}.jsonl").write_text(json.dumps(said) + "\n")
        return folder

    def account(path: Path) -> str:
        report = home.bring(path)
        assert report["status"] == "complete"
        name: str = report["connection"]["connection_id"]
        return name

    home = Home(tmp_path / "home")
    mac = account(logs("mac", "/Users/nora/tides", "s1"))
    linux = account(logs("linux", "/home/nora/tides", "s2"))
    assert mac != linux
    assert account(logs("copy of mac", "/Users/nora/boats", "s3")) == mac
    windows = account(logs("pc", "C:\\Users\\Nora\\tides", "s4") / "s4.jsonl")
    assert account(logs("pc", "C:\\Users\\Nora\\boats", "s5")) == windows
    assert len({mac, linux, windows}) == 3
    assert len(home.records()) == 10


def test_logs_of_two_people_that_lie_in_one_folder_are_two_accounts(tmp_path: Path) -> None:
    for person in ("nora", "otto"):
        said = line("user", f"u-{person}", f"I am {person}", 0, cwd=f"/home/{person}/tides")
        store = tmp_path / "backup" / person / ".claude" / "projects" / "-tides"
        write(store / f"s-{person}.jsonl", [said])
    both = SOURCE.roots(open_tree(tmp_path / "backup"))
    assert both == ["", "nora/.claude", "otto/.claude"]
    alone = open_tree(tmp_path / "backup" / "nora")
    assert list(SOURCE.roots(alone)) == [""]


def test_a_copy_of_logs_is_known_though_others_without_a_home_come_first(tmp_path: Path) -> None:
    def write_session(store: Path, name: str, cwd: str) -> None:
        lines = [line("user", f"{name}-{n}", f"{name} says {n}", n, cwd=cwd) for n in range(4)]
        write(store / f"{name}.jsonl", lines)

    home = Home(tmp_path / "home")
    for name in ("s1", "s2"):
        write_session(tmp_path / "first" / "projects" / "-home-nora", name, "/home/nora/tides")
        write_session(tmp_path / "copy" / "projects" / "-home-nora", name, "/home/nora/tides")
    first = home.bring(tmp_path / "first" / "projects")
    for number in range(25):
        store = tmp_path / "copy" / "projects" / "-container"
        write_session(store, f"c{number:02}", "/workspace")
    second = home.bring(tmp_path / "copy" / "projects")
    assert second["connection"]["connection_id"] == first["connection"]["connection_id"]
    assert second["counts"]["unchanged"] == 10


def queued(uuid: str, prompt: Any, mode: str = "prompt") -> dict[str, Any]:
    """Return what the agent writes when it takes up a prompt in the middle of its work."""
    attachment = {"type": "queued_command", "prompt": prompt, "commandMode": mode}
    found = line("attachment", uuid, None, 9, attachment=attachment)
    del found["message"]
    return found


def test_a_prompt_that_was_written_while_the_agent_worked_is_a_message(tmp_path: Path) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png"}}
    picture["source"]["data"] = PIXEL  # type: ignore[index]
    log = tmp_path / "q.jsonl"
    lines = [
        line("user", "u-1", "Plot the tides", 0),
        queued("q-1", "and the moon too"),
        queued("q-2", [{"type": "text", "text": "like this"}, picture]),
        queued("q-3", "<task-notification>done</task-notification>", "task-notification"),
    ]
    log.write_text("".join(json.dumps(value) + "\n" for value in lines))
    records = read(SOURCE, log)
    messages = [data for (stream, _), data in records.items() if stream == "messages"]
    assert [(data["role"], data["text"]) for data in messages] == [
        ("user", "Plot the tides"),
        ("user", "and the moon too"),
        ("user", "like this"),
    ]
    assert sum(stream == "images" for stream, _ in records) == 1
    assert [finding.reason for finding in told(SOURCE, log)] == [
        "a line of type attachment, which is no message"
    ]


def test_a_title_that_the_owner_chose_counts_before_the_agents(tmp_path: Path) -> None:
    log = tmp_path / "t.jsonl"
    lines = [
        line("user", "u-1", "Plot the tides", 0),
        {"type": "ai-title", "aiTitle": "Plotting tides", "sessionId": "5f2c-11"},
        {"type": "custom-title", "customTitle": "Harbour almanac", "sessionId": "5f2c-11"},
        {"type": "ai-title", "aiTitle": "Plotting tides", "sessionId": "5f2c-11"},
    ]
    log.write_text("".join(json.dumps(value) + "\n" for value in lines))
    [session] = [data for (stream, _), data in read(SOURCE, log).items() if stream == "sessions"]
    assert session["title"] == "Harbour almanac"


def test_helpers_of_two_sessions_that_have_one_name_are_two_sessions(tmp_path: Path) -> None:
    for session in ("s-1", "s-2"):
        said = line("user", "u-1", f"Look at the buoys for {session}", 1, sessionId=session)
        write(tmp_path / session / "subagents" / "agent-a1.jsonl", [said])
    sessions = [
        data for (stream, _), data in read(SOURCE, tmp_path).items() if stream == "sessions"
    ]
    assert [data["title"] for data in sessions] == [
        "Look at the buoys for s-1",
        "Look at the buoys for s-2",
    ]


def test_tools_that_the_service_runs_are_calls_with_answers(tmp_path: Path) -> None:
    answer = {"type": "advisor_result", "text": "Mind the tide."}
    blocks = [
        {"type": "server_tool_use", "id": "srv_1", "name": "advisor", "input": {"about": "buoys"}},
        {"type": "advisor_tool_result", "tool_use_id": "srv_1", "content": answer},
    ]
    log = write(tmp_path / "s.jsonl", [line("assistant", "u-1", blocks, 1)])
    records = read(SOURCE, log)
    assert records[("tool_calls", "s.srv_1")]["input"] == "about: buoys"
    assert records[("tool_results", "s.srv_1")]["text"] == "Mind the tide."
    assert told(SOURCE, log) == []


def test_documents_that_were_given_to_the_agent_are_told(tmp_path: Path) -> None:
    document = {"type": "document", "source": {"type": "base64", "data": PIXEL}}
    answer = {"type": "tool_result", "tool_use_id": "t", "content": [document]}
    log = write(tmp_path / "s.jsonl", [line("user", "u-1", [document, answer], 1)])
    assert [item.reason for item in told(SOURCE, log)] == [
        "a document that was given to the agent"
    ] * 2


def test_messages_that_the_agent_writes_again_count_once(tmp_path: Path) -> None:
    """After it shortened a long talk it writes what it kept, with the same ids and times."""
    said = [line("user", f"u-{n}", f"Knot {n}", n) for n in range(50)]
    late = line("user", "u-x", "Came late", 45)
    log = write(tmp_path / "s.jsonl", [*said, late, *said[3:], line("user", "u-99", "On", 59)])
    records = read(SOURCE, log)
    [session] = [data for (stream, _), data in records.items() if stream == "sessions"]
    assert session["message_count"] == 52
    assert [stream for stream, _ in records].count("messages") == 52


def test_lines_about_the_program_are_no_messages(tmp_path: Path) -> None:
    kinds = (
        *("mode", "bridge-session", "file-history-delta", "worktree-state"),
        *("cost-state", "frame-link", "continued-in", "atis-latch"),
    )
    lines = [{"type": kind, "sessionId": "5f2c-11"} for kind in kinds]
    log = write(tmp_path / "s.jsonl", [*lines, line("user", "u-1", "Ahoy", 1)])
    assert [item.reason for item in told(SOURCE, log)] == [
        f"a line of type {kind}, which is no message" for kind in kinds
    ]


def typed(text: str, second: int, **more: Any) -> dict[str, Any]:
    """Return a line of the prompts that the agent keeps beside its logs."""
    return {
        "display": text,
        "pastedContents": {},
        "timestamp": 1_769_940_000_000 + 1_000 * second,
        "project": "/home/nora/tides",
        **more,
    }


def put_prompts(folder: Path, *prompts: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "history.jsonl"
    path.write_text("".join(json.dumps(prompt) + "\n" for prompt in prompts))
    return path


def test_prompts_of_sessions_whose_logs_are_gone_come_in(tmp_path: Path) -> None:
    folder = tmp_path / ".claude"
    (folder / "projects" / "tides").mkdir(parents=True)
    log = folder / "projects" / "tides" / "5f2c-11.jsonl"
    log.write_text("".join(json.dumps(each) + "\n" for each in TALK))
    (folder / "paste-cache").mkdir()
    (folder / "paste-cache" / "ab12.txt").write_text("a long table")
    pasted = {
        "1": {"id": 1, "type": "text", "content": "low 04:10"},
        "2": {"id": 2, "type": "text", "contentHash": "ab12"},
        "3": {"id": 3, "type": "image"},
    }
    marks = "Compare [Pasted text #1 +9 lines] with [Pasted text #2] and [Image #3]"
    put_prompts(
        folder,
        typed("Why is the tide table an hour late?", 0, sessionId="5f2c-11"),
        typed(marks, 1, sessionId="gone", pastedContents=pasted),
        typed("Before sessions had names", 2),
        typed(" ", 3),
        {"display": "No time", "timestamp": None, "project": "/"},
    )
    prompts = [data for (stream, _), data in read(SOURCE, folder).items() if stream == "prompts"]
    assert [(data["text"], data["sent_at"], data["project"]) for data in prompts] == [
        (
            "Compare low 04:10 with a long table and [Image #3]",
            "2026-02-01T10:00:01Z",
            "/home/nora/tides",
        ),
        ("Before sessions had names", "2026-02-01T10:00:02Z", "/home/nora/tides"),
    ]
    reasons = [found.reason for found in told(SOURCE, folder) if "history" in found.example]
    assert reasons == [
        "a prompt that stands in the log of its session",
        "a picture that was pasted into a prompt",
        "an empty message",
        "a prompt without a text or a time",
    ]


def test_prompts_alone_are_of_the_machine_they_were_typed_at(tmp_path: Path) -> None:
    seen = look(SOURCE, put_prompts(tmp_path, typed("Which tide?", 0)))
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.identity) == ("Claude Code", "/home/nora")
    other = tmp_path / "codex" / "history.jsonl"
    other.parent.mkdir()
    other.write_text('{"session_id": "a", "ts": 1769940000, "text": "Which tide?"}\n')
    assert look(SOURCE, other) is None


@pytest.mark.parametrize("name", ["history (1).jsonl", "history-2026.jsonl", "typed.jsonl"])
def test_prompts_whose_file_was_renamed_are_prompts(tmp_path: Path, name: str) -> None:
    path = put_prompts(tmp_path, typed("Which tide?", 0)).rename(tmp_path / name)
    for place in (path, tmp_path) if name.startswith("history") else (path,):
        [data] = read(SOURCE, place).values()
        assert data["text"] == "Which tide?"
        assert told(SOURCE, place) == []


def test_prompts_twice_and_prompts_that_were_added_are_there_once(tmp_path: Path) -> None:
    first = put_prompts(tmp_path / "first", typed("Which tide?", 0))
    both = put_prompts(tmp_path / "both", typed("Which tide?", 0), typed("And tomorrow?", 90))
    check_twice(first, tmp_path / "twice")
    check_overlap(first, both, tmp_path / "overlap")
