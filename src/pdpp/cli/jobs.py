"""Jobs: what works in the background on a data folder, and how to end it."""

import time
from collections.abc import Iterator
from pathlib import Path

import click

from pdpp.cli.command_group import CommandGroup
from pdpp.cli.help_text import examples
from pdpp.cli.options import common
from pdpp.cli.output import note, show, table
from pdpp.evidence.fence import visible
from pdpp.jobs.document import job_document
from pdpp.model import instant
from pdpp.model.errors import NotFound
from pdpp.serving.data_folder import open_store
from pdpp.store.jobs import ENDED, Job, JobStatus
from pdpp.store.port import Store

_HEADER = ("JOB", "KIND", "STATUS", "PROGRESS", "BEGUN")
_WATCH_SECONDS = 0.5
_FAILED = 1


@click.group("jobs", cls=CommandGroup)
def jobs() -> None:
    """See the work in the background, follow it, and cancel it."""


@jobs.command("list", epilog=examples("pdpp jobs list", "pdpp jobs list --kind import --json"))
@click.option("--kind", metavar="KIND", help="Only jobs of this kind, such as import.")
@click.option(
    "--limit",
    type=click.IntRange(1, 1_000),
    default=20,
    metavar="NUMBER",
    help="How many to list. Default: 20.",
)
@common
def list_jobs(kind: str | None, limit: int, data: Path, as_json: bool) -> None:
    """List the newest jobs."""
    with open_store(data) as store:
        newest = store.jobs.recent(limit, kind)
    lines = table([_HEADER, *(_row(job) for job in newest)]) if newest else ["There are no jobs."]
    show({"jobs": [job_document(job) for job in newest]}, lines, as_json=as_json)


@jobs.command("show", epilog=examples("pdpp jobs show job_0123456789abcdef"))
@click.argument("job_id")
@common
def show_job(job_id: str, data: Path, as_json: bool) -> None:
    """Show one job: its progress, its result, or why it failed."""
    with open_store(data) as store:
        job = _known(store, job_id)
    show(job_document(job), _lines(job), as_json=as_json)


@jobs.command("cancel", epilog=examples("pdpp jobs cancel job_0123456789abcdef"))
@click.argument("job_id")
@common
def cancel(job_id: str, data: Path, as_json: bool) -> None:
    """Cancel a job: one that waits ends at once, one that runs as soon as it can."""
    with open_store(data) as store:
        _known(store, job_id)
        store.jobs.request_cancel(job_id)
        job = _known(store, job_id)
    show(job_document(job), _lines(job), as_json=as_json)


@jobs.command("watch", epilog=examples("pdpp jobs watch job_0123456789abcdef"))
@click.argument("job_id")
@common
def watch(job_id: str, data: Path, as_json: bool) -> None:
    """Follow a job until it ends; the exit code is 0 only if it succeeded."""
    with open_store(data) as store:
        said = ""
        while (job := _known(store, job_id)).status not in ENDED:
            line = f"{job.kind}: {_status(job)}, {_progress(job)}"
            if line != said:
                note(visible(line, lines=False))
                said = line
            time.sleep(_WATCH_SECONDS)
    show(job_document(job), _lines(job), as_json=as_json)
    if job.status is not JobStatus.SUCCEEDED:
        click.get_current_context().exit(_FAILED)


def _known(store: Store, job_id: str) -> Job:
    job = store.jobs.get(job_id)
    if job is None:
        raise NotFound(f"there is no job {job_id!r}; see pdpp jobs list")
    return job


def _row(job: Job) -> list[str]:
    cells = (job.id, job.kind, _status(job), _progress(job), _time(job.started_at))
    return [visible(cell, lines=False) for cell in cells]


def _status(job: Job) -> str:
    words = [str(job.status)]
    if job.is_left(instant.now()):
        words = ["begun", "nobody works on it now"]
    if job.cancel_requested and job.status not in ENDED:
        words.append("to be cancelled")
    return ", ".join(words)


def _progress(job: Job) -> str:
    done, total, words = job.progress
    share = f"{100 * done // total} %" if total else f"{done:,}" if done else ""
    return ", ".join(part for part in (share, words) if part) or "-"


def _time(moment: int | None) -> str:
    return "-" if moment is None else instant.to_text(moment)


def _lines(job: Job) -> Iterator[str]:
    yield visible(f"{job.kind} {job.id}: {_status(job)}", lines=False)
    for name, value in job.parameters.items():
        if value:
            yield visible(f"  {name}: {value}", lines=False)
    yield visible(f"  progress: {_progress(job)}", lines=False)
    yield f"  begun: {_time(job.started_at)}, ended: {_time(job.finished_at)}"
    if job.is_left(instant.now()):
        yield f"  pdpp serve goes on with it, and pdpp jobs cancel {job.id} ends it"
    if job.error is not None:
        yield visible(f"  failed: {job.error.get('message')}", lines=False)
    for name, value in (job.result or {}).items():
        if isinstance(value, str | int):
            yield visible(f"  {name}: {value}", lines=False)
