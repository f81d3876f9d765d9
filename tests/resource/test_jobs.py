"""The owner sees jobs over /v1 and cancels them; a grant does not."""

import pytest
from tests.serving import World

from pdpp.store.jobs import JobLease, JobOrder


def test_the_owner_sees_the_newest_jobs_and_one_of_them(shelf: World) -> None:
    first = shelf.store.jobs.add(JobOrder("import", {"path": "/exports/mail.mbox"}))
    second = shelf.store.jobs.add(JobOrder("import", {"path": "/exports/notes"}))
    listed = shelf.owner().get("/v1/jobs", params={"kind": "import", "limit": 1}).json()["data"]
    assert [job["id"] for job in listed] in ([first.id], [second.id])
    answer = shelf.owner().get(f"/v1/jobs/{first.id}")
    assert answer.status_code == 200
    job = answer.json()
    assert (job["object"], job["kind"], job["status"]) == ("job", "import", "queued")
    assert job["left"] is False
    assert job["parameters"] == {"path": "/exports/mail.mbox"}
    assert job["progress"] == {"done": 0, "total": 0, "note": ""}
    assert "state" not in job


def test_a_job_that_waits_is_cancelled_at_once_and_one_that_runs_is_asked_to_end(
    shelf: World,
) -> None:
    jobs = shelf.store.jobs
    waiting, running = jobs.add(JobOrder("one")), jobs.add(JobOrder("other"))
    assert jobs.claim({"other": 1}, JobLease("worker", 2**62)) is not None
    ended = shelf.owner().post(f"/v1/jobs/{waiting.id}/cancel").json()
    assert (ended["status"], ended["finished_at"] is None) == ("cancelled", False)
    asked = shelf.owner().post(f"/v1/jobs/{running.id}/cancel").json()
    assert (asked["status"], asked["cancel_requested"]) == ("running", True)


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/v1/jobs"), ("GET", "/v1/jobs/job_x"), ("POST", "/v1/jobs/job_x/cancel")],
)
def test_a_grant_sees_no_jobs(shelf: World, method: str, path: str) -> None:
    refused = shelf.client().request(method, path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "insufficient_scope")


def test_a_job_that_is_not_there_is_told(shelf: World) -> None:
    owner = shelf.owner()
    for answer in (owner.get("/v1/jobs/job_x"), owner.post("/v1/jobs/job_x/cancel")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
