"""Social exports: chats, histories and logs of other services and programs, of any size."""

import json
import sqlite3
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bench.exports import PEOPLE, moment_of, text_of


def _chat(folder: Path, count: int, place: str) -> Path:
    """Write one chat of Meta's, a file for each 10,000 messages."""
    chat = folder / place / "inbox" / "harbour_10158"
    chat.mkdir(parents=True)
    for part, start in enumerate(range(0, count, 10_000)):
        messages: list[dict[str, Any]] = [
            {
                "sender_name": PEOPLE[number % 4].encode().decode("latin-1"),
                "timestamp_ms": int(moment_of(number).timestamp() * 1000),
                "content": text_of(number),
            }
            for number in range(start, min(start + 10_000, count))
        ]
        document = {
            "participants": [{"name": "Nora"}, {"name": "Helga"}],
            "messages": messages,
            "title": "Harbour",
            "thread_path": "inbox/harbour_10158",
        }
        (chat / f"message_{part + 1}.json").write_text(json.dumps(document))
    return folder


def facebook(folder: Path, count: int) -> Path:
    """Write the archive of an account with one chat."""
    return _chat(folder, count, "your_facebook_activity/messages")


def instagram(folder: Path, count: int) -> Path:
    """Write the archive of an account with one chat."""
    return _chat(folder, count, "your_instagram_activity/messages")


def google_timeline(folder: Path, count: int) -> Path:
    """Write every position of a phone."""
    with (folder / "Records.json").open("w") as file:
        file.write('{"locations": [')
        for number in range(count):
            place = {"latitudeE7": 387071000 + number, "longitudeE7": -91355000, "accuracy": 20}
            moment = moment_of(number).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            file.write("," * bool(number) + json.dumps({**place, "timestamp": moment}))
        file.write("]}")
    return folder / "Records.json"


def google_activity(folder: Path, count: int) -> Path:
    """Write a history of videos."""
    history: list[dict[str, Any]] = [
        {
            "header": "YouTube",
            "title": f"Watched {text_of(number)[:80]}",
            "titleUrl": f"https://www.youtube.com/watch?v={number}",
            "subtitles": [{"name": PEOPLE[number % 4], "url": "https://www.youtube.com/c"}],
            "time": moment_of(number).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "products": ["YouTube"],
        }
        for number in range(count)
    ]
    (folder / "watch-history.json").write_text(json.dumps(history))
    return folder / "watch-history.json"


def google_chat(folder: Path, count: int) -> Path:
    """Write one long chat of a Takeout."""
    chat = folder / "Google Chat" / "Groups" / "DM bench"
    chat.mkdir(parents=True)
    messages = [
        {
            "creator": {"name": PEOPLE[number % 4], "email": f"p{number % 4}@x.example"},
            "created_date": moment_of(number).strftime("%A, %B %d, %Y at %I:%M:%S %p UTC"),
            "text": text_of(number),
            "topic_id": f"t{number // 5}",
            "message_id": f"bench/t{number // 5}/m{number}",
        }
        for number in range(count)
    ]
    (chat / "messages.json").write_text(json.dumps({"messages": messages}))
    return folder / "Google Chat"


def google_keep(folder: Path, count: int) -> Path:
    """Write a folder of notes."""
    keep = folder / "Keep"
    keep.mkdir()
    for number in range(count):
        moment = int(moment_of(number).timestamp() * 1e6)
        note = {
            "color": "DEFAULT",
            "isTrashed": False,
            "isPinned": False,
            "isArchived": False,
            "textContent": text_of(number),
            "title": f"Note {number}",
            "userEditedTimestampUsec": moment,
            "createdTimestampUsec": moment,
        }
        (keep / f"Note {number}.json").write_text(json.dumps(note))
    return keep


def imessage(folder: Path, count: int) -> Path:
    """Write a chat database of a Mac."""
    connection = sqlite3.connect(folder / "chat.db")
    connection.executescript(
        "create table handle (ROWID integer primary key, id text);"
        "create table chat (ROWID integer primary key, guid text, chat_identifier text,"
        " style integer, service_name text);"
        "create table chat_handle_join (chat_id integer, handle_id integer);"
        "create table chat_message_join (chat_id integer, message_id integer primary key);"
        "create table message (ROWID integer primary key, guid text, text text, date integer,"
        " is_from_me integer, handle_id integer, attributedBody blob, subject text, service text,"
        " date_read integer);"
        "create table attachment (ROWID integer primary key, guid text, filename text,"
        " mime_type text);"
        "create table message_attachment_join (message_id integer, attachment_id integer);"
        "create index attachments on message_attachment_join (message_id);"
        "insert into handle values (1, '+351910000001');"
        "insert into chat values"
        " (1, 'iMessage;-;+351910000001', '+351910000001', 45, 'iMessage');"
        "insert into chat_handle_join values (1, 1);"
    )
    insert = (
        "insert into message (ROWID, guid, text, date, is_from_me, handle_id, service)"
        " values (?, ?, ?, ?, ?, ?, 'iMessage')"
    )
    for number in range(count):
        since = int((moment_of(number).timestamp() - 978_307_200) * 1e9)
        row = (number + 1, f"G{number}", text_of(number), since, number % 2, 1)
        connection.execute(insert, row)
        connection.execute("insert into chat_message_join values (1, ?)", (number + 1,))
    connection.commit()
    connection.close()
    return folder / "chat.db"


def gemini_cli(folder: Path, count: int) -> Path:
    """Write one long session."""
    messages: list[dict[str, Any]] = [
        {
            "id": f"m{number}",
            "timestamp": moment_of(number).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "type": "gemini" if number % 2 else "user",
            "content": text_of(number),
        }
        for number in range(count)
    ]
    document = {"sessionId": "s1", "projectHash": "ab", "messages": messages}
    (folder / "session-1.json").write_text(json.dumps(document))
    return folder / "session-1.json"


def copilot(folder: Path, count: int) -> Path:
    """Write one long session, a request and its answer for each two messages."""
    requests = [
        {
            "requestId": f"r{number}",
            "timestamp": int(moment_of(number).timestamp() * 1000),
            "message": {"text": text_of(number)},
            "response": [{"value": text_of(number + 1)}],
        }
        for number in range(0, count, 2)
    ]
    document = {"requests": requests, "sessionId": "s1", "creationDate": 1_704_096_000_000}
    (folder / "s1.json").write_text(json.dumps(document))
    return folder / "s1.json"


def grok(folder: Path, count: int) -> Path:
    """Write an export with one conversation for each 20 messages."""
    conversations = []
    for first in range(0, count, 20):
        responses = [
            {
                "response": {
                    "_id": f"m{number}",
                    "sender": "assistant" if number % 2 else "human",
                    "message": text_of(number),
                    "create_time": moment_of(number).strftime("%Y-%m-%dT%H:%M:%SZ"),
                }
            }
            for number in range(first, min(first + 20, count))
        ]
        about = {"id": f"c{first}", "user_id": "u1", "title": f"Talk {first}"}
        conversations.append({"conversation": about, "responses": responses})
    path = folder / "prod-grok-backend.json"
    path.write_text(json.dumps({"conversations": conversations}))
    return path


def opencode(folder: Path, count: int) -> Path:
    """Write a database with one long session."""
    connection = sqlite3.connect(folder / "opencode.db")
    connection.executescript(
        "create table session (id text primary key, title text, directory text, version text,"
        " time_created integer, time_updated integer);"
        "create table message (id text primary key, session_id text, data text);"
        "create table part (id text primary key, message_id text, data text);"
        "create index parts on part (message_id); create index messages on message (session_id);"
        "insert into session values"
        " ('s1', 'Harbour', '/home/nora/harbour', '1.2.0', 1704096000000, 1704096000000);"
    )
    for number in range(count):
        created = int(moment_of(number).timestamp() * 1000)
        about = {"role": "user", "time": {"created": created}}
        said = {"type": "text", "text": text_of(number)}
        name = f"m{number:08}"
        connection.execute("insert into message values (?, 's1', ?)", (name, json.dumps(about)))
        connection.execute("insert into part values (?, ?, ?)", (name, name, json.dumps(said)))
    connection.commit()
    connection.close()
    return folder / "opencode.db"


def cursor(folder: Path, count: int) -> Path:
    """Write the editor's state with one conversation for each 20 messages."""
    connection = sqlite3.connect(folder / "state.vscdb")
    connection.execute("create table cursorDiskKV (key text primary key, value blob)")
    for number in range(count):
        talk = f"c{number // 20:06}"
        created = int(moment_of(number).timestamp() * 1000)
        if not number % 20:
            about = json.dumps({"name": f"Talk {talk}", "createdAt": created})
            connection.execute(
                "insert into cursorDiskKV values (?, ?)", (f"composerData:{talk}", about)
            )
        bubble = json.dumps({"type": 1 + number % 2, "text": text_of(number)})
        row = (f"bubbleId:{talk}:b{number:08}", bubble)
        connection.execute("insert into cursorDiskKV values (?, ?)", row)
    connection.commit()
    connection.close()
    return folder / "state.vscdb"


def browser_history(folder: Path, count: int) -> Path:
    """Write Chrome's history."""
    connection = sqlite3.connect(folder / "History")
    connection.executescript(
        "create table urls (id integer primary key, url text, title text);"
        "create table visits (id integer primary key, url integer, visit_time integer,"
        " transition integer, visit_duration integer);"
    )
    for number in range(count):
        page = (number, f"https://winter.example/{number}", text_of(number)[:80])
        connection.execute("insert into urls values (?, ?, ?)", page)
        since = int(moment_of(number).timestamp() + 11_644_473_600) * 10**6
        connection.execute(
            "insert into visits values (?, ?, ?, 0, 5000000)", (number, number, since)
        )
    connection.commit()
    connection.close()
    return folder / "History"


def x_twitter(folder: Path, count: int) -> Path:
    """Write posts as X does, behind an assignment."""
    posts: list[dict[str, Any]] = [
        {
            "tweet": {
                "id_str": str(number + 1),
                "full_text": text_of(number),
                "created_at": moment_of(number).strftime("%a %b %d %H:%M:%S +0000 %Y"),
            }
        }
        for number in range(count)
    ]
    path = folder / "tweets.js"
    path.write_text(f"window.YTD.tweets.part0 = {json.dumps(posts)}")
    return path


def discord(folder: Path, count: int) -> Path:
    """Write one channel."""
    channel = folder / "Messages" / "c1"
    channel.mkdir(parents=True)
    messages = [
        {
            "ID": number + 1,
            "Timestamp": f"{moment_of(number):%Y-%m-%d %H:%M:%S}",
            "Contents": text_of(number),
            "Attachments": "",
        }
        for number in range(count)
    ]
    (channel / "channel.json").write_text(json.dumps({"id": "1", "name": "harbour"}))
    (channel / "messages.json").write_text(json.dumps(messages))
    return folder


def linkedin(folder: Path, count: int) -> Path:
    """Write a table of messages."""
    rows = [
        f"c{number // 20},,{PEOPLE[number % 4]},,Nora,{moment_of(number):%Y-%m-%d %H:%M:%S} UTC,,"
        f'"{text_of(number)}"\n'
        for number in range(count)
    ]
    head = "CONVERSATION ID,CONVERSATION TITLE,FROM,SENDER PROFILE URL,TO,DATE,SUBJECT,CONTENT\n"
    (folder / "messages.csv").write_text(head + "".join(rows))
    return folder / "messages.csv"


def reddit(folder: Path, count: int) -> Path:
    """Write a table of comments."""
    rows = [
        f"c{number},https://www.reddit.com/r/a/comments/p1/t/c{number}/,"
        f'{moment_of(number):%Y-%m-%d %H:%M:%S} UTC,a,,"{text_of(number)}"\n'
        for number in range(count)
    ]
    head = "id,permalink,date,subreddit,link,body\n"
    (folder / "comments.csv").write_text(head + "".join(rows))
    return folder / "comments.csv"


def sms_backup(folder: Path, count: int) -> Path:
    """Write a backup of text messages."""
    with (folder / "sms-1.xml").open("w") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<smses count="{count}">\n')
        for number in range(count):
            date = int(moment_of(number).timestamp() * 1000)
            body = text_of(number).replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
            who = f'address="+3519100000{number % 4}" contact_name="{PEOPLE[number % 4]}"'
            file.write(f' <sms {who} date="{date}" type="{1 + number % 2}" body="{body}" />\n')
        file.write("</smses>\n")
    return folder / "sms-1.xml"


def signal(folder: Path, count: int) -> Path:
    """Write Signal's plain export with one chat."""
    with (folder / "main.jsonl").open("w") as file:
        about: list[dict[str, Any]] = [
            {"version": "1", "backupTimeMs": "1"},
            {"recipient": {"id": "1", "self": {}}},
            {"recipient": {"id": "2", "contact": {"aci": "a", "profileGivenName": "Helga"}}},
            {"chat": {"id": "1", "recipientId": "2"}},
        ]
        for number in range(count):
            item = {
                "chatId": "1",
                "authorId": str(1 + number % 2),
                "dateSent": str(int(moment_of(number).timestamp() * 1000)),
                "incoming": {},
                "standardMessage": {"text": {"body": text_of(number)}},
            }
            about.append({"chatItem": item})
        file.writelines(json.dumps(line) + "\n" for line in about)
    return folder / "main.jsonl"


MAKERS: Mapping[str, Callable[[Path, int], Path]] = MappingProxyType(
    {
        maker.__name__: maker
        for maker in (
            browser_history,
            copilot,
            cursor,
            discord,
            facebook,
            gemini_cli,
            google_activity,
            google_chat,
            google_keep,
            google_timeline,
            grok,
            imessage,
            instagram,
            linkedin,
            opencode,
            reddit,
            signal,
            sms_backup,
            x_twitter,
        )
    }
)
"""What writes an export with a number of things into a folder, by the key of its source."""
