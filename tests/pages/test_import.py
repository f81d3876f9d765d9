"""The import pages: uploads in pieces and as a form, the plan, the job and its report."""

import io
import json
import os
import threading
import zipfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx
import pytest
from tests.pages.house import PASSPHRASE, House, Reader, Sheet
from tests.sources.samples.documents import WORD

from pdpp.jobs.importing import import_order
from pdpp.model.errors import Conflict, InvalidRequest
from pdpp.pages.imports import upload as uploads
from pdpp.pages.imports.multipart import boundary_of, form_parts
from pdpp.pages.imports.upload import safe_name
from pdpp.store.jobs import JobLease, JobProgress, JobStatus

CARD = b"BEGIN:VCARD\nVERSION:3.0\nFN:Ana\nEND:VCARD\n"
NOTE = "# Harbour walk\n\nThe ferry leaves at *seven*; bring the **green** coat.\n"


def vault(**notes: str) -> bytes:
    """Return a zip of notes."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("vault/.obsidian/app.json", "{}")
        for name, text in (notes or {"walk": NOTE, "tea": "# Tea\n\nGreen.\n"}).items():
            archive.writestr(f"vault/{name}.md", text)
    return packed.getvalue()


class Uploader:
    """Sends files as the script of the page does."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        page = reader.get("/import")
        self.token = dict(page.fields("#upload"))["token"]
        self.key = ""

    def begin(
        self,
        files: dict[str, int],
        confirm: str = PASSPHRASE,
        headers: Mapping[str, str] = MappingProxyType({}),
        modified: int = 1,
    ) -> httpx.Response:
        sent: dict[str, Any] = {"name": list(files), "size": [str(n) for n in files.values()]}
        sent["modified"] = [str(modified)] * len(files)
        sent["confirm"] = confirm
        headers = {"X-Form-Token": self.token, **headers}
        answer = self.reader.http.post("/import/uploads", data=sent, headers=headers)
        self.key = answer.json().get("key", "")
        return answer

    def put(self, upload: str, number: int, offset: int, content: bytes) -> httpx.Response:
        address = f"/import/uploads/{upload}/{number}?offset={offset}"
        headers = {"X-Form-Token": self.token, "X-Upload-Key": self.key}
        return self.reader.http.put(address, content=content, headers=headers)

    def send(self, name: str, content: bytes) -> Sheet:
        begun = self.begin({name: len(content)}).json()
        assert self.put(begun["id"], 0, 0, content).json() == {"offset": len(content)}
        return self.reader.get(begun["page"])


def finished(house: House, job: Sheet) -> Sheet:
    """Return the page of a job when it has ended."""
    path = job.answer.url.path
    house.wait_for(lambda: not house.owner().get(path).tree.css("[data-again]"))
    return house.owner().get(path)


def test_an_export_is_dropped_recognised_imported_and_found(importing: House) -> None:
    reader = importing.owner()
    plan = Uploader(reader).send("my notes.zip", vault())
    assert "Markdown notes" in plan.text
    assert "a new account" in plan.text
    assert reader.get("/search?q=ferry").tree.css(".results li") == []
    started = plan.send(action="import")
    job = finished(importing, started.follow())
    assert "succeeded" in job.text
    assert "2 new" in job.text
    assert "What was left out, and why" in job.text
    hits = reader.get("/search?q=ferry").tree.css(".results li")
    assert len(hits) == 1
    (account,) = importing.store.catalogue().connections
    history = reader.get(f"/accounts/{account}")
    report = history.tree.css_first('a[href^="/import/report/"]')
    assert report is not None
    assert "2 read" in reader.get(str(report.attributes["href"])).text


@pytest.mark.parametrize("name", ["harbour.md", "harbour/tides.md"])
def test_an_account_is_called_as_what_was_dropped(importing: House, name: str) -> None:
    plan = Uploader(importing.owner()).send(name, b"# Tides\n\nHigh water at noon.\n")
    assert "Notes (harbour)" in plan.text
    job = finished(importing, plan.send(action="import").follow())
    assert "succeeded" in job.text


def test_the_page_says_that_options_are_of_the_program(importing: House) -> None:
    table = b"Date,Description,Amount\n2026-03-02,Coffee,-3.00\n"
    plan = Uploader(importing.owner()).send("giro.csv", table)
    assert "say --set NAME=COLUMN where that is wrong" in plan.text
    assert "What begins with -- is an option of pdpp import" in plan.text
    unknown = Uploader(importing.owner()).send("odd.json", b'{"a": [1]}')
    assert "is an option of pdpp import" in unknown.text
    cards = Uploader(importing.owner()).send("people.vcf", CARD)
    assert "is an option of" not in cards.text


def test_the_folder_of_an_upload_is_named_nowhere(importing: House) -> None:
    sender = Uploader(importing.owner())
    files = {"a.md": b"# Ebb", "b.md": b"# Flow", "people.vcf": CARD, "x.exe": b"MZ", "y.pst": b"!"}
    begun = sender.begin({name: len(content) for name, content in files.items()}).json()
    for number, content in enumerate(files.values()):
        sender.put(begun["id"], number, 0, content)
    plan = sender.reader.get(begun["page"])
    assert "Markdown notes 2 files goes into “Notes” a new account" in plan.text
    assert "Contacts (vCard or CSV) people.vcf goes into" in plan.text
    assert "The upload also holds 2 files that no source reads: x.exe, y.pst" in plan.text
    job = finished(importing, plan.send(action="import").follow())
    accounts = importing.store.catalogue().connections.values()
    assert "Notes" in [account.display_name for account in accounts]
    for page in (plan, job, sender.reader.get("/import"), sender.reader.get("/accounts")):
        assert ".files" not in page.text
    assert "Contacts (vCard or CSV) from people.vcf" in job.text
    assert "Markdown notes from 2 files" in job.text


def test_a_document_alone_is_read_too(importing: House) -> None:
    plan = Uploader(importing.owner()).send("plan.docx", WORD)
    assert "Documents" in plan.text
    job = finished(importing, plan.send(action="import").follow())
    assert "succeeded" in job.text


def test_an_upload_that_was_interrupted_goes_on_where_it_was(importing: House) -> None:
    content = vault(one="# One\n" * 200, two="# Two\n")
    first = Uploader(importing.owner())
    begun = first.begin({"later.zip": len(content)}).json()
    assert begun["offsets"] == [0]
    half = len(content) // 2
    assert first.put(begun["id"], 0, 0, content[:half]).json() == {"offset": half}
    page = importing.owner().get(begun["page"])
    assert "The upload is not complete" in page.text
    second = Uploader(importing.owner())
    again = second.begin({"later.zip": len(content)}).json()
    assert (again["id"], again["offsets"]) == (begun["id"], [half])
    ahead = second.put(again["id"], 0, half + 1, content[half + 1 :])
    assert ahead.status_code == 409
    assert second.put(again["id"], 0, half, content[half:]).json() == {"offset": len(content)}
    assert first.put(begun["id"], 0, half, content[half:]).status_code == 200, "the other tab"
    plan = importing.owner().get(begun["page"])
    assert "Markdown notes" in plan.text
    assert plan.send(form="main form", action="remove").location == "/import"
    assert importing.owner().get(begun["page"]).status == 404


def test_the_first_piece_of_another_tab_takes_nothing_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = uploads.UploadFolder(tmp_path)
    upload = folder.begin([uploads.UploadedFile("notes.md", 9)], 0)
    place = folder.place(upload, 0)
    folder.write(upload, 0, 0, b"# Notes")
    there = Path.exists
    # The other tab looked for the file a moment before it was made.
    monkeypatch.setattr(Path, "exists", lambda path: path != place and there(path))
    folder.write(upload, 0, 0, b"# N")
    assert place.read_bytes() == b"# Notes"
    assert place.stat().st_mode & 0o777 == 0o600


def begun_at_once(begin: Callable[[int], object]) -> list[object]:
    """Return what comes of many tabs that begin an upload at the same moment."""
    tabs = uploads.MOST_UPLOADS + 10
    together = threading.Barrier(tabs)

    def open_tab(number: int) -> object:
        together.wait(20)
        try:
            return begin(number)
        except Conflict as problem:
            return problem

    with ThreadPoolExecutor(tabs) as pool:
        return list(pool.map(open_tab, range(tabs)))


def test_tabs_that_begin_at_once_with_the_same_files_have_one_upload(tmp_path: Path) -> None:
    folder, files = uploads.UploadFolder(tmp_path), [uploads.UploadedFile("a.txt", 4)]
    begun = begun_at_once(lambda _: folder.begin(files, 0))
    assert len(list(folder.uploads())) == 1
    assert len(set(begun)) == 1


def test_tabs_that_begin_at_once_do_not_pass_the_bound(tmp_path: Path) -> None:
    folder = uploads.UploadFolder(tmp_path)
    begun = begun_at_once(lambda _: folder.begin_form(0))
    assert len(list(folder.uploads())) == uploads.MOST_UPLOADS
    assert sum(isinstance(one, Conflict) for one in begun) == 10


def test_a_file_that_was_changed_is_sent_anew_though_its_size_is_the_same(
    importing: House,
) -> None:
    uploader = Uploader(importing.owner())
    begun = uploader.begin({"rent.md": 9}, modified=1_700_000_000_000).json()
    uploader.put(begun["id"], 0, 0, b"# Rent 10")
    again = uploader.begin({"rent.md": 9}, modified=1_700_000_060_000).json()
    assert again["offsets"] == [0]
    uploader.put(again["id"], 0, 0, b"# Rent 99")
    kept = importing.folder / "uploads" / again["id"] / ".files" / "rent.md"
    assert kept.read_bytes() == b"# Rent 99"
    for page in (begun["page"], again["page"]):
        importing.owner().get(page).send(form="main form", action="remove")


def test_a_browser_without_scripts_sends_a_form(importing: House) -> None:
    reader = importing.owner()
    token = dict(reader.get("/import").fields("#upload"))["token"]
    files = [("file", ("notes.zip", vault(plain="# Plain\n\nwithout a script\n")))]
    typed = {"token": token, "confirm": PASSPHRASE}
    sent = reader.http.post("/import/uploads", data=typed, files=files)
    assert sent.status_code == 303
    plan = reader.get(sent.headers["location"])
    assert "Markdown notes" in plan.text
    plan.send(form="main form", action="remove")
    for data in ({}, {"token": "wrong", "confirm": PASSPHRASE}, {"token": token}):
        assert reader.http.post("/import/uploads", data=data, files=files).status_code == 403
    nothing = [("file", ("", b""))]
    refusal = reader.http.post("/import/uploads", data={"token": token}, files=nothing)
    assert refusal.status_code == 400


def test_nobody_else_can_upload(importing: House) -> None:
    uploader = Uploader(importing.owner())
    stranger = importing.stranger().http
    headers = {"X-Form-Token": uploader.token}
    assert stranger.post("/import/uploads", data={}, headers=headers).status_code == 401
    for headers in ({"X-Form-Token": "x"}, {"Origin": "https://evil.example"}):
        assert uploader.begin({"a": 1}, headers=headers).status_code == 403
    assert not list((importing.folder / "uploads").glob("*/.files/a"))


def test_uploads_are_bounded(importing: House, monkeypatch: pytest.MonkeyPatch) -> None:
    uploader = Uploader(importing.owner())
    assert uploader.begin({}).status_code == 400
    assert uploader.begin({"huge": 1 << 40}).status_code == 413
    begun = uploader.begin({"small.txt": 3}).json()
    assert uploader.put(begun["id"], 0, 0, b"four").status_code == 413
    assert uploader.put(begun["id"], 1, 0, b"x").status_code == 404
    assert uploader.put("0" * 24, 0, 0, b"x").status_code == 404
    assert uploader.put("%2e%2e", 0, 0, b"x").status_code in (404, 405)
    monkeypatch.setattr(uploads, "MOST_UPLOADS", 1)
    assert uploader.begin({"another.txt": 3}).status_code == 409


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("a.zip", "a.zip"),
        ("folder/inner/a.txt", "folder/inner/a.txt"),
        ("../../etc/passwd", "etc/passwd"),
        ("C:\\Users\\me\\a.txt", f"C{'_' if os.name == 'nt' else ':'}/Users/me/a.txt"),
        ("/abs/./x", "abs/x"),
        ("line\nbreak", "line_break"),
    ],
)
def test_a_name_never_leads_out_of_its_folder(given: str, kept: str) -> None:
    assert safe_name(given) == kept


@pytest.mark.parametrize(
    "name", ["東" * 240 + ".zip", "é" * 255, "🗿" * 120 + ".md", "/".join(["a" * 199] * 9) + ".md"]
)
def test_a_file_of_any_length_of_name_is_kept(importing: House, name: str) -> None:
    sender = Uploader(importing.owner())
    begun = sender.begin({name: 1}).json()
    assert sender.put(begun["id"], 0, 0, b"x").json() == {"offset": 1}


def test_what_a_name_ends_with_stays() -> None:
    assert safe_name("東" * 240 + ".zip") == "東" * 65 + ".zip"
    assert safe_name("a" * 300 + "." + "b" * 300) == "a" * 200


def test_a_path_that_no_system_takes_is_refused(importing: House) -> None:
    sender = Uploader(importing.owner())
    answer = sender.begin({"/".join(["東" * 60] * 39): 1})
    assert answer.status_code == 400, answer.text


@pytest.mark.parametrize("content", [b"", b"x"])
def test_a_piece_of_no_file_is_refused(importing: House, content: bytes) -> None:
    sender = Uploader(importing.owner())
    begun = sender.begin({"one": 1}).json()
    assert sender.put(begun["id"], 1, 0, content).status_code == 404


def test_what_is_not_known_is_told_and_cannot_be_imported(importing: House) -> None:
    plan = Uploader(importing.owner()).send("odd.bin", b"\x00\x01\x02" * 50)
    assert plan.tree.css('button[value="import"]') == []
    assert "Not recognised" in plan.text or plan.tree.css(".notice")
    plan.send(form="main form", action="remove")


def test_a_path_on_the_server_needs_the_passphrase(importing: House, tmp_path: Path) -> None:
    (tmp_path / "walk.md").write_text(NOTE)
    reader = importing.owner()
    page = reader.get("/import")
    form = "main details form"
    asked = page.send(form=form, path=str(tmp_path))
    assert asked.status == 403
    plan = asked.send(confirm=PASSPHRASE).follow()
    assert "Markdown notes" in plan.text
    wrong = page.send(form=form, path="nowhere/at/all", confirm=PASSPHRASE)
    assert wrong.status == 400
    assert dict(wrong.fields(form))["path"] == "nowhere/at/all"
    plan.send(form="main form", action="remove")
    assert (tmp_path / "walk.md").exists()


def test_the_page_says_where_each_export_comes_from(importing: House) -> None:
    text = importing.owner().get("/import").text
    assert "Settings, Data controls, Export data" in text
    assert "takeout.google.com" in text


def test_a_running_import_is_cancelled_on_its_page(importing: House) -> None:
    jobs, reader = importing.store.jobs, importing.owner()
    order = import_order(importing.folder / "notes.zip")
    running = jobs.begin(order, JobLease("test", 1 << 60))
    page = reader.get(f"/import/{running.id}")
    asked = page.send(action="cancel").follow()
    assert "The import is being cancelled." in asked.text
    job = jobs.get(running.id)
    assert job is not None
    assert job.cancel_requested
    jobs.finish(running.id, "test", JobStatus.CANCELLED, JobProgress(), None)
    ended = reader.get(f"/import/{running.id}")
    assert "Everything read before that is kept. To go on, import the same export" in ended.text


def test_an_unknown_import_is_not_there(importing: House) -> None:
    reader = importing.owner()
    for path in ("/import/job_nope", "/import/report/nope", "/import/uploads/nope"):
        assert reader.get(path).status == 404, path


# Forms in parts


async def _parts(body: bytes, size: int) -> list[tuple[str, str | None, bytes]]:
    async def chunks() -> Any:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    gathered: list[tuple[str, str | None, bytes]] = []
    boundary = boundary_of("multipart/form-data; boundary=XyZ")
    async for part in form_parts(chunks(), boundary):
        if part.begins:
            gathered.append((part.name, part.filename, part.content))
        else:
            name, filename, content = gathered[-1]
            gathered[-1] = name, filename, content + part.content
    return gathered


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1 << 20])
def test_a_form_is_taken_apart_wherever_its_pieces_end(size: int) -> None:
    import asyncio

    content = b"--XyZ is not \r\n--Xy a boundary\r\n" + bytes(range(256))
    request = httpx.Request(
        "POST",
        "http://x/",
        data={"token": "t", "empty": ""},
        files={"file": ('a "b".zip', content), "none": ("e.txt", b"")},
        headers={"Content-Type": "multipart/form-data; boundary=XyZ"},
    )
    parts = asyncio.run(_parts(request.read(), size))
    assert parts[:2] == [("token", None, b"t"), ("empty", None, b"")]
    assert parts[2][0] == "file"
    assert parts[2][2] == content
    assert parts[3] == ("none", "e.txt", b"")
    assert json.dumps(parts[2][1])


@pytest.mark.parametrize("end", [b"\r\n\r\n", b""], ids=["ended", "open"])
def test_the_head_of_a_part_is_bounded(end: bytes) -> None:
    import asyncio

    head = b"Content-Disposition: form-data; " + b'name="a"; ' * 5_000
    body = b"--XyZ\r\n" + head + end + b"value\r\n--XyZ--"
    with pytest.raises(InvalidRequest, match="cannot be read"):
        asyncio.run(_parts(body, 1 << 20))


def test_a_plan_says_that_files_become_one_account_though_none_says_whose_it_is(
    importing: House,
) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for who in ("Mum", "Dad"):
            card = f"BEGIN:VCARD\nVERSION:3.0\nFN:{who}\nEND:VCARD\n"
            archive.writestr(f"{who}.vcf", card)
    plan = Uploader(importing.owner()).send("books.zip", packed.getvalue())
    assert "none says whose it is (Dad.vcf, Mum.vcf)" in plan.text
