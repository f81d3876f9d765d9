"""Zeros in place of what a disk or an unfinished download lost."""

from pathlib import Path

import pytest
from tests.sources.kit import Home
from tests.sources.samples import every_sample

from pdpp.sources.reading.holes import hole_in
from pdpp.sources.reading.tree import open_tree

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


def test_zeros_in_a_database_or_a_picture_are_no_hole(tmp_path: Path) -> None:
    for name, sample in every_sample().items():
        path = sample.folder(tmp_path / name.replace("/", " "))
        for entry in open_tree(path).entries:
            with entry.open() as stream:
                stream.read()
            assert hole_in(entry) is None, f"{name}: {entry.name}"
