"""Attachments: the files that letters carry, some of text and some binary."""

import json
from dataclasses import dataclass

from pdpp.demo import story
from pdpp.demo.image import png
from pdpp.demo.prose import Voice
from pdpp.demo.source import Blob, blob
from pdpp.demo.topics import Topic

KINDS = ("minutes", "table", "settings", "scan", "paper", "archive")


@dataclass(frozen=True, slots=True)
class File:
    """A named piece of content."""

    name: str
    content: Blob


INVOICE_FILES = (
    File("invoice-4471.csv", blob("text/csv", story.LEDGER.encode())),
    File("invoice-4471.txt", blob("text/plain", story.LETTER.encode())),
)


def files(voice: Voice, topics: tuple[Topic, ...], total: int) -> list[File]:
    """Return files of every kind about some topics, in turn."""
    kinds = (KINDS[number % len(KINDS)] for number in range(total))
    return [_file(voice, voice.pick(topics), kind, number) for number, kind in enumerate(kinds, 1)]


def _file(voice: Voice, topic: Topic, kind: str, number: int) -> File:
    name = f"{topic.name}-{kind}-{number}"
    match kind:
        case "minutes":
            return File(f"{name}.txt", blob("text/plain", _minutes(voice, topic).encode()))
        case "table":
            return File(f"{name}.csv", blob("text/csv", _table(voice, topic).encode()))
        case "settings":
            return File(f"{name}.json", blob("application/json", _settings(voice, topic).encode()))
        case "scan":
            return File(f"{name}.png", blob("image/png", png(voice)))
        case "paper":
            return File(f"{name}.pdf", blob("application/pdf", _pdf(topic.subject(voice))))
        case _:
            return File(f"{name}.bin", blob("application/octet-stream", voice.octets(640)))


def _minutes(voice: Voice, topic: Topic) -> str:
    points = (f"{number}. {topic.paragraph(voice)}" for number in range(1, voice.between(4, 40)))
    return f"Minutes: {topic.subject(voice)}\n\n" + "\n\n".join(points) + "\n"


def _table(voice: Voice, topic: Topic) -> str:
    rows = (
        f'{number},"{topic.subject(voice)}",{voice.between(1, 90)},{voice.between(10, 900)}.50'
        for number in range(1, voice.between(10, 60))
    )
    return "row,subject,quantity,price\n" + "\n".join(rows) + "\n"


def _settings(voice: Voice, topic: Topic) -> str:
    items = [
        {"title": topic.subject(voice), "note": topic.remark(voice), "weight": voice.between(1, 9)}
        for _ in range(voice.between(3, 20))
    ]
    return json.dumps({"project": topic.name, "items": items}, ensure_ascii=False, indent=2)


def _pdf(title: str) -> bytes:
    """Return a valid PDF of one page with one line."""
    drawn = f"BT /F1 14 Tf 40 140 Td ({title}) Tj ET".encode("latin-1", "replace")
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    body, offsets = b"%PDF-1.4\n", []
    for number, item in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, item)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % size
    tail = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(body))
    return body + head + table + tail
