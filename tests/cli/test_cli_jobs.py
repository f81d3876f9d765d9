from pathlib import Path

from tests.cli.shell import pdpp_here
from tests.engine import open_store

from pdpp.store.jobs import JobLease, JobOrder, JobProgress, JobStatus

PATH = "/exports/notes"


def test_a_data_folder_without_jobs_says_so(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    assert pdpp_here("jobs", "list", data=tmp_path).out == "There are no jobs.\n"


def test_jobs_are_listed_shown_and_cancelled(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    job = store.jobs.add(JobOrder("import", {"path": PATH}))
    listed = pdpp_here("jobs", "list", "--json", data=tmp_path).document["jobs"]
    assert [held["id"] for held in listed] == [job.id]
    assert pdpp_here("jobs", "list", "--kind", "other", data=tmp_path).out == "There are no jobs.\n"
    shown = pdpp_here("jobs", "show", job.id, data=tmp_path).out
    assert f"import {job.id}: queued" in shown
    assert f"path: {PATH}" in shown
    cancelled = pdpp_here("jobs", "cancel", job.id, "--json", data=tmp_path).document
    assert cancelled["status"] == "cancelled"
    store.close()


def test_watching_a_job_ends_with_it_and_the_exit_code_says_how(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for status, code in ((JobStatus.SUCCEEDED, 0), (JobStatus.FAILED, 1)):
        job = store.jobs.add(JobOrder("import", {"path": PATH}))
        store.jobs.claim({"import": 1}, JobLease("worker", 2**62))
        outcome = {"code": "import_refused", "message": "nobody knows this export"}
        store.jobs.finish(job.id, "worker", status, JobProgress(5, 10, "5 records"), outcome)
        watched = pdpp_here("jobs", "watch", job.id, data=tmp_path)
        assert watched.code == code
        assert "50 %, 5 records" in watched.out
        assert ("failed: nobody knows this export" in watched.out) is (code == 1)
    store.close()


def test_a_job_whose_worker_was_killed_is_not_called_running(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    left = store.jobs.begin(JobOrder("import", {"path": PATH}), JobLease("killed", 1))
    kept = store.jobs.begin(JobOrder("merge"), JobLease("at work", 2**62))
    lines = pdpp_here("jobs", "list", data=tmp_path).out.splitlines()
    [of_left] = [line for line in lines if left.id in line]
    [of_kept] = [line for line in lines if kept.id in line]
    assert "begun, nobody works on it now" in of_left
    assert "running" in of_kept
    documents = pdpp_here("jobs", "list", "--json", data=tmp_path).document["jobs"]
    assert {job["id"]: job["left"] for job in documents} == {left.id: True, kept.id: False}
    shown = pdpp_here("jobs", "show", left.id, data=tmp_path).out
    assert f"pdpp serve goes on with it, and pdpp jobs cancel {left.id} ends it" in shown
    assert "nobody" not in pdpp_here("jobs", "show", kept.id, data=tmp_path).out
    pdpp_here("jobs", "cancel", left.id, data=tmp_path)
    assert "nobody" not in pdpp_here("jobs", "show", left.id, data=tmp_path).out
    store.close()


def test_a_job_that_is_not_there_is_told(tmp_path: Path) -> None:
    open_store(tmp_path).close()
    for command in ("show", "cancel", "watch"):
        told = pdpp_here("jobs", command, "job_x", data=tmp_path).failed()
        assert told == "there is no job 'job_x'; see pdpp jobs list"
