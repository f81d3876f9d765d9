"""WhatsApp chats of both kinds of phone and of several languages."""

import json
import os
import tarfile
import time
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.shell import pdpp_here
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_cuts,
    check_hostile_text,
    check_hostile_zip,
    check_overlap,
    check_twice,
    counts,
    golden,
    look,
    read,
    told,
    zipped,
)

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.whatsapp.lines import OrderGuess, chat_line
from pdpp.sources.formats.whatsapp.persian import gregorian_day
from pdpp.sources.formats.whatsapp.renamed_chats import NamedChat, RenamedChats
from pdpp.sources.formats.whatsapp.source import WhatsApp
from pdpp.sources.keys import digest_key
from pdpp.sources.source import Confidence, Recognition

SOURCE = WhatsApp()
PHOTO = b"\xff\xd8\xff\xe0 the mole"

IPHONE = (
    "[31/01/2026, 10:15:32] Sailing club: \u200eMessages and calls are end-to-end encrypted.\r\n"
    "\u200e[31/01/2026, 10:15:40] Nora Lind: The mole light is out,\r\n"
    "bring a lantern for the way back\r\n"
    "\r\n"
    "and warm socks 🧦\r\n"
    "[01/02/2026, 09:00:00] ~ Ben: \u200e<attached: 00000012-PHOTO-2026-02-01-09-00-00.jpg>\r\n"
    "[01/02/2026, 09:00:00] ~ Ben: Ahoy\r\n"
    "[01/02/2026, 09:00:00] ~ Ben: Ahoy\r\n"
)
ANDROID = (
    "1/31/26, 10:15\u202fAM - Nora created group “Sailing club”\n"
    "1/31/26, 10:16\u202fAM - Nora: IMG-20260131-WA0001.jpg (file attached)\n"
    "What a morning\n"
    "2/1/26, 11:05\u202fPM - Ben: <Media omitted>\n"
    "2/1/26, 12:10\u202fAM - Ben: Midnight: the tide turns\n"
)
GERMAN = "31.01.26, 22:15 - Nora: Die Flut kommt um halb vier\n01.02.26, 07:00 - Ben: Gut\n"


def put(folder: Path, text: str, name: str = "_chat.txt") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_a_chat_of_an_iphone_is_recognised_and_named_by_its_zip(tmp_path: Path) -> None:
    path = zipped(tmp_path / "WhatsApp Chat - Sailing club.zip", {"_chat.txt": IPHONE.encode()})
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.account) == (Confidence.CERTAIN, "WhatsApp")
    assert seen.version == "a chat, dates written DMY"
    assert seen.notes == ()


def test_a_chat_of_android_is_recognised_and_named_by_its_file(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, ANDROID, "WhatsApp Chat with Sailing club.txt"))
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.version) == ("WhatsApp", "a chat, dates written MDY")


def test_a_file_without_the_name_is_likely_where_many_lines_fit(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, ANDROID, "club.txt"))
    assert isinstance(seen, Recognition)
    assert seen.confidence is Confidence.LIKELY
    assert look(SOURCE, put(tmp_path, GERMAN, "zwei.txt")) is None
    assert look(SOURCE, put(tmp_path, "Dear diary\n" + ANDROID, "diary.txt")) is None
    assert look(SOURCE, put(tmp_path, "", "empty.txt")) is None


def test_chats_give_these_records(tmp_path: Path) -> None:
    put(tmp_path / "WhatsApp Chat - Club", IPHONE)
    (tmp_path / "WhatsApp Chat - Club" / "00000012-PHOTO-2026-02-01-09-00-00.jpg").write_bytes(
        PHOTO
    )
    put(tmp_path, ANDROID, "WhatsApp Chat with Nora.txt")
    put(tmp_path, GERMAN, "WhatsApp Chat mit Ben.txt")
    golden("whatsapp", read(SOURCE, tmp_path))
    assert [found.reason for found in told(SOURCE, tmp_path)] == [
        "a file that is not in the export"
    ]


def test_times_float_unless_the_owner_names_the_zone_of_the_phone(tmp_path: Path) -> None:
    path = put(tmp_path, GERMAN, "WhatsApp Chat mit Ben.txt")
    floating = [data for (stream, _), data in read(SOURCE, path).items() if stream == "messages"]
    assert [(data["sent_at"], data["floating"]) for data in floating] == [
        ("2026-01-31T22:15:00", True),
        ("2026-02-01T07:00:00", True),
    ]
    placed = read(SOURCE, path, time_zone="Europe/Berlin")
    times = {data["sent_at"] for (stream, _), data in placed.items() if stream == "messages"}
    assert times == {"2026-01-31T22:15:00+01:00", "2026-02-01T07:00:00+01:00"}
    assert set(placed) == set(read(SOURCE, path))


@pytest.mark.parametrize(
    ("dates", "order", "sure"),
    [
        (["1/31/26", "2/1/26"], "MDY", True),
        (["31/1/26", "2/1/26"], "DMY", True),
        (["2026-01-02", "2026-01-03"], "YMD", True),
        (["1/2/26", "2/2/26", "1/3/26"], "DMY", True),
        (["2/1/26", "2/2/26", "3/1/26"], "MDY", True),
        (["1.2.26"], "DMY", False),
    ],
)
def test_the_order_of_dates_is_found_over_the_whole_file(
    dates: list[str], order: str, sure: bool
) -> None:
    guess = OrderGuess()
    for written in dates:
        line = chat_line(f"{written}, 10:00 - Nora: x")
        assert line is not None
        guess.see(line.stamp)
    assert guess.order() == (order, sure)


def test_an_american_looking_date_that_could_be_either_is_american(tmp_path: Path) -> None:
    text = "1/2/26, 10:00 AM - Nora: x\n"
    path = put(tmp_path, text, "WhatsApp Chat with Nora.txt")
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert "date_order" in seen.notes[0]
    (message, _) = read(SOURCE, path).values()
    assert message["sent_at"] == "2026-01-02T10:00:00"
    (message, _) = read(SOURCE, path, date_order="dmy").values()
    assert message["sent_at"] == "2026-02-01T10:00:00"
    with pytest.raises(ImportRefused, match="date_order"):
        look(SOURCE, path, date_order="backwards")


def test_a_date_that_does_not_exist_and_stray_lines_are_told(tmp_path: Path) -> None:
    text = "31.02.26, 10:00 - Nora: x\n01.01.26, 10:00 - Nora: y\n"
    path = put(tmp_path, text, "WhatsApp Chat mit Ben.txt")
    assert [found.reason for found in told(SOURCE, path)] == [
        "a message with a date that does not exist"
    ]
    path = put(tmp_path, "\n" + GERMAN, "WhatsApp Chat mit Ida.txt")
    assert [found.reason for found in told(SOURCE, path)] == ["a line before the first message"]


def test_a_message_too_long_keeps_its_beginning_and_is_told(tmp_path: Path) -> None:
    text = "01.02.26, 10:00 - Nora: x\n" + ("y" * 900_000 + "\n") * 5
    path = put(tmp_path, text, "WhatsApp Chat mit Ben.txt")
    assert [found.reason for found in told(SOURCE, path)] == [
        "the rest of a message that is too long"
    ]


def test_pictures_become_blobs(tmp_path: Path) -> None:
    files = {"_chat.txt": IPHONE.encode(), "00000012-PHOTO-2026-02-01-09-00-00.jpg": PHOTO}
    home = Home(tmp_path / "home")
    home.bring(zipped(tmp_path / "WhatsApp Chat - Club.zip", files))
    (media,) = [data for (stream, _), data in home.records().items() if stream == "media"]
    assert media["file"]["size_bytes"] == len(PHOTO)


def test_the_same_chat_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(put(tmp_path, IPHONE), tmp_path)


def test_a_chat_and_then_a_longer_one_are_the_longer_one(tmp_path: Path) -> None:
    first = put(tmp_path / "Club", IPHONE)
    more = put(tmp_path / "b" / "Club", IPHONE + "[02/02/2026, 09:00:00] Nora Lind: Later\r\n")
    check_overlap(first.parent, more.parent, tmp_path)


def test_a_cut_chat_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    content = IPHONE.replace("\r\n", "\n").encode()
    check_cuts(SOURCE, content, lambda cut: put(tmp_path, cut.decode("utf-8", "ignore")), torn=3)


def test_hostile_chats_are_survived(tmp_path: Path) -> None:
    def place(content: bytes) -> Path:
        path = tmp_path / "_chat.txt"
        path.write_bytes(content)
        return path

    check_hostile_text(SOURCE, IPHONE.encode(), place)
    folder = tmp_path / "inner"
    folder.mkdir()
    check_hostile_zip(SOURCE, {"_chat.txt": ANDROID.encode()}, folder)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=8))
def test_equal_messages_of_one_minute_keep_their_keys_when_more_follow(texts: list[str]) -> None:
    from tempfile import TemporaryDirectory

    lines = [f"01.02.26, 10:00 - Nora: {text}\n" for text in texts]
    with TemporaryDirectory() as folder:
        some = read(SOURCE, put(Path(folder), "".join(lines)))
        whole = read(SOURCE, put(Path(folder), "".join([*lines, "02.02.26, 10:00 - Ben: x\n"])))
    assert len([key for key in some if key[0] == "messages"]) == len(texts)
    assert set(some) <= set(whole)


def test_an_agent_finds_a_message(tmp_path: Path) -> None:
    path = zipped(tmp_path / "WhatsApp Chat - Club.zip", {"_chat.txt": IPHONE.encode()})
    report = bring_and_ask(path, tmp_path, "lantern", "bring a lantern for the way back")
    assert report["counts"]["new"] == 6


HEADERS = {
    "[19/09/2026, 09:52:11] Ana: hi": "2026-09-19T09:52:11",
    "19/09/26, 9:52\u202fpm - Ana: hi": "2026-09-19T21:52:00",
    "19/09/26, 9:52 p. m. - Ana: hi": "2026-09-19T21:52:00",
    "23-03-2022 13:31 - Ana: hi": "2022-03-23T13:31:00",
    "23.03.22 13:31 - Ana: hi": "2022-03-23T13:31:00",
    "2024/12/10 下午3:05 - Ana: hi": "2024-12-10T15:05:00",
    "2024/12/10, 3:05 下午 - Ana: hi": "2024-12-10T15:05:00",
    "2024年12月10日 下午3:05 - Ana: hi": "2024-12-10T15:05:00",
    "2022. 3. 18. 오후 2:56 - Ana: hi": "2022-03-18T14:56:00",
    "[21:41:35, 27/3/22] Ana: hi": "2022-03-27T21:41:35",
    "23.3.2022 klo 21.25 - Ana: hi": "2022-03-23T21:25:00",
    "[23/03/2022 à 21:25:15] Ana: hi": "2022-03-23T21:25:15",
    "[\u200f١٨\u200f/٣\u200f/٢٠٢٢، ٢:٥٦:٠٠ م] Ana: hi": "2022-03-18T14:56:00",
    "18/3/2565 BE, 14:00 - Ana: hi": "2022-03-18T14:00:00",
    "18/3/65 14:00 - Ana: hi": "2022-03-18T14:00:00",
    "18/3/50, 14:00 - Ana: hi": "2007-03-18T14:00:00",
    "18/3/49, 14:00 - Ana: hi": "2049-03-18T14:00:00",
    "18/3/R4, 14:00 - Ana: hi": "2022-03-18T14:00:00",
    "18/3/22 02:56:00: Ana: hi": "2022-03-18T02:56:00",
}


@pytest.mark.parametrize("line", HEADERS)
def test_a_header_of_every_language_is_read(line: str, tmp_path: Path) -> None:
    path = put(tmp_path, f"{line}\nand more\n")
    [data] = [d for (stream, _), d in read(SOURCE, path).items() if stream == "messages"]
    assert (data["sent_at"], data["sender"]) == (HEADERS[line], "Ana")
    assert data["text"] == "hi\nand more"


def test_a_pasted_line_of_another_chat_stays_in_its_message(tmp_path: Path) -> None:
    text = "[01/02/2026, 10:00:00] Ana: look\n[05/01/2026, 09:00:00] Bo: pasted\r\n"
    text += "[01/02/2026, 10:01:00] Ana: odd\r\n"
    path = tmp_path / "_chat.txt"
    path.write_bytes(text.encode())
    texts = [d["text"] for (stream, _), d in read(SOURCE, path).items() if stream == "messages"]
    assert texts == ["look\n[05/01/2026, 09:00:00] Bo: pasted", "odd"]


def test_a_captioned_attachment_and_left_out_media_with_words_are_known(tmp_path: Path) -> None:
    lines = [
        "[01/02/2026, 10:00:00] Ana: the mole \u200e<attached: 00001-PHOTO.jpg>",
        "[01/02/2026, 10:01:00] Ana: <00001-PHOTO.jpg eklendi>",
        "[01/02/2026, 10:02:00] Ana: \u200eimage omitted",
        "[01/02/2026, 10:03:00] Ana: <Medien ausgeschlossen>\nwith words",
        "[01/02/2026, 10:04:00] Ana: <3 this: place>",
    ]
    path = put(tmp_path / "e", "\n".join(lines) + "\n")
    (path.parent / "00001-PHOTO.jpg").write_bytes(b"\xff\xd8")
    records = read(SOURCE, path.parent)
    messages = [d for (stream, _), d in records.items() if stream == "messages"]
    assert [d.get("file_name") for d in messages[:3]] == ["00001-PHOTO.jpg"] * 2 + [None]
    assert [d["media_omitted"] for d in messages] == [False, False, True, True, False]
    assert sum(stream == "media" for stream, _ in records) == 2


def test_days_and_months_are_told_apart_by_the_whole_chat(tmp_path: Path) -> None:
    american = ["1/5/26, 10:00 - Ana: a", "1/6/26, 10:00 - Ana: b", "2/1/26, 10:00 - Ana: c"]
    path = put(tmp_path, "\n".join(american) + "\n", "WhatsApp Chat with Ana.txt")
    days = [d["sent_at"][:10] for (s, _), d in read(SOURCE, path).items() if s == "messages"]
    assert days == ["2026-01-05", "2026-01-06", "2026-02-01"]
    padded = "01/05/2026, 10:00 - Ana: a\n"
    path = put(tmp_path, padded, "WhatsApp Chat with Bo.txt")
    [data] = [d for (s, _), d in read(SOURCE, path).items() if s == "messages"]
    assert data["sent_at"].startswith("2026-05-01")


def test_what_could_be_read_otherwise_is_told_in_json_too(tmp_path: Path) -> None:
    path = put(tmp_path / "e", "1/5/26, 10:00 - Ana: a\n", "WhatsApp Chat with Ana.txt")
    report = Home(tmp_path / "home").bring(path)
    assert any("another order" in note for note in report["notes"])


def test_the_same_chat_under_a_second_download_is_the_same(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    content = {"_chat.txt": b"[01/02/2026, 10:00:00] Ana: hi\r\n"}
    home.bring(zipped(tmp_path / "WhatsApp Chat - Ana.zip", content))
    report = home.bring(zipped(tmp_path / "WhatsApp Chat - Ana (1).zip", content))
    assert report["counts"]["new"] == 0
    other = {"_chat.txt": b"[01/02/2026, 10:00:00] Ana: hi\r\n"}
    report = home.bring(zipped(tmp_path / "WhatsApp Chat - Bo.zip", other))
    assert report["counts"]["new"] == 2


@pytest.mark.parametrize(
    ("written", "text", "mark"),
    [
        ("See you at six <This message was edited>", "See you at six", "edited"),
        ("Bis sechs \u200e<Diese Nachricht wurde bearbeitet.>", "Bis sechs", "edited"),
        ("A las seis <Se editó este mensaje.>", "A las seis", "edited"),
        ("À six heures <Ce message a été modifié>", "À six heures", "edited"),
        ("Alle sei <Questo messaggio è stato modificato>", "Alle sei", "edited"),
        ("Às seis <Mensagem editada>", "Às seis", "edited"),
        ("Ce message a été supprimé.", "Ce message a été supprimé.", "deleted"),
        ("Hai eliminato questo messaggio", "Hai eliminato questo messaggio", "deleted"),
        ("\u200eThis message was deleted.", "This message was deleted.", "deleted"),
        ("You deleted this message", "You deleted this message", "deleted"),
        ("Diese Nachricht wurde gelöscht", "Diese Nachricht wurde gelöscht", "deleted"),
        ("Eliminaste este mensaje", "Eliminaste este mensaje", "deleted"),
        ("I said <This message was edited> aloud", "I said <This message was edited> aloud", ""),
        ("He wrote: This message was deleted", "He wrote: This message was deleted", ""),
    ],
)
def test_edited_messages_and_those_taken_back_say_so(
    tmp_path: Path, written: str, text: str, mark: str
) -> None:
    path = put(tmp_path, f"[05/01/2026, 10:00:00] Ana: {written}\n")
    [message] = [data for (stream, _), data in read(SOURCE, path).items() if stream == "messages"]
    assert message["text"] == text
    assert {name for name in ("edited", "deleted") if message.get(name)} == set(
        filter(None, [mark])
    )


LAYOUTS = {
    "American": ("9/19/26, 9:52 AM - ", "2026-09-19T09:52:00"),
    "British": ("19/09/2026, 09:52 - ", "2026-09-19T09:52:00"),
    "Indian": ("19/09/26, 9:52 pm - ", "2026-09-19T21:52:00"),
    "Dutch": ("23-03-2022 13:31 - ", "2022-03-23T13:31:00"),
    "Czech": ("23.03.22 13:31 - ", "2022-03-23T13:31:00"),
    "Russian": ("23.03.2022, 13:31 - ", "2022-03-23T13:31:00"),
    "year first with slashes": ("2024/12/10, 13:31 - ", "2024-12-10T13:31:00"),
    "year first with hyphens": ("2018-06-13, 13:31 - ", "2018-06-13T13:31:00"),
    "Vietnamese": ("[21:41:35, 27/3/22] ", "2022-03-27T21:41:35"),
    "Indonesian": ("[18/03/22 14.56.01] ", "2022-03-18T14:56:01"),
    "Finnish": ("[18.3.2022 klo 21.25.15] ", "2022-03-18T21:25:15"),
    "French": ("18/03/2022 à 14:56 - ", "2022-03-18T14:56:00"),
    "Arabic": (
        "[\u200f١٨\u200f/٣\u200f/٢٠٢٢، ٢:٥٦:٠٠\u00a0م] ",
        "2022-03-18T14:56:00",
    ),
    "Buddhist": ("[3/18/2565 BE, 14:56:00] ", "2022-03-18T14:56:00"),
    "Japanese era": ("[3/18/R4 14:56:00] ", "2022-03-18T14:56:00"),
    "Persian": ("[۱۴۰۰/۱۲/۲۷،\u200f ۱۴:۵۶:۰۰] ", "2022-03-18T14:56:00"),
    "a Persian month of 31 days": ("۱۴۰۳/۲/۳۱،\u200f ۱۴:۵۶ - ", "2024-05-20T14:56:00"),
    "the last day of a Persian leap year": ("۱۴۰۳/۱۲/۳۰، ۱۴:۵۶ - ", "2025-03-20T14:56:00"),
    "Chinese": ("[2022/3/18 下午2:56:00] ", "2022-03-18T14:56:00"),
    "Japanese": ("[2022/3/18 午後2:56:00] ", "2022-03-18T14:56:00"),
    "Korean": ("2022. 3. 18. 오후 2:56 - ", "2022-03-18T14:56:00"),
    "Spanish": ("19/9/26 9:52 p. m. - ", "2026-09-19T21:52:00"),
    "a narrow space": ("9/19/26, 9:52\u202fPM - ", "2026-09-19T21:52:00"),
    "no space": ("9/19/26, 9:52PM - ", "2026-09-19T21:52:00"),
    "older": ("18/3/22 10:00:00: ", "2022-03-18T10:00:00"),
    "a month as a word with its year": ("Dec 30, 2014, 9:15 PM - ", "2014-12-30T21:15:00"),
    "a Brazilian month": ("12 de out. de 2019 14:02 - ", "2019-10-12T14:02:00"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_date_in_every_layout_is_read(layout: str, tmp_path: Path) -> None:
    header, sent = LAYOUTS[layout]
    path = put(tmp_path, f"{header}Nora: The ferry is late\n", "WhatsApp Chat with Nora.txt")
    message, _ = read(SOURCE, path).values()
    assert (message["sent_at"], message["sender"], message["text"]) == (
        sent,
        "Nora",
        "The ferry is late",
    )


def test_messages_of_one_minute_say_which_of_them_they_are(tmp_path: Path) -> None:
    lines = ("9:52 - Nora: Late?", "9:52 - Ben: Yes", "9:52 - Nora: Yes", "9:53 - Ben: Sorry")
    text = "".join(f"18/3/22, {line}\n" for line in lines)
    records = read(SOURCE, put(tmp_path, text, "WhatsApp Chat with Nora.txt"))
    said = [
        (data["position"], data["sender"])
        for (stream, _), data in records.items()
        if stream == "messages"
    ]
    assert sorted(said) == [(1, "Ben"), (1, "Nora"), (2, "Ben"), (3, "Nora")]


BUSY = (
    *("9:51 - Nora: Ready?", "9:52 - Ben: Soon", "9:52 - Nora: Ahoy", "9:52 - Ben: Five minutes"),
    *("9:52 - Nora: Ahoy", "9:52 - Ben: Here", "9:53 - Nora: Cast off"),
)


def busy(folder: Path, first: int, *more: str) -> Path:
    text = "".join(f"18/3/22, {line}\n" for line in (*BUSY[first:], *more))
    return put(folder / str(first), text, "WhatsApp Chat with Nora.txt")


def test_an_export_that_begins_later_changes_no_message_of_before(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(busy(tmp_path, 0))
    before = {name: data for name, data in home.records().items() if name[0] == "messages"}
    assert len(before) == len(BUSY)
    for first in range(1, len(BUSY)):
        report = home.bring(busy(tmp_path, first))
        assert counts(report)["unchanged"] == counts(report)["read"]
    after = {name: data for name, data in home.records().items() if name[0] == "messages"}
    assert after == before


def test_a_chat_too_large_to_be_held_gives_the_same_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = busy(tmp_path, 0)
    held = read(SOURCE, path)
    monkeypatch.setattr("pdpp.sources.formats.whatsapp.records._MOST_HELD", 0)
    assert read(SOURCE, path) == held


def test_messages_after_those_of_a_later_export_are_new_and_in_order(tmp_path: Path) -> None:
    whole, steps = Home(tmp_path / "whole"), Home(tmp_path / "steps")
    steps.bring(busy(tmp_path, 4))
    whole.seal_like(steps)
    steps.bring(busy(tmp_path, 0, "9:53 - Nora: Cast off", "9:54 - Ben: Gone"))
    steps.bring(busy(tmp_path, 4, "9:53 - Nora: Cast off", "9:54 - Ben: Gone"))
    whole.bring(busy(tmp_path, 0, "9:53 - Nora: Cast off", "9:54 - Ben: Gone"))
    assert steps.records() == whole.records()


def test_pictures_keep_their_files_when_an_export_begins_between_them(tmp_path: Path) -> None:
    names = [f"IMG-20220318-WA000{number}.jpg" for number in range(1, 5)]
    home = Home(tmp_path / "home")
    for first in (0, 2):
        folder = tmp_path / str(first)
        said = "".join(f"18/3/22, 9:52 - Nora: {name} (file attached)\n" for name in names[first:])
        put(folder, said, "WhatsApp Chat with Nora.txt")
        for name in names[first:]:
            (folder / name).write_bytes(PHOTO + name.encode())
        home.bring(folder)
    media = [data for (stream, _), data in home.records().items() if stream == "media"]
    assert sorted(data["name"] for data in media) == names


YEARLESS = """Dec 30, 9:15 PM - Nora: Ice on the mole
Dec 31, 11:59 PM - Ben: See you next year
Jan 1, 12:01 AM - Nora: Happy new year
12 words that go on
Mar 30, 9:15 PM - Ben: The ferry is late
"""


def sent_by_text(path: Path, **settings: str) -> dict[str, str]:
    records = read(SOURCE, path, **settings)
    return {d["text"]: d["sent_at"] for (stream, _), d in records.items() if stream == "messages"}


def test_dates_without_a_year_are_counted_from_when_the_file_was_written(tmp_path: Path) -> None:
    path = put(tmp_path, YEARLESS, "WhatsApp Chat with Nora.txt")
    os.utime(path, (0, datetime(2020, 6, 1, tzinfo=UTC).timestamp()))
    assert sent_by_text(path) == {
        "Ice on the mole": "2019-12-30T21:15:00",
        "See you next year": "2019-12-31T23:59:00",
        "Happy new year\n12 words that go on": "2020-01-01T00:01:00",
        "The ferry is late": "2020-03-30T21:15:00",
    }
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert "have no year" in seen.notes[0]
    os.utime(path, (0, datetime(2020, 2, 1, tzinfo=UTC).timestamp()))
    assert sent_by_text(path)["The ferry is late"] == "2019-03-30T21:15:00"


def test_the_owner_says_the_year_and_the_messages_stay_the_same_ones(tmp_path: Path) -> None:
    path = put(tmp_path, YEARLESS, "WhatsApp Chat with Nora.txt")
    assert sent_by_text(path, year="2016")["Ice on the mole"] == "2015-12-30T21:15:00"
    assert set(read(SOURCE, path, year="2016")) == set(read(SOURCE, path, year="2018"))
    with pytest.raises(ImportRefused, match="year must be a year"):
        look(SOURCE, path, year="last")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Nov 2, 2014, 9:15 PM - Nora: a", "Jan 3, 8:00 AM - Nora: b"),
        ("Nov 2, 9:15 PM - Nora: IMG-20141102-WA0001.jpg (file attached)", "3 Jan 08:00 - Nora: b"),
    ],
)
def test_a_year_that_the_chat_tells_anywhere_counts(
    first: str, second: str, tmp_path: Path
) -> None:
    path = put(tmp_path, f"{first}\n{second}\n", "WhatsApp Chat with Nora.txt")
    assert sorted(sent_by_text(path).values()) == ["2014-11-02T21:15:00", "2015-01-03T08:00:00"]
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert seen.notes == ()


def test_a_line_that_begins_like_a_date_of_another_layout_goes_on_with_a_message(
    tmp_path: Path,
) -> None:
    text = "01.01.26, 10:00 - Nora: we said\nMay 5, 10:00 - Ben: and he came\n"
    path = put(tmp_path, text, "WhatsApp Chat mit Ben.txt")
    assert list(sent_by_text(path)) == ["we said\nMay 5, 10:00 - Ben: and he came"]


@pytest.mark.parametrize(
    "header",
    [
        "19/9/26, 9:52 μ.μ. - ",
        "19.09.26 г., 21:52 ч. - ",
        "2026-09-19 21 h 52 - ",
        "[2026-09-19, 21 h 52 min 00 s] ",
        "[19.09.2026 kl. 21.52.00] ",
        "19/09/2026, 9:52 CH - ",
        "2026/9/19, 9:52 PTG - ",
        "19/9/26, 9:52 ب.ظ. - ",
    ],
)
def test_headers_of_more_countries_begin_a_message(header: str) -> None:
    line = chat_line(f"{header}Ana: The tide turns")
    assert line is not None
    assert (line.sender, line.text) == ("Ana", "The tide turns")
    orders = ("YMD", "DMY") if line.stamp.numbers[0] > 31 else ("DMY", "YMD")
    assert line.stamp.moment(orders[0]) == datetime(2026, 9, 19, 21, 52)  # noqa: DTZ001


@pytest.mark.parametrize(
    "name", ["Chat WhatsApp s uživatelem Jan.txt", "Chat WhatsApp s\u00a0uživatelem_Jan (1).txt"]
)
def test_the_czech_name_of_a_chat_is_who_it_is_with(tmp_path: Path, name: str) -> None:
    records = read(SOURCE, put(tmp_path, "23.03.22 13:31 - Jan: ahoj\n" * 3, name))
    assert {data["name"] for (stream, _), data in records.items() if stream == "chats"} == {"Jan"}


def test_a_chat_taken_out_of_its_zip_is_called_by_its_folder_or_its_first_note(
    tmp_path: Path,
) -> None:
    note = "[19/09/2026, 09:52:01] {0}: \u200eMessages are end-to-end encrypted.\r\n"
    said = "[19/09/2026, 09:53:01] Me: hello\r\n"
    names = []
    for folder, who in (("WhatsApp Chat - Ana", "Ana B"), ("one", "Bo"), ("two", "Cai")):
        (tmp_path / folder).mkdir()
        path = put(tmp_path / folder, note.format(who) + said)
        records = read(SOURCE, path)
        names += [data["name"] for (stream, _), data in records.items() if stream == "chats"]
    assert names == ["Ana", "Bo", "Cai"]


@pytest.mark.parametrize(
    "said",
    [
        "[1/2/2026 下午1:38:12] 保: \u200e<附件：00000042-PHOTO-2026-02-01-13-38-12.jpg>",
        "[2026. 2. 1. 오후 1:38:12] 보: \u200e<첨부: 00000042-PHOTO-2026-02-01-13-38-12.jpg>",
        "2026/2/1 下午1:38 - 保: IMG-20260201-WA0001.jpg (文件附件)",
        "01/02/26, 13:38 - Bo: IMG-20260201-WA0001.jpg இணைக்கப்பட்டது",
    ],
)
def test_a_picture_comes_in_whatever_the_phone_calls_it(said: str, tmp_path: Path) -> None:
    names = ("00000042-PHOTO-2026-02-01-13-38-12.jpg", "IMG-20260201-WA0001.jpg")
    name = next(name for name in names if name in said)
    path = zipped(tmp_path / "WhatsApp Chat - Bo.zip", {"_chat.txt": said.encode(), name: PHOTO})
    records = read(SOURCE, path)
    assert [data["name"] for (stream, _), data in records.items() if stream == "media"] == [name]


@pytest.mark.parametrize(
    ("with_file", "without"),
    [
        (
            "[01/02/2026, 09:00:00] Bo: Ferry \u200e<attached: 00000012-PHOTO-2026-02-01-09.jpg>",
            "[01/02/2026, 09:00:00] Bo: Ferry \u200eimage omitted",
        ),
        (
            "[01/02/2026, 09:00:00] Bo: \u200e<attached: 00000012-PHOTO-2026-02-01-09.jpg>",
            "[01/02/2026, 09:00:00] Bo: \u200e<attached: 00000007-PHOTO-2026-02-01-09.jpg>",
        ),
        (
            "01/02/2026, 09:00 - Bo: IMG-20260201-WA0001.jpg (file attached)\nFerry",
            "01/02/2026, 09:00 - Bo: <Media omitted>\nFerry",
        ),
    ],
)
def test_a_message_is_the_same_with_its_file_and_without(
    with_file: str, without: str, tmp_path: Path
) -> None:
    keys = []
    for number, text in enumerate((with_file, without)):
        path = put(tmp_path / str(number), text + "\n", "WhatsApp Chat with Bo.txt")
        keys.append([key for stream, key in read(SOURCE, path) if stream == "messages"])
    assert keys[0] == keys[1]


def test_a_chat_whose_name_has_dots_is_the_same_however_it_is_packed(tmp_path: Path) -> None:
    title, home = "WhatsApp Chat - Dr. Ana v. Berg", Home(tmp_path / "home")
    chat = tmp_path / "unpacked" / title / "_chat.txt"
    chat.parent.mkdir(parents=True)
    chat.write_text(IPHONE)
    tar = tmp_path / f"{title}.tar.gz"
    with tarfile.open(tar, "w:gz") as archive:
        archive.add(chat, chat.name)
    (tmp_path / "Downloads").mkdir()
    zipped(tmp_path / "Downloads" / f"{title} (1).ZIP", {"_chat.txt": IPHONE.encode()})
    home.bring(chat.parent)
    before = home.records()
    for path in (tar, tmp_path / "Downloads", tmp_path / "unpacked"):
        home.bring(path)
        assert home.records() == before, path
    [chats] = [data for (stream, _), data in before.items() if stream == "chats"]
    assert chats["name"] == "Dr. Ana v. Berg"


def test_a_zip_that_somebody_renamed_holds_the_same_chat(tmp_path: Path) -> None:
    named = zipped(tmp_path / "WhatsApp Chat - Sailing club.zip", {"_chat.txt": IPHONE.encode()})
    other = zipped(tmp_path / "export of monday.zip", {"_chat.txt": IPHONE.encode()})
    assert set(read(SOURCE, named)) == set(read(SOURCE, other))


@pytest.mark.parametrize(
    "title",
    [
        *("WhatsApp-chat met Bo", "Czat WhatsApp z Bo", "Chat WhatsApp dengan Bo"),
        *("Bo ile WhatsApp Sohbeti", "WhatsApp 與 Bo 的對話", "BoとのWhatsAppチャット"),
        *("Conversa do WhatsApp - Bo", "Discussion WhatsApp - Bo", "Chat WhatsApp con Bo"),
        *("WhatsApp-Chat mit Bo", "Чат WhatsApp с Bo", "WhatsApp-keskustelu henkilön Bo kanssa"),
    ],
)
def test_a_chat_is_called_by_who_it_is_with_in_every_language(title: str, tmp_path: Path) -> None:
    records = read(SOURCE, put(tmp_path, GERMAN, f"{title}.txt"))
    assert [data["name"] for (stream, _), data in records.items() if stream == "chats"] == ["Bo"]


@pytest.mark.parametrize(
    ("header", "hour"),
    [
        *(("12/05/23, 3:37 பிற்பகல்", 15), ("12/5/2023 3:37 ಪೂರ್ವಾಹ್ನ", 3)),
        *(("12.5.2023 3:37 ÖS", 15), ("2023/05/12, 3:37 nm.", 15), ("2023/5/12 晚上8:12", 20)),
        *(("2023년 5월 12일 오후 3:21", 15), ("2023/12/14, 13:34.", 13)),
    ],
)
def test_halves_of_the_day_are_known_in_more_languages(header: str, hour: int) -> None:
    line = chat_line(f"{header} - Bo: Ahoy")
    assert line is not None
    moment = line.stamp.moment("DMY" if line.stamp.numbers[0] < 32 else "YMD")
    assert moment is not None
    assert moment.hour == hour


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("5/13/14, 1:05:59 PM", "5/13/14, 1:06:02 PM"),
        ("2016-05-13, 1:05:59 PM", "2016-05-13, 1:06:02 PM"),
        ("13/5/15 13:05:59", "13/5/15 13:06:02"),
        ("13.05.15, 13:05:59", "13.05.15, 13:06:02"),
    ],
)
def test_chats_of_iphones_before_2018_come_in_with_their_notes(
    first: str, second: str, tmp_path: Path
) -> None:
    chat = (
        f"{first}: Bo Larsen: Is the keel ٣ feet?\nor four:\n12:30: lunch\n"
        f"{second}: You changed this group's icon\n{second}: Nora: Three: I measured\n"
    )
    records = read(SOURCE, put(tmp_path, chat))
    messages = [data for (stream, _), data in records.items() if stream == "messages"]
    assert sorted((data.get("sender") or "", data["text"]) for data in messages) == [
        ("", "You changed this group's icon"),
        ("Bo Larsen", "Is the keel ٣ feet?\nor four:\n12:30: lunch"),
        ("Nora", "Three: I measured"),
    ]
    assert {data["sent_at"][4:16] for data in messages} == {"-05-13T13:05", "-05-13T13:06"}


def test_a_plan_in_a_message_is_no_note_of_an_old_iphone(tmp_path: Path) -> None:
    chat = "[13.05.26, 13:05:59] Bo: the days:\n14.05.26 10:00: launch\n15.05.26, 9:00 AM: race\n"
    records = read(SOURCE, put(tmp_path, chat))
    assert [data["text"] for (stream, _), data in records.items() if stream == "messages"] == [
        "the days:\n14.05.26 10:00: launch\n15.05.26, 9:00 AM: race"
    ]


def test_every_persian_day_is_a_day_of_its_own() -> None:
    """From 2008 to 2052 no day is missing or there twice."""
    written = [
        gregorian_day(year, month, day)
        for year in range(1387, 1430)
        for month in range(1, 13)
        for day in range(1, 32)
    ]
    days = [day for day in written if day is not None]
    assert days[0] == date(2008, 3, 20)
    assert {later - day for day, later in pairwise(days)} == {timedelta(1)}
    new_years = [gregorian_day(year, 1, 1) for year in (1400, 1403, 1404, 1408, 1409)]
    told = ["2021-03-21", "2024-03-20", "2025-03-21", "2029-03-20", "2030-03-21"]
    assert new_years == [date.fromisoformat(day) for day in told]


def test_dates_of_a_calendar_that_is_not_known_are_told_and_none_is_made_up(
    tmp_path: Path,
) -> None:
    text = "1445/6/21, 14:56 - Nora: hi\n1445/6/22, 14:56 - Ana: ho\n"
    path = put(tmp_path, text, "WhatsApp Chat with Nora.txt")
    report = Home(tmp_path / "home").bring(path)
    assert (report["counts"]["new"], report["counts"]["unknown"]) == (0, 2)


@pytest.mark.parametrize(
    ("own", "pasted"),
    [
        ("2026-01-{:02}, 10:15 - Nora: {}", "12/31/25, 9:00 PM - Ben: from another phone"),
        ("{:02}/01/2026, 10:15 - Nora: {}", "12/31/25, 9:00 PM - Ben: from another phone"),
        ("1/{}/26, 10:15 AM - Nora: {}", "31/12/2025, 21:00 - Ben: from another phone"),
    ],
)
def test_a_line_of_another_phone_in_a_message_does_not_turn_the_dates(
    tmp_path: Path, own: str, pasted: str
) -> None:
    days = [*range(3, 20), 2]
    lines = [own.format(day, f"tide {day}") for day in days]
    path = put(tmp_path, "\n".join([*lines[:9], pasted, *lines[9:]]) + "\n")
    messages = [data for (name, _), data in read(SOURCE, path).items() if name == "messages"]
    assert [data["sent_at"][:10] for data in messages] == [f"2026-01-{day:02}" for day in days]
    assert messages[8]["text"] == f"tide 11\n{pasted}"
    assert told(SOURCE, path) == []


FAMILY = (
    ("9:52", "+351 912 345 678", "Who has the key of the boathouse?"),
    ("9:53", "Nora", "Yes"),
    ("9:53", "+351 912 345 678", "Yes"),
    ("9:54", "Nora", "It hangs behind the second door"),
    ("9:55", "+351 912 345 678", "Found it, thanks to both of you"),
    ("9:56", "Nora", "Then leave it there for Sunday"),
    ("9:57", "Nora", "We sail at ten if the wind turns"),
    ("9:58", "+351 912 345 678", "I bring bread and the big thermos"),
    *((f"10:{n:02}", "Nora", f"Buoy number {n} has drifted again") for n in range(20)),
)


def called(folder: Path, name: str, number: str, *more: str) -> Path:
    """Return a zip of a chat under a name, in which the one without a name is called something."""
    said = "".join(
        f"18/3/22, {time} - {number if who[0] == '+' else who}: {text}\n"
        for time, who, text in FAMILY
    )
    title = f"WhatsApp Chat with {name}"
    text = f"18/3/22, 9:50 - You created group “{name}”\n{said}{''.join(more)}"
    return zipped(folder / f"{title}.zip", {f"{title}.txt": text.encode()})


def streams(home: Home, name: str) -> list[dict[str, Any]]:
    return [data for (stream, _), data in home.records().items() if stream == name]


def test_messages_are_the_same_when_a_contact_gets_a_name(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(called(tmp_path, "Sailing", "+351 912 345 678"))
    report = home.bring(called(tmp_path, "Sailing", "Ana"))
    assert report["counts"]["new"] == 0
    messages = [data for data in streams(home, "messages") if not data["service"]]
    assert len(messages) == len(FAMILY)
    assert {data["sender"] for data in messages} == {"Ana", "Nora"}
    assert sum(data["text"] == "Yes" for data in messages) == 2


@pytest.mark.parametrize("together", [True, False])
def test_a_chat_that_was_renamed_is_the_same_chat(together: bool, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    later = "19/3/22, 9:59 - Ana: The wind has turned at last\n"
    (tmp_path / "in").mkdir()
    paths = [
        called(tmp_path / "in", "Sailing", "+351 912 345 678"),
        called(tmp_path / "in", "Sailing 2.0 ⛵", "Ana", later),
    ]
    for path in [tmp_path / "in"] if together else paths:
        home.bring(path)
    [chat] = streams(home, "chats")
    assert chat["name"] == "Sailing 2.0 ⛵"
    messages = [data for data in streams(home, "messages") if not data["service"]]
    assert len(messages) == len(FAMILY) + 1
    assert {data["chat"] for data in messages} == {"Sailing 2.0 ⛵"}
    home.bring(paths[1])
    again = home.bring(paths[1])
    assert again["counts"]["new"] == again["counts"]["changed"] == 0
    assert together or "is a chat that has another name too" in str(again["notes"])


def test_a_chat_that_was_renamed_twice_is_still_the_same_chat(tmp_path: Path) -> None:
    """A phone exports only the newest messages: the last export begins after the first one ends."""
    said = [
        f"{day}/3/22, 10:{minute:02} - Ana: Buoy {minute} drifted on day {day}\n"
        for day in range(1, 15)
        for minute in range(60)
    ]
    home = Home(tmp_path / "home")
    for name, lines in (("Sailing", said[:60]), ("Rowing", said[:400]), ("Diving", said[70:])):
        title = f"WhatsApp Chat with {name}"
        home.bring(zipped(tmp_path / f"{title}.zip", {f"{title}.txt": "".join(lines).encode()}))
    assert len(streams(home, "messages")) == len(said)
    assert [data["name"] for data in streams(home, "chats")] == ["Diving"]


def test_a_chat_that_moved_to_another_kind_of_telephone_comes_in_once(tmp_path: Path) -> None:
    """An iPhone writes seconds, and words before their picture; Android writes neither so."""
    home = Home(tmp_path / "home")
    android = (
        "18/3/22, 09:52 - Ana: Who takes the boat?\n"
        "18/3/22, 09:52 - Ana: <Media omitted>\n"
        "18/3/22, 09:52 - Ana: <Media omitted>\n"
        "18/3/22, 09:53 - Nora: IMG-20220318-WA0001.jpg (file attached)\n"
        "What a morning\n"
        "18/3/22, 09:53 - Nora: Yes\n"
        "18/3/22, 09:53 - Ana: Yes\n"
    )
    iphone = (
        "[18/03/2022, 09:52:10] Ana: Who takes the boat?\r\n"
        "\u200e[18/03/2022, 09:52:30] Ana: \u200eimage omitted\r\n"
        "\u200e[18/03/2022, 09:52:50] Ana: \u200evideo omitted\r\n"
        "[18/03/2022, 09:53:05] Nora: What a morning \u200e<attached: 00000003-PHOTO.jpg>\r\n"
        "[18/03/2022, 09:53:20] Nora: Yes\r\n"
        "[18/03/2022, 09:53:40] Ana: Yes\r\n"
        "[18/03/2022, 09:54:00] Nora: So it is settled\r\n"
    )
    home.bring(put(tmp_path / "old", android, "WhatsApp Chat with Ana.txt"))
    title = "WhatsApp Chat - Ana.zip"
    report = home.bring(zipped(tmp_path / title, {"_chat.txt": iphone.encode()}))
    assert report["counts"]["new"] == 1
    [chat] = streams(home, "chats")
    messages = sorted(streams(home, "messages"), key=lambda data: data["sent_at"])
    assert len(messages) == chat["message_count"] == 7
    assert [data["sent_at"][-5:] for data in messages[:2]] == ["52:10", "52:30"]
    told = home.records()
    again = home.bring(tmp_path / "old" / "WhatsApp Chat with Ana.txt")
    assert {data["sent_at"] for data in streams(home, "messages")} >= {
        data["sent_at"] for data in messages
    }
    assert again["streams"]["messages"]["new"] == again["streams"]["messages"]["deleted"] == 0
    changed = {key: data for key, data in home.records().items() if data != told[key]}
    assert all("T09:52:10" in str(data.get("started_at", "T09:52:10")) for data in changed.values())


def test_an_export_that_comes_without_its_zone_takes_none_away(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    iphone = "[18/03/2022, 09:52:10] Ana: Who takes the boat?\r\n"
    path = put(tmp_path / "iphone", iphone, "WhatsApp Chat with Ana.txt")
    home.bring(path, "--set", "time_zone=Europe/Madrid")
    told = home.records()
    android = put(tmp_path / "a", "18/3/22, 09:52 - Ana: Who takes the boat?\n", path.name)
    home.bring(path)
    home.bring(android)
    assert home.records() == told
    home.bring(android, "--set", "time_zone=Europe/Lisbon")
    [data] = streams(home, "messages")
    assert (data["sent_at"], data["floating"]) == ("2022-03-18T09:52:10Z", False)


def seconds_told(home: Home) -> list[str]:
    return sorted(data["sent_at"][17:19] for data in streams(home, "messages"))


def of_two_telephones(iphone: Path, android: Path) -> tuple[Path, Path]:
    """Write a chat as both kinds of telephone export it, of which one tells seconds."""
    told = "[18/03/2022, 09:52:10] Ana: Ahoy\r\n[18/03/2022, 09:53:20] Nora: Ready\r\n"
    untold = "18/3/22, 09:52 - Ana: Ahoy\n18/3/22, 09:53 - Nora: Ready\n"
    return (
        put(iphone, told, "WhatsApp Chat - Ana.txt"),
        put(android, untold, "WhatsApp Chat with Ana.txt"),
    )


@pytest.mark.parametrize("places", [("a", "z"), ("z", "a/deep/down")])
def test_seconds_stay_where_one_folder_has_a_chat_of_two_telephones(
    places: tuple[str, str], tmp_path: Path
) -> None:
    iphone, android = (tmp_path / "export" / place for place in places)
    of_two_telephones(iphone, android)
    home = Home(tmp_path / "home")
    home.bring(tmp_path / "export")
    assert seconds_told(home) == ["10", "20"]
    assert home.bring(tmp_path / "export")["counts"]["new"] == 0
    assert seconds_told(home) == ["10", "20"]


def test_seconds_stay_where_one_command_brings_a_chat_of_two_telephones(tmp_path: Path) -> None:
    """Both go into an account that is new when the command begins, and not for the second one."""
    iphone, android = of_two_telephones(tmp_path / "one", tmp_path / "two")
    home = Home(tmp_path / "home")
    home.run(iphone, str(android), "--yes", "--connection", "cin_new")
    assert seconds_told(home) == ["10", "20"]


def account_chats(home: Home, account: str) -> list[tuple[str, int]]:
    given = ("read", "records", "chats", "--connection", account, "--all", "--jsonl")
    rows = map(json.loads, pdpp_here(*given, data=home.data).out.splitlines())
    return sorted((row["data"]["name"], row["data"]["message_count"]) for row in rows)


def test_what_chats_of_another_account_are_called_makes_none_of_two(tmp_path: Path) -> None:
    """A group has two names on two telephones; the other one is that of a group of its own here."""
    home = Home(tmp_path / "home")
    home.bring(called(tmp_path, "Sailing", "Ana"), "--connection", "cin_nora")
    home.bring(called(tmp_path, "Regatta", "Ana"), "--connection", "cin_ben")
    title = "WhatsApp Chat with Sailing"
    other = b"18/3/22, 9:53 - Ben: Is anybody else in this group\n"
    home.bring(zipped(tmp_path / "other.zip", {f"{title}.txt": other}), "--connection", "cin_ben")
    said = account_chats(home, "cin_nora")[0][1]
    assert account_chats(home, "cin_ben") == [("Regatta", said), ("Sailing", 1)]


def test_a_chat_stays_one_when_the_account_that_named_it_is_removed(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(called(tmp_path, "Sailing", "Ana"), "--connection", "cin_nora")
    regatta = called(tmp_path, "Regatta", "Ana")
    home.bring(regatta, "--connection", "cin_ben")
    pdpp_here("connection", "remove", "cin_nora", "--yes", data=home.data)
    again = home.bring(regatta, "--connection", "cin_ben")
    assert again["counts"]["new"] == again["counts"]["changed"] == 0
    renamed = home.bring(called(tmp_path, "Cup", "Ana"), "--connection", "cin_ben")
    assert renamed["counts"]["new"] == 1, "the notice of the group holds its name"
    assert [name for name, _ in account_chats(home, "cin_ben")] == ["Cup"]


def test_a_chat_with_other_names_in_two_accounts_is_there_once_when_they_are_merged(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home")
    home.bring(called(tmp_path, "Sailing", "Ana"), "--connection", "cin_nora")
    home.bring(called(tmp_path, "Regatta", "Ana"), "--connection", "cin_old")
    home.bring(called(tmp_path, "Cup", "Ana"), "--connection", "cin_old")
    pdpp_here("connection", "merge", "cin_old", "cin_nora", "--yes", data=home.data)
    home.bring(called(tmp_path, "Race", "Ana"), "--connection", "cin_nora")
    assert [name for name, _ in account_chats(home, "cin_nora")] == ["Race"]


def test_many_chats_are_compared_with_many_quickly() -> None:
    chats = [NamedChat(f"chat {n}", list(range(n * 1_000, (n + 1) * 1_000))) for n in range(400)]
    known = RenamedChats(chats)
    began = time.process_time()
    assert [known.key_of(chat.name) for chat in chats] == [digest_key(chat.name) for chat in chats]
    assert known.notes() == []
    assert time.process_time() - began < 5


def test_chats_with_people_who_were_sent_the_same_stay_apart(tmp_path: Path) -> None:
    """A phone sends one message to everybody on a list, and keeps it in the chat with each."""
    sent = "".join(f"18/3/22, 10:{n:02} - Nora: The tide on day {n} is high\n" for n in range(40))
    home = Home(tmp_path / "home")
    for number, name in enumerate(("Ana", "Ben")):
        title = f"WhatsApp Chat with {name}"
        answer = f"18/3/22, 11:0{number} - {name}: Thank you, that is good to know\n"
        home.bring(zipped(tmp_path / f"{title}.zip", {f"{title}.txt": (sent + answer).encode()}))
    assert sorted(data["name"] for data in streams(home, "chats")) == ["Ana", "Ben"]
    assert len(streams(home, "messages")) == 2 * 41


def test_a_chat_with_a_person_who_was_renamed_is_the_same_chat(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for name in ("+351 912 345 678", "Ana"):
        title = f"WhatsApp Chat with {name}"
        said = "".join(
            f"18/3/22, 10:{n:02} - {who}: The tide on day {n} is high\n"
            for n in range(60)
            for who in ("Nora", name)
        )
        home.bring(zipped(tmp_path / f"{title}.zip", {f"{title}.txt": said.encode()}))
    assert [data["name"] for data in streams(home, "chats")] == ["Ana"]
    assert len(streams(home, "messages")) == 120


def test_two_chats_in_which_some_messages_are_the_same_stay_two(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    more = "".join(f"20/3/22, 8:{n} - Ana: Only said among sailors {n}\n" for n in range(10, 20))
    home.bring(called(tmp_path, "Sailing", "Ana", more))
    other = "".join(f"18/3/22, {at} - {who}: {said}\n" for at, who, said in FAMILY)
    other += "".join(f"20/3/22, 9:{n} - Ben: Only said among rowers {n}\n" for n in range(10, 20))
    title = "WhatsApp Chat with Rowing"
    home.bring(zipped(tmp_path / f"{title}.zip", {f"{title}.txt": other.encode()}))
    assert sorted(data["name"] for data in streams(home, "chats")) == ["Rowing", "Sailing"]
