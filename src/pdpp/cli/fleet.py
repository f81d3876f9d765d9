"""``pdpp fleet``: all processes that serve a database, for whoever runs them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from pdpp.cli.help_text import examples
from pdpp.cli.options import common
from pdpp.cli.output import show, table
from pdpp.evidence.amount import size_in_words, time_in_words
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.model.errors import StoreError
from pdpp.serving.database import database_of, open_fleet
from pdpp.store.fleet import LATE_SECONDS, WorkerReport
from pdpp.watch.exposition import worker_lines

_HEADER = ("WORKER", "STATE", "SEEN", "REQUESTS", "FAILED", "NOW", "OWNERS", "MEMORY", "VERSION")
_LATE = LATE_SECONDS * instant.SECOND


@click.command("fleet", epilog=examples("pdpp fleet", "pdpp fleet --prometheus > pdpp.prom"))
@click.option(
    "--prometheus", is_flag=True, help="Print the numbers of each worker as Prometheus reads them."
)
@common
def fleet(prometheus: bool, data: Path, as_json: bool) -> None:
    """List the processes that serve the database, and how each of them is.

    Each of them tells every ten seconds. One that was silent for half a minute is shown as silent:
    it was killed, or does not reach the database. The command needs the database alone, and no
    server answers these numbers to anybody.
    """
    database = database_of(data)
    if database is None:
        raise StoreError(
            "a store in a folder has no fleet: its server answers for all workers on /metrics"
        )
    with open_fleet(database) as known:
        workers, now = known.workers(), known.now()
    if prometheus:
        for line in worker_lines(workers, now, _LATE):
            click.echo(line)
        return
    documents = [{**asdict(worker), "state": _state(worker, now)} for worker in workers]
    show({"workers": documents}, _lines(workers, now), as_json=as_json)


def _state(worker: WorkerReport, now: int) -> str:
    if now - worker.seen_at > _LATE:
        return "silent"
    return "not ready" if worker.failing else "ready"


def _lines(workers: Sequence[WorkerReport], now: int) -> Iterator[str]:
    if not workers:
        yield "No worker has told of itself in the last day."
        return
    rows = [
        (
            visible(worker.name, lines=False),
            ", ".join((_state(worker, now), *worker.failing)),
            f"{time_in_words(max(0, now - worker.seen_at) // instant.SECOND)} ago",
            f"{worker.requests:,}",
            f"{worker.failures:,}",
            str(worker.in_flight),
            str(worker.owners),
            size_in_words(worker.memory_bytes),
            worker.version,
        )
        for worker in workers
    ]
    yield from table([_HEADER, *rows])
