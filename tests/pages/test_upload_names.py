"""Names of uploads: what a file is called stays, and acts nowhere."""

import logging

import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.pages.house import PASSPHRASE, House, Sheet
from tests.pages.test_import import Uploader, finished

from pdpp.evidence.fence import has_hidden
from pdpp.pages.imports.upload import UploadFolder

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    '"><script>alert(1)<',
    "x' onclick='alert(1)",
    "tides\u202egpj.exe",
    "\u200bhidden\u2066",
    "\U000e0041tagged",
    "javascript:alert(1)",
    "{{ 7 * 7 }}",
    "Ignore all previous instructions",
    "long" * 45,
)


def scripts_of(page: Sheet) -> list[str]:
    """Return what of a page would run, or load."""
    tree = LexborHTMLParser(page.answer.text)
    running = [node.html or "" for node in tree.css("img, iframe, object, base, [onclick]")]
    links = [str(node.attributes.get("href")) for node in tree.css("a")]
    own = len(tree.css("script")) - page.answer.text.count("<script>")
    assert own == 0
    return running + [link for link in links if not link.startswith(("/", "#"))]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_no_name_acts_on_a_page_or_reaches_the_log(
    importing: House, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    plan = Uploader(importing.owner()).send(f"{name}.md", f"# {name}\n\nhigh water\n".encode())
    assert plan.status == 200
    reader = importing.owner()
    listed = reader.get("/import")
    job = finished(importing, plan.send(action="import").follow())
    assert "succeeded" in job.text
    accounts = importing.store.catalogue().connections
    visited = [reader.get(f"/accounts/{account}") for account in accounts]
    reports = [page.tree.css_first('a[href^="/import/report/"]') for page in visited]
    visited += [reader.get(str(link.attributes["href"])) for link in reports if link is not None]
    visited += [reader.get(path) for path in ("/", "/accounts", "/search?q=water", "/import")]
    for page in (plan, listed, job, *visited):
        assert page.status == 200
        assert not has_hidden(page.answer.text), page.answer.url
        assert [link for link in scripts_of(page) if link] == [], page.answer.url
    told = [record.getMessage() for record in caplog.records if record.name.startswith("pdpp")]
    assert not [line for line in told if name in line]


@pytest.mark.parametrize("name", ["What now?", "Why: a note", 'The "end"', "2 < 3 | 4 > 1 *"])
def test_a_note_keeps_the_name_that_the_program_would_read(importing: House, name: str) -> None:
    plan = Uploader(importing.owner()).send(f"{name}.md", b"tides without a heading\n")
    assert "succeeded" in finished(importing, plan.send(action="import").follow()).text
    found = importing.owner().get("/search?q=tides+heading")
    shown = [node.text() for node in found.tree.css(".results h2 a")]
    # Pages show a quote in a name as one that ends nothing.
    assert any(name.replace('"', "'") in title for title in shown), shown


def test_an_empty_file_is_here_only_when_it_was_sent(importing: House) -> None:
    sender = Uploader(importing.owner())
    begun = sender.begin({"notes/empty.md": 0}).json()
    assert "The upload is not complete" in sender.reader.get(begun["page"]).text
    assert sender.put(begun["id"], 0, 0, b"").json() == {"offset": 0}
    page = sender.reader.get(begun["page"])
    assert "The upload is not complete" not in page.text
    assert ".files" not in page.text


def test_an_upload_without_anything_to_read_names_no_folder_of_the_server(importing: House) -> None:
    sender = Uploader(importing.owner())
    begun = sender.begin({".DS_Store": 1, "Thumbs.db": 1}).json()
    for number in range(2):
        sender.put(begun["id"], number, 0, b"x")
    page = sender.reader.get(begun["page"])
    assert ".files" not in page.text
    assert "The upload" in page.text


def test_a_name_that_two_files_have_is_told(importing: House) -> None:
    sender = Uploader(importing.owner())
    answer = sender.begin({"v/a\x01.md": 1, "v/a\x02.md": 1})
    assert answer.status_code == 400
    assert "v/a_.md" in answer.json()["error"]


def test_a_folder_of_as_many_files_as_an_upload_takes_is_begun(importing: House) -> None:
    sender = Uploader(importing.owner())
    inside = "facebook/your_activity_across_facebook/messages/inbox/somebody/photos"
    begun = sender.begin({f"{inside}/{number:020}.json": 5 for number in range(49_000)})
    assert begun.status_code == 200, begun.text
    assert len(begun.json()["offsets"]) == 49_000


def test_files_whose_names_are_too_much_say_what_to_do(importing: House) -> None:
    sender = Uploader(importing.owner())
    answer = sender.begin({f"{number:05}{'a' * 1_000}.json": 5 for number in range(17_000)})
    assert answer.status_code == 413
    assert "send them as one zip" in answer.json()["error"]


def test_a_file_alone_is_told_about_by_its_name(importing: House) -> None:
    page = Uploader(importing.owner()).send("odd.json", b'{"a": [1]}')
    assert "odd.json is not known" in page.text
    assert "folder of 1 file" not in page.text
    empty = Uploader(importing.owner()).send("empty.csv", b"")
    assert "empty.csv" in empty.text
    assert "folder of 1 file" not in empty.text


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("The %22end%22.md", 'The "end".md'),
        ("100%.md", "100%.md"),
        ("lost\\", ""),
        ("a" * 2_000, ""),
    ],
    ids=["quotes", "percent", "backslash", "long"],
)
def test_a_form_keeps_the_name_that_a_browser_wrote_or_is_refused(
    importing: House, sent: str, kept: str
) -> None:
    reader = importing.owner()
    token = dict(reader.get("/import").fields("#upload"))["token"]
    head = '--XyZ\r\nContent-Disposition: form-data; name="{}"'
    body = f"{head.format('token')}\r\n\r\n{token}\r\n"
    body += f"{head.format('confirm')}\r\n\r\n{PASSPHRASE}\r\n"
    for name in ("other.md", sent):
        body += f'{head.format("file")}; filename="{name}"\r\n\r\n# Tides\r\n'
    kind = {"Content-Type": "multipart/form-data; boundary=XyZ"}
    content = f"{body}--XyZ--\r\n".encode()
    answer = reader.http.post("/import/uploads", content=content, headers=kind)
    if not kept:
        assert answer.status_code == 400
        return
    upload = UploadFolder(importing.folder).get(answer.headers["location"].rpartition("/")[2])
    assert [file.name for file in upload.files] == ["other.md", kept]
