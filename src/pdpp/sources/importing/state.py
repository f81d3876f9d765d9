"""Import state: a private folder inside the data folder with what imports must remember."""

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from pdpp.encryption.files import PLAIN, DataFiles, read_file
from pdpp.model import instant
from pdpp.private import make_folder, write_file
from pdpp.sources.importing.positions import PositionLog, convert_lines
from pdpp.sources.importing.report import BEGUN, INTERRUPTED
from pdpp.sources.reading.tree import composed

_NAME = "imports"
_KEPT = (".json", ".ndjson")


class ImportState:
    """Reports, positions, choices and table plans: small files that only the owner can read."""

    def __init__(self, data: Path, files: DataFiles = PLAIN) -> None:
        """Open the state in a data folder; ``files`` is how its store keeps files."""
        self._folder = data / _NAME
        self._files = files

    # History

    def keep_report(self, name: str, document: Mapping[str, Any]) -> None:
        """Keep a report, or a newer state of it."""
        self._write(self._folder / f"{name}.json", document)

    def new_report_name(self, now: int) -> str:
        """Return the name of a new report; names sort by time."""
        moment = instant.to_datetime(now).strftime("%Y%m%d-%H%M%S.%f")[:-3]
        return f"{moment}-{secrets.token_hex(2)}"

    def reports(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the kept reports, newest first; what is no report is passed over."""
        for path in sorted(self._folder.glob("*.json"), reverse=True):
            document = self._read(path)
            if document:
                yield path.stem, document

    def connection_of(self, connector_key: str, identity: str) -> str | None:
        """Return where the last import of an account went."""
        for _, report in self.reports():
            connection = report.get("connection", {})
            key = report.get("source", {}).get("connector_key")
            if (key, connection.get("identity")) == (connector_key, identity):
                return str(connection["connection_id"])
        return None

    def connection_at(self, connector_key: str, path: Path) -> str | None:
        """Return where the last import from a path went."""
        report = self._last_at(connector_key, path)
        return str(report["connection"]["connection_id"]) if report else None

    def connection_cut_off(self, connector_key: str, path: Path, contents: str) -> str | None:
        """Return where the last import from a path went, if the same files did not all come in."""
        report = self._last_at(connector_key, path)
        if report.get("status") not in (BEGUN, INTERRUPTED) or report.get("contents") != contents:
            return None
        return str(report["connection"]["connection_id"])

    def _last_at(self, connector_key: str, path: Path) -> Mapping[str, Any]:
        for _, report in self.reports():
            source = report.get("source", {})
            if source.get("connector_key") == connector_key and _is_at(report.get("path"), path):
                return report
        return {}

    def folders_of(self, connector_key: str) -> Iterator[tuple[str, str]]:
        """Yield the folders that came in, each with where the last import from it went."""
        for _, report in self.reports():
            if report.get("folder") and report["source"]["connector_key"] == connector_key:
                yield str(report["folder"]), str(report["connection"]["connection_id"])

    def days_of(self, connector_key: str) -> Iterator[tuple[str, str, Set[str]]]:
        """Yield the days of exports that came in, each with where it went and with what streams."""
        for _, report in self.reports():
            if report.get("made_on") and report["source"]["connector_key"] == connector_key:
                streams = frozenset(report.get("streams", ()))
                yield report["made_on"], str(report["connection"]["connection_id"]), streams

    def imported_connections(self) -> set[str]:
        """Return the connections of which a report says whose they are."""
        return {
            str(report["connection"]["connection_id"])
            for _, report in self.reports()
            if report.get("connection", {}).get("identity")
        }

    # Positions

    def journal(self, connection_id: str, path: Path, revision: str) -> PositionLog:
        """Return the journal of imports from a path into a connection."""
        name = f"{_digest(connection_id)}-{_digest(os.fspath(path))}.ndjson"
        return PositionLog(self._folder / "positions" / name, revision, self._files)

    # Choices

    def recall(self, connector_key: str, shape: str) -> Mapping[str, Any]:
        """Return what the owner decided earlier for files of a shape."""
        return self._read(self._choices(connector_key, shape))

    def remember(self, connector_key: str, shape: str, choices: Mapping[str, Any]) -> None:
        """Keep what the owner decided for files of a shape."""
        self._write(self._choices(connector_key, shape), choices)

    # Knowledge of accounts

    def recall_account(self, connection_id: str) -> Mapping[str, Any]:
        """Return what its source knows of the records of an account."""
        return self._read(self._account(connection_id))

    def remember_account(self, connection_id: str, known: Mapping[str, Any]) -> None:
        """Keep what its source is to know of the records of an account."""
        self._write(self._account(connection_id), known)

    # Plans of tables

    def keep_plan(self, connector_key: str, plan: Mapping[str, Any]) -> None:
        """Keep how the owner's own tables of one kind are read."""
        self._write(self._folder / "plans" / f"{connector_key}.json", plan)

    def plans(self) -> Iterator[Mapping[str, Any]]:
        """Yield the plans that were kept."""
        for path in sorted((self._folder / "plans").glob("*.json")):
            plan = self._read(path)
            if plan:
                yield plan

    # Care

    def forget(self, connection_id: str) -> None:
        """Delete what is remembered of a connection: it names its files, or is made of content."""
        for name, report in self.reports():
            if report.get("connection", {}).get("connection_id") == connection_id:
                (self._folder / f"{name}.json").unlink(missing_ok=True)
        for path in (self._folder / "positions").glob(f"{_digest(connection_id)}-*"):
            path.unlink(missing_ok=True)
        self._account(connection_id).unlink(missing_ok=True)

    def forget_source(self, connector_key: str) -> None:
        """Delete what is remembered for all accounts of a source: it may be made of their content.

        The owner's answers for its files are among that.
        """
        for path in (self._folder / "choices").glob(f"{_digest(connector_key)}-*"):
            path.unlink(missing_ok=True)

    def copy(self, data: Path) -> None:
        """Copy everything that is kept into another data folder; what goes meanwhile is left out.

        A position must never be ahead of the records: copy this before the store.
        """
        for path in sorted(self._folder.rglob("*")):
            if path.suffix in _KEPT:
                with suppress(FileNotFoundError):
                    _put(data / _NAME / path.relative_to(self._folder), path.read_bytes())

    def convert(self, target: "ImportState") -> None:
        """Write everything that is kept into another state, whose files are kept another way."""
        for path in sorted(self._folder.rglob("*")):
            place = target._folder / path.relative_to(self._folder)
            if path.suffix == ".json":
                _put(place, target._files.seal(read_file(self._files, path)))
            elif path.suffix == ".ndjson":
                _put(place, convert_lines(path.read_bytes(), self._files, target._files))

    def _read(self, path: Path) -> Mapping[str, Any]:
        try:
            document = orjson.loads(read_file(self._files, path))
        except (OSError, orjson.JSONDecodeError):
            return {}
        return document if isinstance(document, dict) else {}

    def _write(self, path: Path, document: Mapping[str, Any]) -> None:
        _put(path, self._files.seal(orjson.dumps(document, option=orjson.OPT_INDENT_2)))

    def _choices(self, connector_key: str, shape: str) -> Path:
        return self._folder / "choices" / f"{_digest(connector_key)}-{_digest(shape)}.json"

    def _account(self, connection_id: str) -> Path:
        return self._folder / "accounts" / f"{_digest(connection_id)}.json"


def _digest(*parts: str) -> str:
    text = "\n".join(parts).encode("utf-8", "surrogateescape")
    return hashlib.sha256(text).hexdigest()[:24]


def _put(path: Path, content: bytes) -> None:
    make_folder(path.parent)
    write_file(path, content)


def _is_at(place: object, path: Path) -> bool:
    """Tell whether a place is a path, whose accents may be written in another way by now."""
    if place == str(path):
        return True
    if not isinstance(place, str) or composed(place) != composed(str(path)):
        return False
    # Some disks hold both ways beside each other: these are two.
    return not os.path.exists(place) or not path.exists() or path.samefile(place)
