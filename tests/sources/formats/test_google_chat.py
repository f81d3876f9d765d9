"""Google Chat: what only its export has."""

from pathlib import Path
from typing import Any

from tests.sources.importing.test_discovery import keys
from tests.sources.importing.test_discovery import look as look_at
from tests.sources.kit import Home, Records, look, read, told, zipped
from tests.sources.samples import every_sample
from tests.sources.samples import google_chat as chat
from tests.sources.samples.google import KEEP, NOTE
from tests.sources.samples.sample import json_bytes

from pdpp.sources.formats.google_chat.source import GoogleChat
from pdpp.sources.source import Recognition

SOURCE = GoogleChat()
TODAY, OLDER = chat.SAMPLES


def of(records: Records, stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def test_a_message_has_its_sender_time_thread_and_what_people_said_to_it(tmp_path: Path) -> None:
    hello, answer, *_ = of(read(SOURCE, TODAY.folder(tmp_path)), "messages")
    assert {name: hello[name] for name in ("chat", "sender", "sender_email", "sent_at")} == {
        "chat": "Bo Reis",
        "sender": "Nora Lind",
        "sender_email": "nora.lind@gmail.example",
        "sent_at": "2022-11-03T11:59:50Z",
    }
    assert hello["edited_at"] == "2022-11-03T12:10:00Z"
    assert hello["reactions"] == ["👍 2", ":buoy:"]
    assert (answer["thread_id"], answer["reply_to"]) == (hello["thread_id"], hello["id"])
    assert (answer["quoted"], answer["quoted_sender"]) == (hello["text"], "Nora Lind")
    assert answer["sent_at"] == "2022-11-03T13:00:00Z"


def test_files_are_found_under_the_names_that_takeout_gave_them(tmp_path: Path) -> None:
    files = of(read(SOURCE, TODAY.folder(tmp_path)), "media")
    assert [file["name"] for file in files] == [
        "gate.jpg",
        "gate.jpg",
        "49?account_id=3.png",
        chat.LONG[5:],
    ]
    assert len({file["id"] for file in files}) == 4
    home = Home(tmp_path / "home")
    home.bring(TODAY.folder(tmp_path / "e"))
    held = {data["file"]["sha256"] for data in of(home.records(), "media")}
    assert len(held) == 4, "two files of one name are two files"


def test_what_is_no_message_any_more_is_told(tmp_path: Path) -> None:
    reasons = [found.reason for found in told(SOURCE, TODAY.folder(tmp_path))]
    assert reasons == ["a file that is not in the export", "a message that was deleted"]
    odd = [
        {**chat.HELLO, "created_date": "some day"},
        {**chat.HELLO, "creator": None},
        {**chat.HELLO, "text": ""},
        chat.ANSWER,
    ]
    place = f"{chat.DIRECT}/messages.json"
    path = TODAY.folder(tmp_path / "odd", {place: json_bytes({"messages": odd})})
    assert [found.reason for found in told(SOURCE, path)] == [
        "a message without a time that can be read, or without a sender",
        "a message without a time that can be read, or without a sender",
        "an empty message",
    ]


def test_a_space_has_its_name_and_links_events_and_tasks_their_words(tmp_path: Path) -> None:
    records = read(SOURCE, TODAY.folder(tmp_path))
    [direct, space] = of(records, "chats")
    assert (direct["name"], direct["kind"]) == ("Bo Reis", "direct message")
    assert (space["name"], space["kind"]) == ("Harbour watch", "space")
    assert space["people"] == "Nora Lind, Bo Reis"
    assert (space["started_at"], space["message_count"]) == ("2022-11-01T17:04:31Z", 2)
    bot, survey = [data for data in of(records, "messages") if data["chat"] == "Harbour watch"]
    assert (bot["text"], bot["link"]) == ("Tide table of the week", "https://t.example/")
    assert bot["automatic"] is True
    assert survey["details"] == "Count the rings"


def test_the_account_is_the_owner_of_the_chats(tmp_path: Path) -> None:
    seen = look(SOURCE, TODAY.folder(tmp_path / "a"))
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.account) == (
        "nora.lind@gmail.example",
        "Google Chat (nora.lind@gmail.example)",
    )
    nameless = {name: held for name, held in TODAY.files.items() if "user_info" not in name}
    seen = look(SOURCE, TODAY.folder(tmp_path / "b", nameless))
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.owner_known) == ("nora.lind@gmail.example", True)


def test_messages_without_ids_that_are_alike_are_kept_and_stay_the_same(tmp_path: Path) -> None:
    records = read(SOURCE, OLDER.folder(tmp_path))
    assert [data["text"] for data in of(records, "messages")].count("Ahoy") == 2
    assert set(records) == set(read(SOURCE, OLDER.zip(tmp_path / "old.zip", "x/")))


def test_a_chat_and_its_files_in_two_archives_of_a_takeout_are_one(tmp_path: Path) -> None:
    first = {n: held for n, held in TODAY.files.items() if "File-" not in n and "group" not in n}
    rest = {name: held for name, held in TODAY.files.items() if name not in first}
    zipped(tmp_path / "in" / "takeout-20260101T000000Z-001.zip", first)
    zipped(tmp_path / "in" / "takeout-20260101T000000Z-002.zip", rest)
    parts, whole = Home(tmp_path / "parts"), Home(tmp_path / "whole")
    whole.seal_like(parts)
    parts.bring(tmp_path / "in")
    whole.bring(TODAY.folder(tmp_path / "one"))
    assert parts.records() == whole.records()


def test_chats_are_found_in_a_takeout_beside_notes_and_keep_their_pictures(tmp_path: Path) -> None:
    files = {**TODAY.files, f"{KEEP}/Boat.json": json_bytes(NOTE)}
    path = zipped(tmp_path / "takeout-20260101T000000Z-001.zip", files)
    assert keys(look_at(path)) == ["google_chat", "google_keep"]


def test_a_chat_is_called_by_the_other_person_also_beside_other_exports(tmp_path: Path) -> None:
    for month, files in ((1, TODAY.earlier), (2, TODAY.files)):
        TODAY.folder(tmp_path / "e" / str(month) / "chats", files)
    every_sample()["codex: lines with payloads"].folder(tmp_path / "e" / "2" / "logs")
    home = Home(tmp_path / "home")
    home.run(tmp_path / "e", "--yes")
    assert {data["name"] for data in of(home.records(), "chats")} == {"Bo Reis", "Harbour watch"}
