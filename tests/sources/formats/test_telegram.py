"""Telegram Desktop exports as JSON: a whole account, and one chat."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_cuts,
    check_hostile_json,
    check_hostile_zip,
    check_overlap,
    check_twice,
    golden,
    look,
    read,
    told,
)

from pdpp.sources.formats.telegram.source import Telegram
from pdpp.sources.source import Confidence, Recognition

SOURCE = Telegram()
PHOTO = b"\xff\xd8\xff\xe0 boat"


def message(number: int, text: Any, **more: Any) -> dict[str, Any]:
    moment = 1_767_261_600 + number
    return {
        "id": number,
        "type": "message",
        "date": "2026-01-01T10:00:00",
        "date_unixtime": str(moment),
        "from": "Nora Lind",
        "from_id": "user1",
        "text": text,
        **more,
    }


CHAT: dict[str, Any] = {
    "name": "Sailing club",
    "type": "private_supergroup",
    "id": 900,
    "messages": [
        {
            "id": 1,
            "type": "service",
            "date_unixtime": "1767261601",
            "actor": "Nora Lind",
            "actor_id": "user1",
            "action": "create_group",
            "text": "",
        },
        message(
            2, ["See ", {"type": "link", "text": "https://tides.example"}, " before Sunday 🌊"]
        ),
        message(
            3,
            "The mole light is out, bring a lantern for the way back.",
            reply_to_message_id=2,
            edited_unixtime="1767270000",
            forwarded_from="Harbour master",
        ),
        message(4, "", photo="photos/boat.jpg", width=10, height=10),
        message(5, "", file="files/gone.pdf", media_type="document"),
        message(6, "", location_information={"latitude": 1, "longitude": 2}),
        message(7, "", media_type="sticker"),
    ],
}
SAVED = {"type": "saved_messages", "id": 1, "messages": [message(9, "Buy rope")]}
ACCOUNT: dict[str, Any] = {
    "about": "Here is the data you requested.",
    "personal_information": {"user_id": 1, "first_name": "Nora", "last_name": "Lind"},
    "contacts": {
        "about": "…",
        "list": [
            {"user_id": 5, "first_name": "Ana", "last_name": "", "phone_number": "0035191"},
            {"first_name": "", "last_name": "", "phone_number": ""},
            {"first_name": "Bo", "phone_number": ""},
        ],
    },
    "chats": {"about": "…", "list": [CHAT, SAVED]},
    "left_chats": {
        "list": [{"name": "Old crew", "type": "private_group", "id": 7, "messages": []}]
    },
}


def export(folder: Path, document: Any, name: str = "result.json") -> Path:
    (folder / "photos").mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(document, ensure_ascii=False))
    (folder / "photos" / "boat.jpg").write_bytes(PHOTO)
    return folder


def test_a_whole_account_is_recognised_by_its_owner(tmp_path: Path) -> None:
    seen = look(SOURCE, export(tmp_path / "e", ACCOUNT))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.version) == (Confidence.CERTAIN, "a whole account")
    assert (seen.account, seen.identity) == ("Telegram (Nora)", "1")


def test_one_chat_is_recognised_and_names_nobody_as_its_owner(tmp_path: Path) -> None:
    seen = look(SOURCE, export(tmp_path / "e", CHAT))
    assert isinstance(seen, Recognition)
    assert (seen.version, seen.account) == ("one chat", "Telegram")


def test_an_account_that_says_nothing_of_its_owner_is_taken(tmp_path: Path) -> None:
    seen = look(SOURCE, export(tmp_path / "e", {**ACCOUNT, "personal_information": {}}))
    assert isinstance(seen, Recognition)
    assert seen.account == "Telegram"


def test_other_json_and_pages_are_not_taken(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"messages": []}')
    (tmp_path / "messages.html").write_text("<html>my messages</html>")
    assert look(SOURCE, tmp_path) is None


def test_an_account_gives_these_records(tmp_path: Path) -> None:
    path = export(tmp_path / "e", ACCOUNT)
    golden("telegram", read(SOURCE, path))
    assert [found.reason for found in told(SOURCE, path)] == [
        "what the account says of its owner",
        "a contact without a name",
        "a file that is not in the export",
        "a chat without messages",
    ]


def test_what_is_no_text_is_put_into_words(tmp_path: Path) -> None:
    poll = {
        "question": "When do we sail?",
        "answers": [{"text": "At dawn", "voters": 2}, {"text": "At noon", "voters": 0}],
    }
    odd = [
        message(1, "", poll=poll),
        message(2, "", place_name="The mole", location_information={"latitude": 1}),
        message(3, "", contact_information={"first_name": "Ana", "phone_number": "0035191"}),
        message(4, "Good", reactions=[{"type": "emoji", "emoji": "👍", "count": 3}]),
        {**message(5, ""), "type": "service", "action": "invite_members", "members": ["Bo"]},
        {"id": 6, "type": "unsupported"},
    ]
    path = export(tmp_path / "e", {**CHAT, "messages": odd})
    records = read(SOURCE, path)
    texts = [data["text"] for (stream, _), data in records.items() if stream == "messages"]
    assert texts == [
        "Poll: When do we sail?\n- At dawn (2 votes)\n- At noon (0 votes)",
        "Place: The mole, 1, None",
        "Contact: Ana 0035191",
        "Good",
        "invite members: Bo",
    ]
    assert [data.get("reactions") for data in records.values()][3] == ["👍 ×3"]
    assert [found.reason for found in told(SOURCE, path)] == [
        "a message that Telegram itself could not export"
    ]


def test_an_account_with_many_contacts_is_recognised_however_late_its_chats_begin(
    tmp_path: Path,
) -> None:
    people = [
        {"user_id": n, "first_name": f"Person {n}", "phone_number": f"00351{n:09}"}
        for n in range(5_000)
    ]
    seen = look(SOURCE, export(tmp_path / "e", {**ACCOUNT, "contacts": {"list": people}}))
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.version) == ("Telegram (Nora)", "a whole account")


def test_two_exports_of_chats_are_both_read_and_a_renamed_one_too(tmp_path: Path) -> None:
    export(tmp_path / "e" / "ChatExport_2026-01-01", CHAT)
    other = {**CHAT, "id": 901, "name": "Choir", "messages": [message(1, "La")]}
    export(tmp_path / "e" / "ChatExport_2026-01-01 (1)", other, "result (1).json")
    chats = [
        data["name"]
        for (stream, _), data in read(SOURCE, tmp_path / "e").items()
        if stream == "chats"
    ]
    assert sorted(chats) == ["Choir", "Sailing club"]


def test_an_export_without_exact_times_takes_none_away(tmp_path: Path) -> None:
    said = [
        message(1, "Ahoy", photo="photos/boat.jpg"),
        message(2, "Ben?"),
        message(9_000, "Later"),
    ]
    exact = export(tmp_path / "exact", {**CHAT, "messages": said})
    for one, date in zip(said, ("T12:00:01", "T12:00:02", "T14:30:00"), strict=True):
        del one["date_unixtime"]
        one["date"] = f"2026-01-01{date}"
    local = export(tmp_path / "local", {**CHAT, "messages": said})
    home = Home(tmp_path / "home")
    home.bring(exact, "--account", "nora")
    known = home.records()
    home.bring(local, "--account", "nora")
    assert home.records() == known
    other = Home(tmp_path / "other")
    other.seal_like(home)
    other.bring(local, "--account", "nora")
    assert {data["floating"] for data in other.records().values() if "floating" in data} == {True}
    other.bring(exact, "--account", "nora")
    assert other.records() == known


def test_an_older_export_without_exact_times_floats_unless_a_zone_is_named(tmp_path: Path) -> None:
    old = message(1, "Old")
    del old["date_unixtime"]
    path = export(tmp_path / "e", {**CHAT, "messages": [old]})
    [data] = [d for (stream, _), d in read(SOURCE, path).items() if stream == "messages"]
    assert (data["sent_at"], data["floating"]) == ("2026-01-01T10:00:00", True)
    zoned = read(SOURCE, path, time_zone="Europe/Lisbon")
    [data] = [d for (stream, _), d in zoned.items() if stream == "messages"]
    assert (data["sent_at"], data.get("floating")) == ("2026-01-01T10:00:00Z", None)


def test_control_characters_as_telegram_writes_them_lose_nothing(tmp_path: Path) -> None:
    path = export(tmp_path / "e", {**CHAT, "messages": [message(1, "one TAB two")]})
    document = path / "result.json"
    document.write_text(document.read_text().replace("TAB", "\\x0B"))
    [data] = [d for (stream, _), d in read(SOURCE, path).items() if stream == "messages"]
    assert data["text"] == "one \x0b two"


def test_stories_are_records_with_their_pictures(tmp_path: Path) -> None:
    story = {"date": "2026-01-01T10:00:00", "pinned": True, "media": "photos/boat.jpg"}
    path = export(tmp_path / "e", {**ACCOUNT, "stories": [story]})
    [data] = [d for (stream, _), d in read(SOURCE, path).items() if stream == "stories"]
    assert (data["name"], data["pinned"]) == ("boat.jpg", True)


def test_a_chat_alone_and_in_an_account_give_the_same_messages(tmp_path: Path) -> None:
    alone = read(SOURCE, export(tmp_path / "a", CHAT))
    account = read(SOURCE, export(tmp_path / "b", ACCOUNT))
    assert {key: account[key] for key in alone} == alone


def test_what_has_no_id_or_time_is_told(tmp_path: Path) -> None:
    odd = [message(1, "x", date_unixtime="soon", date="later"), {**message(2, "y"), "id": "two"}, 5]
    path = export(tmp_path / "e", {**CHAT, "messages": [*odd, message(3, 7)]})
    assert [found.reason for found in told(SOURCE, path)] == [
        "a message without an id or a time",
        "a message without an id or a time",
        "a shape that is not known",
        "a value of a shape that is not known",
    ]


def test_pictures_become_blobs(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(export(tmp_path / "e", CHAT))
    (media,) = [data for (stream, _), data in home.records().items() if stream == "media"]
    assert media["file"]["size_bytes"] == len(PHOTO)


def test_the_same_export_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(export(tmp_path / "e", ACCOUNT), tmp_path)


def test_an_export_and_then_a_later_one_are_the_later_one(tmp_path: Path) -> None:
    longer = {**CHAT, "messages": [*CHAT["messages"], message(20, "One more")]}
    check_overlap(export(tmp_path / "a", CHAT), export(tmp_path / "b", longer), tmp_path)


def put(folder: Path, content: bytes) -> Path:
    path = folder / "result.json"
    path.write_bytes(content)
    return path


def test_a_cut_file_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    content = json.dumps(ACCOUNT).encode()
    check_cuts(SOURCE, content, lambda cut: put(tmp_path, cut))


def test_a_long_name_that_every_message_repeats_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpp.sources.importing.task.STORED_FREELY", 0)
    monkeypatch.setattr("pdpp.sources.importing.task.STORED_RATIO", 10)
    name = "club " * 2_000
    messages = [message(number, "Ahoy") for number in range(200)]
    path = export(tmp_path / "e", {**CHAT, "name": name, "messages": messages})
    home = Home(tmp_path / "home")
    report = home.bring(path)
    assert report["status"] == "incomplete"
    assert any("many times what its files hold" in str(skipped) for skipped in report["skipped"])
    stored = sum(len(json.dumps(data)) for data in home.records().values())
    assert 0 < stored <= 10 * (path / "result.json").stat().st_size


def test_hostile_exports_are_survived(tmp_path: Path) -> None:
    check_hostile_json(SOURCE, ACCOUNT, lambda content: put(tmp_path, content))
    folder = tmp_path / "inner"
    folder.mkdir()
    files = {"result.json": json.dumps(ACCOUNT).encode(), "photos/boat.jpg": PHOTO}
    check_hostile_zip(SOURCE, files, folder)


@given(st.lists(st.integers(min_value=1, max_value=10_000), min_size=1, max_size=5, unique=True))
def test_keys_do_not_depend_on_what_else_is_in_a_chat(numbers: list[int]) -> None:
    from tempfile import TemporaryDirectory

    made = [message(number, f"text {number}") for number in numbers]
    with TemporaryDirectory() as folder:
        whole = read(SOURCE, export(Path(folder) / "a", {**CHAT, "messages": made}))
        some = read(SOURCE, export(Path(folder) / "b", {**CHAT, "messages": made[-1:]}))
    assert set(some) <= set(whole)


def test_an_agent_finds_a_message(tmp_path: Path) -> None:
    path = export(tmp_path / "e", ACCOUNT)
    report = bring_and_ask(path, tmp_path, "lantern", "bring a lantern for the way back")
    assert report["counts"]["new"] > 10


def test_files_that_were_left_out_keep_what_is_known_of_them(tmp_path: Path) -> None:
    gone = "(File not included. Change data exporting settings to download.)"
    messages = [
        message(1, "", file=gone, file_name="charter.pdf"),
        message(2, "", file=gone, media_type="sticker", sticker_emoji="⛵"),
        message(3, "", file=gone, media_type="audio_file", performer="Nora", title="Shanty"),
        message(
            4, ["See ", {"type": "text_link", "text": "here", "href": "https://tides.example"}]
        ),
    ]
    path = export(tmp_path, {**CHAT, "messages": messages})
    records = read(SOURCE, path)
    assert [data["text"] for (stream, _), data in records.items() if stream == "messages"] == [
        "File: charter.pdf",
        "Sticker: ⛵",
        "Audio: Nora – Shanty",
        "See here (https://tides.example)",
    ]


def test_members_of_an_account_that_become_no_record_are_told(tmp_path: Path) -> None:
    account = {
        "personal_information": {"user_id": 7, "first_name": "Nora"},
        "profile_pictures": [{"date": "2026-01-01T10:00:00", "photo": "profile_pictures/p.jpg"}],
        "contacts": {"list": []},
        "frequent_contacts": {"list": [{"id": 1, "name": "Bo"}]},
        "sessions": {"list": [{"last_ip": "192.0.2.1"}, {"last_ip": "192.0.2.2"}]},
        "web_sessions": {"list": []},
        "other_data": {"about": "more"},
        "chats": {"list": [CHAT]},
    }
    reasons = Counter(found.reason for found in told(SOURCE, export(tmp_path, account)))
    assert reasons["a device that was logged in"] == 2
    for reason in (
        "what the account says of its owner",
        "a picture of the owner",
        "how often somebody was written to",
        "what Telegram keeps beside chats",
    ):
        assert reasons[reason] == 1, reason


def test_an_answer_to_another_chat_is_none_to_this_one(tmp_path: Path) -> None:
    messages = [
        message(2, "Here"),
        message(3, "There", reply_to_message_id=2, reply_to_peer_id="channel7"),
    ]
    records = read(SOURCE, put(tmp_path, json.dumps({**CHAT, "messages": messages}).encode()))
    there = next(data for data in records.values() if data.get("text") == "There")
    assert "reply_to" not in there


def test_chats_that_a_program_wrote_without_ids_are_chats_of_their_own(tmp_path: Path) -> None:
    def chat(name: str, text: str) -> dict[str, Any]:
        said = {"id": 1, "type": "message", "date": "2024-01-15T10:30:00", "from": name}
        return {"name": name, "type": "personal_chat", "messages": [{**said, "text": text}]}

    chats = [chat("Bo", "The keel is red"), chat("Cy", "The sail is white")]
    home = Home(tmp_path / "home")
    path = export(tmp_path / "e", {"chats": {"list": chats}})
    assert home.bring(path)["counts"]["new"] == 4
    assert home.bring(path)["counts"]["unchanged"] == 4
    alone = home.bring(export(tmp_path / "alone", chats[1]))
    assert (alone["counts"]["new"], alone["counts"]["unchanged"]) == (0, 2)


def test_a_card_of_a_contact_comes_in_and_amounts_keep_their_numbers(tmp_path: Path) -> None:
    contact = {"first_name": "Bo", "phone_number": "+46"}
    bill = '{"title": "Mooring", "amount": 500, "currency": "SEK"}'
    paid = {"type": "service", "action": "send_payment", "amount": 500, "currency": "SEK"}
    messages = [
        message(2, "", contact_information=contact, contact_vcard="contacts/contact_1.vcard"),
        message(3, "", invoice_information=bill),
        message(4, "", **paid),
    ]
    put(tmp_path, json.dumps({**CHAT, "messages": messages}).encode())
    (tmp_path / "contacts").mkdir()
    (tmp_path / "contacts" / "contact_1.vcard").write_text("BEGIN:VCARD")
    records = read(SOURCE, tmp_path)
    texts = [data["text"] for (stream, _), data in records.items() if stream == "messages"]
    assert texts == ["Contact: Bo +46", "Invoice: Mooring, 500, SEK", "send payment: 500, SEK"]
    assert [data["name"] for (stream, _), data in records.items() if stream == "media"] == [
        "contact_1.vcard"
    ]


def test_an_account_that_comes_after_one_of_its_chats_says_how_to_join_both(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    (tmp_path / "chat").mkdir()
    (tmp_path / "account").mkdir()
    home.bring(put(tmp_path / "chat", json.dumps(CHAT).encode()))
    ended = home.run(put(tmp_path / "account", json.dumps(ACCOUNT).encode()), "--yes")
    assert "pdpp connection merge" in ended.out + ended.err


def test_accounts_of_two_people_in_one_folder_are_two(tmp_path: Path) -> None:
    export(tmp_path / "e" / "DataExport_1", ACCOUNT)
    other = {"user_id": 2, "first_name": "Bo", "last_name": ""}
    export(tmp_path / "e" / "DataExport_2", {**ACCOUNT, "personal_information": other})
    ended = Home(tmp_path / "home").run(tmp_path / "e", "--yes")
    assert "Telegram (Nora)" in ended.out
    assert "Telegram (Bo)" in ended.out


def piece(text: Any, kind: str = "plain", **more: Any) -> dict[str, Any]:
    return {"type": kind, "text": text, **more}


RICH: dict[str, Any] = {
    "rtl": False,
    "part": False,
    "blocks": [
        {"type": "heading", "level": 1, "text": piece("Tides")},
        {
            "type": "paragraph",
            "text": piece(
                [
                    piece("High at "),
                    piece(piece("noon"), "bold"),
                    piece(piece("see"), "text_link", href="https://tides.example"),
                    {"type": "math", "source": "h=2"},
                ],
                "concat",
            ),
        },
        {
            "type": "list",
            "kind": "bullet",
            "items": [
                {"task_state": "checked", "content": "text", "text": piece("Rope")},
                {"task_state": "unchecked", "content": "text", "text": piece("Lantern")},
                {"task_state": "none", "content": "text", "text": piece("Charts")},
            ],
        },
        {
            "type": "list",
            "kind": "ordered",
            "items": [
                {
                    "task_state": "none",
                    "content": "blocks",
                    "blocks": [
                        {"type": "paragraph", "text": piece("Cast off")},
                        {"type": "paragraph", "text": piece("slowly")},
                    ],
                }
            ],
        },
        {
            "type": "table",
            "title": piece("", "empty"),
            "rows": [{"cells": [{"text": piece("Day"), "header": True}, {"text": piece("Hour")}]}],
        },
        {
            "type": "collage",
            "items": [
                {
                    "type": "photo",
                    "photo_id": "71",
                    "photo": "photos/boat.jpg",
                    "caption": {"text": piece("The boat"), "credit": piece("Bo")},
                },
                {
                    "type": "file",
                    "document_id": "72",
                    "file_skip_reason": "file_size",
                    "file_name": "film.mp4",
                    "caption": {"text": piece("", "empty"), "credit": piece("", "empty")},
                },
            ],
            "caption": {"text": piece("Two of us"), "credit": piece("", "empty")},
        },
        {"type": "of tomorrow", "text": piece("Still said")},
    ],
}


def test_a_rich_message_comes_in_with_every_word_and_its_files(tmp_path: Path) -> None:
    rich = message(2, "", rich_message=RICH)
    del rich["text"]
    path = export(tmp_path / "e", {**CHAT, "messages": [rich]})
    records = read(SOURCE, path)
    [data] = [data for (stream, _), data in records.items() if stream == "messages"]
    assert data["text"].splitlines() == [
        "Tides",
        "High at noonsee (https://tides.example)h=2",
        "[x] Rope",
        "[ ] Lantern",
        "- Charts",
        "1. Cast off",
        "slowly",
        "Day | Hour",
        "The boat",
        "Bo",
        "Two of us",
        "Still said",
    ]
    [media] = [data for (stream, _), data in records.items() if stream == "media"]
    assert (media["message_id"], media["name"]) == (data["id"], "boat.jpg")
    assert [found.reason for found in told(SOURCE, path)] == ["a file that is not in the export"]


def account_of(*chats: dict[str, Any]) -> dict[str, Any]:
    return {**ACCOUNT, "chats": {"list": list(chats)}}


def test_a_person_a_group_and_a_channel_of_one_number_are_three_chats(tmp_path: Path) -> None:
    kinds = ("personal_chat", "private_group", "private_channel")
    chats = [
        {"name": kind, "type": kind, "id": 900, "messages": [message(2, f"In a {kind}")]}
        for kind in kinds
    ]
    records = read(SOURCE, export(tmp_path / "e", account_of(*chats)))
    texts = sorted(data["text"] for (stream, _), data in records.items() if stream == "messages")
    assert texts == sorted(f"In a {kind}" for kind in kinds)
    assert len({key for stream, key in records if stream == "chats"}) == 3


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("private_supergroup", "public_supergroup"),
        ("private_channel", "public_channel"),
        ("personal_chat", "bot_chat"),
    ],
)
def test_a_chat_that_becomes_public_stays_the_same(tmp_path: Path, before: str, after: str) -> None:
    forms = [{**CHAT, "type": kind} for kind in (before, after)]
    first, second = (read(SOURCE, export(tmp_path / kind["type"], kind)) for kind in forms)
    assert first.keys() == second.keys()


def of_first_exports(chat: dict[str, Any], above: int) -> dict[str, Any]:
    """Return a chat as Telegram wrote it before it named those who write by whose number it is."""
    old = []
    for said in chat["messages"]:
        kept = {name: value for name, value in said.items() if not name.endswith("unixtime")}
        kept["date"] = "2019-01-01T10:00:00"
        for name in ("from_id", "actor_id"):
            if name in kept:
                kept[name] = int(kept[name].removeprefix("user"))
        old.append(kept)
    return {**chat, "id": chat["id"] + (above << 32), "messages": old}


@pytest.mark.parametrize(
    ("kind", "above"), [("personal_chat", 1), ("private_group", 2), ("private_supergroup", 2)]
)
def test_a_chat_of_one_of_the_first_exports_is_the_same_chat_today(
    tmp_path: Path, kind: str, above: int
) -> None:
    chat = {**CHAT, "type": kind}
    old = read(SOURCE, export(tmp_path / "old", of_first_exports(chat, above)))
    assert old.keys() == read(SOURCE, export(tmp_path / "new", chat)).keys()


def test_a_person_with_a_large_number_is_not_one_of_the_first_exports(tmp_path: Path) -> None:
    chat = {**CHAT, "type": "personal_chat"}
    large = read(SOURCE, export(tmp_path / "large", {**chat, "id": 900 + (1 << 32)}))
    assert not {key for key in large if key in read(SOURCE, export(tmp_path / "small", chat))}
