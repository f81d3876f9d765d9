"""What a sample is: the files of an export, and what must come of them."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.sources.kit import zipped

Files = Mapping[str, bytes]


@dataclass(frozen=True)
class FormatSample:
    """One export in one layout.

    ``units`` names for each unit that the reader counts, or several joined by ``+``, the kinds of
    the census that must add up to the same number; ``files .md`` are files by their ending.
    ``earlier`` is an earlier export of the same account. ``cut`` is the file that is cut and
    disturbed, and of whose tail at most ``torn`` records may look otherwise; ``renamed`` says what
    a person or a browser may call files instead. ``words`` find ``sentence``.
    """

    source: str
    layout: str
    files: Files
    words: str
    sentence: str
    units: Mapping[str, Sequence[str]] = field(default_factory=dict)
    earlier: Files | None = None
    cut: str = ""
    torn: int = 0
    uncut: str = ""
    """Why nothing can tell that a file of this format was cut, where that is so."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    named_by_path: bool = False
    """Whether the name of the file or folder is all that tells what the export is of."""

    @property
    def name(self) -> str:
        """Return what tells the sample from all others."""
        return f"{self.source}: {self.layout}"

    def folder(self, place: Path, files: Files | None = None) -> Path:
        """Write the files as a folder."""
        for name, content in (self.files if files is None else files).items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return place

    def zip(self, path: Path, around: str = "") -> Path:
        """Write the files as a zip, with a folder around them or not."""
        return zipped(path, {f"{around}{name}": held for name, held in self.files.items()})


def json_bytes(value: Any) -> bytes:
    """Return JSON as most services write it."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


def json_lines(values: Iterable[Any]) -> bytes:
    """Return one JSON text on each line."""
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def sqlite_bytes(script: str, rows: Mapping[str, Iterable[Sequence[Any]]]) -> bytes:
    """Return a database with tables as a script makes them and rows by the name of the table."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.db"
        connection = sqlite3.connect(path)
        connection.executescript(script)
        for table, values in rows.items():
            for row in values:
                marks = ",".join("?" * len(row))
                connection.execute(f"insert into {table} values ({marks})", row)
        connection.commit()
        connection.close()
        return path.read_bytes()
