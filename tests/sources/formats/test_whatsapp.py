"""WhatsApp chats of both kinds of phone and of several languages."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_cuts,
    check_hostile_text,
    check_hostile_zip,
    check_overlap,
    check_twice,
    golden,
    look,
    read,
    told,
    zipped,
)

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.whatsapp.lines import chat_line, guess_order
from pdpp.sources.formats.whatsapp.source import WhatsApp
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
    assert (seen.confidence, seen.account) == (Confidence.CERTAIN, "WhatsApp (Sailing club)")
    assert seen.version == "a chat, dates written DMY"
    assert seen.notes == ()


def test_a_chat_of_android_is_recognised_and_named_by_its_file(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, ANDROID, "WhatsApp Chat with Sailing club.txt"))
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.version) == ("WhatsApp (Sailing club)", "a chat, dates written MDY")


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
    found = [chat_line(f"{date}, 10:00 - Nora: x") for date in dates]
    assert guess_order(line for line in found if line) == (order, sure)


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
    check_cuts(SOURCE, content, lambda cut: put(tmp_path, cut.decode("utf-8", "ignore")))


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
