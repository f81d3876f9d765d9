"""What a message is known by: the same in whatever words a program writes its headers."""

from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import read

from pdpp.sources.formats.mail.identity import message_id, other_marks
from pdpp.sources.formats.mail.message import parse
from pdpp.sources.formats.mail.source import Mail

HEAD = {
    "Message-ID": "<one@lind.example>",
    "Date": "Sat, 31 Jan 2026 10:15:00 +0100",
    "From": '"Ben B. Lübeck" <Ben@lind.example>',
    "To": "Ana <ana@lind.example>",
    "Subject": "Marés de janeiro: the table of the tides for the whole of the month",
}


def letter(**headers: str) -> bytes:
    named = {**HEAD, **{name.replace("_", "-"): value for name, value in headers.items()}}
    lines = [f"{name}: {value}\n" for name, value in named.items() if value]
    return ("".join(lines) + "\nHigh tide at noon.\n").encode()


def key_of(folder: Path, content: bytes) -> set[str]:
    folder.mkdir(exist_ok=True)
    (folder / "one.eml").write_bytes(content)
    return {key for stream, key in read(Mail(), folder / "one.eml") if stream == "messages"}


@pytest.mark.parametrize(
    "headers",
    [
        {"From": "Ben B. Lübeck <Ben@lind.example>"},
        {"From": "=?utf-8?q?Ben_B=2E_L=C3=BCbeck?= <ben@LIND.example>"},
        {"From": "=?iso-8859-1?B?QmVuIEIuIEz8YmVjaw==?=\n\t<Ben@lind.example>"},
        {"From": "Ben@lind.example (Ben B. Lübeck)"},
        {"From": "Ben@lind.example"},
        {"Date": "Sat, 31 Jan 2026 09:15:00 +0000"},
        {"Date": "31 Jan 2026 10:15:00 +0100 (CET)"},
        {"Date": "2026-01-31T09:15:00Z"},
        {"Subject": HEAD["Subject"].replace("Marés de", "=?utf-8?q?Mar=C3=A9s_de?=\n ")},
        {"Subject": "Mare\u0301s de janeiro: the table of the tides\n  for the whole of the month"},
        {"Message_ID": "\n <one@lind.example>"},
        {"Message_ID": "one@lind.example"},
    ],
)
def test_a_message_is_the_same_in_the_words_of_another_program(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    assert key_of(tmp_path / "a", letter()) == key_of(tmp_path / "b", letter(**headers))


@pytest.mark.parametrize(
    "headers",
    [
        {"Date": "Sat, 31 Jan 2026 10:15:01 +0100"},
        {"Date": "Sat, 31 Jan 2026 10:15:00 +0200"},
        {"From": '"Ben B. Lübeck" <eva@lind.example>'},
        {"Subject": "Marés de fevereiro"},
        {"Message_ID": "<two@lind.example>"},
    ],
)
def test_messages_that_share_an_id_or_all_but_it_are_two(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    assert key_of(tmp_path / "a", letter()) != key_of(tmp_path / "b", letter(**headers))


NO_ID = letter(Message_ID="").decode().replace("noon.\n", "noon.\nFrom now on it falls.\n")


def as_quoted(content: str) -> str:
    head, _, text = content.partition("\n\n")
    coded = text.replace("noon", "no=\non").replace("From", "=46rom")
    return f"{head}\nContent-Transfer-Encoding: quoted-printable\n\n{coded}"


@pytest.mark.parametrize(
    "other",
    [
        NO_ID.replace("\n", "\r\n"),
        f"X-Gmail-Labels: Inbox\nStatus: RO\nX-UID: 7\n{NO_ID}\n\n",
        NO_ID.replace("\nFrom now", "\n>From now"),
        NO_ID.replace("To: Ana <", "To: =?utf-8?q?Ana?=\n <"),
        NO_ID.replace(" table of", "\n table of"),
        as_quoted(NO_ID),
    ],
)
def test_a_message_without_an_id_is_the_same_from_another_program(
    tmp_path: Path, other: str
) -> None:
    one, same = (
        key_of(tmp_path / name, text.encode()) for name, text in (("a", NO_ID), ("b", other))
    )
    assert one == same


def with_file(content: bytes) -> bytes:
    made = EmailMessage()
    for name, value in HEAD.items():
        if name != "Message-ID":
            made[name] = value
    made.set_content("See the scan.\n")
    made.add_attachment(content, maintype="image", subtype="png", filename="scan.png")
    made.set_boundary("wharf")
    return made.as_bytes()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (NO_ID.encode(), NO_ID.replace("noon", "ten").encode()),
        (NO_ID.encode(), NO_ID.replace("ana@lind", "eva@lind").encode()),
        (NO_ID.encode(), NO_ID.replace("Subject", "Cc: Eva <eva@lind.example>\nSubject").encode()),
        (with_file(b"one"), with_file(b"two")),
    ],
)
def test_messages_without_an_id_that_differ_in_what_they_hold_are_two(
    tmp_path: Path, one: bytes, other: bytes
) -> None:
    (tmp_path / "one.eml").write_bytes(one)
    (tmp_path / "two.eml").write_bytes(other)
    kept = [key for stream, key in read(Mail(), tmp_path) if stream == "messages"]
    assert len(kept) == 2


def test_the_boundary_between_parts_is_none_of_what_a_message_without_an_id_says(
    tmp_path: Path,
) -> None:
    content = with_file(b"one")
    assert key_of(tmp_path / "a", content) == key_of(
        tmp_path / "b", content.replace(b"wharf", b"a_mooring")
    )


def test_a_date_at_the_end_of_time_is_a_date(tmp_path: Path) -> None:
    assert key_of(tmp_path / "a", letter(Date="Fri, 31 Dec 9999 23:59:59 -1200"))


def test_senders_without_an_address_are_told_apart_by_their_names(tmp_path: Path) -> None:
    ana, eva = (key_of(tmp_path / name, letter(From=name)) for name in ("Ana", "Eva"))
    assert ana != eva
    assert ana == key_of(tmp_path / "again", letter(From='"ANA"'))


@given(st.text(max_size=80), st.text(max_size=80))
def test_whatever_headers_say_a_message_is_known_by_something(sender: str, about: str) -> None:
    content = f"Message-ID: <{about}>\nFrom: {sender}\nSubject: {about}\nDate: {sender}\n\n"
    message = parse(content.encode("utf-8", "surrogateescape"))
    assert len([message_id(message), *other_marks(message)]) == 4
