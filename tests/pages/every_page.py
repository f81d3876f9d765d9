"""Every page that a server has for its owner, in the states a server can be in."""

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from tests.engine import open_store
from tests.pages.house import MAIL, PASSPHRASE, House, Sheet, housed
from tests.pages.test_home import fail_import
from tests.serving import approve, seeded_store

from pdpp.authz.requester import agent_id
from pdpp.model import instant
from pdpp.pages.imports.upload import UploadedFile, UploadFolder
from pdpp.store.jobs import JobStatus
from pdpp.store.port import Store
from pdpp.store.receipts import ReceiptQuery

TRAINING = {**MAIL, "purpose_code": "ai_training", "streams": [{"name": "*"}]}
_AGENT = "test-client"


@contextmanager
def lived_in(folder: Path) -> Iterator[House]:
    """The demo world after a while: an agent has read, an import succeeded and another failed."""
    with housed(folder, store=seeded_store(folder)) as house:
        use(house, folder)
        yield house


@contextmanager
def one_account(folder: Path) -> Iterator[House]:
    """A server with one imported account, which an agent may read."""
    folder.mkdir(mode=0o700)
    with housed(folder, store=open_store(folder)) as house:
        import_notes(house)
        use(house, folder)
        yield house


@contextmanager
def empty(folder: Path) -> Iterator[House]:
    """A server without records, whose last import failed."""
    folder.mkdir(mode=0o700)
    with housed(folder, store=open_store(folder)) as house:
        fail_import(house.store, folder / f"{'broken-' * 30}.zip", "It is no zip.")
        yield house


def use(house: House, folder: Path) -> None:
    """Let an agent read, and leave imports behind that failed, wait, or are half uploaded."""
    if len(house.store.catalogue().connections) > 1:
        import_notes(house)
    fail_import(house.store, folder / "broken.zip", "It is no zip.")
    uploads = UploadFolder(folder)
    uploads.begin([UploadedFile("half.zip", 9)], instant.now())
    token = approve(house.store).token
    with house.world.server.client(token) as agent:
        for path in ("/v1/search?q=green", "/v1/streams"):
            assert agent.get(path).status_code == 200
    house.wait_for(lambda: _receipt(house.store) is not None)


def import_notes(house: House) -> None:
    """Import two notes as a person does with a form."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("vault/.obsidian/app.json", "{}")
        archive.writestr("vault/tea.md", "# Tea\n\nGreen, **two** minutes.\n")
    reader = house.owner()
    token = dict(reader.get("/import").fields("#upload"))["token"]
    typed = {"token": token, "confirm": PASSPHRASE}
    files = {"file": ("vault.zip", packed.getvalue(), "application/zip")}
    sent: httpx.Response = reader.http.post("/import/uploads", data=typed, files=files)
    plan = Sheet(reader, sent).follow()
    job_id = plan.send(action="import", confirm=PASSPHRASE).location.rpartition("/")[2]
    house.wait_for(lambda: _status(house.store, job_id) is JobStatus.SUCCEEDED)


def _status(store: Store, job_id: str) -> JobStatus | None:
    job = store.jobs.get(job_id)
    return None if job is None else job.status


def _receipt(store: Store) -> int | None:
    rows = store.receipts.receipts(ReceiptQuery(client_id=_AGENT), 20)
    return next((row.number for row in rows if row.receipt.connection_id), None)


def every_page(house: House) -> dict[str, str]:
    """Return the address of each page that a server has in its state, by a name."""
    store = house.store
    pages = {
        "home": "/",
        "search": "/search",
        "found": "/search?q=green",
        "accounts": "/accounts",
        "import": "/import",
        "agents": "/agents",
        "activity": "/activity",
        "settings": "/settings",
        "device": "/device",
        "answered": "/device/approved",
        "mistyped": "/acounts",
        "apology": "/consent/gone",
        "picker": house.ask(name="Claude"),
    }
    jobs = store.jobs.recent(25, "import")
    pages |= {f"import {job.status.value}": f"/import/{job.id}" for job in jobs}
    for upload in UploadFolder(house.folder).uploads():
        if not upload.jobs:
            pages["upload"] = f"/import/uploads/{upload.id}"
    accounts = store.catalogue().connections
    for account in accounts.values():
        if not account.connector_key.startswith("demo_"):
            pages |= _pages_of_records(house, account.connection_id)
    number = _receipt(store)
    if number is not None:
        pages |= _pages_of_agent(house, number)
    if "cin_home" in accounts:
        pages["consent"] = house.ask(MAIL, name="Renovation Helper")
        pages["training"] = house.ask(TRAINING, name="Renovation Helper")
        pages["cited"] = "/r/cin_home/messages/m-invoice-4471?field=body&chars=5-113"
    return pages


def _pages_of_records(house: House, account: str) -> dict[str, str]:
    reader = house.owner()
    pages = {"account": f"/accounts/{account}", "removal": f"/accounts/{account}/remove"}
    report = reader.get(pages["account"]).tree.css_first('a[href^="/import/report/"]')
    if report is not None:
        pages["report"] = str(report.attributes["href"])
    record = reader.get("/search?q=green").tree.css_first('.results a[href^="/r/"]')
    assert record is not None
    return {**pages, "record": str(record.attributes["href"]).partition("?")[0]}


def _pages_of_agent(house: House, number: int) -> dict[str, str]:
    agent = f"/agents/{agent_id(_AGENT)}"
    page = house.owner().get(agent)
    (seen, *_) = [
        str(link.attributes["href"])
        for link in page.tree.css("main a")
        if "/see/" in str(link.attributes["href"])
    ]
    found = house.owner().get(f"{seen}?q=green").tree.css_first('.results a[href*="/r/"]')
    assert found is not None
    day = house.owner().get("/activity").tree.css_first('a[href^="/activity?day="]')
    assert day is not None
    return {
        "agent": agent,
        "question": f"/activity/{number}",
        "day": str(day.attributes["href"]),
        "seen search": seen,
        "seen record": str(found.attributes["href"]),
    }
