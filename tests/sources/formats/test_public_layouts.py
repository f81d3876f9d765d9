"""Layouts that public readers and sample files describe and our first fixtures did not have."""

import base64
import hashlib
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.sources.kit import Home, Records, check_twice, look, read, told
from tests.sources.samples.sample import json_bytes, json_lines
from tests.sources.samples.social import script, tweet

from pdpp.sources.formats.claude_code.source import ClaudeCode
from pdpp.sources.formats.cursor.source import Cursor
from pdpp.sources.formats.discord.source import Discord
from pdpp.sources.formats.gemini_cli.source import GeminiCli
from pdpp.sources.formats.linkedin.source import LinkedIn
from pdpp.sources.formats.opencode.source import OpenCode
from pdpp.sources.formats.reddit.source import Reddit
from pdpp.sources.formats.signal.source import Signal
from pdpp.sources.formats.spotify.source import Spotify
from pdpp.sources.formats.x_twitter.source import XTwitter
from pdpp.sources.source import Recognition


def put(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def of(records: Records, stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def said(records: Records) -> list[tuple[str, str]]:
    return [(data["role"], data["text"]) for data in of(records, "messages")]


def reasons(source: Any, path: Path) -> list[str]:
    return [finding.reason for finding in told(source, path)]


# Reddit


def test_chats_of_reddit_are_read_and_hidden_posts_are_votes(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        {
            "chat_history.csv": (
                b"message_id,created_at,updated_at,username,message,thread_parent_message_id,"
                b"channel_url,subreddit,channel_name,conversation_type\n"
                b"a1,2026-01-02 10:00:00 UTC,,bo,Is the slipway free on Sunday?,,ch9,,Slipway,dm\n"
                b"a2,2026-01-02 10:01:00 UTC,,nora_l,After noon it is,,ch9,,Slipway,dm\n"
            ),
            "post_votes_1.csv": b"id,permalink,direction\np1,https://r/r/knots/comments/p1/x/,none\n",
            "hidden_posts.csv": b"id,permalink\np2,https://r/r/knots/comments/p2/y/\n",
            "drafts.csv": b"id,title,body,kind,created\nd1,Unsent,Words,markdown,\n",
        },
    )
    records = read(Reddit(), path)
    chats = of(records, "messages")
    assert [(data["sender"], data["subject"]) for data in chats] == [
        ("bo", "Slipway"),
        ("nora_l", "Slipway"),
    ]
    assert len({data["thread_id"] for data in chats}) == 1
    assert [data["kind"] for data in of(records, "votes")] == ["vote", "hidden"]
    assert "not post" in Reddit.passed_over["drafts*.csv"]


# LinkedIn


def test_coaches_invitations_attachments_and_drafts_of_linkedin(tmp_path: Path) -> None:
    columns = (
        b"CONVERSATION ID,CONVERSATION TITLE,FROM,SENDER PROFILE URL,TO,RECIPIENT PROFILE URLS,"
        b"DATE,SUBJECT,CONTENT,FOLDER,ATTACHMENTS,IS MESSAGE DRAFT\n"
    )
    path = put(
        tmp_path / "Basic_LinkedInDataExport_10-08-2026",
        {
            "messages.csv": b"\xef\xbb\xbf"
            + columns
            + b"c1,,Otto,,Nora,,2026-01-01 10:00:00 UTC,,,INBOX,https://files.example/plan.pdf,\n"
            + b"c1,,Nora,,Otto,,2026-01-01 10:05 UTC,,Not yet,INBOX,,true\n",
            "learning_coach_messages.csv": columns
            + b"c2,,Coach,,Nora,,2026-01-01 11:00:00 UTC,,Practise the pitch,,,\n",
            "guide_messages.csv": columns,
            "Invitations.csv": (
                b"From,To,Sent At,Message,Direction,inviterProfileUrl,inviteeProfileUrl\n"
                b'Ines,Nora,"6/30/26, 8:12 PM",We met at the lock gate,INCOMING,,\n'
                b'Nora,Ravi,"7/1/26, 9:00 AM",,OUTGOING,,\n'
            ),
        },
    )
    messages = {data["text"]: data for data in of(read(LinkedIn(), path), "messages")}
    assert list(messages) == [
        "Practise the pitch",
        "[files]",
        "Not yet",
        "We met at the lock gate",
    ]
    assert messages["[files]"]["files"] == "https://files.example/plan.pdf"
    assert messages["Not yet"]["draft"] is True
    assert messages["We met at the lock gate"]["sent_at"] == "2026-06-30T20:12:00Z"
    assert reasons(LinkedIn(), path) == ["an invitation without words"]


# X


def test_posts_to_communities_and_talks_with_grok_are_read(tmp_path: Path) -> None:
    turn = {
        "chatId": "77",
        "createdAt": "2026-01-02T10:00:00.000Z",
        "sender": {"value": "1", "name": "User", "originalName": "USER"},
        "message": "How deep is the sill?",
    }
    answer = {**turn, "sender": {"value": "2", "name": "Agent"}, "message": "Two fathoms"}
    path = put(
        tmp_path,
        {
            "data/community-tweet.js": script("community_tweet", [tweet(4, "To the rowing club")]),
            "data/grok-chat-item.js": script(
                "grok_chat_item", [{"grokChatItem": turn}, {"grokChatItem": answer}]
            ),
        },
    )
    records = read(XTwitter(), path)
    assert [data["text"] for data in of(records, "posts")] == ["To the rowing club"]
    assert [(data["sender"], data["text"]) for data in of(records, "messages")] == [
        ("me", "How deep is the sill?"),
        ("Grok", "Two fathoms"),
    ]


# Discord


def test_a_package_of_discord_is_of_the_account_and_not_of_a_game(tmp_path: Path) -> None:
    message = {"ID": 1, "Timestamp": "2026-01-01 10:00:00", "Contents": "Ebb", "Attachments": ""}
    path = put(
        tmp_path,
        {
            "Aktivitäten/Activities_1/users/user.json": json_bytes(
                {"id": "b81bd5c7-7e52", "username": "poker"}
            ),
            "Konto/user.json": json_bytes(
                {"sessions": ["x" * 1000] * 20, "id": "4242", "username": "nora"}
            ),
            "Nachrichten/c7/channel.json": json_bytes({"id": "7", "type": 1}),
            "Nachrichten/c7/messages.json": json_bytes([message]),
            "Nachrichten/index.json": json_bytes({"7": "Direct Message with bo#0"}),
        },
    )
    seen = look(Discord(), path)
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.account) == ("4242", "Discord (nora)")
    [channel] = of(read(Discord(), path), "channels")
    assert (channel["kind"], channel["name"]) == ("direct message", "Direct Message with bo#0")


# Spotify


def test_audiobooks_of_the_last_year_have_chapters(tmp_path: Path) -> None:
    row = {
        "endTime": "2026-01-02 08:00",
        "msPlayed": 60_000,
        "audiobookName": "Tides",
        "authorName": "I. Duarte",
        "chapterName": "Neap",
    }
    path = put(tmp_path, {"StreamingHistory_audiobook_0.json": json_bytes([row])})
    [play] = of(read(Spotify(), path), "recent_plays")
    assert (play["title"], play["artist"], play["kind"]) == ("Neap", "Tides", "audiobook")


# Signal


def signal_lines(*items: dict[str, Any]) -> bytes:
    about = [
        {"version": "1", "backupTimeMs": "1767000000000"},
        {"account": {"givenName": "Nora"}},
        {"recipient": {"id": "1", "self": {}}},
        {"recipient": {"id": "2", "contact": {"aci": "YWNp", "profileGivenName": "Bo"}}},
        {"chat": {"id": "9", "recipientId": "2"}},
    ]
    each = {"chatId": "9", "authorId": "2", "incoming": {}}
    messages = [
        {"chatItem": {**each, "dateSent": str(1_767_000_000_000 + number), **item}}
        for number, item in enumerate(items)
    ]
    return json_lines([*about, *messages])


def test_answers_to_stories_and_long_texts_of_signal_are_whole(tmp_path: Path) -> None:
    long = ("The pilot waits for slack water. " * 200).encode()
    digest, key = hashlib.sha256(long).digest(), b"k" * 32
    pointer = {
        "locatorInfo": {
            "plaintextHash": base64.b64encode(digest).decode(),
            "localKey": base64.b64encode(key).decode(),
        }
    }
    gone = {"locatorInfo": {"plaintextHash": "YQ==", "localKey": "Yg=="}}
    name = hashlib.sha256(digest + key).hexdigest()
    start = {"body": long[:100].decode()}
    story = {"textReply": {"text": {"body": "What a sunset"}}, "reactions": []}
    path = put(
        tmp_path,
        {
            "main.jsonl": signal_lines(
                {"standardMessage": {"text": start, "longText": pointer}},
                {"standardMessage": {"text": {"body": "Cut he"}, "longText": gone}},
                {"directStoryReplyMessage": story},
                {"directStoryReplyMessage": {"emoji": "🔥"}},
                {
                    "stickerMessage": {
                        "sticker": {"emoji": "⚓"},
                        "reactions": [{"emoji": "👍", "authorId": "1"}],
                    }
                },
            ),
            f"files/{name[:2]}/{name}.txt": long,
        },
    )
    messages = of(read(Signal(), path), "messages")
    assert [data["text"] for data in messages] == [
        long.decode(),
        "Cut he",
        "Answer to a story: What a sunset",
        "Answer to a story: 🔥",
        "[sticker ⚓]",
    ]
    assert messages[4]["reactions"] == ["👍 me"]
    assert reasons(Signal(), path).count("the rest of a long text, which is not in the export") == 1


def test_a_person_who_was_shared_in_signal_can_be_reached(tmp_path: Path) -> None:
    contact = {"name": {"givenName": "Zed"}, "number": [{"value": "+351 9"}], "email": []}
    shared = {"contactMessage": {"contact": contact}}
    path = put(tmp_path, {"main.jsonl": signal_lines(shared)})
    assert [d["text"] for d in of(read(Signal(), path), "messages")] == ["Contact: Zed, +351 9"]


def test_a_message_of_signal_that_was_edited_since_is_the_same_message(tmp_path: Path) -> None:
    each = {"chatId": "9", "authorId": "2", "incoming": {}, "dateSent": "1767000000000"}
    first = {"standardMessage": {"text": {"body": "At noon"}}}
    edited = {
        "standardMessage": {"text": {"body": "At dawn"}},
        "dateSent": "1767000060000",
        "revisions": [{**each, **first}],
    }
    quote = {"targetSentTimestamp": "1767000060000", "authorId": "2"}
    answer = {"standardMessage": {"text": {"body": "Good"}, "quote": quote}}
    before = read(Signal(), put(tmp_path / "a", {"main.jsonl": signal_lines(first)}))
    after = read(Signal(), put(tmp_path / "b", {"main.jsonl": signal_lines(edited, answer)}))
    [old], [new, good] = of(before, "messages"), of(after, "messages")
    assert (new["id"], new["sent_at"]) == (old["id"], old["sent_at"])
    assert (new["text"], new["edits"]) == ("At dawn", 1)
    assert good["reply_to"] == old["id"]


def test_payments_votes_and_pictures_of_stickers_in_signal_are_kept(tmp_path: Path) -> None:
    digest, key = hashlib.sha256(b"sea").digest(), b"k" * 32
    place = {
        "plaintextHash": base64.b64encode(digest).decode(),
        "localKey": base64.b64encode(key).decode(),
    }
    name = hashlib.sha256(digest + key).hexdigest()
    sticker = {"emoji": "⚓", "data": {"contentType": "image/webp", "locatorInfo": place}}
    options = [{"option": "Dawn", "votes": [{"voterId": "1"}]}, {"option": "Noon", "votes": []}]
    lines = signal_lines(
        {"paymentNotification": {"amountMob": "1.5", "note": "For the rope"}},
        {"paymentNotification": {}},
        {"poll": {"question": "When?", "options": options}},
        {"stickerMessage": {"sticker": sticker}},
    )
    path = put(tmp_path, {"main.jsonl": lines, f"files/{name[:2]}/{name}.webp": b"sea"})
    records = read(Signal(), path)
    assert [data["text"] for data in of(records, "messages")] == [
        "Payment: 1.5 MOB, For the rope",
        "Payment",
        "Poll: When?\n- Dawn (1 vote)\n- Noon (0 votes)",
        "[sticker ⚓]",
    ]
    assert [data["media_type"] for data in of(records, "attachments")] == ["image/webp"]


# Gemini CLI


def test_a_log_of_gemini_states_messages_again_and_goes_back(tmp_path: Path) -> None:
    def line(id: str, kind: str, text: str) -> dict[str, Any]:
        return {"id": id, "timestamp": "2026-01-02T10:00:00.000Z", "type": kind, "content": text}

    path = put(
        tmp_path,
        {
            "tmp/tides/chats/session-1.jsonl": json_lines(
                [
                    {"sessionId": "s1", "projectHash": "h", "kind": "main"},
                    line("m1", "user", "Plot the tide"),
                    line("m2", "gemini", "Drawing"),
                    line("m2", "gemini", "Drawing the curve"),
                    line("m3", "user", "wrong prompt"),
                    {"$rewindTo": "m3"},
                    {"$set": {"summary": "Tide plots", "lastUpdated": "2026-01-02T10:01:00.000Z"}},
                ]
            )
        },
    )
    records = read(GeminiCli(), path)
    assert ("assistant", "Drawing the curve") in said(records)
    [session] = of(records, "sessions")
    assert (session["title"], session["message_count"]) == ("Tide plots", 3)
    assert "a mark that the talk went back; what was said stays" in reasons(GeminiCli(), path)


def qwen(uuid: str, kind: str, parts: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return a line of Qwen Code's own logs."""
    message = {"message": {"role": "x", "parts": parts}} if parts is not None else {}
    about = {"parentUuid": None, "sessionId": "9a-1", "cwd": "/home/nora/tides", "version": "0.9.0"}
    return (
        {"uuid": uuid, "type": kind, "timestamp": f"2026-02-01T10:00:0{uuid}Z"}
        | about
        | message
        | more
    )


QWEN = [
    qwen("1", "system", subtype="session_source", systemPayload={"sourceType": "cli"}),
    qwen("2", "user", [{"text": "Lower the lamp of the beacon"}]),
    qwen(
        "3",
        "assistant",
        [
            {"text": "It hangs on a chain", "thought": True},
            {"text": "I lower it"},
            {"functionCall": {"id": "c-1", "name": "edit", "args": {"path": "lamp.py"}}},
        ],
        model="qwen3-coder",
    ),
    qwen("4", "tool_result", [{"functionResponse": {"id": "c-1", "response": {"output": "done"}}}]),
    qwen("5", "user", [{"text": "Slower"}], subtype="mid_turn_user_message"),
    qwen("6", "system", subtype="custom_title", systemPayload={"customTitle": "Beacon"}),
]


def test_qwens_own_logs_are_read_and_are_none_of_claude_code(tmp_path: Path) -> None:
    path = put(tmp_path, {"projects/-home-nora/chats/9a-1.jsonl": json_lines(QWEN)})
    records = read(GeminiCli(), path)
    assert said(records) == [
        ("user", "Lower the lamp of the beacon"),
        ("reasoning", "It hangs on a chain"),
        ("assistant", "I lower it"),
        ("user", "Slower"),
    ]
    [call], [result] = of(records, "tool_calls"), of(records, "tool_results")
    assert (call["tool"], call["input"], result["text"]) == ("edit", "path: lamp.py", "done")
    assert result["call_id"] == call["id"]
    [session] = of(records, "sessions")
    assert (session["title"], session["project"]) == ("Beacon", "/home/nora/tides")
    assert look(ClaudeCode(), path) is None


def test_a_session_that_another_of_qwen_started_is_its_own(tmp_path: Path) -> None:
    own = [qwen("2", "user", [{"text": "Look"}], isSidechain=True, agentId="explore-7")]
    path = put(tmp_path, {"a.jsonl": json_lines(QWEN), "b.jsonl": json_lines(own)})
    assert len(of(read(GeminiCli(), path), "sessions")) == 2


# OpenCode

MESSAGE = {"id": "msg_1", "role": "user", "time": {"created": 1_767_000_000_000}}
PARTS: list[dict[str, Any]] = [
    {"id": "prt_1", "type": "text", "text": "Check the gauge"},
    {"id": "prt_2", "type": "file", "filename": "gauge.png", "mime": "image/png", "url": "data:"},
    {"id": "prt_3", "type": "subtask", "description": "Look", "prompt": "Read the log"},
    {"id": "prt_4", "type": "retry", "attempt": 1},
]
SESSION = {
    "id": "ses_1",
    "title": "Gauge",
    "directory": "/home/nora/tides",
    "time": {"created": 1_767_000_000_000, "updated": 1_767_000_001_000},
}


def test_an_older_folder_and_an_exported_session_of_opencode_hold_the_same(tmp_path: Path) -> None:
    top = "project/home-nora-tides/storage/session"
    parts = {f"{top}/part/ses_1/msg_1/{part['id']}.json": json_bytes(part) for part in PARTS}
    older = put(
        tmp_path / "older",
        {
            f"{top}/info/ses_1.json": json_bytes(SESSION),
            f"{top}/message/ses_1/msg_1.json": json_bytes(MESSAGE),
            **parts,
        },
    )
    document = {"info": SESSION, "messages": [{"info": MESSAGE, "parts": PARTS}]}
    exported = put(tmp_path / "exported", {"session-ses_1.json": json_bytes(document)})
    records = read(OpenCode(), older)
    assert said(records) == [
        ("user", "Check the gauge\n\n[file gauge.png]\n\nLook\nRead the log"),
    ]
    assert read(OpenCode(), exported) == records


# Cursor


def state(path: Path, rows: Mapping[str, Any], items: Mapping[str, Any] | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(path)
    for table, values in (("cursorDiskKV", rows), ("ItemTable", items or {})):
        database.execute(f"CREATE TABLE {table} (key TEXT UNIQUE, value BLOB)")
        database.executemany(
            f"INSERT INTO {table} VALUES (?, ?)",
            [(key, json_bytes(value)) for key, value in values.items()],
        )
    database.commit()
    database.close()
    return path.parent


def test_thoughts_typed_documents_and_older_conversations_of_cursor(tmp_path: Path) -> None:
    rich = {
        "root": {
            "type": "root",
            "children": [
                {"type": "paragraph", "children": [{"type": "text", "text": "Grease"}]},
                {"type": "paragraph", "children": [{"type": "text", "text": "the winch"}]},
            ],
        }
    }
    typed = {"type": 1, "text": "", "richText": json_bytes(rich).decode()}
    at = {"createdAt": "2026-01-02T10:00:00.000Z"}
    path = state(
        tmp_path / "globalStorage" / "state.vscdb",
        {
            "composerData:new": {"fullConversationHeadersOnly": [{"bubbleId": "b1"}]},
            "bubbleId:new:b1": {**typed, **at},
            "bubbleId:new:b2": {"type": 2, "text": "", "thinking": {"text": "Which oil?"}, **at},
            "composerData:map": {
                "createdAt": 1_767_000_000_000,
                "conversationMap": {"b9": {"type": 2, "text": "Use a sea anchor"}},
            },
        },
        {
            "composer.composerData": {
                "allComposers": [
                    {
                        "composerId": "old",
                        "name": "Cleats",
                        "createdAt": 1_767_000_000_000,
                        "conversation": [{"bubbleId": "c1", "type": 1, "text": "Old cleats?"}],
                    },
                    {"composerId": "new", "createdAt": 1_767_000_000_000},
                ]
            }
        },
    )
    records = read(Cursor(), path)
    assert sorted(said(records)) == [
        ("assistant", "Use a sea anchor"),
        ("reasoning", "Which oil?"),
        ("user", "Grease\nthe winch"),
        ("user", "Old cleats?"),
    ]
    titles = {data["title"]: data["message_count"] for data in of(records, "sessions")}
    assert titles == {"map": 1, "Grease the winch": 2, "Cleats": 1}
    assert reasons(Cursor(), path) == ["a conversation that is kept in another place"]


def test_code_of_cursor_beside_its_words_is_read_once_and_pictures_are_told(
    tmp_path: Path,
) -> None:
    about = {"createdAt": 1_767_000_000_000}
    whole = {"type": 2, "text": "Try `moor()`:\nmoor(7)", "codeBlocks": [{"content": "moor(7)\n"}]}
    apart = {"type": 2, "text": "Try this:", "codeBlocks": [{"content": "reef(2)\n"}, 7, {}]}
    short = {"type": 2, "codeBlocks": [{"content": "moor(7)\nreef(2)"}, {"content": "reef(2)"}]}
    shown = {"type": 1, "text": "What is this?", "images": [{"path": "/home/nora/a.png"}]}
    path = state(
        tmp_path / "globalStorage" / "state.vscdb",
        {"composerData:c": about, "bubbleId:c:1": whole, "bubbleId:c:2": apart}
        | {"bubbleId:c:3": shown, "bubbleId:c:4": short},
    )
    assert sorted(said(read(Cursor(), path))) == [
        ("assistant", "Try `moor()`:\nmoor(7)"),
        ("assistant", "Try this:\n\nreef(2)"),
        ("assistant", "moor(7)\nreef(2)\n\nreef(2)"),
        ("user", "What is this?"),
    ]
    assert reasons(Cursor(), path) == ["a picture or file in a message"]


# LinkedIn of 2018


_LINKEDIN_OF_2018 = {
    "Messages.csv": (
        b"From,To,Date,Subject,Content,Direction,Folder\n"
        b'Helga Brandt,Nora Lind,"10/16/18, 8:36 AM",Ropes,'
        b'"We&rsquo;ve new hemp &amp; tar",INCOMING,INBOX\n'
        b'Nora Lind,Helga Brandt,"10/17/18, 12:05 AM",RE: Ropes,Two coils please,OUTGOING,SENT\n'
        b'Nora Lind,Ines Duarte,"10/18/18, 1:00 PM",,,OUTGOING,SENT\n'
    ),
    "Connections.csv": (
        b"First Name,Last Name,Email Address,Company,Position,Connected On\n"
        b'Ines,Duarte,ines@quay.example,Quay,Pilot,"1/8/18, 6:14 PM"\n'
        b'Ines,Duarte,duarte@mole.example,Mole,Cook,"4/4/18, 10:35 AM"\n'
        b"Olga,Reis,olga@quay.example,Quay,Pilot,some day\n"
    ),
    "Profile.csv": b"First Name,Last Name\nNora,Lind\n",
}


def test_an_archive_of_linkedin_of_2018_has_messages_and_days(tmp_path: Path) -> None:
    path = put(tmp_path / "e", _LINKEDIN_OF_2018)
    held = check_twice(path, tmp_path)
    first, second = sorted(of(held, "messages"), key=lambda data: str(data["sent_at"]))
    assert (first["text"], first["sent_at"]) == (
        "We\u2019ve new hemp & tar",
        "2018-10-16T08:36:00Z",
    )
    assert (second["sender"], second["subject"]) == ("Nora Lind", "RE: Ropes")
    assert first["conversation_id"] == second["conversation_id"]
    assert sorted((data["name"], data.get("since")) for data in of(held, "people")) == [
        ("Ines Duarte", "2018-01-08"),
        ("Ines Duarte", "2018-04-04"),
        ("Olga Reis", None),
    ]
    assert reasons(LinkedIn(), path) == [
        "an empty message",
        "the day of a connection, which cannot be read",
    ]


def test_people_without_an_address_and_messages_of_nobody_are_kept(tmp_path: Path) -> None:
    files = {
        "Messages.csv": (
            b"From,To,Date,Subject,Content,Direction,Folder\n"
            b',,"10/16/18, 8:36 AM",,Two coils please,INCOMING,INBOX\n'
        ),
        "Connections.csv": (
            b"First Name,Last Name,Email Address,Company,Position,Connected On\n"
            b"Ines,Duarte,,Quay,Pilot,08 Jan 2019\n"
            b"Ines,Duarte,,Mole,Cook,04 Apr 2019\n"
        ),
    }
    held = check_twice(put(tmp_path / "e", files), tmp_path)
    assert sorted(str(data["company"]) for data in of(held, "people")) == ["Mole", "Quay"]
    [message] = of(held, "messages")
    assert (message["conversation"], message["text"]) == ("", "Two coils please")


def test_somebody_without_an_address_is_the_same_whatever_else_changes(tmp_path: Path) -> None:
    header = b"First Name,Last Name,Email Address,Company,Position,Connected On\n"
    table = header + b"Ines,Duarte,,Mole,Pilot,08 Jan 2019\nIda,Reis,,Net,Cook,08 Jan 2019\n"
    later = (
        header + b"Ines,Duarte,ines@quay.example,Quay,Captain,08 Jan 2019\n"
        b"Ida,Reis,,Quay,Cook,08 Jan 2019\nIda,Reis,,Rope,Mate,08 Jan 2019\n"
    )
    home = Home(tmp_path / "home")
    for month, rows in (("may", table), ("june", later)):
        files = {**_LINKEDIN_OF_2018, "Connections.csv": rows}
        home.bring(put(tmp_path / month, files))
    held = of(home.records(), "people")
    assert sorted((data["name"], data["company"]) for data in held) == [
        ("Ida Reis", "Quay"),
        ("Ida Reis", "Rope"),
        ("Ines Duarte", "Quay"),
    ]
