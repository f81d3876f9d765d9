"""The journey of an export: declarations, records, blobs, and at last the manifest."""

import json
import time
from collections.abc import Callable, Iterable, Iterator

from pdpp.cli.exporting.manifest import BLOB, DECLARATION, RECORDS, Begun, Entry, Manifest
from pdpp.cli.exporting.origin import Batch, Origin, Place
from pdpp.cli.exporting.shelf import Gathering, Shelf, checksum
from pdpp.model.errors import CursorExpired, InvalidCursor

Tell = Callable[[str, int, int], None]
"""Told what kind of thing, how many are done, and of how many."""

_SECONDS_BETWEEN = 1.0
_STALE = (InvalidCursor, CursorExpired)


class Journey:
    """One export from an origin to a shelf; what was begun before is gone on with."""

    def __init__(self, origin: Origin, shelf: Shelf, manifest: Manifest) -> None:
        self._origin = origin
        self._shelf = shelf
        self.manifest = shelf.begin(manifest)
        self._saved = 0.0
        self._done = 0

    def run(self, tell: Tell) -> None:
        """Export everything that is not there yet; interrupted, it is written down how far."""
        places = self._origin.places()
        total = sum(place.records or 0 for place in places)
        self.manifest.connections = self._origin.connections()
        try:
            if not self._shelf.single:
                self._declarations()
            for place in places:
                self._records(place, lambda: tell("records", self._done, total))
            if not self._shelf.single:
                self._blobs(tell)
            self._shelf.finish(self.manifest)
        except BaseException:
            self._shelf.save(self.manifest)
            raise

    def _declarations(self) -> None:
        for key, document in self._origin.declarations():
            name = self._shelf.name("sources", key, ending=".json")
            if self.manifest.find(DECLARATION, connector_key=key) is None:
                with self._shelf.gathering(name, 0) as file:
                    file.write(document + b"\n")
                    self._add(name, DECLARATION, file, connector_key=key)

    def _records(self, place: Place, tell: Callable[[], None]) -> None:
        name = self._shelf.name("records", place.connection_id, place.stream, ending=".ndjson")
        about = {"connection_id": place.connection_id, "stream": place.stream}
        held = self.manifest.find(RECORDS, **about)
        if held is not None:
            self._done += held.facts["records"]
            return
        begun = self.manifest.begun
        if begun is None or (begun.connection_id, begun.stream) != place[:2]:
            begun = None
        before = self._done
        with self._shelf.gathering(name, 0 if begun is None else begun.size) as file:
            self._done += 0 if begun is None else begun.records
            for batch in self._batches(place, begun, file, before):
                self._take(place, file, batch, before)
                tell()
            self.manifest.begun = None
            self._add(name, RECORDS, file, **about, records=self._done - before)

    def _batches(
        self, place: Place, begun: Begun | None, file: Gathering, before: int
    ) -> Iterator[Batch]:
        """Yield what is missing of a place; where its cursor is no longer good, all of it."""
        if begun is not None and file.size == begun.size:
            try:
                yield from self._origin.batches(place, begun.cursor)
            except _STALE:
                pass
            else:
                return
        file.restart()
        self._done = before
        yield from self._origin.batches(place, None)

    def _take(self, place: Place, file: Gathering, batch: Batch, before: int) -> None:
        file.write(b"".join(line + b"\n" for line in batch.lines))
        self._done += len(batch.lines)
        if batch.cursor is None:
            return
        self.manifest.begun = Begun(
            place.connection_id, place.stream, file.size, self._done - before, batch.cursor
        )
        if time.monotonic() - self._saved > _SECONDS_BETWEEN:
            file.flush()
            self._shelf.save(self.manifest)
            self._saved = time.monotonic()

    def _add(self, name: str, kind: str, file: Gathering, **facts: object) -> None:
        size = file.size
        self.manifest.files.append(Entry(name, kind, size, file.settle(), facts))
        self._shelf.save(self.manifest)

    def _blobs(self, tell: Tell) -> None:
        known = self._origin.blobs()
        wanted = sorted(set(self._referred() if known is None else known))
        held = {entry.facts["blob_id"] for entry in self.manifest.files if entry.kind == BLOB}
        self.manifest.missing_blobs = []
        for number, blob_id in enumerate(wanted, 1):
            name = self._shelf.name("blobs", blob_id[:2], blob_id)
            if blob_id not in held:
                self._blob(name, blob_id)
            tell("files", number, len(wanted))

    def _blob(self, name: str, blob_id: str) -> None:
        path = self._shelf.path(name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        media_type = self._origin.save_blob(blob_id, path)
        if media_type is None:
            self.manifest.missing_blobs.append(blob_id)
            return
        facts = {"blob_id": blob_id, "media_type": media_type}
        self.manifest.files.append(Entry(name, BLOB, *checksum(path), facts))

    def _referred(self) -> Iterator[str]:
        """Yield the blobs that the exported records refer to."""
        for entry in self.manifest.files:
            if entry.kind == RECORDS:
                with self._shelf.path(entry.path).open("rb") as lines:
                    yield from references(lines)


def references(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the blobs that lines of records refer to."""
    for line in lines:
        if b'"blob_id"' in line:
            for value in json.loads(line)["data"].values():
                if isinstance(value, dict) and isinstance(value.get("blob_id"), str):
                    yield value["blob_id"]
