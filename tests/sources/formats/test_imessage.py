"""iMessage: what only Apple's chat database has."""

import base64
import errno
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, read, told
from tests.sources.samples.imessage import (
    LONG,
    MESSAGES,
    PHOTO,
    SAMPLES,
    bubble,
    database,
    keyed,
    row,
    summary,
    typed,
)

from pdpp.sources.formats.imessage.source import IMessage
from pdpp.sources.formats.imessage.typedstream import archived_text

MAC, BACKUP = SAMPLES


def of(records: dict[tuple[str, str], dict[str, Any]], stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


@pytest.mark.parametrize("size", [0, 1, 127, 128, 255, 256, 300, 65_535, 65_536, 70_001])
def test_texts_of_every_length_are_read_from_both_archives(size: int) -> None:
    text = "é" * (size // 2) + "x" * (size % 2)
    assert archived_text(typed(text)) == text
    assert archived_text(keyed(text)) == text


@pytest.mark.parametrize("odd", [b"", b"\x84\x01+", b"bplist00", b"bplist" + b"\xff" * 50, b"x"])
def test_archives_that_hold_no_text_have_none(odd: bytes) -> None:
    assert archived_text(odd) is None


def test_messages_reactions_and_notices(tmp_path: Path) -> None:
    records = read(IMessage(), MAC.folder(tmp_path))
    texts = [(data["sender"], data["text"]) for data in of(records, "messages")]
    assert texts == [
        ("+351910000001", LONG.strip()),
        ("me", "Short"),
        ("+351910000001", "Kept by an archiver"),
        ("+351910000001", "[2 files]"),
        ("+351910000001", "[unsent]"),
        ("+351910000001", "[the chat is now called Pilots]"),
    ]
    first, second = of(records, "messages")[:2]
    assert (first["sent_at"], first["read_at"]) == ("2026-01-01T10:00:01Z", "2026-01-01T10:01:00Z")
    assert second["reply_to"] == first["id"]
    assert [(data["reaction"], data["message_id"]) for data in of(records, "reactions")] == [
        ("like", second["id"]),
        ("🌊", first["id"]),
    ]
    [chat] = of(records, "chats")
    assert (chat["name"], chat["group"], chat["message_count"]) == ("Pilots", True, 6)
    assert sorted(skip.reason for skip in told(IMessage(), tmp_path)) == [
        "a chat without messages",
        "a message without text or file",
        "a reaction that was taken back",
    ]


def texts(folder: Path, *messages: tuple[Any, ...]) -> list[str]:
    (folder / "chat.db").write_bytes(database(*messages))
    return [data["text"] for data in of(read(IMessage(), folder / "chat.db"), "messages")]


def test_an_edited_message_has_its_last_text_and_one_taken_back_is_kept(tmp_path: Path) -> None:
    edited = row(1, date_edited=9, message_summary_info=summary("Low tide at six", "At seven"))
    unsent = row(2, date_edited=9, message_summary_info=summary(unsent=True))
    assert texts(tmp_path, edited, unsent) == ["At seven", "[unsent]"]
    assert [data.get("unsent") for data in of(read(IMessage(), tmp_path), "messages")] == [
        None,
        True,
    ]


def test_a_message_of_an_app_says_what_its_bubble_shows(tmp_path: Path) -> None:
    paid = bubble("Apple Pay", "Sent $12.", caption="Apple Cash", subcaption="$12 Payment")
    apple = "com.apple.messages.MSMessageExtensionBalloonPlugin:0000000000:com.apple.PassbookUI"
    drawn = "com.apple.Handwriting.HandwritingProvider"
    assert texts(
        tmp_path,
        row(1, text="\ufffd", balloon_bundle_id=apple, payload_data=paid),
        row(2, balloon_bundle_id=drawn, payload_data=b"\x0a\x02"),
        row(3, text="\ufffd", balloon_bundle_id=apple, payload_data=b"bplist00 not one"),
    ) == [
        "[Apple Pay]\nSent $12.\nApple Cash\n$12 Payment",
        "[HandwritingProvider]",
        "[PassbookUI]",
    ]


def test_a_poll_says_its_question_and_its_options(tmp_path: Path) -> None:
    options = [{"text": "Saturday"}, {"text": "Sunday ⚓"}]
    asked = {"version": 1, "item": {"title": "Which tide?", "orderedPollOptions": options}}
    packed = base64.b64encode(json.dumps(asked).encode()).decode()
    polls = "com.apple.messages.MSMessageExtensionBalloonPlugin:0000000000:com.apple.messages.Polls"
    addresses = (f"data:,{packed}?src=p&c=2", "data:,bm90aGluZw==", "https://x.example")
    assert texts(
        tmp_path,
        *(
            row(number, balloon_bundle_id=polls, payload_data=bubble("Polls", "A poll", address))
            for number, address in enumerate(addresses, 1)
        ),
    ) == ["[Polls]\nA poll\nWhich tide?\n- Saturday\n- Sunday ⚓", *["[Polls]\nA poll"] * 2]


def test_a_vote_in_a_poll_is_no_reaction_that_was_taken_back(tmp_path: Path) -> None:
    vote = row(2, associated_message_type=4000, associated_message_guid="GUID-1")
    assert texts(tmp_path, MESSAGES[0], vote) == [LONG.strip()]
    assert "a vote in a poll" in [skip.reason for skip in told(IMessage(), tmp_path)]


def test_a_notice_says_who_was_added_and_who_left(tmp_path: Path) -> None:
    def notice(number: int, kind: int, action: int = 0, **more: Any) -> tuple[Any, ...]:
        return row(number, item_type=kind, group_action_type=action, **more)

    assert texts(
        tmp_path,
        notice(1, 1, other_handle=2),
        notice(2, 1, 1, other_handle=2),
        notice(3, 1, 1, other_handle=77),
        notice(4, 2),
        notice(5, 3),
        notice(6, 3, 1),
        notice(7, 5),
        notice(8, 99),
    ) == [
        "[added bo@x.example]",
        "[removed bo@x.example]",
        "[a change of the chat]",
        "[the chat has no name any more]",
        "[left the chat]",
        "[changed the picture of the chat]",
        "[kept a voice message]",
        "[a change of the chat]",
    ]


def test_a_message_that_was_deleted_is_left_out_and_one_of_which_a_part_was_is_kept(
    tmp_path: Path,
) -> None:
    path = tmp_path / "chat.db"
    path.write_bytes(database(row(1, text="Gone"), row(2, text="In part"), row(3, text="Here")))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("insert into chat_recoverable_message_join values (1, 1), (1, 2)")
        connection.execute("delete from chat_message_join where message_id = 1")
    messages = of(read(IMessage(), path), "messages")
    assert [data["text"] for data in messages] == ["In part", "Here"]
    assert [skip.reason for skip in told(IMessage(), path)][:1] == ["a message in Recently Deleted"]


def test_the_picture_of_a_preview_is_no_file_of_a_message(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    path.write_bytes(database(row(1, text="https://a.example/"), row(2, text="")))
    with closing(sqlite3.connect(path)) as connection, connection:
        name = "P.pluginPayloadAttachment"
        connection.execute("delete from message_attachment_join")
        connection.execute(
            "insert into attachment (ROWID, guid, filename, transfer_name) values (9, 'P', ?, ?)",
            (f"~/Library/Messages/Attachments/1/{name}", name),
        )
        connection.execute("insert into message_attachment_join values (1, 9), (2, 9)")
    records = read(IMessage(), path)
    [message] = of(records, "messages")
    assert "files" not in message
    assert not of(records, "attachments")
    reasons = [skip.reason for skip in told(IMessage(), path)]
    assert reasons[:3] == [
        "a picture of a preview",
        "a picture of a preview",
        "a message without text or file",
    ]


def test_files_are_found_on_a_mac_and_in_a_backup(tmp_path: Path) -> None:
    for number, sample in enumerate(SAMPLES):
        home = Home(tmp_path / f"home{number}")
        home.bring(sample.folder(tmp_path / f"e{number}"))
        kept = [data["file"] for data in of(home.records(), "attachments") if "file" in data]
        assert [file["size_bytes"] for file in kept] == [len(PHOTO)]


def test_an_older_database_counts_seconds(tmp_path: Path) -> None:
    first, _ = of(read(IMessage(), BACKUP.folder(tmp_path)), "messages")
    assert first["sent_at"] == "2013-09-04T15:06:40Z"


def test_what_is_still_in_the_log_is_read_and_the_database_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    path.write_bytes(database(*MESSAGES[:1]))
    writer = sqlite3.connect(path)
    writer.execute("pragma journal_mode = wal")
    writer.execute(
        "insert into message (guid, text, date, is_from_me)"
        " values ('L', 'In the log', 700000000, 1)"
    )
    writer.commit()
    before = path.read_bytes()
    for place in (path, tmp_path):
        texts = [data["text"] for data in of(read(IMessage(), place), "messages")]
        assert texts[-1] == "In the log"
    writer.execute("begin immediate")
    assert len(of(read(IMessage(), path), "messages")) == 2
    assert path.read_bytes() == before
    writer.close()


def test_a_database_that_is_cut_is_told(tmp_path: Path) -> None:
    content = database(*MESSAGES)
    (tmp_path / "chat.db").write_bytes(content[: len(content) // 2])
    home = Home(tmp_path / "home")
    ended = home.run(tmp_path / "chat.db", "--yes")
    assert ended.code in (0, 1)
    assert "complete" not in ended.out.replace("incomplete", "")


def test_a_file_of_which_the_database_tells_nothing_is_told(tmp_path: Path) -> None:
    path = tmp_path / "chat.db"
    path.write_bytes(database(row(1, text="Look")))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("delete from message_attachment_join")
        connection.execute("insert into message_attachment_join values (1, 77)")
    [message] = of(read(IMessage(), path), "messages")
    assert message["text"] == "Look"
    first, *_ = told(IMessage(), path)
    assert first.reason == "a file of which the database tells nothing"


def test_where_there_is_no_room_for_a_copy_of_a_database_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "chat.db"
    path.write_bytes(database(row(1, text="Fog")))
    opened = Path.open

    def on_a_full_disk(place: Path, mode: str = "r", **how: Any) -> Any:
        if mode == "xb":
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(place, mode, **how)

    monkeypatch.setattr(Path, "open", on_a_full_disk)
    report = Home(tmp_path / "home").bring(path)
    assert report["status"] == "incomplete"
    [example] = [case["examples"][0] for case in report["skipped"]]
    assert "No space left on device; make room there" in example
