"""Gemini CLI, OpenCode and Cursor: what only these have."""

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.sources.kit import Home, read, told
from tests.sources.samples import every_sample
from tests.sources.samples.agents import (
    OPEN_MESSAGES,
    SESSION,
    STORAGE,
    TWO_ROWS,
    ZERO,
    gemini,
    open_folder,
    two_database,
)

from pdpp.sources.formats.cursor.source import Cursor
from pdpp.sources.formats.gemini_cli.source import GeminiCli
from pdpp.sources.formats.opencode.source import OpenCode
from pdpp.sources.item import START, Item, Unknown
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import OwnerChoices

SAMPLES = every_sample()


def of(records: dict[tuple[str, str], dict[str, Any]], stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def said(records: dict[tuple[str, str], dict[str, Any]]) -> list[tuple[str, str]]:
    return [(data["role"], data["text"]) for data in of(records, "messages")]


def test_a_session_of_gemini_has_thoughts_and_tools(tmp_path: Path) -> None:
    path = SAMPLES["gemini_cli: a document for each session"].folder(tmp_path)
    records = read(GeminiCli(), path)
    assert said(records) == [
        ("user", "Why does the sluice alarm ring at low tide?"),
        ("reasoning", "Units\nCheck them"),
        ("assistant", "The sluice alarm compares metres with fathoms, so it rings too early."),
        ("user", "Thank you, keep the sluice as it is"),
    ]
    [call], [result] = of(records, "tool_calls"), of(records, "tool_results")
    assert (call["tool"], call["input"], result["text"]) == (
        "read_file",
        "path: alarm.py",
        "depth < 3",
    )
    [session] = of(records, "sessions")
    assert session["title"] == "Why does the sluice alarm ring at low tide?"
    assert (session["model"], session["message_count"]) == ("gemini-3-pro", 4)
    assert [skip.reason for skip in told(GeminiCli(), path)] == ["a note of the program"]


def test_a_tool_of_gemini_whose_answer_was_drawn_keeps_its_text(tmp_path: Path) -> None:
    given = [{"functionResponse": {"id": "1", "response": {"output": "Two lines were changed"}}}]
    drawn: list[Any] = [
        {"fileDiff": "@@ -1 +1 @@", "fileName": "alarm.py"},
        [[{"text": "Two ", "bold": True}, {"text": "lines"}]],
        {"isSubagentProgress": True, "recentActivity": []},
    ]
    calls = [
        {"id": str(n), "name": "replace", "args": {}, "result": given, "resultDisplay": shown}
        for n, shown in enumerate(drawn)
    ]
    session = {**SESSION, "messages": [gemini(1, "gemini", "", toolCalls=calls)]}
    (tmp_path / "session-1.json").write_text(json.dumps(session))
    records = read(GeminiCli(), tmp_path)
    texts = [data["text"] for data in of(records, "tool_results")]
    assert texts == ["Two lines were changed"] * 3


def test_a_line_that_states_messages_anew_replaces_them(tmp_path: Path) -> None:
    records = read(GeminiCli(), SAMPLES["gemini_cli: lines, of Qwen Code"].folder(tmp_path))
    assert said(records) == [
        ("user", "Draw the capstan as a big diagram"),
        ("assistant", "The capstan drawing has five bars"),
    ]


def test_files_of_one_session_of_gemini_are_one_session(tmp_path: Path) -> None:
    """A session that is taken up again has another file, and so has each helper of it."""
    begun = {**SESSION, "messages": [gemini(1, "user", "Ring the bell"), gemini(2, "gemini", "No")]}
    helped = {**SESSION, "kind": "subagent", "messages": [gemini(3, "user", "Look for the bell")]}
    for number, document in enumerate((begun, helped), 1):
        (tmp_path / f"session-2026-01-01T1{number}-00-ab.json").write_text(json.dumps(document))
    records = read(GeminiCli(), tmp_path)
    assert sorted(data["position"] for data in of(records, "messages")) == [1, 2, 3]
    [session] = of(records, "sessions")
    assert (session["title"], session["message_count"]) == ("Ring the bell", 3)
    alone = Home(tmp_path / "home")
    alone.bring(tmp_path / "session-2026-01-01T11-00-ab.json")
    alone.bring(tmp_path)
    assert [data["message_count"] for data in of(alone.records(), "sessions")] == [3]


def test_files_of_a_long_session_of_gemini_are_read_a_few_times_each(tmp_path: Path) -> None:
    for number in range(20):
        told_in = [gemini(number + 1, "user", f"Ring bell {number} " + "again " * 2_000)]
        path = tmp_path / f"session-2026-01-01T11-{number:02}-ab.json"
        path.write_text(json.dumps({**SESSION, "messages": told_in}))
    tree = open_tree(tmp_path)
    seen = GeminiCli().recognise(tree, OwnerChoices())
    assert seen is not None
    tree.meter.reset()
    items = [item for part in GeminiCli().parts(tree, seen) for item in part.findings(START)]
    assert tree.meter.bytes_read < 5 * tree.size
    sessions = [item.data for item in items if isinstance(item, Item) and item.stream == "sessions"]
    assert {session["message_count"] for session in sessions} == {20}


def test_the_folder_and_the_database_of_opencode_hold_the_same(tmp_path: Path) -> None:
    folder = SAMPLES["opencode: a folder of documents"].folder(tmp_path / "a")
    database = SAMPLES["opencode: a database"].folder(tmp_path / "b")
    before, after = read(OpenCode(), folder), read(OpenCode(), database)
    assert set(before) == set(after)
    assert said(before) == said(after)
    assert [data["title"] for data in of(after, "sessions")] == ["Mooring"]
    both = SAMPLES["opencode: a database"].folder(folder)
    assert set(read(OpenCode(), both)) == set(before)


def test_a_damaged_part_costs_its_message_alone(tmp_path: Path) -> None:
    files = {**open_folder(), f"{STORAGE}/part/msg_1/prt_0.json": b'{"type": "te'}
    path = SAMPLES["opencode: a folder of documents"].folder(tmp_path, files)
    [text] = [text for role, text in said(read(OpenCode(), path)) if role == "assistant"]
    assert text == "The anchor module is now called mooring, with its tests.\n\n[file a.png]"
    assert "a message that is damaged" in [skip.reason for skip in told(OpenCode(), path)]


def test_a_database_of_opencode_two_is_read_as_one_of_version_one(tmp_path: Path) -> None:
    path = SAMPLES["opencode: a database of version 2"].folder(tmp_path)
    records = read(OpenCode(), path)
    assert said(records) == [
        ("user", "Rename the anchor module\n\n[file a.png]"),
        ("reasoning", "Look first"),
        ("assistant", "The anchor module is now called mooring, with its tests."),
        ("assistant", "A module was renamed."),
    ]
    assert [(data["tool"], data["input"]) for data in of(records, "tool_calls")] == [
        ("bash", "command: git mv anchor.py mooring.py"),
        ("edit", ""),
        ("shell", "command: ls"),
    ]
    assert [data["text"] for data in of(records, "tool_results")] == [
        "renamed",
        "no such file",
        "mooring.py",
    ]
    [session] = of(records, "sessions")
    assert (session["title"], session["project"], session["model"], session["version"]) == (
        "Mooring",
        "/home/nora/boat",
        "sonnet-5",
        "2.0.11",
    )
    assert Counter(skip.reason for skip in told(OpenCode(), path)) == {
        "a mark of the program": 2,
        "instructions that the program gives itself": 1,
    }


def test_a_session_that_both_versions_of_opencode_keep_comes_in_once(tmp_path: Path) -> None:
    [first, *_] = OPEN_MESSAGES
    old: dict[str, list[Any]] = {
        "session": [
            ("ses_1", "p1", "/home/nora/boat", "Mooring", "1.2", 1_767_261_600_000, None),
            ("ses_0", "p1", "/home/nora/boat", "Older", "1.2", 1_767_261_600_000, None),
        ],
        "message": [
            (name, session, 1_767_261_600_000, json.dumps(first))
            for name, session in (("msg_1", "ses_1"), ("msg_9", "ses_0"))
        ],
        "part": [
            (f"prt_{name}", name, session, json.dumps({"type": "text", "text": text}))
            for name, session, text in (
                ("msg_1", "ses_1", "Rename the anchor module"),
                ("msg_9", "ses_0", "Where is the buoy?"),
            )
        ],
    }
    (tmp_path / "opencode.db").write_bytes(two_database(*TWO_ROWS[:2], **old))
    records = read(OpenCode(), tmp_path)
    assert said(records) == [
        ("user", "Rename the anchor module\n\n[file a.png]"),
        ("user", "Where is the buoy?"),
    ]
    assert "a message that another version keeps too" in [
        skip.reason for skip in told(OpenCode(), tmp_path)
    ]


def test_a_session_that_opencode_two_exported_holds_what_its_database_holds(
    tmp_path: Path,
) -> None:
    moved = ("evt_3", "location-switched", {"location": {"directory": "/home/nora/barge"}})
    (tmp_path / "a").mkdir()
    (tmp_path / "a/opencode.db").write_bytes(two_database(*TWO_ROWS, moved))
    messages = [
        {"id": name, "type": kind, "time": {"created": ZERO + number * 1000}, **data}
        for number, (name, kind, data) in enumerate([*TWO_ROWS, moved])
    ]
    about = {
        "id": "ses_1",
        "title": "Mooring",
        "location": {"directory": "/home/nora/boat"},
        "time": {"created": ZERO, "updated": ZERO},
    }
    exported = tmp_path / "b"
    exported.mkdir()
    document = json.dumps({"info": about, "messages": messages})
    (exported / "session.json").write_text(document, encoding="utf-8")
    kept, written = read(OpenCode(), tmp_path / "a"), read(OpenCode(), exported)
    for stream in ("messages", "tool_calls", "tool_results"):
        assert of(written, stream) == of(kept, stream)
    [session] = of(kept, "sessions")
    assert session.pop("version")
    assert of(written, "sessions") == [session]
    assert [skip.reason for skip in told(OpenCode(), exported)].count("a mark of the program") == 3


def test_a_kind_of_message_that_opencode_adds_is_told_as_not_known(tmp_path: Path) -> None:
    rows = [*TWO_ROWS[:2], ("msg_9", "hologram", {"text": "?"})]
    (tmp_path / "opencode.db").write_bytes(two_database(*rows))
    [unknown] = [kept for kept in told(OpenCode(), tmp_path) if isinstance(kept, Unknown)]
    assert unknown.example.endswith("msg_9: hologram")


def test_messages_of_cursor_come_in_the_order_of_the_conversation(tmp_path: Path) -> None:
    path = SAMPLES["cursor: rows for conversations and messages"].folder(tmp_path)
    records = read(Cursor(), path)
    assert said(records) == [
        ("user", "Why does the winch squeal?"),
        ("assistant", "The winch squeals because its pawl spring lost its grease."),
        ("user", "An older question about cleats"),
    ]
    assert [data["position"] for data in of(records, "messages")] == [1, 2, 1]
    assert sorted(data["title"] for data in of(records, "sessions")) == [
        "An older question about cleats",
        "Winch sounds",
    ]
    assert [data["tool"] for data in of(records, "tool_calls")] == ["read_file"]
    assert sorted(skip.reason for skip in told(Cursor(), path)) == [
        "a conversation without messages",
        "a message of a conversation that is gone",
        "a row of the editor's state that is no conversation",
    ]


def test_a_conversation_of_cursor_has_the_name_and_the_folder_of_its_heading(
    tmp_path: Path,
) -> None:
    place = {"id": "w1", "uri": {"scheme": "file", "fsPath": "/home/nora/tides"}}
    heading = {"type": "head", "name": "Tide table", "workspaceIdentifier": place}
    listed = [{"bubbleId": name} for name in ("u1", "a1", "a2", "u2")]
    about = {
        "name": "",
        "createdAt": 1_767_261_600_000,
        "modelConfig": {"modelName": "big-model"},
        "fullConversationHeadersOnly": listed,
    }
    broken = {"tool": 38, "params": '{"path": "tide.py"}', "status": "error", "error": "No file"}
    rows = {
        "composerData:c1": about,
        "bubbleId:c1:u1": {"type": 1, "text": "When is high water?"},
        "bubbleId:c1:a1": {"type": 2, "thinking": {"text": "", "signature": "s"}},
        "bubbleId:c1:a2": {"type": 2, "toolFormerData": broken},
        "bubbleId:c1:u2": {"type": 1, "text": "", "images": [{"path": "/home/nora/a.png"}]},
    }
    with closing(sqlite3.connect(tmp_path / "state.vscdb")) as database, database:
        database.execute("CREATE TABLE cursorDiskKV (key TEXT, value BLOB)")
        database.execute("CREATE TABLE composerHeaders (composerId TEXT, value TEXT)")
        kept = [(key, json.dumps(value)) for key, value in rows.items()]
        database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", kept)
        heads = [("c1", json.dumps(heading)), ("empty-state-draft", json.dumps({"type": "head"}))]
        database.executemany("INSERT INTO composerHeaders VALUES (?, ?)", heads)
    records = read(Cursor(), tmp_path)
    [session], [call], [result] = (
        of(records, stream) for stream in ("sessions", "tool_calls", "tool_results")
    )
    assert (session["title"], session["project"]) == ("Tide table", "/home/nora/tides")
    assert session["model"] == "big-model"
    assert (call["tool"], call["input"], result["text"]) == ("38", "path: tide.py", "No file")
    assert sorted(skip.reason for skip in told(Cursor(), tmp_path)) == [
        "a conversation of which only the heading is there",
        "a picture or file in a message",
        "reasoning that is encrypted",
    ]


def test_a_conversation_of_cursor_is_read_if_only_its_heading_and_its_messages_are_there(
    tmp_path: Path,
) -> None:
    began = 1_767_261_600_000
    spoken = [("bubbleId:c1:b2", {"type": 2, "text": "At six."})]
    spoken += [("bubbleId:c1:b1", {"type": 1, "text": "When is low water?"})]
    with closing(sqlite3.connect(tmp_path / "state.vscdb")) as database, database:
        database.execute("CREATE TABLE cursorDiskKV (key TEXT, value BLOB)")
        database.execute(
            "CREATE TABLE composerHeaders"
            " (composerId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, value TEXT)"
        )
        kept = [(key, json.dumps(value)) for key, value in spoken]
        database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", kept)
        head = ("c1", began, began + 60_000, json.dumps({"name": "Tide table"}))
        database.execute("INSERT INTO composerHeaders VALUES (?, ?, ?, ?)", head)
    records = read(Cursor(), tmp_path)
    [session] = of(records, "sessions")
    assert (session["title"], session["message_count"]) == ("Tide table", 2)
    assert session["started_at"] == "2026-01-01T10:00:00Z"
    texts = {(data["role"], data["text"]) for data in of(records, "messages")}
    assert texts == {("user", "When is low water?"), ("assistant", "At six.")}
    assert not told(Cursor(), tmp_path)


def test_every_workspace_of_cursor_is_read_however_many_there_are(tmp_path: Path) -> None:
    for number in range(210):
        folder = tmp_path / "workspaceStorage" / f"{number:03}"
        folder.mkdir(parents=True)
        bubble = {"type": "user", "id": "b", "text": f"Question {number}"}
        tab = {"tabId": f"t{number}", "lastSendTime": 1_767_261_600_000, "bubbles": [bubble]}
        with closing(sqlite3.connect(folder / "state.vscdb")) as database, database:
            database.execute("CREATE TABLE ItemTable (key TEXT, value BLOB)")
            key = "workbench.panel.aichat.view.aichat.chatdata"
            row = (key, json.dumps({"tabs": [tab]}))
            database.execute("INSERT INTO ItemTable VALUES (?, ?)", row)
    assert len(of(read(Cursor(), tmp_path), "messages")) == 210


def test_a_picture_in_a_message_of_gemini_is_told(tmp_path: Path) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    messages = [gemini(1, "user", [{"text": "Look"}, picture]), gemini(2, "user", [picture])]
    (tmp_path / "session-1.json").write_text(json.dumps({**SESSION, "messages": messages}))
    assert [skip.reason for skip in told(GeminiCli(), tmp_path)] == [
        "a file that was given to the agent"
    ] * 2


def test_secrets_beside_the_sessions_are_never_read(tmp_path: Path) -> None:
    sample = SAMPLES["gemini_cli: a document for each session"]
    files = {**sample.files, "oauth_creds.json": b'{"access_token": "hush"}'}
    report = Home(tmp_path / "home").bring(sample.folder(tmp_path / "e", files))
    reasons = [case["reason"] for case in report["files"]["passed_over"]]
    assert "secrets, which are never read" in reasons
