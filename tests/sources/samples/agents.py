"""Samples of coding agents: Gemini CLI, Qwen Code, OpenCode, Cursor and GitHub Copilot."""

import json
from typing import Any

from tests.sources.samples.sample import FormatSample, json_bytes, json_lines, sqlite_bytes

ZERO = 1_767_261_600_000


def stamp(second: int) -> str:
    return f"2026-01-01T10:00:{second:02}.500Z"


def gemini(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    made = {"id": f"m{number}", "timestamp": stamp(number), "type": kind, "content": content}
    return {**made, **more}


TALK = [
    gemini(1, "user", "Why does the sluice alarm ring at low tide?"),
    gemini(
        2,
        "gemini",
        "The sluice alarm compares metres with fathoms, so it rings too early.",
        thoughts=[{"subject": "Units", "description": "Check them", "timestamp": stamp(2)}],
        toolCalls=[
            {
                "id": "read-1",
                "name": "read_file",
                "args": {"path": "alarm.py"},
                "result": [{"functionResponse": {"id": "1", "response": {"output": "depth < 3"}}}],
                "status": "success",
                "timestamp": stamp(3),
            }
        ],
        tokens={"input": 10},
        model="gemini-3-pro",
    ),
    gemini(4, "info", "Update available"),
    gemini(5, "user", [{"text": "Thank you, keep the sluice as it is"}]),
]
SESSION = {
    "sessionId": "5f2c-aa",
    "projectHash": "ab" * 32,
    "startTime": stamp(0),
    "lastUpdated": stamp(9),
    "messages": TALK,
}
HEADER = {"kind": "main", "sessionId": "7777-bb", "projectHash": "cd" * 32, "startTime": stamp(0)}
QWEN = [
    HEADER,
    gemini(1, "user", [{"text": "Draw the capstan as a diagram"}]),
    gemini(2, "qwen", "The capstan drawing has five bars", model="qwen3-coder"),
    {"$set": {"messages": [gemini(1, "user", [{"text": "Draw the capstan as a big diagram"}])]}},
    {"$set": {"lastUpdated": stamp(9)}},
]


def open_message(name: str, role: str, second: int) -> dict[str, Any]:
    return {
        "id": name,
        "role": role,
        "sessionID": "ses_1",
        "time": {"created": ZERO + second * 1000},
        "modelID": "big-model",
    }


OPEN_PARTS: dict[str, list[dict[str, Any]]] = {
    "msg_1": [{"type": "text", "text": "Rename the anchor module"}],
    "msg_2": [
        {"type": "step-start"},
        {"type": "reasoning", "text": "Look first"},
        {
            "type": "tool",
            "callID": "call_1",
            "tool": "bash",
            "state": {"status": "completed", "input": {"command": "ls"}, "output": "anchor.py"},
        },
        {"type": "text", "text": "The anchor module is now called mooring, with its tests."},
        {"type": "file", "filename": "a.png"},
    ],
    "msg_3": [{"type": "step-finish"}],
}
OPEN_MESSAGES = [
    open_message("msg_1", "user", 1),
    open_message("msg_2", "assistant", 2),
    open_message("msg_3", "assistant", 3),
]
STORAGE = "opencode/storage"


def open_folder() -> dict[str, bytes]:
    about = {
        "id": "ses_1",
        "version": "0.9",
        "directory": "/home/nora/boat",
        "title": "Mooring",
        "time": {"created": ZERO, "updated": ZERO + 9_000},
    }
    files = {f"{STORAGE}/session/p1/ses_1.json": json_bytes(about)}
    for message in OPEN_MESSAGES:
        files[f"{STORAGE}/message/ses_1/{message['id']}.json"] = json_bytes(message)
        for number, part in enumerate(OPEN_PARTS[message["id"]]):
            name = f"{STORAGE}/part/{message['id']}/prt_{number}.json"
            files[name] = json_bytes({"id": f"prt_{number}", **part})
    return files


OPEN_SCHEMA = """
create table session (id text primary key, project_id text, directory text, title text,
 version text, time_created integer, time_updated integer);
create table message (id text primary key, session_id text, time_created integer, data text);
create table part (id text primary key, message_id text, session_id text, data text);
"""


def open_database(*messages: dict[str, Any]) -> bytes:
    parts = [
        (f"prt_{message['id']}_{number}", message["id"], "ses_1", json.dumps(part))
        for message in messages
        for number, part in enumerate(OPEN_PARTS[message["id"]])
    ]
    return sqlite_bytes(
        OPEN_SCHEMA,
        {
            "session": [("ses_1", "p1", "/home/nora/boat", "Mooring", "1.2", ZERO, ZERO + 9_000)],
            "message": [(m["id"], "ses_1", m["time"]["created"], json.dumps(m)) for m in messages],
            "part": parts,
        },
    )


TWO_SCHEMA = """
create table session_v2 (id text primary key, project_id text, parent_id text, directory text,
 title text, version text, model text, time_created integer, time_updated integer);
create table session_message (id text primary key, session_id text, type text, seq integer,
 time_created integer, time_updated integer, data text);
"""
TWO_SESSION = ("ses_1", "p1", None, "/home/nora/boat", "Mooring", "2.0.11", None, ZERO, ZERO)
TWO_ROWS: list[tuple[str, str, dict[str, Any]]] = [
    ("evt_0", "model-switched", {"model": {"id": "sonnet-5", "providerID": "p"}}),
    ("msg_1", "user", {"text": "Rename the anchor module", "files": [{"name": "a.png"}]}),
    ("evt_1", "system", {"text": "Today is a day"}),
    (
        "msg_2",
        "assistant",
        {
            "model": {"id": "sonnet-5", "providerID": "p"},
            "content": [
                {"type": "reasoning", "id": "r", "text": "Look first"},
                {
                    "type": "tool",
                    "id": "call_1",
                    "name": "bash",
                    "state": {
                        "status": "completed",
                        "input": {"command": "git mv anchor.py mooring.py"},
                        "content": [{"type": "text", "text": "renamed"}],
                    },
                },
                {
                    "type": "tool",
                    "id": "call_2",
                    "name": "edit",
                    "state": {"status": "error", "input": {}, "error": {"message": "no such file"}},
                },
                {
                    "type": "text",
                    "text": "The anchor module is now called mooring, with its tests.",
                },
            ],
        },
    ),
    ("msg_3", "shell", {"command": "ls", "output": {"output": "mooring.py"}}),
    ("msg_4", "compaction", {"status": "completed", "summary": "A module was renamed."}),
    ("evt_2", "idle", {"outcome": "completed"}),
]


def two_database(*rows: tuple[str, str, dict[str, Any]], **older: list[tuple[Any, ...]]) -> bytes:
    """Return a database of version 2; with the tables of version 1 if it has rows of them."""
    messages = [
        (name, "ses_1", kind, number, ZERO + number * 1000, ZERO + number * 1000, json.dumps(data))
        for number, (name, kind, data) in enumerate(rows)
    ]
    tables: dict[str, list[Any]] = {"session_v2": [TWO_SESSION], "session_message": messages}
    return sqlite_bytes(TWO_SCHEMA + (OPEN_SCHEMA if older else ""), {**tables, **older})


KV = "create table cursorDiskKV (key text unique on conflict replace, value blob);"
ITEMS = "create table ItemTable (key text unique on conflict replace, value blob);"
COMPOSER = {
    "composerId": "c1",
    "name": "Winch sounds",
    "createdAt": ZERO,
    "lastUpdatedAt": ZERO + 9_000,
    "fullConversationHeadersOnly": [{"bubbleId": "b2", "type": 1}, {"bubbleId": "b1", "type": 2}],
}
INLINE = {
    "composerId": "c2",
    "createdAt": ZERO,
    "conversation": [{"type": 1, "bubbleId": "x", "text": "An older question about cleats"}],
}
CURSOR_ROWS = [
    ("composerData:c1", json.dumps(COMPOSER)),
    ("bubbleId:c1:b2", json.dumps({"type": 1, "text": "Why does the winch squeal?"})),
    (
        "bubbleId:c1:b1",
        json.dumps(
            {
                "type": 2,
                "text": "The winch squeals because its pawl spring lost its grease.",
                "createdAt": stamp(5),
                "toolFormerData": {"name": "read_file", "rawArgs": '{"p": 1}', "result": "spring"},
            }
        ),
    ),
    ("composerData:c2", json.dumps(INLINE)),
    ("composerData:c3", json.dumps({"composerId": "c3"})),
    ("bubbleId:gone:b9", json.dumps({"type": 1, "text": "x"})),
    ("checkpointId:c1:1", b"\x00\x01"),
]
OLD_CHATS = {
    "tabs": [
        {
            "tabId": "t1",
            "chatTitle": "Halyards",
            "lastSendTime": ZERO,
            "bubbles": [
                {"type": "user", "id": "1", "text": "Which halyard is the red one?"},
                {"type": "ai", "id": "2", "rawText": "The red halyard lifts the storm jib."},
            ],
        }
    ]
}

COPILOT_REQUESTS: list[dict[str, Any]] = [
    {
        "requestId": "r1",
        "message": {"text": "Why does the foghorn stutter?", "parts": []},
        "timestamp": ZERO,
        "modelId": "gpt-5",
        "response": [
            {"kind": "thinking", "value": "Look at the valve."},
            {"value": "The foghorn stutters because "},
            {"kind": "inlineReference", "name": "valve.py", "inlineReference": {"path": "/v.py"}},
            {"value": " opens the valve twice."},
            {
                "kind": "toolInvocationSerialized",
                "toolId": "copilot_readFile",
                "toolCallId": "call-1",
                "pastTenseMessage": {"value": "Read valve.py"},
                "resultDetails": {"input": "{}", "output": [{"type": "embed", "value": "open()"}]},
            },
            {"kind": "undoStop", "id": "u"},
        ],
    },
    {
        "requestId": "r2",
        "message": {"text": "Then mend it"},
        "timestamp": ZERO + 60_000,
        "response": [{"value": "Done."}, {"kind": "textEditGroup", "edits": []}],
    },
]
COPILOT_SESSION = {
    "version": 3,
    "requesterUsername": "nora",
    "requests": COPILOT_REQUESTS,
    "sessionId": "s-1",
    "creationDate": ZERO,
    "customTitle": "A foghorn that stutters",
}
COPILOT_LOG = [
    {"kind": 0, "v": {**COPILOT_SESSION, "sessionId": "s-2", "requests": []}},
    {"kind": 2, "k": ["requests"], "v": COPILOT_REQUESTS[:1]},
    {"kind": 1, "k": ["customTitle"], "v": "Mending a foghorn"},
]


def copilot_event(number: int, kind: str, **data: Any) -> dict[str, Any]:
    about = {"type": kind, "id": f"e{number}", "timestamp": stamp(number), "parentId": None}
    return {**about, "data": data}


COPILOT_EVENTS = [
    copilot_event(
        0,
        "session.start",
        sessionId="c-1",
        copilotVersion="0.0.370",
        selectedModel="gpt-5",
        context={"cwd": "/home/nora/weir", "branch": "main"},
    ),
    copilot_event(1, "user.message", content="Who opened the weir?", attachments=[{"path": "w"}]),
    copilot_event(2, "assistant.turn_start", turnId="0"),
    copilot_event(3, "assistant.reasoning", reasoningId="r", content="Read the book."),
    copilot_event(
        4,
        "assistant.message",
        messageId="m",
        content="",
        reasoningText="Read the book.",
        toolRequests=[{"toolCallId": "t", "name": "view", "arguments": {"path": "book.md"}}],
    ),
    copilot_event(5, "tool.execution_start", toolCallId="t", toolName="view", arguments={}),
    copilot_event(
        6, "tool.execution_complete", toolCallId="t", success=True, result={"content": "Ivo, 6 am"}
    ),
    copilot_event(7, "tool.execution_start", toolCallId="u", toolName="bash", arguments={"c": 1}),
    copilot_event(
        8, "tool.execution_complete", toolCallId="u", success=False, error={"message": "denied"}
    ),
    copilot_event(9, "assistant.message", messageId="n", content="Ivo opened the weir at six."),
    copilot_event(10, "session.shutdown", shutdownType="routine"),
]
COPILOT_CLI = ".copilot/session-state/c-1/events.jsonl"

SAMPLES = (
    FormatSample(
        "copilot",
        "events of the command line",
        {
            COPILOT_CLI: json_lines(COPILOT_EVENTS),
            ".copilot/session-state/c-1/workspace.yaml": b"id: c-1\nsummary: The open weir\n",
        },
        words="Ivo opened weir six",
        sentence="Ivo opened the weir at six.",
        units={"line": ["lines with text"]},
        earlier={COPILOT_CLI: json_lines(COPILOT_EVENTS[:5])},
        cut=COPILOT_CLI,
    ),
    FormatSample(
        "copilot",
        "a document for each session",
        {
            "User/workspaceStorage/ab/chatSessions/s-1.json": json_bytes(COPILOT_SESSION),
            "User/workspaceStorage/ab/workspace.json": b'{"folder": "file:///home/nora/horn"}',
        },
        words="foghorn stutters valve twice",
        sentence="The foghorn stutters because valve.py opens the valve twice.",
        units={"request": ["JSON objects at requests.item"]},
        earlier={
            "User/workspaceStorage/ab/chatSessions/s-1.json": json_bytes(
                {**COPILOT_SESSION, "requests": COPILOT_REQUESTS[:1]}
            )
        },
        cut="User/workspaceStorage/ab/chatSessions/s-1.json",
    ),
    FormatSample(
        "copilot",
        "a log of changes",
        {"User/workspaceStorage/cd/chatSessions/s-2.jsonl": json_lines(COPILOT_LOG)},
        words="foghorn stutters valve twice",
        sentence="The foghorn stutters because valve.py opens the valve twice.",
    ),
    FormatSample(
        "gemini_cli",
        "a document for each session",
        {
            "tmp/abab/chats/session-2026-01-01T10-00-5f2c.json": json_bytes(SESSION),
            "tmp/abab/logs.json": b"[]",
        },
        words="sluice alarm metres fathoms",
        sentence="The sluice alarm compares metres with fathoms, so it rings too early.",
        units={"message": ["JSON objects at messages.item"]},
        earlier={
            "tmp/abab/chats/session-2026-01-01T10-00-5f2c.json": json_bytes(
                {**SESSION, "messages": TALK[:2]}
            )
        },
        cut="tmp/abab/chats/session-2026-01-01T10-00-5f2c.json",
        renamed={"tmp/abab/chats/session-2026-01-01T10-00-5f2c.json": "session (1).json"},
    ),
    FormatSample(
        "gemini_cli",
        "lines, of Qwen Code",
        {"tmp/cdcd/chats/session-7777.jsonl": json_lines(QWEN)},
        words="capstan drawing five bars",
        sentence="The capstan drawing has five bars",
        units={"line": ["lines with text"]},
        cut="tmp/cdcd/chats/session-7777.jsonl",
    ),
    FormatSample(
        "opencode",
        "a folder of documents",
        open_folder(),
        words="anchor module mooring tests",
        sentence="The anchor module is now called mooring, with its tests.",
    ),
    FormatSample(
        "opencode",
        "a database",
        {"opencode/opencode.db": open_database(*OPEN_MESSAGES)},
        cut="opencode/opencode.db",
        words="anchor module mooring tests",
        sentence="The anchor module is now called mooring, with its tests.",
        units={"message": ["rows of message"]},
        earlier={"opencode/opencode.db": open_database(*OPEN_MESSAGES[:1])},
    ),
    FormatSample(
        "opencode",
        "a database of version 2",
        {"opencode/opencode.db": two_database(*TWO_ROWS)},
        cut="opencode/opencode.db",
        words="anchor module mooring tests",
        sentence="The anchor module is now called mooring, with its tests.",
        units={"message": ["rows of session_message"]},
        earlier={"opencode/opencode.db": two_database(*TWO_ROWS[:2])},
    ),
    FormatSample(
        "cursor",
        "rows for conversations and messages",
        {
            "User/globalStorage/state.vscdb": sqlite_bytes(
                KV + ITEMS, {"cursorDiskKV": CURSOR_ROWS, "ItemTable": [("x", "1")]}
            )
        },
        cut="User/globalStorage/state.vscdb",
        words="winch squeals pawl spring grease",
        sentence="The winch squeals because its pawl spring lost its grease.",
        units={"row": ["rows of cursorDiskKV"]},
        earlier={
            "User/globalStorage/state.vscdb": sqlite_bytes(KV, {"cursorDiskKV": CURSOR_ROWS[3:4]})
        },
    ),
    FormatSample(
        "cursor",
        "before 2025",
        {
            "User/workspaceStorage/ab/state.vscdb": sqlite_bytes(
                ITEMS,
                {
                    "ItemTable": [
                        ("workbench.panel.aichat.view.aichat.chatdata", json.dumps(OLD_CHATS))
                    ]
                },
            ),
            "User/workspaceStorage/ab/workspace.json": b"{}",
        },
        words="red halyard storm jib",
        sentence="The red halyard lifts the storm jib.",
    ),
)
