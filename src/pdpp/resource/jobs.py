"""Jobs: what the server works on in the background, for the owner."""

from pdpp.jobs.document import JobJson, job_document
from pdpp.model.errors import NotFound
from pdpp.resource.answers import ListJson
from pdpp.resource.call import Call
from pdpp.resource.envelope import list_envelope
from pdpp.store.jobs import Job


def list_jobs(call: Call) -> ListJson[JobJson]:
    """Answer ``GET /v1/jobs``: the newest first."""
    limit = call.query.integer("limit") or 0
    jobs = call.store.jobs.recent(limit, call.query.text("kind"))
    return list_envelope(call, [job_document(job) for job in jobs])


def get_job(call: Call) -> JobJson:
    """Answer ``GET /v1/jobs/{job_id}``."""
    return job_document(_known(call.store.jobs.get(call.path["job_id"])))


def cancel_job(call: Call) -> JobJson:
    """Answer ``POST /v1/jobs/{job_id}/cancel``; a job that has ended stays as it is."""
    return job_document(_known(call.store.jobs.request_cancel(call.path["job_id"])))


def _known(job: Job | None) -> Job:
    if job is None:
        raise NotFound("There is no such job; GET /v1/jobs lists the newest.", param="job_id")
    return job
