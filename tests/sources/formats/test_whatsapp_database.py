"""WhatsApp's database of an iPhone or a Mac."""

import hashlib
import sqlite3
from base64 import b64encode
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.sources.kit import Home, Records, check_twice, counts, look, read, told, zipped

from pdpp.sources.formats.whatsapp.source import WhatsApp
from pdpp.sources.source import Confidence, Recognition

SOURCE = WhatsApp()
PHOTO = b"\xff\xd8\xff\xe0 the mole"
ANA, GROUP = "351912345678@s.whatsapp.net", "3519-1500000000@g.us"
START = 789_000_000
"""Seconds since 2001, on the first day of 2026."""
SCHEMA = """
    CREATE TABLE ZWACHATSESSION (Z_PK INTEGER PRIMARY KEY, ZSESSIONTYPE INTEGER,
        ZCONTACTJID VARCHAR, ZPARTNERNAME VARCHAR);
    CREATE TABLE ZWAMESSAGE (Z_PK INTEGER PRIMARY KEY, ZCHATSESSION INTEGER, ZISFROMME INTEGER,
        ZMESSAGETYPE INTEGER, ZTEXT VARCHAR, ZMESSAGEDATE TIMESTAMP, ZSTANZAID VARCHAR,
        ZFROMJID VARCHAR, ZGROUPMEMBER INTEGER, ZMEDIAITEM INTEGER);
    CREATE TABLE ZWAMEDIAITEM (Z_PK INTEGER PRIMARY KEY, ZMEDIALOCALPATH VARCHAR, ZTITLE VARCHAR,
        ZVCARDNAME VARCHAR, ZLATITUDE FLOAT, ZLONGITUDE FLOAT);
    CREATE TABLE ZWAGROUPMEMBER (Z_PK INTEGER PRIMARY KEY, ZMEMBERJID VARCHAR,
        ZCONTACTNAME VARCHAR, ZFIRSTNAME VARCHAR);
    CREATE TABLE ZWAPROFILEPUSHNAME (Z_PK INTEGER PRIMARY KEY, ZJID VARCHAR, ZPUSHNAME VARCHAR);
    INSERT INTO ZWACHATSESSION VALUES (1, 0, '351912345678@s.whatsapp.net', 'Ana'),
        (2, 1, '3519-1500000000@g.us', 'Sailing club'), (3, 3, '351912345678@status', NULL),
        (4, 0, '351900000000@s.whatsapp.net', NULL);
    INSERT INTO ZWAGROUPMEMBER VALUES (1, '351912345678@s.whatsapp.net', 'Ana', NULL),
        (2, '447700900123@s.whatsapp.net', NULL, NULL), (3, '49170@lid', NULL, NULL);
    INSERT INTO ZWAPROFILEPUSHNAME VALUES (1, '49170@lid', 'Ben ⛵');
"""
IMESSAGE = """
    CREATE TABLE message (ROWID INTEGER PRIMARY KEY, guid TEXT, text TEXT, date INTEGER,
        is_from_me INTEGER, handle_id INTEGER);
    CREATE TABLE chat (ROWID INTEGER PRIMARY KEY, guid TEXT, chat_identifier TEXT);
    CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT);
    CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER);
    INSERT INTO message VALUES (1, 'g1', 'Hello', 789000000000000000, 0, 1);
    INSERT INTO chat VALUES (1, 'iMessage;-;+351', '+351');
    INSERT INTO handle VALUES (1, '+351');
    INSERT INTO chat_message_join VALUES (1, 1);
"""
PICTURE = "Media/351912345678@s.whatsapp.net/a/b/mole.jpg"
MEDIA: list[tuple[Any, ...]] = [
    (1, PICTURE, "The mole", None, None, None),
    (2, "Media/x@g.us/c/d/gone.mp4", None, None, None, None),
    (3, None, None, "Bo Berg", None, None),
    (4, None, None, None, 38.5, -9.25),
]


def message(number: int, chat: int, kind: int = 0, text: str | None = None, **more: Any) -> Any:
    """Return a row; one minute lies between two messages."""
    return (
        number,
        chat,
        more.get("mine", 0),
        kind,
        text,
        more.get("date", START + 60 * number),
        more.get("stanza", f"3A{number:018}"),
        None,
        more.get("member"),
        more.get("media"),
    )


MESSAGES = (
    message(1, 1, text="Ahoy"),
    message(2, 1, text="Ahoy yourself", mine=1),
    message(3, 1, 1, media=1),
    message(4, 2, 2, media=2, member=2),
    message(5, 2, text="Who rows?", member=1),
    message(6, 2, text="I do", member=3),
    message(7, 1, 4, media=3),
    message(8, 1, 5, media=4),
    message(9, 1, 14),
    message(10, 2, 6, text="351912345678@s.whatsapp.net"),
    message(11, 3, 1, media=1),
    message(12, 2, 46),
    message(13, 9, text="nowhere"),
    message(14, 1, text="Again", stanza="3A1"),
    message(15, 1, text="Again", stanza="3A1"),
)


def database(path: Path, *messages: Any, schema: str = SCHEMA) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as made:
        made.executescript(schema)
        made.executemany(f"INSERT INTO ZWAMESSAGE VALUES ({', '.join('?' * 10)})", messages)
        if "ZWAMEDIAITEM" in schema:
            made.executemany("INSERT INTO ZWAMEDIAITEM VALUES (?, ?, ?, ?, ?, ?)", MEDIA)
        made.commit()
    return path


def shared_folder(path: Path) -> Path:
    """Write what lies in the folder that WhatsApp shares with its other programs."""
    database(path / "ChatStorage.sqlite", *MESSAGES)
    picture = path / "Message" / PICTURE
    picture.parent.mkdir(parents=True)
    picture.write_bytes(PHOTO)
    return path


def field(number: int, content: bytes) -> bytes:
    """Return a field of a message without a schema."""
    return bytes([number << 3 | 2, len(content)]) + content


def test_a_poll_says_its_question_and_options_and_a_stranger_is_called_as_he_calls_himself(
    tmp_path: Path,
) -> None:
    stranger, poll = message(1, 2, text="Hi", member=2), message(2, 2, 46, mine=1)
    path = database(tmp_path / "ChatStorage.sqlite", stranger, poll, message(3, 2, 46))
    options = field(3, field(1, b"Saturday")) + field(3, field(1, "Sunday ⚓".encode()))
    about = field(2, b"who got it") + field(8, field(2, b"When do we row?") + options)
    named = b64encode(field(1, "Chloé".encode()) + b"\x10\x07").decode()
    with closing(sqlite3.connect(path)) as made, made:
        made.execute("ALTER TABLE ZWAMESSAGE ADD COLUMN ZPUSHNAME VARCHAR")
        made.execute("CREATE TABLE ZWAMESSAGEINFO (Z_PK INTEGER, ZMESSAGE INTEGER, ZRECEIPTINFO)")
        made.execute("INSERT INTO ZWAMESSAGEINFO VALUES (1, 2, ?), (2, 3, NULL)", (about,))
        made.execute("UPDATE ZWAMESSAGE SET ZPUSHNAME = ? WHERE Z_PK = 1", (named,))
    found = [(data["sender"], data["text"]) for data in of_stream(read(SOURCE, path), "messages")]
    assert found == [("Chloé", "Hi"), ("me", "When do we row?\n- Saturday\n- Sunday ⚓")]
    assert "a message of the kind 46" in [finding.reason for finding in told(SOURCE, path)]
    for odd in ("Anna", "no base64!", ""):
        with closing(sqlite3.connect(path)) as made, made:
            made.execute("UPDATE ZWAMESSAGE SET ZPUSHNAME = ? WHERE Z_PK = 1", (odd,))
        first, _ = of_stream(read(SOURCE, path), "messages")
        assert first["sender"] == "+447700900123"


def of_stream(records: Records, stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def test_messages_have_their_senders_and_times(tmp_path: Path) -> None:
    records = read(SOURCE, shared_folder(tmp_path / "shared"))
    said = {data["text"]: data for data in of_stream(records, "messages")}
    assert said["Ahoy"]["sent_at"] == "2026-01-01T22:41:00Z"
    assert not said["Ahoy"]["floating"]
    senders = {text: data["sender"] for text, data in said.items()}
    assert senders["Ahoy"] == "Ana"
    assert senders["Ahoy yourself"] == "me"
    assert senders["Who rows?"] == "Ana"
    assert senders["I do"] == "Ben ⛵"
    assert said["Who rows?"]["chat"] == "Sailing club"
    assert "Bo Berg" in said
    assert "https://maps.google.com/?q=38.5,-9.25" in said
    chats = {data["name"]: data["message_count"] for data in of_stream(records, "chats")}
    assert chats == {"Ana": 8, "Sailing club": 3}
    assert sum(data["text"] == "Again" for data in of_stream(records, "messages")) == 2


def test_files_come_in_and_one_that_is_not_there_keeps_its_place(tmp_path: Path) -> None:
    records = read(SOURCE, shared_folder(tmp_path / "shared"))
    [media] = of_stream(records, "media")
    assert (media["name"], media["media_type"]) == ("mole.jpg", "image/jpeg")
    messages = {data.get("file_name"): data for data in of_stream(records, "messages")}
    assert (messages["mole.jpg"]["text"], messages["mole.jpg"]["media_omitted"]) == (
        "The mole",
        False,
    )
    assert (messages["gone.mp4"]["sender"], messages["gone.mp4"]["media_omitted"]) == (
        "+447700900123",
        True,
    )
    [deleted] = [data for data in of_stream(records, "messages") if data.get("deleted")]
    assert deleted["text"] == ""


def test_what_is_left_out_is_told(tmp_path: Path) -> None:
    reasons = [thing.reason for thing in told(SOURCE, shared_folder(tmp_path / "shared"))]
    assert sorted(reasons) == [
        "a chat without messages",
        "a chat without messages",
        "a message of the kind 46",
        "a message without a chat or a time",
        "a note by WhatsApp, such as who joined",
        "a status, which was to be seen for a day",
    ]


def test_a_folder_an_archive_and_a_backup_are_the_same_chats(tmp_path: Path) -> None:
    folder = shared_folder(tmp_path / "shared")
    before = check_twice(folder, tmp_path)
    home = Home(tmp_path / "home")
    report = home.bring(folder)
    assert report["status"] == "complete"
    assert report["files"]["unknown"] == []
    assert home.records().keys().isdisjoint(before)  # Another store has another secret.
    files = {
        str(place.relative_to(folder)): place.read_bytes()
        for place in folder.rglob("*")
        if place.is_file()
    }
    hashed = {_backup_place(name): content for name, content in files.items()}
    (tmp_path / "backup").mkdir()
    for name, content in hashed.items():
        (tmp_path / "backup" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "backup" / name).write_bytes(content)
    for path in (zipped(tmp_path / "shared.zip", files), tmp_path / "backup"):
        again = counts(home.bring(path))
        assert again.keys().isdisjoint({"new", "changed"})


def _backup_place(name: str) -> str:
    domain = "AppDomainGroup-group.net.whatsapp.WhatsApp.shared"
    number = hashlib.sha1(f"{domain}-{name}".encode(), usedforsecurity=False).hexdigest()
    return f"{number[:2]}/{number}"


def test_a_database_of_few_tables_is_read(tmp_path: Path) -> None:
    schema = SCHEMA[: SCHEMA.index("CREATE TABLE ZWAMEDIAITEM")]
    schema += "INSERT INTO ZWACHATSESSION VALUES (2, 1, '3519-1@g.us', NULL);"
    path = database(tmp_path / "chats.db", *MESSAGES[3:6], schema=schema)
    messages = of_stream(read(SOURCE, path), "messages")
    assert [data["chat"] for data in messages] == ["3519-1@g.us"] * 3
    assert {data["sender"] for data in messages} == {"unknown"}


def test_a_database_says_that_chats_exported_as_text_are_there_twice(tmp_path: Path) -> None:
    seen = look(SOURCE, database(tmp_path / "ChatStorage.sqlite", *MESSAGES))
    assert isinstance(seen, Recognition)
    assert seen.confidence is Confidence.CERTAIN
    assert seen.version == "1 database of an iPhone or a Mac"
    assert "there twice" in seen.notes[0]


def test_a_backup_with_another_program_keeps_the_files_of_both(tmp_path: Path) -> None:
    folder = shared_folder(tmp_path / "shared")
    backup = tmp_path / "backup"
    for place in [place for place in folder.rglob("*") if place.is_file()]:
        to = backup / _backup_place(str(place.relative_to(folder)))
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(place.read_bytes())
    (backup / "3d").mkdir()
    with closing(sqlite3.connect(backup / "3d" / ("3d" + "0" * 38))) as made:
        made.executescript(IMESSAGE)
    home = Home(tmp_path / "home")
    reports = home.bring(backup)["imports"]
    assert [report["source"]["connector_key"] for report in reports] == ["imessage", "whatsapp"]
    assert [report["files"]["kept"] for report in reports] == [0, 1]
