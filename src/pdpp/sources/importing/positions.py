"""Positions: how far each part of an import was read, so that the next run continues there."""

import hashlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import orjson

from pdpp.encryption.files import PLAIN, DataFiles
from pdpp.model.errors import DamagedFile
from pdpp.private import make_folder, write_file
from pdpp.sources.item import NO_STATE, START, ResumePoint
from pdpp.sources.source import AnyPart

_ENDS_BYTES = 4_096
_MOST_LINES = 20_000


class PartPosition(NamedTuple):
    """How far one part was read: ``items`` of it, up to a place; ``ends`` tell it from others."""

    stamp: str
    items: int = 0
    offset: int = 0
    state: Mapping[str, Any] = NO_STATE
    ends: str = ""
    done: bool = False

    def place_in(self, part: AnyPart) -> ResumePoint | None:
        """Return where to continue in a part that grows, or None if another file replaced it."""
        if not part.grows or not self.offset:
            return None
        return ResumePoint(self.offset, self.state) if self._is_of(part) else None

    def _is_of(self, part: AnyPart) -> bool:
        """Tell whether a part begins with what was read."""
        if not _has_ends(part):
            return part.entry.stamp == self.stamp
        return part.entry.size >= self.offset and ends_of(part, self.offset) == self.ends


def position_of(part: AnyPart, items: int, place: ResumePoint, *, done: bool) -> PartPosition:
    """Return how far a part is read now."""
    ends = ends_of(part, place.offset) if place.offset and _has_ends(part) else ""
    return PartPosition(part.entry.stamp, items, place.offset, dict(place.state), ends, done)


def _has_ends(part: AnyPart) -> bool:
    """Tell whether both ends of a part are read at once: any other is gone through from its start.

    Offsets in text of UTF-16 are those of UTF-8, which may be longer than the file.
    """
    try:
        return part.entry.on_disk and not part.entry.is_wide
    except DamagedFile:
        return part.entry.on_disk


def ends_of(part: AnyPart, offset: int) -> str:
    """Return a digest of how a part begins and how it ends before an offset.

    No later growth changes it. Another log in its place may begin alike: the beginning of both can
    be one long line.
    """
    digest = hashlib.sha256()
    try:
        for start in dict.fromkeys((0, max(0, offset - _ENDS_BYTES))):
            # Not the head that is kept: the file may have been shorter when that was read.
            with part.entry.open(start) as stream:
                digest.update(stream.read(min(offset, _ENDS_BYTES)))
    except DamagedFile:
        return ""
    return digest.hexdigest()[:32]


class PositionLog:
    """A private file to which positions are added as batches are written."""

    def __init__(self, path: Path, revision: str, files: DataFiles = PLAIN) -> None:
        self._path = path
        self._files = files
        self._revision = revision
        self._file: BinaryIO | None = None
        self.positions: dict[str, PartPosition] = {}
        self.complete = True
        self._lines = 0
        self._load()

    def _load(self) -> None:
        """Read what an earlier import left; ignore it if it is torn or of another revision."""
        if not self._path.is_file():
            return
        try:
            first, *rest = _content(self._path.read_bytes(), self._files)
            if orjson.loads(first) != {"revision": self._revision}:
                return
            self.complete = False
            for line in filter(None, rest):
                self._take(orjson.loads(line))
        except (ValueError, TypeError, OSError):
            return

    def _take(self, line: Any) -> None:
        if line == "complete":
            self.complete = True
        else:
            name, position = line
            self.positions[name] = PartPosition(*position)

    @property
    def interrupted(self) -> bool:
        """Tell whether an earlier import stopped before its end."""
        return bool(self.positions) and not self.complete

    def begin(self, *, anew: bool) -> None:
        """Prepare to note positions; forget the earlier ones if the import starts anew."""
        if anew:
            self.positions.clear()
        self.complete = False
        self._rewrite()

    def note(self, positions: Mapping[str, PartPosition]) -> None:
        """Add positions after their items were written."""
        self.positions.update(positions)
        self._lines += len(positions)
        # A log that is followed for weeks gets a line for each batch; written anew it holds the
        # last position of each part alone.
        if self._lines > _MOST_LINES + len(self.positions):
            self._rewrite()
        elif self._file is not None:
            self._file.writelines(map(self._line, positions.items()))
            self._file.flush()

    def end(self, *, complete: bool) -> None:
        """Say whether the import reached its end."""
        self.complete = complete
        if complete and self._file is not None:
            self._file.write(self._line("complete"))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _rewrite(self) -> None:
        self.close()
        self._lines = 0
        first = self._line({"revision": self._revision})
        make_folder(self._path.parent)
        write_file(self._path, first + b"".join(map(self._line, self.positions.items())))
        self._file = self._path.open("ab")

    def _line(self, value: Any) -> bytes:
        return _stored(orjson.dumps(value, default=_plain), self._files)


def _stored(line: bytes, files: DataFiles) -> bytes:
    """Return a line as it lies on the disk: lines are added, so each is sealed for itself."""
    return (line if files is PLAIN else b64encode(files.seal(line))) + b"\n"


def _content(stored: bytes, files: DataFiles) -> list[bytes]:
    """Return the lines of a file, an empty one last."""
    lines = stored.split(b"\n")
    return lines if files is PLAIN else [line and files.unseal(b64decode(line)) for line in lines]


def convert_lines(stored: bytes, files: DataFiles, others: DataFiles) -> bytes:
    """Return a file of positions as another store keeps it; one that is torn is not kept."""
    try:
        lines = _content(stored, files)
    except (ValueError, OSError):
        return b""
    return b"".join(_stored(line, others) for line in lines if line)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else tuple(value)


def resume_point(position: PartPosition | None, part: AnyPart) -> tuple[ResumePoint, int]:
    """Return where reading a part begins, and how many of its items are skipped."""
    if position is None:
        return START, 0
    place = position.place_in(part)
    if place is not None:
        return place, 0
    again = position.stamp == part.entry.stamp and not part.grows
    return START, position.items if again else 0
