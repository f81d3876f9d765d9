"""Answers to what was recognised: given twice, by two tabs, after a failure, or too early."""

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.engine import open_store
from tests.pages.house import PASSPHRASE, House, Sheet, housed
from tests.pages.test_home import fail_import
from tests.pages.test_import import Uploader, finished, vault

from pdpp.jobs.importing import import_order
from pdpp.pages.imports.upload import Upload, UploadFolder
from pdpp.store.jobs import JobLease, JobProgress, JobStatus
from pdpp.store.scope import owner_reaches

TABS = 6


@pytest.fixture
def importing(tmp_path: Path) -> Iterator[House]:
    """An empty server with a data folder."""
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    with housed(folder, store=open_store(folder)) as made:
        yield made


def planned(house: House, name: str) -> tuple[Sheet, Upload]:
    """Return the page of an upload that can be imported, and the upload."""
    plan = Uploader(house.owner()).send(name, vault(walk=f"# {name}\n"))
    (upload,) = (one for one in UploadFolder(house.folder).uploads() if one.title == name)
    return plan, upload


def buttons(page: Sheet) -> set[str]:
    """Return what the form of an upload can be answered with."""
    return {str(node.attributes.get("value")) for node in page.tree.css("main form button")}


def test_two_tabs_that_answer_at_once_begin_one_import(importing: House) -> None:
    plan, _ = planned(importing, "double.zip")
    together = threading.Barrier(TABS)

    def answer(_: int) -> str:
        together.wait(20)
        return plan.send(action="import").location

    with ThreadPoolExecutor(TABS) as pool:
        places = set(pool.map(answer, range(TABS)))
    assert len(importing.store.jobs.recent(10, "import")) == 1
    assert len(places) == 1
    page = finished(importing, importing.owner().get(places.pop()))
    assert "1 new" in page.text


def test_an_import_that_failed_is_tried_again_on_the_page_of_its_upload(importing: House) -> None:
    _, upload = planned(importing, "failing.zip")
    fail_import(importing.store, importing.folder / "failing.zip", "The disk is full.")
    (job,) = importing.store.jobs.recent(1, "import")
    UploadFolder(importing.folder).note_jobs(upload, [job.id])
    listed = importing.owner().get("/import")
    assert "failing.zip" in listed.text
    page = importing.owner().get(f"/import/uploads/{upload.id}")
    assert buttons(page) == {"import", "remove"}
    assert "An import of this upload failed" in page.text
    assert page.tree.css(f'a[href="/import/{job.id}"]')
    again = finished(importing, page.send(action="import").follow())
    assert "succeeded" in again.text


def test_an_upload_that_is_imported_is_not_removed_under_the_import(importing: House) -> None:
    plan, upload = planned(importing, "removed.zip")
    folder = UploadFolder(importing.folder)
    order = import_order(folder.export(upload))
    job = importing.store.jobs.begin(order, JobLease("test", 1 << 60))
    folder.note_jobs(upload, [job.id])
    refused = plan.send(action="remove", confirm=PASSPHRASE)
    assert refused.status == 409
    assert "being imported. Cancel the import first" in refused.text
    assert folder.complete(folder.get(upload.id))
    importing.store.jobs.finish(job.id, "test", JobStatus.FAILED, JobProgress(), None)
    assert plan.send(action="remove", confirm=PASSPHRASE).location == "/import"
    assert not list(folder.uploads())


class SlowForm:
    """A form that a browser without scripts sends, and that stops in the middle of a file."""

    def __init__(self, house: House) -> None:
        self.reader = house.owner()
        self.rest = threading.Event()
        self.token = dict(self.reader.get("/import").fields("#upload"))["token"]

    def post(self) -> httpx.Response:
        kind = {"Content-Type": "multipart/form-data; boundary=XyZ"}
        return self.reader.http.post("/import/uploads", content=self._body(), headers=kind)

    def _body(self) -> Iterator[bytes]:
        head = '--XyZ\r\nContent-Disposition: form-data; name="{}"'
        for name, value in (("token", self.token), ("confirm", PASSPHRASE)):
            yield f"{head.format(name)}\r\n\r\n{value}\r\n".encode()
        yield f'{head.format("file")}; filename="slow.csv"\r\n\r\n'.encode()
        yield b"Date,Description,Amount\n" + b"2026-03-02,Coffee,-3.00\n" * 60_000
        assert self.rest.wait(20)
        yield b"2026-03-03,Tea,-1.00\n\r\n--XyZ--\r\n"


def arriving(house: House, sent: "Future[httpx.Response]") -> Upload:
    """Return the upload of a form of which a part has arrived."""
    folder = UploadFolder(house.folder)

    def begun() -> list[Upload]:
        assert not sent.done()
        return [one for one in folder.uploads() if any(folder.root(one).iterdir())]

    house.wait_for(lambda: bool(begun()))
    return begun()[0]


def test_half_of_a_form_is_never_imported(importing: House) -> None:
    slow = SlowForm(importing)
    with ThreadPoolExecutor(1) as pool:
        sent = pool.submit(slow.post)
        try:
            upload = arriving(importing, sent)
            page = importing.owner().get(f"/import/uploads/{upload.id}")
            listed = importing.owner().get("/import")
            refused = page.send(action="import", confirm=PASSPHRASE)
        finally:
            slow.rest.set()
    assert buttons(page) == {"remove"}
    assert "still on their way, or were cut off" in page.text
    assert "nothing and -1 more" not in page.text + listed.text
    assert refused.status == 409
    plan = slow.reader.get(sent.result().headers["location"])
    assert "Bank statement" in plan.text
    assert buttons(plan) == {"import", "remove"}


def total(job: Sheet) -> str:
    """Return the line of a report that sums it up."""
    line = job.tree.css_first(".total")
    assert line is not None
    return line.text()


def test_the_same_export_sent_by_two_tabs_comes_in_once_and_leaves_no_file(
    importing: House,
) -> None:
    notes = vault(**{f"n{number}": f"# Note {number}\n" for number in range(30)})
    plans = [Uploader(importing.owner()).send(name, notes) for name in ("a.zip", "a (1).zip")]
    begun = [plan.send(action="import").follow() for plan in plans]
    told = sorted(total(finished(importing, job)) for job in begun)
    assert told == [
        "30 read: 0 new, 0 changed, 30 unchanged, 0 deleted, 0 skipped, 0 unknown",
        "30 read: 30 new, 0 changed, 0 unchanged, 0 deleted, 0 skipped, 0 unknown",
    ]
    store = importing.store
    with store.reading():
        assert sum(store.counts(owner_reaches(store.catalogue())).values()) == 30
    kept = importing.folder / "uploads"
    importing.wait_for(lambda: not list(kept.iterdir()))
