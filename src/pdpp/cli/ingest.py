"""Ingest: lines of a file become records, batch by batch, however long the file is."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import click

from pdpp.cli.help_text import examples
from pdpp.cli.options import common
from pdpp.cli.output import show
from pdpp.cli.progress import Progress
from pdpp.model import instant
from pdpp.model.errors import NotFound
from pdpp.service.settings import Settings
from pdpp.serving.data_folder import open_store
from pdpp.sources.reading.lines import lines
from pdpp.store.catalogue import Feed
from pdpp.store.intake import IngestResultJson, write_lines
from pdpp.store.port import Store

BATCH_LINES = 1_000
BATCH_BYTES = 32 << 20
MOST_TOLD = 20

_COUNTS = ("attempted", "accepted", "rejected", "new", "changed", "unchanged", "deleted")

Numbered = tuple[int, bytes]


@dataclass(slots=True)
class IngestResult:
    """What became of the lines so far."""

    counts: Counter[str] = field(default_factory=Counter)
    rejections: list[dict[str, Any]] = field(default_factory=list)

    def add(self, answer: IngestResultJson, numbers: list[int]) -> None:
        """Count one batch; its lines have these numbers in the file."""
        counts: Mapping[str, Any] = answer
        for name in _COUNTS:
            self.counts[name] += counts[f"records_{name}"]
        for rejection in answer["rejections"][: MOST_TOLD - len(self.rejections)]:
            line = numbers[rejection["input_index"]]
            self.rejections.append(
                {"line": line, "code": rejection["code"], "message": rejection["message"]}
            )

    def document(self) -> dict[str, Any]:
        """Return the result as JSON data."""
        counts = {f"records_{name}": self.counts[name] for name in _COUNTS}
        return counts | {"rejections": self.rejections}

    def lines(self) -> list[str]:
        """Return the result for a person."""
        rejections = [f"line {r['line']}: {r['code']}: {r['message']}" for r in self.rejections]
        untold = self.counts["rejected"] - len(rejections)
        if untold:
            rejections.append(f"and {untold:,} more")
        return [", ".join(f"{self.counts[name]:,} {name}" for name in _COUNTS), *rejections]


@click.command(
    epilog=examples(
        "pdpp ingest mail.ndjson --connection cin_work --stream messages",
        "zcat mail.ndjson.gz | pdpp ingest - --connection cin_work --stream messages",
        "",
        "A line:",
        '{"key": "m-1", "data": {"id": "m-1"}, "emitted_at": "2026-01-31"}',
    )
)
@click.argument("file", type=click.File("rb"))
@click.option("--connection", "connection_id", metavar="ID", required=True, help="The account.")
@click.option("--stream", metavar="NAME", required=True, help="Its stream.")
@common
def ingest(file: BinaryIO, connection_id: str, stream: str, data: Path, as_json: bool) -> None:
    """Import the records in FILE, one JSON object on each line; - reads stdin.

    A bad line is reported and does not stop the others. Importing the same file twice changes
    nothing.
    """
    result = IngestResult()
    line_bytes = Settings().line_bytes
    with open_store(data) as store, Progress("Records:") as progress:
        find(store, connection_id, stream)
        for batch in batches(read_lines(file, line_bytes)):
            feed = find(store, connection_id, stream)
            texts = [text for _, text in batch]
            answer = write_lines(store, feed, texts, now=instant.now(), line_bytes=line_bytes)
            result.add(answer, [number for number, _ in batch])
            progress.tell(result.counts["attempted"])
    show(result.document(), result.lines(), as_json=as_json)
    if result.counts["rejected"]:
        click.get_current_context().exit(1)


def find(store: Store, connection_id: str, stream: str) -> Feed:
    """Return where records go, as the catalogue has it now."""
    catalogue = store.catalogue()
    if connection_id not in catalogue.connections:
        raise NotFound(f"there is no connection {connection_id!r}; see pdpp connection list")
    feed = catalogue.feeds.get((connection_id, stream))
    if feed is None:
        offered = ", ".join(
            sorted(name for account, name in catalogue.feeds if account == connection_id)
        )
        raise NotFound(f"{connection_id} has no stream {stream!r}; it has {offered}")
    return feed


def read_lines(file: BinaryIO, longest: int) -> Iterator[Numbered]:
    """Yield the lines that hold anything, numbered from 1; of one too long, just enough to tell."""
    for line in lines(file, longest):
        if line.text.strip():
            yield line.number, line.text


def batches(numbered: Iterator[Numbered]) -> Iterator[list[Numbered]]:
    """Yield lines together, as many as fit in one transaction and in memory."""
    batch: list[Numbered] = []
    size = 0
    for line in numbered:
        batch.append(line)
        size += len(line[1])
        if len(batch) >= BATCH_LINES or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
