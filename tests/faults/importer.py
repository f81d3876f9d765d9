"""Imports an export in small batches and tells what each held; made to be killed."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from bench.exports import claude_code
from tests.faults.killing import Tell

from pdpp.cli.program import run
from pdpp.sources.importing import writer
from pdpp.sources.importing.write_queue import WriteQueue
from pdpp.store.sqlite import scribe

MESSAGES, LETTERS = 240, 40
BATCH = 20


def log(folder: Path) -> Path:
    """Write a log that grows, in which an import goes on in the middle."""
    return claude_code(folder, MESSAGES)


def mailbox(folder: Path) -> Path:
    """Write a mailbox whose letters carry a file each."""
    path = folder / "letters.mbox"
    with path.open("wb") as file:
        for number in range(LETTERS):
            file.write(b"From nora@mail.example Thu Jan  1 00:00:00 2026\n")
            file.write(_letter(number).as_bytes().rstrip() + b"\n\n")
    return path


EXPORTS: tuple[Callable[[Path], Path], ...] = (log, mailbox)


def _letter(number: int) -> EmailMessage:
    letter = EmailMessage()
    letter["From"], letter["To"] = "nora@mail.example", "ines@mail.example"
    letter["Date"] = "Thu, 01 Jan 2026 00:00:00 +0000"
    letter["Message-ID"] = f"<{number}@mail.example>"
    letter["Subject"] = f"Letter {number}"
    letter.set_content(f"What happened on day {number}.")
    letter.add_attachment(
        f"photo {number}".encode() * 50, maintype="image", subtype="png", filename="photo.png"
    )
    return letter


def bring(tell: Tell, path: Path, data: Path) -> None:
    """Import a path; tell the keys of each batch once it is written."""
    settled = WriteQueue.settle

    def settle(queue: WriteQueue, most: int = 0) -> None:
        before = [*queue._underway]
        settled(queue, most)
        for batch in before[: len(before) - len(queue._underway)]:
            tell([(answer.stream, key) for answer in batch.answers.result() for key in answer.keys])

    WriteQueue.settle = settle  # type: ignore[method-assign,assignment]
    writer.BATCH_ITEMS = BATCH
    with redirect_stdout(io.StringIO()):
        assert run(["import", str(path), "--yes", "--json", "--data", str(data)]) == 0


def bring_beside(tell: Tell, path: Path, data: Path) -> None:
    """The same, with a process of its own that writes every batch but the first."""
    let_scribe_write()
    bring(tell, path, data)


def let_scribe_write() -> None:
    """Have a process of its own write what is sent, however little it is."""
    scribe.can_write_beside = lambda: True
    scribe._LEAST_RECORDS = 1
    writer._MANY_ITEMS = 1
    begin = scribe.Scribe.__init__

    def begin_and_wait(self: scribe.Scribe, *place: Any) -> None:
        begin(self, *place)
        self._starter.join()

    scribe.Scribe.__init__ = begin_and_wait  # type: ignore[method-assign,assignment]
