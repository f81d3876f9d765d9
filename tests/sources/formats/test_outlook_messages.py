"""Messages that Outlook saves by themselves: what they say, as mail."""

from pathlib import Path
from typing import Any

from tests.sources.formats.outlook_files import Storage, compound_file, properties, texts
from tests.sources.kit import Home, look, read, told

from pdpp.sources.formats.mail.source import Mail
from pdpp.sources.source import Recognition

SOURCE = Mail()
TICKS = 134_117_352_000_000_000
"""10:00 of the first day of 2026, in UTC."""
NOTE = "IPM.Note"


def person(number: int, kind: int, name: str, address: str) -> dict[str, Storage]:
    told = texts(x3001=name, x39FE=address)
    listed = {"__properties_version1.0": properties(8, x0C15=(3, kind))}
    return {f"__recip_version1.0_#{number:08X}": {**listed, **told}}


def attached(number: int, name: str, content: bytes, **more: str) -> dict[str, Storage]:
    told = texts(x3707=name, x3701=content, **more)
    listed = {"__properties_version1.0": properties(8, x3705=(3, 1))}
    return {f"__attach_version1.0_#{number:08X}": {**listed, **told}}


def saved(head: int = 32, **more: Any) -> dict[str, Any]:
    listed = {"__properties_version1.0": properties(head, x0039=(0x40, TICKS))}
    named = {"x001A": NOTE, "x0037": "Tide table", "x1000": "High at noon\r\nBo"}
    named |= {"x0C1A": "Nora Lind", "x5D01": "nora@lind.example"}
    return {**listed, **texts(**{**named, **more})}


def put(folder: Path, root: Storage, name: str = "hello.msg") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(compound_file(root))
    return folder


def messages(path: Path) -> list[dict[str, Any]]:
    return [data for (stream, _), data in read(SOURCE, path).items() if stream == "messages"]


def files(path: Path) -> list[str]:
    return [
        data["name"] for (stream, _), data in read(SOURCE, path).items() if stream == "attachments"
    ]


def test_a_message_is_read_with_people_text_and_files(tmp_path: Path) -> None:
    people = person(0, 1, "Bo", "bo@example.org") | person(1, 2, "Ana", "ana@example.org")
    large = attached(1, "chart.bin", b"\x01" * 20_000)
    root = saved() | people | attached(0, "plan.txt", b"rope", x370E="text/plain") | large
    path = put(tmp_path / "e" / "Old mail", root)
    seen = look(SOURCE, tmp_path / "e")
    assert isinstance(seen, Recognition)
    assert (seen.version, seen.notes) == ("1 message", ())
    [data] = messages(path)
    assert (data["subject"], data["body"]) == ("Tide table", "High at noon\nBo")
    assert data["sent_at"] == "2026-01-01T10:00:00Z"
    shown = str(data)
    assert all(word in shown for word in ("nora@lind.example", "bo@example.org", "ana@example.org"))
    assert files(path) == ["plan.txt", "chart.bin"]
    assert told(SOURCE, path) == []


def test_headers_that_carried_a_message_name_it_as_its_eml_does(tmp_path: Path) -> None:
    headers = (
        "Microsoft Mail Internet Headers Version 2.0\r\nMessage-ID: <7@lind.example>\r\n"
        "Date: Thu, 1 Jan 2026 10:00:00 +0000\r\nFrom: Nora <nora@lind.example>\r\n"
        "Subject: Tide table\r\nContent-Type: multipart/mixed;\r\n\tboundary=x\r\n\r\n"
    )
    one = put(tmp_path / "a", saved(x007D=headers))
    two = tmp_path / "b"
    two.mkdir()
    plain = headers.split("\r\n", 1)[1].replace("multipart/mixed;\r\n\tboundary=x", "text/plain")
    (two / "hello.eml").write_bytes(plain.encode() + b"High at noon\r\nBo\r\n")
    assert set(read(SOURCE, one)) == set(read(SOURCE, two))


def test_a_draft_without_an_id_is_the_same_in_every_import(tmp_path: Path) -> None:
    path = put(tmp_path / "e", saved(x1013=b"<p>High at <b>noon</b></p>"))
    assert set(read(SOURCE, path)) == set(read(SOURCE, path))
    home = Home(tmp_path / "home")
    assert home.bring(path)["counts"]["new"] == 1
    assert home.bring(path)["counts"]["unchanged"] == 1


def test_a_message_inside_a_message_is_a_file_of_it(tmp_path: Path) -> None:
    inner = {"__substg1.0_3701000D": saved(24, x0037="Inner words")}
    outer = texts(x3001="Inner words") | inner
    path = put(tmp_path, saved() | {"__attach_version1.0_#00000000": outer})
    assert files(path) == ["Inner words.eml"]


def test_letters_of_older_versions_are_read_in_their_code_page(tmp_path: Path) -> None:
    root = saved()
    del root["__substg1.0_1000001F"]
    root["__substg1.0_1000001E"] = "Привет".encode("cp1251")
    root["__properties_version1.0"] = properties(32, x0039=(0x40, TICKS), x3FFD=(3, 1251))
    [data] = messages(put(tmp_path, root))
    assert data["body"] == "Привет"


def test_what_is_no_mail_or_has_no_text_that_can_be_read_is_told(tmp_path: Path) -> None:
    put(tmp_path, saved(x001A="IPM.Appointment"), "day.msg")
    packed = saved(x1009=b"packed")
    del packed["__substg1.0_1000001F"]
    put(tmp_path, packed, "rich.msg")
    (tmp_path / "broken.msg").write_bytes(compound_file(saved())[:700])
    assert sorted(found.reason for found in told(SOURCE, tmp_path)) == [
        "a shape that is not known",
        "a text that Outlook packed as rich text, which is not read",
        "an appointment, a contact or a task of Outlook, which is not read",
    ]


def test_no_damage_to_a_message_ends_the_reading(tmp_path: Path) -> None:
    whole = compound_file(saved() | attached(0, "plan.txt", b"rope" * 2_000))
    for at in range(8, len(whole), 487):
        (tmp_path / "a.msg").write_bytes(whole[:at] + b"\xff\x00\x01\x02" + whole[at + 4 :])
        assert read(SOURCE, tmp_path) or told(SOURCE, tmp_path)
