"""Facebook and Instagram archives: what only these have."""

from pathlib import Path
from typing import Any

from tests.sources.kit import Home, look, read, told, zipped
from tests.sources.samples.meta import (
    FACEBOOK,
    OLD,
    PHOTO,
    SAMPLES,
    TALK,
    chat,
    instagram,
    message,
)
from tests.sources.samples.sample import json_bytes

from pdpp.sources.formats.facebook.source import Facebook
from pdpp.sources.formats.instagram.source import Instagram
from pdpp.sources.formats.meta_archive import mended
from pdpp.sources.source import ExportRefusal, Recognition

INBOX = "your_facebook_activity/messages/inbox/harbour_10158"


def of(records: dict[tuple[str, str], dict[str, Any]], stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def test_texts_are_mended_and_clean_ones_stay() -> None:
    assert mended("caf\u00c3\u00a9") == "café"
    assert mended("café") == "café"
    assert mended("日本") == "日本"
    assert mended(None) == ""


def test_an_account_is_known_by_its_profile(tmp_path: Path) -> None:
    seen = look(Facebook(), SAMPLES[0].folder(tmp_path))
    assert isinstance(seen, Recognition)
    assert seen.account == "Facebook (Nora Lindström)"
    assert (seen.identity, seen.owner_known) == ("https://www.facebook.com/nora.lind", True)
    seen = look(Instagram(), SAMPLES[3].folder(tmp_path / "ig"))
    assert isinstance(seen, Recognition)
    assert (seen.account, seen.identity) == ("Instagram (nora.lind)", "nora.lind")


def test_a_chat_of_two_files_is_one_chat_with_everything_in_it(tmp_path: Path) -> None:
    records = read(Facebook(), SAMPLES[0].folder(tmp_path))
    _, harbour = of(records, "chats")
    assert (harbour["name"], harbour["message_count"]) == ("Harbour café", len(TALK) + 1)
    assert harbour["participants"] == "Inês Duarte, Nora Lind"
    texts = [data["text"] for data in of(records, "messages")]
    assert texts[1:] == [
        "[1 file]",
        "Look\nTides\nhttps://tides.example/a",
        "[unsent]",
        "The same moment again",
        "[call]",
        "Yes",
        "[sticker]",
        mended(OLD["content"]),
    ]
    assert [data.get("reactions") for data in of(records, "messages")][6] == ["👍 Inês Duarte"]
    [post] = of(records, "posts")
    assert (post["place"], post["tags"]) == ("Cais do Sodré", "Inês Duarte, Bo")


def test_files_are_found_without_their_top_folder_and_missing_ones_told(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.bring(SAMPLES[0].folder(tmp_path / "e"))
    media = of(home.records(), "media")
    assert sorted((data["name"], data["file"]["size_bytes"]) for data in media) == [
        ("boat.jpg", len(PHOTO)),
        ("gull.jpg", len(PHOTO) + 1),
    ]
    assert [skip.reason for skip in told(Facebook(), tmp_path / "e")] == [
        "a file that is not in the export"
    ]


def test_web_pages_are_refused_with_what_to_choose(tmp_path: Path) -> None:
    page = tmp_path / "messages" / "inbox" / "x_1234" / "message_1.html"
    page.parent.mkdir(parents=True)
    page.write_text("<html>Messages</html>")
    seen = look(Facebook(), tmp_path)
    assert isinstance(seen, ExportRefusal)
    assert "JSON" in seen.message


def test_a_chat_that_moves_to_the_archive_keeps_its_records(tmp_path: Path) -> None:
    before = read(Facebook(), SAMPLES[0].folder(tmp_path / "a"))
    files = {name.replace("/inbox/", "/archived_threads/"): held for name, held in FACEBOOK.items()}
    after = read(Facebook(), SAMPLES[0].folder(tmp_path / "b", files))
    assert set(before) == set(after)


def test_both_services_in_one_folder_are_two_accounts(tmp_path: Path) -> None:
    SAMPLES[0].folder(tmp_path / "down" / "facebook-nora")
    zipped(tmp_path / "down" / "instagram-nora.zip", instagram(today=True))
    ended = Home(tmp_path / "home").run(tmp_path / "down", "--yes")
    assert ended.code == 0, ended
    assert "Facebook (Nora Lindström)" in ended.out
    assert "Instagram (nora.lind)" in ended.out


def test_a_damaged_file_of_a_chat_costs_none_of_the_others(tmp_path: Path) -> None:
    files = {**FACEBOOK, f"{INBOX}/message_1.json": json_bytes(chat(*TALK))[:900]}
    path = SAMPLES[0].folder(tmp_path, files)
    texts = [data["text"] for data in of(read(Facebook(), path), "messages")]
    assert mended(OLD["content"]) in texts
    assert any(
        skip.reason == "the rest of a file that is damaged" for skip in told(Facebook(), path)
    )


def test_a_message_without_a_time_is_told(tmp_path: Path) -> None:
    odd = {**message(1, "Bo", "x"), "timestamp_ms": "soon"}
    files = {**FACEBOOK, f"{INBOX}/message_1.json": json_bytes(chat(*TALK, odd, 5))}  # type: ignore[arg-type]
    reasons = [skip.reason for skip in told(Facebook(), SAMPLES[0].folder(tmp_path, files))]
    assert "a message without a time" in reasons
    assert "a shape that is not known" in reasons


def test_the_archives_of_one_account_are_read_together(tmp_path: Path) -> None:
    names = sorted(FACEBOOK)
    for part, some in enumerate((names[::2], names[1::2])):
        name = f"facebook-nora-2026-01-02-Ab{part}.zip"
        zipped(tmp_path / "down" / name, {each: FACEBOOK[each] for each in some})
    home = Home(tmp_path / "home")
    report = home.bring(tmp_path / "down")
    assert report["connection"]["display_name"] == "Facebook (Nora Lindström)"
    assert len(of(home.records(), "messages")) == len(TALK) + 2
