"""What a message is known by: the same in whatever words a program writes its headers."""

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
