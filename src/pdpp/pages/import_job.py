"""Import jobs, as pages show them: what is brought in, how far it is, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from pdpp.authz.requester import one_line
from pdpp.jobs.importing import IMPORT
from pdpp.model import instant
from pdpp.pages.site import Site
from pdpp.sources.importing.place import place_name

_LONGEST = 200
_OPEN = ("queued", "running")


@dataclass(frozen=True, slots=True)
class ImportJob:
    """One import that was ordered."""

    id: str
    name: str
    status: str
    at: int
    note: str
    percent: int | None
    error: str | None
    report: Mapping[str, Any] | None
    cancelling: bool

    @property
    def is_open(self) -> bool:
        """Tell whether it waits or runs."""
        return self.status in _OPEN

    @property
    def connection_id(self) -> str | None:
        """Return the account it went into, where that is known."""
        return None if self.report is None else str(self.report["connection"]["connection_id"])


async def import_jobs(site: Site, most: int = 25) -> list[ImportJob]:
    """Return the newest imports."""
    listing = await site.operate("listJobs", None, {"kind": IMPORT, "limit": most})
    return [import_job(job) for job in listing["data"]]


def import_job(job: Mapping[str, Any]) -> ImportJob:
    """Return the job document of ``/v1``, for a page."""
    progress, error, asked = job["progress"], job["error"], job["parameters"]
    total = progress["total"]
    return ImportJob(
        id=job["id"],
        name=one_line(asked.get("title") or place_name(PurePath(asked.get("path", ""))), _LONGEST),
        status=job["status"],
        at=instant.parse(job["finished_at"] or job["created_at"]) or 0,
        note=progress["note"],
        percent=min(100, 100 * progress["done"] // total) if total else None,
        error=None if error is None else one_line(str(error["message"]), 2 * _LONGEST),
        report=job["result"],
        cancelling=job["cancel_requested"],
    )
