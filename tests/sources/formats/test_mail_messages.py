"""What is read of one message: letters of every charset, people, dates, its text and its files."""

import base64
import binascii
import struct
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import findings, told
from tests.yardstick import computing_at_most

from pdpp.sources.formats.mail.encoded import decoded
from pdpp.sources.formats.mail.source import Mail
from pdpp.sources.item import Item

SOURCE = Mail()
HEAD = {
    "Message-ID": "<one@lind.example>",
    "Date": "Sat, 31 Jan 2026 10:15:00 +0100",
    "From": "Nora Lind <nora@lind.example>",
    "To": "Ana <ana@lind.example>",
    "Subject": "Tides",
}
Files = list[tuple[str, str, bytes]]


def of(folder: Path, text: bytes | str, **headers: str | bytes) -> tuple[dict[str, Any], Files]:
    """Return the record of one message and its files: names, kinds and bytes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    content = b""
    for name, value in {**HEAD, **named}.items():
        content += name.encode() + b": " + (value.encode() if isinstance(value, str) else value)
        content += b"\n"
    path = folder / "one.eml"
    path.write_bytes(content + b"\n" + (text.encode() if isinstance(text, str) else text))
    items = [item for item in findings(SOURCE, path) if isinstance(item, Item)]
    (message,) = [item for item in items if item.stream == "messages"]
    files = [
        (item.data["name"], item.data["media_type"], item.attachments[0].open().read())
        for item in items
        if item.stream == "attachments"
    ]
    return message.data, files


def parts(kind: str, *inner: str) -> str:
    """Return a text of several parts, with the header that says so before it."""
    boundary = f"edge-of-{kind}"
    lines = "".join(f"--{boundary}\n{part}\n" for part in inner)
    return f'Content-Type: multipart/{kind}; boundary="{boundary}"\n\n{lines}--{boundary}--\n'


def of_parts(folder: Path, content: str) -> tuple[dict[str, Any], Files]:
    head, _, text = content.partition("\n\n")
    return of(folder, text, Content_Type=head.partition(": ")[2])


PLAIN = "Content-Type: text/plain; charset=utf-8\n\n{}\n".format
PAGE = "Content-Type: text/html; charset=utf-8\n\n<p>{}</p>\n".format


@pytest.mark.parametrize(
    ("letters", "charset", "claimed"),
    [
        ("镕基来信", "gb18030", "gb2312"),
        ("똠방각하", "cp949", "ks_c_5601-1987"),
        ("①髙橋様", "cp932", "shift_jis"),
        ("“tide” – €5", "cp1252", "iso-8859-1"),
        ("maré à noite", "utf-8", "iso-8859-1"),
        ("maré à noite", "utf-8", "us-ascii"),
        ("שלום", "iso8859-8", "iso-8859-8-i"),
        ("น้ำขึ้น", "cp874", "windows-874"),
        ("прилив", "cp1251", "win-1251"),
        ("прилив", "koi8-r", "koi8-r"),
        ("潮の表", "iso2022_jp", "iso-2022-jp"),
        ("潮の表", "iso2022_jp", "us-ascii"),
        ("maré", "cp1252", "unknown-8bit"),
        ("mar+é", "utf-7", "unicode-1-1-utf-7"),
        ("maré", "latin-1", "unicode_escape"),
    ],
)
def test_letters_are_read_in_the_charset_they_are_in(
    tmp_path: Path, letters: str, charset: str, claimed: str
) -> None:
    raw = letters.encode(charset)
    word = f"=?{claimed}?B?{base64.b64encode(raw).decode()}?="
    data, _ = of(tmp_path, raw, Subject=word, Content_Type=f"text/plain; charset={claimed}")
    assert (data["subject"], data["body"]) == (letters, letters)


def test_letters_of_windows_in_japanese_of_seven_bits_are_read(tmp_path: Path) -> None:
    raw = b"\x1b$B-!\x1b(B \x1b$BD,\x1b(B"
    data, _ = of(tmp_path, raw, Content_Type="text/plain; charset=iso-2022-jp")
    assert data["body"] == "① 潮"


def test_one_bad_byte_does_not_spoil_the_text_around_it(tmp_path: Path) -> None:
    raw = "maré à noite, ".encode() + b"\xe3" + " à manhã".encode()
    data, _ = of(tmp_path, raw, Content_Type="text/plain; charset=utf-8")
    assert data["body"] == "maré à noite, \ufffd à manhã"


def test_raw_bytes_of_a_header_are_in_the_charset_of_the_text(tmp_path: Path) -> None:
    kind = "text/plain; charset=koi8-r"
    raw = "прилив".encode("koi8-r")
    data, _ = of(tmp_path, raw, Subject=raw, Content_Type=kind)
    assert (data["subject"], data["body"]) == ("прилив", "прилив")
    data, _ = of(tmp_path, raw, Subject="прилив".encode(), Content_Type=kind)
    assert data["subject"] == "прилив"


def test_a_page_names_its_charset_itself(tmp_path: Path) -> None:
    page = "<html><head><meta charset=gb2312></head><body>潮汐表</body></html>".encode("gb18030")
    data, _ = of(tmp_path, page, Content_Type="text/html")
    assert data["body"] == "潮汐表"


def test_a_page_that_is_no_ascii_is_in_the_charset_that_it_names_itself(tmp_path: Path) -> None:
    page = '<html><head><meta charset="shift_jis"></head><body>灯台</body></html>'.encode("cp932")
    data, _ = of(tmp_path, page, Content_Type="text/html; charset=us-ascii")
    assert data["body"] == "灯台"


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("灯塔开放时间是早上九点", "gb2312"),
        ("등대는 아침 아홉 시에 엽니다", "euc-kr"),
        ("灯台は朝九時に開きます", "cp932"),
        ("燈塔早上九點開放，請準時到達", "big5"),
        ("Café à la mer, déjà été là", "cp1252"),
    ],
)
@pytest.mark.parametrize("kind", ["text/plain", "text/plain; charset=us-ascii"])
def test_letters_of_which_nothing_is_said_are_guessed(
    text: str, charset: str, kind: str, tmp_path: Path
) -> None:
    data, _ = of(tmp_path, text.encode(charset), Content_Type=kind)
    assert data["body"] == text


def test_encoded_words_that_are_not_as_they_should_be_are_read() -> None:
    assert decoded("=?utf-8?Q?low tide_at=C3=A0?=") == "low tide atà"
    assert decoded("=?utf-8?Q?when?_now?= or =?utf-8?Q?later=?=") == "when? now or later"
    assert decoded('=?"utf-8"?Q?=C3=A0?= =?utf-8?B?w6 A=?=') == "àà"
    with computing_at_most(5):
        decoded("=?utf-8?q?x?" * 100_000)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("nora@lind.example <nora@lind.example>", ["nora@lind.example"]),
        ("[Tides] Nora <nora@lind.example>", ["[Tides] Nora <nora@lind.example>"]),
        ("Nora @ Home <nora@lind.example>", ["Nora @ Home <nora@lind.example>"]),
        ("Lind, Nora <nora@lind.example>", ["Lind, Nora <nora@lind.example>"]),
        ("=?utf-8?q?Nora_<nora@lind.example>?=", ["Nora <nora@lind.example>"]),
        ("Nora Lind", ["Nora Lind"]),
        ("Nora <nora@lind.example", ["Nora <nora@lind.example>"]),
        ("A <a@x.example> B <b@x.example>", ["A <a@x.example>", "B <b@x.example>"]),
        ("a@x.example b@x.example", ["a@x.example", "b@x.example"]),
        ("Crew: A <a@x.example>, b@x.example;", ["A <a@x.example>", "b@x.example"]),
        ("undisclosed-recipients:;", []),
        (
            '"Lind, \\"N\\"" <n@x.example>, (c) b@x.example',
            ['Lind, "N" <n@x.example>', "c <b@x.example>"],
        ),
    ],
)
def test_people_are_who_a_person_reads(tmp_path: Path, written: str, read: list[str]) -> None:
    data, _ = of(tmp_path, "x", To=written)
    assert data.get("to", []) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Sat, 31 Jan 2026 10:15:32 +01:00", "2026-01-31T10:15:32+01:00"),
        ("Sat, 31 Jan 2026 10:15:32 GMT+01:00", "2026-01-31T10:15:32+01:00"),
        ("Sat, 31 Jan 2026 10:15:32 +01", "2026-01-31T10:15:32+01:00"),
        ("Sat, 31 Jan 2026 10:15:32.25 +0530 (IST)", "2026-01-31T10:15:32+05:30"),
        ("Sat, 31 Jan 2026 10:15:32 --0700", "2026-01-31T10:15:32-07:00"),
        ("Sat, 31-Jan-26 10:15:32 +0100", "2026-01-31T10:15:32+01:00"),
        ("2026-01-31 10:15:32 +0100", "2026-01-31T10:15:32+01:00"),
        ("2026-01-31T10:15:32Z", "2026-01-31T10:15:32Z"),
        ("Sat, 31 Jan 2026 10:15:32 PM", "2026-01-31T22:15:32"),
        ("Mon, 31 Jan 100 10:15:32 +0000", "2000-01-31T10:15:32Z"),
        ("Sat, 31 Jan 2026 10:15:32 +0100 (CET)", "2026-01-31T10:15:32+01:00"),
        ("Sat, 31 Jan 2026 10:15:32 -0000", "2026-01-31T10:15:32Z"),
    ],
)
def test_dates_are_read_as_programs_write_them(tmp_path: Path, written: str, read: str) -> None:
    assert of(tmp_path, "x", Date=written)[0]["sent_at"] == read


def test_a_page_with_a_plain_footer_is_not_lost(tmp_path: Path) -> None:
    data, _ = of_parts(tmp_path, parts("mixed", PAGE("Low tide at noon."), PLAIN("-- the list")))
    assert data["body"] == "Low tide at noon.\n\n-- the list"


def test_of_forms_of_one_text_the_plain_one_is_read(tmp_path: Path) -> None:
    said = "Low tide is at noon, bring the green folder."
    data, _ = of_parts(tmp_path, parts("alternative", PLAIN(said), PAGE(f"<b>{said}</b>")))
    assert data["body"] == said
    data, _ = of_parts(tmp_path, parts("mixed", PLAIN(said), PAGE(f"<b>{said}</b>")))
    assert data["body"] == said


def test_a_plain_text_that_only_points_to_the_page_is_not_the_message(tmp_path: Path) -> None:
    said = "Low tide is at noon. " * 20
    stub = PLAIN("This mail has to be shown as HTML.")
    data, _ = of_parts(tmp_path, parts("alternative", stub, PAGE(said)))
    assert data["body"] == said.strip()


def test_files_of_every_form_are_kept(tmp_path: Path) -> None:
    chart = "Content-Type: image/png; name=chart.png\n\npicture\n"
    page = parts("related", PAGE("Low tide"), chart)
    data, files = of_parts(tmp_path, parts("alternative", PLAIN("Low tide"), page))
    assert (data["body"], [name for name, _, _ in files]) == ("Low tide", ["chart.png"])


def test_raw_bytes_in_the_name_of_a_file_are_read(tmp_path: Path) -> None:
    for raw in ("maré.pdf".encode(), "maré.pdf".encode("latin-1")):
        named = b'attachment; filename="' + raw + b'"'
        _, files = of(tmp_path, "x", Content_Type="application/pdf", Content_Disposition=named)
        assert files[0][0] == "maré.pdf"


def test_an_encoding_is_known_with_marks_around_it(tmp_path: Path) -> None:
    for encoding in ("base64 ", "BASE64;", '"base64"', "base64 (mime)"):
        data, _ = of(tmp_path, "bG93IHRpZGU=\n", Content_Transfer_Encoding=encoding)
        assert data["body"] == "low tide"


def test_the_text_of_a_message_may_have_a_name(tmp_path: Path) -> None:
    data, files = of(tmp_path, "low tide", Content_Type="text/plain; name=message.txt")
    assert (data["body"], files) == ("low tide", [])


def test_a_kind_without_the_mark_behind_it_is_known(tmp_path: Path) -> None:
    data, files = of(tmp_path, "low tide", Content_Type="text/plain charset=utf-8")
    assert (data["body"], files) == ("low tide", [])


def test_parts_without_a_mark_between_them_are_text(tmp_path: Path) -> None:
    data, files = of(tmp_path, "low tide", Content_Type="multipart/mixed")
    assert (data["body"], files) == ("low tide", [])


def test_a_forwarded_message_is_called_by_its_subject(tmp_path: Path) -> None:
    inner = "From: a@x.example\nSubject: =?utf-8?q?Mar=C3=A9?=\n\nthe tide\n"
    plain = f"Content-Type: message/rfc822\n\n{inner}"
    packed = base64.b64encode(inner.encode()).decode()
    coded = f"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{packed}\n"
    _, files = of_parts(tmp_path, parts("mixed", PLAIN("see"), plain, coded))
    assert files[0][0] == "Maré.eml"
    assert all(b"the tide" in content for _, _, content in files)


def test_a_forwarded_message_with_malformed_headers_is_kept(tmp_path: Path) -> None:
    inner = (
        "From: a@x.example\nX-Torn: y\x0cX-Inner: z\nSubject: t\xeddes\n"
        'Content-Type: multipart/mixed; boundary="c"\n\n--c\n\nthe tide\n--c--\n'
    )
    whole = parts("mixed", PLAIN("see"), f"Content-Type: message/rfc822\n\n{inner}")
    head, _, text = whole.partition("\n\n")
    kind = head.partition(": ")[2]
    data, files = of(tmp_path, text.encode("latin-1"), Content_Type=kind)
    assert data["body"] == "see"
    assert [name for name, _, _ in files] == ["tídes.eml"]
    assert b"--c\n\nthe tide\n--c--" in files[0][2]


def test_a_charset_that_is_itself_encoded_is_read(tmp_path: Path) -> None:
    data, _ = of(tmp_path, "maré", Content_Type="text/plain; charset*=us-ascii'en'utf-8")
    assert data["body"] == "maré"


def test_more_parts_than_are_read_are_told(tmp_path: Path) -> None:
    of_parts(tmp_path, parts("mixed", *[PLAIN("x")] * 1_010))
    (skipped,) = told(SOURCE, tmp_path / "one.eml")
    assert skipped.reason == "parts of a message beyond the first 1,000"


def test_lines_that_were_broken_for_the_way_are_joined(tmp_path: Path) -> None:
    said = "Low tide is \nat noon.\n> was it \n> so?\n>> yes\nNo.\n  indented\n-- \nNora\n"
    data, _ = of(tmp_path, said, Content_Type="text/plain; format=flowed")
    assert data["body"] == ("Low tide is at noon.\n> was it so?\n>> yes\nNo.\n indented\n-- \nNora")
    cut = "https://lind.example/tide \ntable\n"
    data, _ = of(tmp_path, cut, Content_Type="text/plain; Format=Flowed; DelSp=Yes")
    assert data["body"] == "https://lind.example/tidetable"
    assert of(tmp_path, cut, Content_Type="text/plain")[0]["body"] == cut.strip()


def test_files_that_are_written_into_a_text_are_taken_out(tmp_path: Path) -> None:
    content = bytes(range(100))
    lines = [binascii.b2a_uu(content[at : at + 45]).decode() for at in range(0, 100, 45)]
    inside = "begin 644 tide table.bin\n" + "".join(lines) + "`\nend\n"
    data, files = of(tmp_path, f"See below.\n\n{inside}\nNora\n")
    assert data["body"] == "See below.\n\n\nNora"
    assert files == [("tide table.bin", "application/octet-stream", content)]
    torn = "begin 644 x.bin\nMnot of a file ~ at all\nend\n"
    assert of(tmp_path, torn) == (of(tmp_path, torn)[0], [])
    assert "begin 644 x.bin" in of(tmp_path, torn)[0]["body"]


def wrapping(*attributes: tuple[int, bytes]) -> bytes:
    """Return a winmail.dat as Outlook writes it."""
    head = struct.pack("<IH", 0x223E9F78, 1)
    return head + b"".join(
        struct.pack("<BII", 2, kind, len(value)) + value + b"\0\0" for kind, value in attributes
    )


def test_what_outlook_wrapped_is_found(tmp_path: Path) -> None:
    long_name = "maré alta.pdf\0".encode("utf-16-le")
    about = struct.pack("<IHHII", 1, 0x1F, 0x3707, 1, len(long_name)) + long_name
    content = wrapping(
        (0x0002800C, b"low tide\0"),
        (0x00069002, bytes(14)),
        (0x00018010, b"MARALT~1.PDF\0"),
        (0x0006800F, b"%PDF tide"),
        (0x00069005, about),
        (0x00069002, bytes(14)),
        (0x00018010, b"b.txt\0"),
        (0x0006800F, b"noon"),
    )
    for whole in (content, content[:-1]):
        data, files = of(
            tmp_path,
            base64.encodebytes(whole),
            Content_Type="application/ms-tnef; name=winmail.dat",
            Content_Transfer_Encoding="base64",
        )
        assert data["body"] == "low tide"
        assert files[0][0] == "winmail.dat"
        assert files[1:] == [
            ("maré alta.pdf", "application/pdf", b"%PDF tide"),
            ("b.txt", "text/plain", b"noon"),
        ]


def test_a_draft_with_few_headers_is_a_message(tmp_path: Path) -> None:
    (tmp_path / "draft.eml").write_text("To: ana@lind.example\nSubject: Tides\n\nlow\n")
    (tmp_path / "note.eml").write_text("Subject: Tides\n\nlow\n")
    (tmp_path / "whole.eml").write_text(
        "".join(f"{name}: {value}\n" for name, value in HEAD.items()) + "\nhigh\n"
    )
    found = [item for item in findings(SOURCE, tmp_path) if isinstance(item, Item)]
    assert sorted(item.data["body"] for item in found) == ["high", "low"]


def test_a_header_of_a_file_that_is_broken_wrongly_does_not_become_the_file(
    tmp_path: Path,
) -> None:
    file = (
        "Content-Transfer-Encoding: base64\nContent-Type: application/zip; x-unix-mode=0600;\n"
        'name="tides.zip"\nContent-Disposition: attachment; filename="tides.zip"\n\n'
        "VGlkZXMgb2YgSmFudWFyeQ==\n"
    )
    content = parts("mixed", PLAIN("See below"), file)
    for written in (content, content.replace("\n", "\r\n").replace("\r\n\r\n", "\n\n", 1)):
        message, files = of_parts(tmp_path, written)
        assert message["body"] == "See below"
        assert files == [("tides.zip", "application/zip", b"Tides of January")]


def test_words_behind_a_broken_header_stay_words(tmp_path: Path) -> None:
    words = "First line\nContent-Type: is a header\nand more\n\nLast"
    message, _ = of_parts(tmp_path, parts("mixed", f"Content-Type: text/plain\n{words}"))
    assert message["body"] == words


@pytest.mark.parametrize(
    "odd", [">From ana Mon Feb  2 08:00:00 2026", "quite Delivered-To: x@y.example"]
)
def test_a_line_among_the_headers_that_is_none_costs_no_other(tmp_path: Path, odd: str) -> None:
    head = "\n".join(f"{name}: {value}" for name, value in HEAD.items())
    path = tmp_path / "odd.eml"
    path.write_text(
        f"Received: by a.example; Mon, 2 Feb 2026 08:00:00 GMT\n{odd}\n{head}\n\nhigh at six\n"
    )
    [message] = [item for item in findings(SOURCE, path) if isinstance(item, Item)]
    assert message.data["sender"] == HEAD["From"]
    assert (message.data["subject"], message.data["body"]) == ("Tides", "high at six")


def test_a_text_without_an_empty_line_before_it_stays(tmp_path: Path) -> None:
    head = "\n".join(f"{name}: {value}" for name, value in HEAD.items())
    path = tmp_path / "odd.eml"
    path.write_text(f"{head}\nthe tide is\nFrom: high to low\n\nat six\n")
    [message] = [item for item in findings(SOURCE, path) if isinstance(item, Item)]
    assert message.data["body"] == "the tide is\nFrom: high to low\n\nat six"


@pytest.mark.parametrize(
    ("carried", "sent"),
    [
        ("by a.example; Mon, 2 Feb 2026 08:00:00 +0000", "2026-02-02T08:00:00Z"),
        ("by a.example; Mon, 30 Jun 3609 15:00:00 +0600", "3609-06-30T15:33:50+06:00"),
        ("by a.example; some day", "3609-06-30T15:33:50+06:00"),
    ],
)
def test_a_message_is_not_sent_long_after_it_arrived(
    tmp_path: Path, carried: str, sent: str
) -> None:
    message, _ = of(tmp_path, "free", Date="Mon, 30 Jun 3609 15:33:50 +0600", Received=carried)
    assert message["sent_at"] == sent


def test_a_file_without_a_name_has_that_of_its_place(tmp_path: Path) -> None:
    picture = (
        "Content-Type: image/png\nContent-Location: https://x.example/a/tide%20one.png?w=2\n\nx\n"
    )
    folder = "Content-Type: image/png\nContent-Location: https://x.example/pictures\n\ny\n"
    _, files = of_parts(tmp_path, parts("related", PAGE("high"), picture, folder))
    assert [name for name, _, _ in files] == ["tide one.png", "part 3"]


def test_a_message_without_its_end_is_kept_and_told(tmp_path: Path) -> None:
    file = "Content-Disposition: attachment; filename=t.txt\n\nTides of January"
    whole = parts("mixed", PLAIN("See below"), file)
    for cut, reasons in ((whole, []), (whole[:-40], ["the end of a message"])):
        message, files = of_parts(tmp_path, cut)
        assert message["body"] == "See below"
        assert len(files) == 1
        found = [finding.reason.partition(",")[0] for finding in told(SOURCE, tmp_path / "one.eml")]
        assert found == reasons
