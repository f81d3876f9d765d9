"""What an outsider tries: uploads that lie, and records beyond a grant that is looked through."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.pages.house import PASSPHRASE, House, Reader
from tests.pages.test_see_as import approve_mail
from tests.serving import approve

from pdpp.authz.owner import form_token
from pdpp.authz.selection import Selection
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.pages.imports.upload import UploadFolder
from pdpp.resource.schema import NEWEST_BEFORE

INVOICE = "cin_home/messages/m-invoice-4471"


@pytest.fixture(scope="module")
def token(owner: Reader) -> str:
    """What the forms of the owner's session carry."""
    return dict(owner.get("/import").fields())["token"]


def begin(reader: Reader, token: str, *files: tuple[str, int], **headers: str) -> Any:
    form = {"name": [name for name, _ in files], "size": [str(size) for _, size in files]}
    sent = {"X-Form-Token": token} | headers
    data = {**form, "confirm": PASSPHRASE}
    answer = reader.http.post("/import/uploads", data=data, headers=sent)
    if answer.status_code == 200:
        reader.http.headers["X-Upload-Key"] = answer.json()["key"]
    return answer


def put(reader: Reader, token: str, path: str, content: bytes, **headers: str) -> int:
    sent = {"X-Form-Token": token} | headers
    return reader.http.put(f"/import/uploads/{path}", content=content, headers=sent).status_code


def on_disk(house: House) -> set[str]:
    """Return every file of the data folder that an upload could have written."""
    return {
        str(path.relative_to(house.folder.parent))
        for path in house.folder.parent.rglob("*")
        if path.is_file() and not path.name.startswith(("pdpp.sqlite3", "receipts"))
    }


def test_another_site_and_another_session_cannot_write_into_an_upload(
    house: House, owner: Reader, token: str
) -> None:
    upload = begin(owner, token, ("mine.txt", 10)).json()["id"]
    before = on_disk(house)
    place = f"{upload}/0?offset=0"
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "evil.example"},
    ):
        assert put(owner, token, place, b"0123456789", **headers) in (400, 403), headers
        assert begin(owner, token, ("x", 1), **headers).status_code in (400, 403), headers
    other = house.owner()
    other.http.headers["X-Upload-Key"] = owner.http.headers["X-Upload-Key"]
    assert put(other, token, place, b"0123456789") == 403, "the token of another session"
    stranger = house.stranger()
    mark = stranger.get("/login").fields()
    assert put(stranger, dict(mark)["token"], place, b"0123456789") == 401
    assert put(stranger, form_token(""), place, b"0123456789") == 401
    assert on_disk(house) == before


def test_a_form_whose_token_comes_late_or_not_at_all_writes_nothing(
    house: House, owner: Reader, token: str
) -> None:
    before = on_disk(house)
    content: dict[str, Any] = {"file": ("notes.md", b"# hello")}
    confirm = {"confirm": (None, PASSPHRASE)}
    assert owner.http.post("/import/uploads", files=confirm | content).status_code == 403
    late = {**confirm, **content, "token": (None, token)}
    assert owner.http.post("/import/uploads", files=late).status_code == 403
    wrong = {**confirm, "token": (None, token + "x"), **content}
    assert owner.http.post("/import/uploads", files=wrong).status_code == 403
    assert on_disk(house) == before


NAMES = (
    "../../../escape.txt",
    "..\\..\\escape.txt",
    "/tmp/escape.txt",  # noqa: S108 - the name of an attack
    "a/../../../escape.txt",
    "....//escape.txt",
    "a/\x00/escape.txt",
    "%2e%2e/escape.txt",
    ".",
    "..",
    "manifest.json",
    "~/escape.txt",
    "C:\\escape.txt",
    "a" * 5_000,
    "/".join("a" * 300),
)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_no_name_leads_out_of_the_folder_of_its_upload(
    house: House, owner: Reader, token: str, name: str
) -> None:
    before = on_disk(house)
    answer = begin(owner, token, (name, 4))
    if answer.status_code != 200:
        assert answer.status_code == 400
        return
    upload = answer.json()["id"]
    assert put(owner, token, f"{upload}/0?offset=0", b"evil") == 200
    inside = f"{house.folder.name}/uploads/{upload}/"
    written = on_disk(house) - before
    assert {path for path in written if not path.startswith(inside)} == set()
    assert sum(path.startswith(f"{inside}.files/") for path in written) == 1
    folder = UploadFolder(house.folder)
    folder.remove(folder.get(upload))


def test_sizes_and_offsets_that_lie_are_refused(house: House, owner: Reader, token: str) -> None:
    name = begin(owner, token, ("lie.bin", 3)).json()["id"]
    for offset in ("1", "3", "4", "99999999999999", "-1", "1e3", "", "0x0", " 0"):
        status = put(owner, token, f"{name}/0?offset={offset}", b"abc")
        assert status in (400, 409, 413), offset
    for number in ("9", "-1", "00000000", "..", "0%2f..%2f0"):
        assert put(owner, token, f"{name}/{number}?offset=0", b"abc") in (400, 404, 405), number
    assert put(owner, token, f"{name}/0?offset=0", b"ab") == 200
    assert put(owner, token, f"{name}/0?offset=2", b"cd") == 413, "longer than was said"
    for size in ("-1", "1.5", "nan", "9" * 16, ""):
        form = {"name": "x", "size": size, "confirm": PASSPHRASE}
        headers = {"X-Form-Token": token}
        answer = owner.http.post("/import/uploads", data=form, headers=headers)
        assert answer.status_code == 400, size
    place = UploadFolder(house.folder)
    assert place.place(place.get(name), 0).stat().st_size <= 3


def test_a_file_that_is_a_folder_too_is_refused(house: House, owner: Reader, token: str) -> None:
    before = on_disk(house)
    answer = begin(owner, token, ("both", 3), ("both/inner", 3))
    assert answer.status_code == 400
    for names in (("both", "both/inner"), ("both/inner", "both")):
        parts: list[tuple[str, Any]] = [("token", (None, token)), ("confirm", (None, PASSPHRASE))]
        parts += [("file", (name, b"abc")) for name in names]
        assert owner.http.post("/import/uploads", files=parts).status_code == 400
    assert on_disk(house) == before, "nothing is left of a form that was refused"


def test_what_is_beyond_a_grant_looks_like_what_is_nowhere(house: House, owner: Reader) -> None:
    seen = approve_mail(house, owner, "Outsider")
    old = "cin_home/messages/"
    older = owner.get("/search?account=cin_home&kind=messages&month=2025")
    links = [str(node.attributes["href"]) for node in older.tree.css(".results h2 a")]
    beyond = [link.partition("?")[0].removeprefix("/r/") for link in links][:3]
    assert beyond, "the demo has letters before the time of the grant"
    nowhere = owner.http.get(f"{seen}/r/{old}nowhere")
    assert nowhere.status_code == 404
    hidden = [*beyond, "cin_bank/transactions/x", "cin_home/threads/t-invoice-4471", "cin_nope/a/b"]
    for path in hidden:
        answer = owner.http.get(f"{seen}/r/{path}")
        assert (answer.status_code, answer.text) == (404, nowhere.text), path


def test_no_parameter_shows_a_field_that_the_grant_hides(house: House, owner: Reader) -> None:
    seen = approve_mail(house, owner, "Field Seeker")
    page = owner.get(f"{seen}/search?q=invoice 4471")
    link = next(
        str(node.attributes["href"]).partition("?")[0] for node in page.tree.css(".results h2 a")
    )
    sender = next(
        node.text()
        for node in owner.get(f"/r/{INVOICE}").tree.css(".values dd")
        if "Almeida" in node.text()
    )
    for query in ("", "?field=sender&chars=0-20", "?field=from&chars=0-9", "?field=body&chars=0-9"):
        answer = owner.get(link + query)
        assert answer.status in (200, 404)
        values = [node.text() for node in answer.tree.css(".values dd, mark")]
        assert sender not in values, query
    assert owner.get(f"{seen}/search?person=Rui Almeida").tree.css(".results li") == []


def test_the_bars_of_a_grant_count_what_it_shows(house: House, owner: Reader) -> None:
    seen = approve_mail(house, owner, "Bar Counter")
    page = owner.get(f"{seen}/search?q=invoice")
    bars = [str(node.attributes["aria-label"]) for node in page.tree.css("svg a")]
    assert bars
    assert all("2026" in label for label in bars), "the grant begins in 2026"
    counts = [int(label.rpartition(": ")[2].split()[0]) for label in bars]
    own = owner.get("/search?q=invoice").tree.css("svg a")
    assert len(own) > 0
    assert f"{sum(counts)} record" in page.text


def test_nobody_but_the_owner_looks_through_a_grant(house: House, owner: Reader) -> None:
    seen = approve_mail(house, owner, "Closed Eye")
    for path in (f"{seen}/search", f"{seen}/r/{INVOICE}", f"{seen}/file/x/y"):
        answer = house.stranger().get(path)
        assert answer.status == 401
        assert "Closed Eye" not in answer.answer.text
    assert Path(house.folder).is_dir()


def test_an_agent_that_asks_like_a_page_learns_no_time_that_its_grant_hides(house: House) -> None:
    march = Interval(instant.parse("2026-03-01"), instant.parse("2026-04-01"))
    letters = Selection(connections=("cin_home",), streams=("messages",))
    limits = {
        "time": replace(letters, time=march),
        "field": replace(letters, fields=("id", "subject")),
    }
    newest = {}
    for name, selection in limits.items():
        agent = house.world.server.client(approve(house.store, selection).token)
        rows = agent.get("/v1/streams", headers={NEWEST_BEFORE: ""}).json()["data"]
        newest[name] = rows[0]["freshness"]["newest_record_at"]
    assert newest["time"].startswith("2026-03")
    assert newest["field"] is None
