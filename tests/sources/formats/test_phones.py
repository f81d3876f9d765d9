"""Text messages and calls of Android, and Signal's plain export: what only these have."""

from base64 import b64encode
from pathlib import Path
from typing import Any

from tests.sources.kit import Home, look, read, told
from tests.sources.samples import every_sample
from tests.sources.samples.phones import BEFORE, PICTURE, SIGNAL, TALK, signal_lines

from pdpp.sources.formats.signal.source import Signal
from pdpp.sources.formats.sms_backup.source import SmsBackup
from pdpp.sources.source import ExportRefusal, Recognition

SAMPLES = every_sample()
PHONE = SAMPLES["sms_backup: messages and calls"]
EXPORT = SAMPLES["signal: a plain export"]


def of(records: dict[tuple[str, str], dict[str, Any]], stream: str) -> list[dict[str, Any]]:
    return [data for (name, _), data in records.items() if name == stream]


def test_messages_calls_and_groups_of_android(tmp_path: Path) -> None:
    records = read(SmsBackup(), PHONE.folder(tmp_path))
    first, second, again, group = of(records, "messages")
    assert (first["text"], first["sender"]) == ("The oyster boat is late 😊 & wet", "Inês Duarte")
    assert (second["sender"], second["direction"]) == ("me", "sent")
    assert first["chat_id"] == second["chat_id"] == again["chat_id"]
    assert second["id"] != again["id"]
    assert (group["kind"], group["sender"], group["files"]) == ("MMS", "Bo", 1)
    assert [(data["direction"], data["seconds"]) for data in of(records, "calls")] == [
        ("outgoing", 61),
        ("missed", 0),
    ]
    assert [skip.reason for skip in told(SmsBackup(), tmp_path)] == [
        "an empty message",
        "a message without a time",
    ]


def test_pictures_of_both_become_blobs(tmp_path: Path) -> None:
    for number, sample in enumerate((PHONE, EXPORT)):
        home = Home(tmp_path / f"home{number}")
        home.bring(sample.folder(tmp_path / f"e{number}"))
        [picture] = of(home.records(), "attachments")
        assert (picture["name"], picture["file"]["size_bytes"]) == ("buoy.jpg", len(PICTURE))


def test_a_contact_that_was_sent_is_a_file_though_its_kind_is_text(tmp_path: Path) -> None:
    card = b64encode(b"BEGIN:VCARD").decode()
    parts = (
        f'<part seq="0" ct="text/x-vCard" cl="Bo.vcf" text="null" data="{card}" />',
        '<part seq="0" ct="image/jpeg" cl="gone.jpg" text="null" data="null" />',
        f'<part seq="0" ct="text/plain" text="Bo" data="{card}" />',
    )
    head = '<mms date="1767000095000" msg_box="2" address="1" sub="null"><parts>'
    messages = [f"{head}{part}</parts></mms>" for part in (parts[0], "".join(parts))]
    (tmp_path / "sms.xml").write_text(f"<smses>{''.join(messages)}</smses>")
    home = Home(tmp_path / "home")
    report = home.bring(tmp_path / "sms.xml")
    assert report["counts"]["new"] == 4
    assert [(skip["reason"], skip["count"]) for skip in report["skipped"]] == [
        ("a file that is not in the export", 1)
    ]
    records = home.records()
    assert {data["text"] for data in of(records, "messages")} == {"[1 file]", "Bo"}
    assert [data["name"] for data in of(records, "attachments")] == ["Bo.vcf", "Bo.vcf"]


def test_a_backup_without_pictures_holds_the_same_messages(tmp_path: Path) -> None:
    whole = PHONE.files["sms-20260101100000.xml"]
    (tmp_path / "sms-1.xml").write_bytes(whole)
    (tmp_path / "sms-2.xml").write_bytes(whole.replace(b' data="/9j/4CBhIGJ1b3k="', b""))
    home = Home(tmp_path / "data")
    home.bring(tmp_path / "sms-1.xml", "--account", "nora")
    known = home.records()
    home.bring(tmp_path / "sms-2.xml", "--account", "nora")
    assert home.records() == known
    other = Home(tmp_path / "other")
    other.seal_like(home)
    for name in ("sms-2.xml", "sms-1.xml"):
        other.bring(tmp_path / name, "--account", "nora")
    assert other.records() == known


def test_a_number_that_was_withheld_is_unknown(tmp_path: Path) -> None:
    call = (
        '<call number="-2" duration="0" date="1767000095000" type="6" contact_name="(Unknown)" />'
    )
    path = tmp_path / "calls-20260101.xml"
    path.write_text(f'<calls count="1">{call}</calls>')
    [found] = of(read(SmsBackup(), path), "calls")
    assert (found["number"], found["contact"], found["direction"]) == ("unknown",) * 2 + (
        "blocked",
    )


def test_names_and_addresses_of_mail_in_place_of_a_number_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "sms-20260101.xml"
    written = ("SHOP.EXAMPLE", "bo-larsen@mail.example", "+1 (555) 010-0", "group@rcs.example")
    lines = "".join(
        f'<sms address="{number}" date="176700009{n}000" type="1" body="Code {n}" />'
        for n, number in enumerate(written[:3])
    )
    group = (
        f'<mms date="1767000099000" msg_box="1" address="{written[3]}" contact_name="(Unknown)">'
        '<parts><part ct="text/plain" text="Noon" /></parts>'
        '<addrs><addr address="+1 555" type="137" /></addrs></mms>'
    )
    path.write_text(f'<smses count="4">{lines}{group}</smses>')
    found = of(read(SmsBackup(), path), "messages")
    assert sorted((data["number"], data["sender"]) for data in found) == [
        ("+15550100", "+15550100"),
        ("SHOP.EXAMPLE", "SHOP.EXAMPLE"),
        ("bo-larsen@mail.example", "bo-larsen@mail.example"),
        ("group@rcs.example", "+1 555"),
    ]


def test_who_wrote_to_a_group_has_a_name_and_a_lost_picture_is_told(tmp_path: Path) -> None:
    path = tmp_path / "sms-20260101.xml"
    path.write_text(
        '<smses count="1"><mms date="1767000095000" msg_box="1" address="+1 55~+2 66" '
        'contact_name="Bo, Cy"><parts><part ct="image/jpeg" cl="a.jpg" text="null" data="null" />'
        '</parts><addrs><addr address="+266" type="137" /></addrs></mms></smses>'
    )
    [message] = of(read(SmsBackup(), path), "messages")
    assert (message["sender"], message["text"]) == ("Cy", "[1 file]")
    assert [skip.reason for skip in told(SmsBackup(), path)] == ["a file that is not in the export"]


def test_a_document_with_entities_of_its_own_is_refused(tmp_path: Path) -> None:
    bomb = (
        b'<!DOCTYPE smses [<!ENTITY a "aaaa">]><smses count="1"><sms body="&a;" date="1"/></smses>'
    )
    (tmp_path / "sms-1.xml").write_bytes(bomb)
    assert look(SmsBackup(), tmp_path) is None


def test_messages_of_signal_name_people_and_answers(tmp_path: Path) -> None:
    path = EXPORT.folder(tmp_path)
    records = read(Signal(), path)
    first, answer, picture, sticker, deleted = of(records, "messages")
    assert (first["sender"], first["from_me"], first["chat"]) == ("Inês", False, "Inês")
    assert (answer["reply_to"], answer["sender"]) == (first["id"], "me")
    assert (answer["reactions"], answer["link"]) == (["🦪 Inês"], "https://oysters.example/")
    assert picture["text"] == "[2 files]"
    assert (sticker["chat"], sticker["text"]) == ("Oyster crew", "[sticker 🌊]")
    assert (deleted["text"], deleted["deleted"]) == ("[deleted]", True)
    assert [(data["name"], data["group"]) for data in of(records, "chats")] == [
        ("Inês", False),
        ("Oyster crew", True),
    ]
    reasons = {skip.reason for skip in told(Signal(), path)}
    assert reasons >= {
        "a message of a kind that is not known",
        "a note of Signal in a chat",
        "a file that is not in the export",
        "a chat without messages",
    }


def test_numbers_of_chats_may_differ_between_exports_of_signal(tmp_path: Path) -> None:
    before = read(Signal(), EXPORT.folder(tmp_path / "a"))
    text = signal_lines(*BEFORE, *TALK).decode()
    for old, new in (('"id": "2"', '"id": "99"'), ('Id": "2"', 'Id": "99"')):
        text = text.replace(old, new)
    files = {**SIGNAL, "signal-export/main.jsonl": text.encode()}
    assert set(read(Signal(), EXPORT.folder(tmp_path / "b", files))) == set(before)


def test_the_secret_of_an_export_is_kept_nowhere(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    report = home.bring(EXPORT.folder(tmp_path / "e"))
    assert "c2VjcmV0" not in str(report) + str(home.records())


def test_an_encrypted_backup_is_refused_with_what_to_choose(tmp_path: Path) -> None:
    (tmp_path / "signal-2026-01-01-10-00-00.backup").write_bytes(b"\x00" * 100)
    seen = look(Signal(), tmp_path)
    assert isinstance(seen, ExportRefusal)
    assert "Export chat history" in seen.message


def test_a_broken_line_costs_only_itself(tmp_path: Path) -> None:
    lines = signal_lines(*BEFORE, TALK[0]) + b'{"chatItem": {"oops\n' + signal_lines(TALK[1])
    (tmp_path / "main.jsonl").write_bytes(lines)
    assert isinstance(look(Signal(), tmp_path), Recognition)
    assert len(of(read(Signal(), tmp_path), "messages")) == 2
    assert "a line that is not JSON" in [skip.reason for skip in told(Signal(), tmp_path)]
