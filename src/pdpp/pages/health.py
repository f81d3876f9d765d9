"""Health: how the server does, as its owner would want to know."""

import shutil
from typing import NamedTuple

from pdpp.authz.requester import one_line
from pdpp.evidence.amount import counted, size_in_words
from pdpp.model.instant import DAY
from pdpp.pages.site import Site
from pdpp.store.jobs import JobStatus

_LITTLE_ROOM = 1 << 30
_RECENT = 7 * DAY
_MOST_JOBS = 100


class HealthLine(NamedTuple):
    """One thing that is well, or not."""

    label: str
    words: str
    good: bool = True


def health(site: Site) -> list[HealthLine]:
    """Return what there is to know. It looks at files, so run it in a thread."""
    service = site.service
    recording = not service.recorder.failing
    lines = [
        HealthLine(
            "Receipts",
            "every read of an agent is recorded" if recording else "cannot be written; see the log",
            recording,
        )
    ]
    sizes = ", ".join(
        f"{'files' if part == 'blobs' else part} {size_in_words(size)}"
        for part, size in service.store.occupied().items()
    )
    lines.append(HealthLine("Space on disk", sizes))
    if site.data is not None:
        free = shutil.disk_usage(site.data).free
        lines.append(HealthLine("Free", size_in_words(free), free > _LITTLE_ROOM))
    return [*lines, _jobs(site)]


def _jobs(site: Site) -> HealthLine:
    since = site.service.clock() - _RECENT
    failed = [
        job
        for job in site.service.store.jobs.recent(_MOST_JOBS)
        if job.status is JobStatus.FAILED and job.created_at > since
    ]
    if not failed:
        return HealthLine("Work in the background", "no job failed in the last 7 days")
    error = failed[0].error
    last = one_line(f"{failed[0].kind}: {'' if error is None else error['message']}", 300)
    return HealthLine(
        "Work in the background", f"{counted(len(failed), 'job')} failed; the last, {last}", False
    )
