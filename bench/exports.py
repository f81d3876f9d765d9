"""Exports: files as services hand them out, of any size, the same for the same number of things."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from bench.world import prose

_START = datetime(2024, 1, 1, 8, 0, tzinfo=UTC)
_TALK = 20
"""How many messages a conversation has."""
PEOPLE = ("Nora Winter", "Inês Duarte", "Tomás Reis", "Helga Brandt")


def text_of(number: int) -> str:
    """Return some sentences, the same for the same number."""
    return prose(Random(f"export {number}"), 60)


def moment_of(number: int) -> datetime:
    """Return when a thing of a number happened."""
    return _START + timedelta(seconds=90 * number)


def _stamp(number: int) -> str:
    return moment_of(number).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _listed(file: io.TextIOBase, objects: Iterator[Mapping[str, Any]]) -> None:
    """Write a JSON array, one object at a time."""
    for number, each in enumerate(objects):
        file.write(("[" if not number else ",\n") + json.dumps(each))
    file.write("]")


def _json(path: Path, objects: Iterator[Mapping[str, Any]]) -> Path:
    with path.open("w") as file:
        _listed(file, objects)
    return path


def _lines(path: Path, objects: Iterator[Mapping[str, Any]]) -> Path:
    with path.open("w") as file:
        for each in objects:
            file.write(json.dumps(each) + "\n")
    return path


def _texts(path: Path, before: str, pieces: Iterator[str], after: str = "") -> Path:
    with path.open("w", newline="") as file:
        file.write(before)
        file.writelines(pieces)
        file.write(after)
    return path


def chatgpt(folder: Path, count: int) -> Path:
    """Write conversations as trees of messages."""

    def node(number: int) -> dict[str, Any]:
        message = {
            "id": f"n{number}",
            "author": {"role": "user" if number % 2 else "assistant"},
            "create_time": moment_of(number).timestamp(),
            "content": {"content_type": "text", "parts": [text_of(number)]},
            "metadata": {"model_slug": "gpt-5"},
        }
        parent = f"n{number - 1}" if number % _TALK else None
        return {"id": f"n{number}", "message": message, "parent": parent, "children": []}

    def conversations() -> Iterator[dict[str, Any]]:
        for start in range(0, count, _TALK):
            nodes = [node(number) for number in range(start, min(start + _TALK, count))]
            yield {
                "id": f"c{start}",
                "conversation_id": f"c{start}",
                "title": f"Talk {start}",
                "create_time": moment_of(start).timestamp(),
                "update_time": moment_of(start + _TALK).timestamp(),
                "mapping": {each["id"]: each for each in nodes},
                "current_node": nodes[-1]["id"],
                "default_model_slug": "gpt-5",
            }

    return _json(folder / "conversations.json", conversations())


def claude_ai(folder: Path, count: int) -> Path:
    """Write conversations as lists of messages."""

    def message(number: int) -> dict[str, Any]:
        return {
            "uuid": f"m{number}",
            "text": text_of(number),
            "sender": "human" if number % 2 else "assistant",
            "created_at": _stamp(number),
            "updated_at": _stamp(number),
            "attachments": [],
            "files": [],
        }

    def conversations() -> Iterator[dict[str, Any]]:
        for start in range(0, count, _TALK):
            yield {
                "uuid": f"c{start}",
                "name": f"Talk {start}",
                "summary": "",
                "created_at": _stamp(start),
                "updated_at": _stamp(start + _TALK),
                "account": {"uuid": "a1"},
                "chat_messages": [message(n) for n in range(start, min(start + _TALK, count))],
            }

    return _json(folder / "conversations.json", conversations())


def claude_code(folder: Path, count: int) -> Path:
    """Write one long session."""

    def line(number: int) -> dict[str, Any]:
        kind = "user" if number % 2 else "assistant"
        return {
            "parentUuid": f"u{number - 1}",
            "isSidechain": False,
            "cwd": "/home/nora/tides",
            "sessionId": "s1",
            "version": "2.0.1",
            "type": kind,
            "message": {"role": kind, "content": [{"type": "text", "text": text_of(number)}]},
            "uuid": f"u{number}",
            "timestamp": _stamp(number),
        }

    return _lines(folder / "s1.jsonl", map(line, range(count)))


def codex(folder: Path, count: int) -> Path:
    """Write one long session."""

    def line(number: int) -> dict[str, Any]:
        payload: dict[str, Any] = {"id": "s1", "cwd": "/home/nora", "timestamp": _stamp(0)}
        if number:
            content = [{"type": "input_text", "text": text_of(number)}]
            payload = {"type": "message", "role": "user", "content": content}
        kind = "response_item" if number else "session_meta"
        return {"timestamp": _stamp(number), "type": kind, "payload": payload}

    return _lines(folder / "rollout-s1.jsonl", map(line, range(count + 1)))


def mail(folder: Path, count: int) -> Path:
    """Write a mailbox file of plain letters."""

    def letter(number: int) -> str:
        date = moment_of(number).strftime("%a, %d %b %Y %H:%M:%S +0000")
        return (
            f"From 177@xxx {date}\nMessage-ID: <m{number}@winter.example>\nDate: {date}\n"
            f"From: {PEOPLE[number % 4]} <p{number % 4}@winter.example>\n"
            f"To: Nora <nora@winter.example>\nSubject: Letter {number}\n"
            f"Content-Type: text/plain; charset=utf-8\n\n{text_of(number)}\n\n"
        )

    return _texts(folder / "mail.mbox", "", map(letter, range(count)))


def markdown(folder: Path, count: int) -> Path:
    """Write a folder of notes."""
    for number in range(count):
        place = folder / "vault" / f"part {number // 500}"
        place.mkdir(parents=True, exist_ok=True)
        front = f"---\ntitle: Note {number}\ndate: {moment_of(number).date()}\ntags: [a, b]\n---\n"
        (place / f"note {number}.md").write_text(f"{front}# Note {number}\n\n{text_of(number)}\n")
    return folder / "vault"


def slack(folder: Path, count: int) -> Path:
    """Write a zip with a file for each day."""

    def message(number: int) -> dict[str, Any]:
        stamp = f"{moment_of(number).timestamp():.0f}.{number % 1_000_000:06}"
        return {"type": "message", "user": "U1", "text": text_of(number), "ts": stamp}

    people = [{"id": "U1", "team_id": "T1", "name": "nora", "profile": {"real_name": "Nora"}}]
    rooms = [{"id": "C1", "name": "harbour", "created": 1_700_000_000, "members": ["U1"]}]
    path = folder / "slack.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("users.json", json.dumps(people))
        archive.writestr("channels.json", json.dumps(rooms))
        for start in range(0, count, 500):
            numbers = range(start, min(start + 500, count))
            day = (_START + timedelta(days=start // 500)).date()
            content = json.dumps([message(number) for number in numbers])
            archive.writestr(f"harbour/{day}.json", content)
    return path


def whatsapp(folder: Path, count: int) -> Path:
    """Write a chat as a telephone exports it."""

    def line(number: int) -> str:
        when = moment_of(number).strftime("%d.%m.%y, %H:%M")
        return f"{when} - {PEOPLE[number % 4]}: {text_of(number)}\n"

    return _texts(folder / "WhatsApp Chat with Nora.txt", "", map(line, range(count)))


def telegram(folder: Path, count: int) -> Path:
    """Write one chat."""

    def message(number: int) -> str:
        held = {
            "id": number,
            "type": "message",
            "date": moment_of(number).strftime("%Y-%m-%dT%H:%M:%S"),
            "date_unixtime": f"{moment_of(number).timestamp():.0f}",
            "from": PEOPLE[number % 4],
            "from_id": f"user{number % 4}",
            "text": text_of(number),
        }
        return json.dumps(held) + (",\n" if number + 1 < count else "")

    before = '{"name": "Harbour", "type": "personal_chat", "id": 9, "messages": ['
    return _texts(folder / "result.json", before, map(message, range(count)), "]}")


def calendar_ics(folder: Path, count: int) -> Path:
    """Write a calendar."""

    def event(number: int) -> str:
        at = moment_of(number).strftime("%Y%m%dT%H%M%SZ")
        lines = (f"UID:e{number}", f"DTSTAMP:{at}", f"DTSTART:{at}", f"SUMMARY:Event {number}")
        folded = text_of(number).replace(" ", "\\, ", 1)
        text = "\r\n ".join(folded[at : at + 70] for at in range(0, len(folded), 70))
        return "\r\n".join(("BEGIN:VEVENT", *lines, f"DESCRIPTION:{text}", "END:VEVENT", ""))

    before = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\nX-WR-CALNAME:Work\r\n"
    return _texts(folder / "work.ics", before, map(event, range(count)), "END:VCALENDAR\r\n")


def contacts_vcard(folder: Path, count: int) -> Path:
    """Write an address book."""

    def card(number: int) -> str:
        return (
            f"BEGIN:VCARD\r\nVERSION:3.0\r\nUID:c{number}\r\nFN:Person {number}\r\n"
            f"N:{number};Person;;;\r\nEMAIL;TYPE=HOME:p{number}@winter.example\r\n"
            f"NOTE:{text_of(number)}\r\nEND:VCARD\r\n"
        )

    return _texts(folder / "people.vcf", "", map(card, range(count)))


def bank_ofx(folder: Path, count: int) -> Path:
    """Write a statement."""

    def movement(number: int) -> str:
        return (
            f"<STMTTRN><TRNTYPE>DEBIT<DTPOSTED>{moment_of(number):%Y%m%d}<TRNAMT>-{number}.50"
            f"<FITID>f{number}<NAME>Shop {number % 99}<MEMO>{text_of(number)}</STMTTRN>\n"
        )

    before = (
        "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\nENCODING:USASCII\nCHARSET:1252\n\n<OFX>"
        "<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STMTRS><CURDEF>EUR<BANKACCTFROM><BANKID>1"
        "<ACCTID>DE1<ACCTTYPE>CHECKING</BANKACCTFROM><BANKTRANLIST>\n"
    )
    after = "</BANKTRANLIST></STMTRS></STMTTRNRS></BANKMSGSRSV1></OFX>\n"
    return _texts(folder / "giro.ofx", before, map(movement, range(count)), after)


def bank_csv(folder: Path, count: int) -> Path:
    """Write a table of bookings."""

    def row(number: int) -> str:
        day = moment_of(number).strftime("%d.%m.%Y")
        return f"{day};-{number % 900},50;Shop {number % 99};{text_of(number)}\n"

    return _texts(
        folder / "giro.csv", "Buchungstag;Betrag;Empfänger;Zweck\n", map(row, range(count))
    )


Maker = Callable[[Path, int], Path]

MAKERS: Mapping[str, Maker] = MappingProxyType(
    {
        maker.__name__: maker
        for maker in (
            chatgpt,
            claude_ai,
            claude_code,
            codex,
            mail,
            markdown,
            slack,
            whatsapp,
            telegram,
            calendar_ics,
            contacts_vcard,
            bank_ofx,
            bank_csv,
        )
    }
)
"""What writes an export with a number of things into a folder, by the key of its source."""
