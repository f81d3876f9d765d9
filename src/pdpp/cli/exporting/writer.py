"""The export writer: each file grows under a temporary name until it is complete."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pdpp.cli.exporting.manifest import NAME, Manifest, read_manifest, write_manifest
from pdpp.client.blob import part_of
from pdpp.evidence.handle import path_part
from pdpp.model.errors import Conflict

_LONGEST = 100
_CHUNK = 1 << 20


class ExportWriter:
    """Writes an export into a folder or one file, with a manifest of what is complete."""

    def __init__(self, root: Path, *, single: bool) -> None:
        self._root = root
        self.single = single
        name = f"{root.name}.{NAME}"
        self.manifest_path = root.with_name(name) if single else root / NAME
        self._taken: set[str] = set()

    def begin(self, fresh: Manifest) -> Manifest:
        """Return the manifest to go on with: an unfinished one of the same export, or a new one."""
        earlier = read_manifest(self.manifest_path)
        if earlier is None and not self.single:
            self._make_folder()
        if earlier is not None and not earlier.complete:
            if earlier.asked != fresh.asked or earlier.scope != fresh.scope:
                raise Conflict(
                    f"{self._root} holds another export that is not finished; finish it with the "
                    "same command, or choose another place."
                )
            return earlier
        if earlier is not None:
            fresh.replaced = [entry.path for entry in earlier.files]
        return fresh

    def _make_folder(self) -> None:
        if self._root.exists() and (not self._root.is_dir() or any(self._root.iterdir())):
            raise Conflict(f"{self._root} is there and holds no export; choose a new folder.")
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)

    def save(self, manifest: Manifest) -> None:
        """Write down how far the export has come."""
        write_manifest(self.manifest_path, manifest)

    def finish(self, manifest: Manifest) -> None:
        """Write down that the export is whole, and take away what an earlier one left."""
        current = {entry.path for entry in manifest.files}
        manifest.complete, manifest.begun = True, None
        self.save(manifest)
        for path in manifest.replaced:
            if path not in current:
                self.path(path).unlink(missing_ok=True)

    def path(self, name: str) -> Path:
        """Return where a file of the export is."""
        return self._root if self.single else self._root / name

    def name(self, *parts: str, ending: str = "") -> str:
        """Return a name for a file of the export, safe in any folder and nobody else's."""
        folder = [_safe(part) for part in parts]
        name = plain = "/".join(folder) + ending
        number = 1
        while name.casefold() in self._taken:
            number += 1
            name = f"{plain.removesuffix(ending)}-{number}{ending}"
        self._taken.add(name.casefold())
        return name

    @contextmanager
    def partial_file(self, name: str, size: int) -> "Iterator[PartialFile]":
        """Open the unfinished file of a name, with so much of it as is good."""
        path = self.path(name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(part_of(path), flags, 0o600), "r+b") as target:
            yield PartialFile(target, path, size)


class PartialFile:
    """A file that grows, and its checksum with it."""

    def __init__(self, target: BinaryIO, path: Path, size: int) -> None:
        self._target = target
        self._path = path
        self._digest = hashlib.sha256()
        self.size = 0
        self._keep(size)

    def _keep(self, size: int) -> None:
        """Keep the first bytes and cut off the rest."""
        self._target.seek(0)
        while self.size < size and (chunk := self._target.read(min(_CHUNK, size - self.size))):
            self._digest.update(chunk)
            self.size += len(chunk)
        self._target.seek(self.size)
        self._target.truncate()

    def restart(self) -> None:
        """Let everything go."""
        self._digest, self.size = hashlib.sha256(), 0
        self._keep(0)

    def write(self, text: bytes) -> None:
        """Add to the file."""
        self._target.write(text)
        self._digest.update(text)
        self.size += len(text)

    def flush(self) -> None:
        """Check that an interrupted export can continue from what was written."""
        self._target.flush()

    def finish_file(self) -> str:
        """Give the file its name, and return its checksum."""
        self._target.flush()
        os.fsync(self._target.fileno())
        self._target.close()
        os.replace(part_of(self._path), self._path)
        return self._digest.hexdigest()


def _safe(text: str) -> str:
    name = path_part(text)
    if len(name) <= _LONGEST:
        return name
    return f"{name[:_LONGEST]}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def checksum(path: Path) -> tuple[int, str]:
    """Return the size of a file and its sha-256."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as source:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()
