"""Zeros in place of what a disk or an unfinished download lost."""

import json
from pathlib import Path

import pytest
from tests.sources.formats.test_claude_code import TALK
from tests.sources.kit import Home
from tests.sources.samples import every_sample
from tests.sources.word_lists import WordLists, Words

from pdpp.sources.importing.task import ImportCallbacks
from pdpp.sources.importing.watching import watch
from pdpp.sources.reading.holes import hole_in
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import OwnerChoices

CHAT = "".join(
    f"1/2/26, 10:{minute:02} - Ana: The tide of minute {minute} is in\n" for minute in range(60)
).encode()
BANK = b"Date,Description,Amount\n" + b"".join(
    b"2026-01-%02d,Bread and tea at the pier,-3.50\n" % day for day in range(1, 32)
)


@pytest.mark.parametrize(
    ("name", "content"), [("WhatsApp Chat with Ana.txt", CHAT), ("account.csv", BANK)]
)
@pytest.mark.parametrize("at_the_end", [True, False])
def test_a_text_with_a_hole_is_not_complete(
    name: str, content: bytes, at_the_end: bool, tmp_path: Path
) -> None:
    home, path = Home(tmp_path / "home"), tmp_path / name
    path.write_bytes(content)
    assert home.bring(path)["status"] == "complete"
    begins = content.index(b"\n", len(content) // 3) + 1
    ends = len(content) if at_the_end else begins + 600
    path.write_bytes(content[:begins] + bytes(ends - begins) + content[ends:])
    audit = home.run(path, "--audit")
    assert (audit.code, "an import is incomplete" in audit.out) == (1, True)
    report = home.bring(path)
    assert report["status"] == "incomplete"
    assert "zeros in a text, in place of what stood there" in [
        case["reason"] for case in report["skipped"]
    ]


@pytest.mark.parametrize("at_the_end", [True, False])
def test_a_log_with_a_hole_is_not_complete(at_the_end: bool, tmp_path: Path) -> None:
    home, path = Home(tmp_path / "home"), tmp_path / "5f2c-11.jsonl"
    first, *rest = (json.dumps(line).encode() + b"\n" for line in TALK)
    path.write_bytes(first + b"".join(rest))
    assert home.bring(path)["status"] == "complete"
    path.write_bytes(first + bytes(600) if at_the_end else first + bytes(600) + b"".join(rest))
    assert home.run(path, "--audit").code == 1
    assert home.bring(path)["status"] == "incomplete"


def test_a_watch_of_a_log_with_a_hole_never_becomes_complete(
    word_lists: WordLists,
) -> None:
    word_lists.source = Words(grows=True)
    log = word_lists.export / "a"
    begun = "".join(f"word{number}\n" for number in range(20)).encode()
    log.write_bytes(begun + bytes(600) + b"two\n")
    rounds = iter([False, True])

    def wait() -> bool:
        log.write_bytes(log.read_bytes() + b"three\n")
        return next(rounds)

    task = word_lists.task()
    watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), wait)
    assert [*word_lists.keys()][-2:] == ["word8", "word9"]
    assert task.report.status == "incomplete"
    assert "zeros in a text, in place of what stood there" in task.report.skipped


def test_zeros_in_a_database_or_a_picture_are_no_hole(tmp_path: Path) -> None:
    for name, sample in every_sample().items():
        path = sample.folder(tmp_path / name.replace("/", " "))
        for entry in open_tree(path).entries:
            with entry.open() as stream:
                stream.read()
            assert hole_in(entry) is None, f"{name}: {entry.name}"
