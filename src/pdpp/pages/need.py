"""Needs: what waits for the owner, each with the page that settles it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pdpp.authz.requester import agent_id, requester_of
from pdpp.authz.review import Review
from pdpp.authz.wording import asker
from pdpp.jobs.backup import copies_itself
from pdpp.jobs.backup_note import last_backup
from pdpp.model.grant import ACTIVE, status
from pdpp.model.instant import DAY
from pdpp.pages.import_job import ImportJob
from pdpp.pages.page_request import PageRequest
from pdpp.pages.site import Site

MOST_WAITING = 20
_SOON = 7 * DAY
_OLD_BACKUP = 30 * DAY
_RECENT_FAILURE = 14 * DAY


@dataclass(frozen=True, slots=True)
class Need:
    """One thing to do, and where."""

    text: str
    label: str
    address: str
    urgent: bool = False


def waiting_reviews(site: Site) -> list[Review]:
    """Return the requests of agents that wait for the owner, the newest first."""
    return site.authority.waiting(MOST_WAITING)


def needs(request: PageRequest, jobs: Sequence[ImportJob], *, filled: bool) -> list[Need]:
    """Return everything that waits for the owner, the most urgent first."""
    now = request.site.service.clock()
    return [
        *_requests(request.site),
        *_imports(jobs, now),
        *_endings(request, now),
        *_care(request, now, filled=filled),
    ]


def _requests(site: Site) -> Iterator[Need]:
    for review in waiting_reviews(site):
        requester = requester_of(review.client_id, site.authority.client(review.client_id))
        text = f"{asker(review.redirect_uri)}, which calls itself “{requester.name}”, asks to read."
        yield Need(text, "Decide", f"/consent/{review.id}", urgent=True)


def _imports(jobs: Sequence[ImportJob], now: int) -> Iterator[Need]:
    settled: set[str] = set()
    for job in jobs:
        failed = job.status == "failed" and now - job.at < _RECENT_FAILURE
        if failed and job.name not in settled:
            text = f"The import of {job.name} failed: {job.error}"
            yield Need(text, "Look", f"/import/{job.id}", urgent=True)
        elif job.is_open:
            far = "" if job.percent is None else f" {job.percent} %"
            yield Need(f"{job.name} is being imported.{far}", "Watch", f"/import/{job.id}")
        settled.add(job.name)


def _endings(request: PageRequest, now: int) -> Iterator[Need]:
    site = request.site
    seen: set[str] = set()
    for grant in site.service.store.vault.grants():
        if grant.expires_at is None or status(grant, now) != ACTIVE:
            continue
        if grant.expires_at - now > _SOON or grant.client_id in seen:
            continue
        seen.add(grant.client_id)
        name = requester_of(grant.client_id, site.authority.client(grant.client_id)).name
        text = f"“{name}” may read until {request.dates.day(grant.expires_at)}, then no more."
        yield Need(text, "Look", f"/agents/{agent_id(grant.client_id)}")


def _care(request: PageRequest, now: int, *, filled: bool) -> Iterator[Need]:
    service = request.site.service
    if service.recorder.failing:
        yield Need("The server cannot record what agents read.", "Health", "/settings", urgent=True)
    # A database that does not copy itself is backed up by whoever runs it, unseen from here.
    if not filled or not copies_itself(service.store):
        return
    backup = last_backup(service.store.vault)
    if backup is None:
        yield Need("There is no backup yet.", "Back up", "/settings#backup")
    elif now - backup.at > _OLD_BACKUP:
        days = (now - backup.at) // DAY
        yield Need(f"The last backup is {days} days old.", "Back up", "/settings#backup")
