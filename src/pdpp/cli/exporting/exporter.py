"""The exporter: writes declarations, records, blobs, and last the manifest."""

import json
import time
from collections.abc import Callable, Iterable, Iterator

from pdpp.cli.exporting.manifest import (
    BLOB,
    DECLARATION,
    IMPORT_SECRET,
    RECORDS,
    Manifest,
    ManifestEntry,
    UnfinishedFile,
)
from pdpp.cli.exporting.origin import ExportBatch, ExportOrigin, ExportStream
from pdpp.cli.exporting.writer import ExportWriter, PartialFile, checksum
from pdpp.model.errors import CursorExpired, InvalidCursor

ShowProgress = Callable[[str, int, int], None]
"""Told what kind of thing, how many are done, and of how many."""

_SECONDS_BETWEEN = 1.0
_STALE = (InvalidCursor, CursorExpired)


class Exporter:
    """Copies an origin to a folder or file; an unfinished export is continued."""

    def __init__(self, origin: ExportOrigin, writer: ExportWriter, manifest: Manifest) -> None:
        self._origin = origin
        self._writer = writer
        self.manifest = writer.begin(manifest)
        self._saved = 0.0
        self._done = 0

    def run(self, progress: ShowProgress) -> None:
        """Export everything that is not there yet; interrupted, it is written down how far."""
        places = self._origin.places()
        total = sum(place.records or 0 for place in places)
        self.manifest.connections = self._origin.connections()
        try:
            if not self._writer.single:
                self._import_secret()
                self._declarations()
            for place in places:
                self._records(place, lambda: progress("records", self._done, total))
            if not self._writer.single:
                self._blobs(progress)
            self._writer.finish(self.manifest)
        except BaseException:
            self._writer.save(self.manifest)
            raise

    def _import_secret(self) -> None:
        """Write what a restored store needs to know records again that are imported again."""
        secret = self._origin.import_secret()
        if secret is None or self.manifest.find(IMPORT_SECRET) is not None:
            return
        name = self._writer.name("import-secret", ending=".txt")
        with self._writer.partial_file(name, 0) as file:
            file.write(secret.hex().encode() + b"\n")
            self._add(name, IMPORT_SECRET, file)

    def _declarations(self) -> None:
        for key, document in self._origin.declarations():
            name = self._writer.name("sources", key, ending=".json")
            if self.manifest.find(DECLARATION, connector_key=key) is None:
                with self._writer.partial_file(name, 0) as file:
                    file.write(document + b"\n")
                    self._add(name, DECLARATION, file, connector_key=key)

    def _records(self, place: ExportStream, progress: Callable[[], None]) -> None:
        name = self._writer.name("records", place.connection_id, place.stream, ending=".ndjson")
        about = {"connection_id": place.connection_id, "stream": place.stream}
        finished = self.manifest.find(RECORDS, **about)
        if finished is not None:
            self._done += finished.facts["records"]
            return
        begun = self.manifest.begun
        if begun is None or (begun.connection_id, begun.stream) != place[:2]:
            begun = None
        before = self._done
        with self._writer.partial_file(name, 0 if begun is None else begun.size) as file:
            self._done += 0 if begun is None else begun.records
            for batch in self._batches(place, begun, file, before):
                self._take(place, file, batch, before)
                progress()
            self.manifest.begun = None
            self._add(name, RECORDS, file, **about, records=self._done - before)

    def _batches(
        self, place: ExportStream, begun: UnfinishedFile | None, file: PartialFile, before: int
    ) -> Iterator[ExportBatch]:
        """Yield the missing records of a stream, or all of them if its cursor has ended."""
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

    def _take(
        self, place: ExportStream, file: PartialFile, batch: ExportBatch, before: int
    ) -> None:
        file.write(b"".join(line + b"\n" for line in batch.lines))
        self._done += len(batch.lines)
        if batch.cursor is None:
            return
        self.manifest.begun = UnfinishedFile(
            place.connection_id, place.stream, file.size, self._done - before, batch.cursor
        )
        if time.monotonic() - self._saved > _SECONDS_BETWEEN:
            file.flush()
            self._writer.save(self.manifest)
            self._saved = time.monotonic()

    def _add(self, name: str, kind: str, file: PartialFile, **facts: object) -> None:
        size = file.size
        self.manifest.files.append(ManifestEntry(name, kind, size, file.finish_file(), facts))
        self._writer.save(self.manifest)

    def _blobs(self, progress: ShowProgress) -> None:
        known = self._origin.blobs()
        blob_ids = sorted(set(self._referred() if known is None else known))
        saved = {entry.facts["blob_id"] for entry in self.manifest.files if entry.kind == BLOB}
        self.manifest.missing_blobs = []
        for number, blob_id in enumerate(blob_ids, 1):
            name = self._writer.name("blobs", blob_id[:2], blob_id)
            if blob_id not in saved:
                self._blob(name, blob_id)
            progress("files", number, len(blob_ids))

    def _blob(self, name: str, blob_id: str) -> None:
        path = self._writer.path(name)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        media_type = self._origin.save_blob(blob_id, path)
        if media_type is None:
            self.manifest.missing_blobs.append(blob_id)
            return
        facts = {"blob_id": blob_id, "media_type": media_type}
        self.manifest.files.append(ManifestEntry(name, BLOB, *checksum(path), facts))

    def _referred(self) -> Iterator[str]:
        """Yield the blobs that the exported records refer to."""
        for entry in self.manifest.files:
            if entry.kind == RECORDS:
                with self._writer.path(entry.path).open("rb") as lines:
                    yield from references(lines)


def references(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the blobs that lines of records refer to."""
    for line in lines:
        if b'"blob_id"' in line:
            for value in json.loads(line)["data"].values():
                if isinstance(value, dict) and isinstance(value.get("blob_id"), str):
                    yield value["blob_id"]
