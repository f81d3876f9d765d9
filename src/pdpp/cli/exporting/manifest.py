"""Manifests: what an export holds, file by file with its checksum, and how far it has come."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from pdpp.model.errors import InvalidRequest
from pdpp.private import write_file

FORMAT = "pdpp-export/1"
NAME = "manifest.json"

RECORDS, BLOB, DECLARATION = "records", "blob", "declaration"
IMPORT_SECRET = "import_secret"  # noqa: S105 - the kind of a file, no secret
_FACTS: Mapping[str, Mapping[str, type]] = {
    RECORDS: {"connection_id": str, "stream": str, "records": int},
    BLOB: {"blob_id": str, "media_type": str},
    DECLARATION: {"connector_key": str},
    IMPORT_SECRET: {},
}
_ACCOUNT = {"connection_id": str, "display_name": str}
"""What every account has; another server's may come without the key of its connector."""


class ManifestEntry(NamedTuple):
    """One file that is whole; ``facts`` say what it is of."""

    path: str
    kind: str
    size: int
    sha256: str
    facts: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return the entry as the manifest has it."""
        members = {"path": self.path, "kind": self.kind, "bytes": self.size, "sha256": self.sha256}
        return members | dict(self.facts)


class UnfinishedFile(NamedTuple):
    """A file of records that is not whole yet: how much of it is good, and where to go on."""

    connection_id: str
    stream: str
    size: int
    records: int
    cursor: str


@dataclass(slots=True)
class Manifest:
    """An export as far as it has come; ``asked`` is what for, so that only the same goes on."""

    scope: str
    asked: Mapping[str, Any]
    made_at: str
    connections: Sequence[Mapping[str, str]] = ()
    files: list[ManifestEntry] = field(default_factory=list)
    missing_blobs: list[str] = field(default_factory=list)
    begun: UnfinishedFile | None = None
    replaced: list[str] = field(default_factory=list)
    complete: bool = False

    def find(self, kind: str, **facts: Any) -> ManifestEntry | None:
        """Return the file of a kind about something, where it is whole."""
        wanted = facts.items()
        return next((e for e in self.files if e.kind == kind and wanted <= e.facts.items()), None)

    def as_json(self) -> dict[str, Any]:
        """Return the manifest as it is written; what is only about work in progress goes last."""
        members: dict[str, Any] = {
            "format": FORMAT,
            "complete": self.complete,
            "scope": self.scope,
            "asked": dict(self.asked),
            "made_at": self.made_at,
            "connections": list(self.connections),
            "files": [entry.as_json() for entry in self.files],
            "missing_blobs": self.missing_blobs,
        }
        if not self.complete:
            begun = None if self.begun is None else self.begun._asdict()
            members |= {"begun": begun, "replaced": self.replaced}
        return members


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest in a file, None where there is no file: a pipe or a device has no end."""
    if not path.is_file():
        return None
    try:
        return _manifest(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        raise InvalidRequest(f"{path} is not the manifest of an export.") from None


def _manifest(document: Mapping[str, Any]) -> Manifest:
    if document["format"] != FORMAT:
        raise ValueError("another format")
    for account in document["connections"]:
        _require(account, _ACCOUNT)
    begun = document.get("begun")
    return Manifest(
        scope=document["scope"],
        asked=document["asked"],
        made_at=document["made_at"],
        connections=document["connections"],
        files=[_entry(entry) for entry in document["files"]],
        missing_blobs=document["missing_blobs"],
        begun=None if begun is None else UnfinishedFile(**begun),
        replaced=[_inside(path) for path in document.get("replaced", [])],
        complete=document["complete"] is True,
    )


def _entry(document: Mapping[str, Any]) -> ManifestEntry:
    facts = dict(document)
    path, kind = facts.pop("path"), facts.pop("kind")
    size, sha256 = facts.pop("bytes"), facts.pop("sha256")
    _require(facts, _FACTS[kind])
    return ManifestEntry(_inside(path), kind, size, sha256, facts)


def _require(facts: Mapping[str, Any], kinds: Mapping[str, type]) -> None:
    """Refuse facts of which one is missing or is of another kind."""
    if not all(isinstance(facts[name], kind) for name, kind in kinds.items()):
        raise TypeError("a fact of another kind")


def _inside(path: str) -> str:
    """Return the path of a file of the export, or refuse one that leads out of its folder."""
    place = PurePosixPath(path)
    if place.is_absolute() or ".." in place.parts or "\\" in path or ":" in place.parts[0]:
        raise ValueError("a path that leads out")
    return path


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write a manifest, whole or not at all."""
    write_file(path, json.dumps(manifest.as_json(), indent=1, ensure_ascii=False).encode())
