"""Chats of Cursor's command line."""

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, check_twice, look, read, told, zipped

from pdpp.sources.formats.cursor.source import Cursor
from pdpp.sources.source import ExportRefusal, Recognition

SOURCE = Cursor()
QUERY = "<user_info>linux</user_info>\n<user_query>\nWhere is the anchor?\n</user_query>"
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You help sailors."},
    {"role": "user", "content": [{"type": "text", "text": QUERY}]},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "Look below deck."},
            {"type": "text", "text": "I will look."},
            {
                "type": "tool-call",
                "toolCallId": "t-1",
                "toolName": "Shell",
                "args": {"command": "ls deck"},
            },
        ],
    },
    {
        "role": "tool",
        "content": [{"type": "tool-result", "toolCallId": "t-1", "result": "anchor.txt"}],
    },
    {"role": "user", "content": "Thanks"},
    {"role": "assistant", "content": [{"type": "text", "text": "In the bow."}]},
    {"role": "user", "content": "Thanks"},
]


def store(folder: Path, talk: list[dict[str, Any]], **about: Any) -> Path:
    """Write a chat as the program does; a message that is said twice is one row."""
    folder.mkdir(parents=True)
    path = folder / "store.db"
    rows = {hashlib.sha256(data).digest(): data for data in map(_bytes, reversed(talk))}
    listed = [hashlib.sha256(_bytes(message)).digest() for message in talk]
    root = b"".join(b"\x0a\x20" + name for name in listed) + b"\x4a\x03abc"
    rows[hashlib.sha256(root).digest()] = root
    meta = {
        "agentId": folder.name,
        "latestRootBlobId": hashlib.sha256(root).hexdigest(),
        "name": "New Agent",
        "createdAt": 1_767_261_600_000,
        "lastUsedModel": "gpt-5",
        **about,
    }
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
        database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
        database.executemany(
            "INSERT INTO blobs VALUES (?, ?)", [(name.hex(), data) for name, data in rows.items()]
        )
        database.execute("INSERT INTO meta VALUES ('0', ?)", (_bytes(meta).hex(),))
    return path


def _bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_a_chat_comes_in_in_its_order_with_its_tools(tmp_path: Path) -> None:
    path = store(tmp_path / "chats" / "hash" / "c-1", TALK).parents[2]
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert seen.version == "1 chat of the command line"
    records = read(SOURCE, path)
    of = {stream: [d for (s, _), d in records.items() if s == stream] for stream, _ in records}
    ordered = sorted(of["messages"], key=lambda data: data["position"])
    assert [(data["role"], data["text"]) for data in ordered] == [
        ("user", QUERY),
        ("reasoning", "Look below deck."),
        ("assistant", "I will look."),
        ("user", "Thanks"),
        ("assistant", "In the bow."),
        ("user", "Thanks"),
    ]
    [session] = of["sessions"]
    assert (session["title"], session["model"]) == ("Where is the anchor?", "gpt-5")
    assert session["started_at"] == "2026-01-01T10:00:00Z"
    assert [data["input"] for data in of["tool_calls"]] == ["command: ls deck"]
    assert [data["text"] for data in of["tool_results"]] == ["anchor.txt"]
    assert [item.reason for item in told(SOURCE, path)] == [
        "instructions that the program gives itself",
        "a row about the order of messages",
    ]


def test_what_nobody_knows_in_a_chat_is_told(tmp_path: Path) -> None:
    talk: list[dict[str, Any]] = [
        {"role": "user", "content": [{"type": "hologram"}, {"type": "image"}]},
        {"a": 1},
    ]
    path = store(tmp_path / "c-1", talk)
    with closing(sqlite3.connect(path)) as database, database:
        wrapped = b"\x12\x40" + _bytes({"role": "user"})
        database.execute("INSERT INTO blobs VALUES ('zz', ?)", (wrapped,))
    assert sorted(item.reason for item in told(SOURCE, path.parent)) == [
        "a conversation without messages",
        "a message in a layout that is not known",
        "a message without a sender or a time",
        "a picture or file in a message",
        "a row about the order of messages",
        "content of a type that is not known",
    ]


def test_chats_that_are_zipped_or_have_grown_are_the_same_chats(tmp_path: Path) -> None:
    folder = store(tmp_path / "first" / "chats" / "hash" / "c-1", TALK[:4]).parents[2]
    check_twice(folder, tmp_path / "t")
    home = Home(tmp_path / "home")
    first = home.bring(folder)
    grown = store(tmp_path / "later" / "chats" / "hash" / "c-1", TALK).parents[2]
    content = {"chats/hash/c-1/store.db": (grown / "hash" / "c-1" / "store.db").read_bytes()}
    second = home.bring(zipped(tmp_path / "backup.zip", content))
    assert second["connection"]["connection_id"] == first["connection"]["connection_id"]
    assert second["counts"]["new"] == 3


def test_a_question_without_an_end_costs_no_time(tmp_path: Path) -> None:
    text = "<user_query>" + " " * 200_000
    path = store(
        tmp_path / "chat", [{"role": "user", "content": [{"type": "text", "text": f"{text}."}]}]
    )

    [session] = [data for data in read(SOURCE, path).values() if "title" in data]
    assert session["message_count"] == 1


@pytest.mark.parametrize("place", ["", "p", "p/agent-transcripts/a/a.jsonl"])
def test_transcripts_alone_are_refused_with_where_the_chats_are(tmp_path: Path, place: str) -> None:
    path = tmp_path / "p" / "agent-transcripts" / "a" / "a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"role":"user","message":{"content":[{"type":"text","text":"Ahoy"}]}}\n')
    refusal = look(SOURCE, tmp_path / place)
    assert isinstance(refusal, ExportRefusal)
    assert "globalStorage" in refusal.message
