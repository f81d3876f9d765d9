"""Documents and photos among other downloads: found, once, and never out of another export."""

import json
import shutil
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import pdpp_here
from tests.engine import open_store
from tests.soak import SOAK
from tests.sources.formats import test_contacts_vcard as vcard
from tests.sources.importing.test_discovery import MBOX, keys, look
from tests.sources.kit import Home, zipped
from tests.sources.samples import documents as papers
from tests.sources.samples import every_sample, forms_of, photos
from tests.sources.samples.sample import FormatSample

from pdpp.jobs.import_run import _export
from pdpp.jobs.importing import import_order
from pdpp.sources.importing.discovery import Discovery
from pdpp.sources.importing.state import ImportState
from pdpp.sources.registry import load
from pdpp.sources.source import FileSource, OwnerChoices

CHAT = (
    "[19/09/2026, 09:52:10] Ana: Look\r\n"
    "\u200e[19/09/2026, 09:52:11] Ana: \u200e<attached: 00000035-PHOTO-2026-09-19-09-52-11.jpg>\r\n"
    "[19/09/2026, 09:53:10] Bo: rota.pdf • 2 pages \u200e<attached: rota.pdf>\r\n"
)
DRAWING = b"\x89PNG\r\n\x1a\n" + bytes(40)
NAMED_SESSION = b'{"id": "0198", "thread_name": "The ferry"}\n'
PLACE = b'{"folder": "file:///home/nora/boat"}'
SAMPLES = {
    name: sample
    for name, sample in every_sample().items()
    if not isinstance(load(sample.source), FileSource)
}


def photo(of: str) -> bytes:
    return photos.jpeg(photos.tiff(), of.encode() * 9)


def write(folder: Path, **files: bytes | str) -> Path:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def downloads(folder: Path) -> Path:
    """Write a folder of downloads as people have it."""
    places = {
        "people.vcf": vcard.book(vcard.plain("Ana")),
        "lease.pdf": papers.pdf("The loose lease"),
        "holiday.jpg": photo("holiday"),
        "logo.png": DRAWING,
        "setup.exe": b"MZ",
        "Invoices/2025/one.pdf": papers.pdf("The first invoice"),
        "Invoices/2025/old.doc": b"\xd0\xcf\x11\xe0",
        "Invoices/two.docx": papers.WORD,
        "Pictures/Trip/a.jpg": photo("trip"),
        "Pictures/Trip/a.mov": b"\x00\x00\x00\x14ftypqt  ",
        "Pictures/Trip/screen.png": DRAWING,
        "WhatsApp Chat - Ana/_chat.txt": CHAT.encode(),
        "WhatsApp Chat - Ana/00000035-PHOTO-2026-09-19-09-52-11.jpg": photo("chat"),
        "WhatsApp Chat - Ana/rota.pdf": papers.pdf("The rota"),
    }
    for name, content in places.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    zipped(
        folder / "takeout-20260101T000000Z-001.zip",
        {
            "Takeout/Mail/All mail.mbox": MBOX,
            "Takeout/Drive/plan.pdf": papers.pdf("The plan in the drive"),
            "Takeout/Google Photos/Trip/IMG_1.jpg": photo("takeout"),
        },
    )
    zipped(folder / "notes.zip", {"read me.txt": b"Hi", "rules.pdf": papers.pdf("The rules")})
    return folder


def taken(discovery: Discovery, source: str) -> list[str]:
    return [
        entry.name
        for found in discovery.exports
        if found.export.source.connector_key == source
        for entry in found.tree.entries
    ]


def test_documents_and_photos_of_a_mixed_folder_are_an_export_each(tmp_path: Path) -> None:
    discovery = look(downloads(tmp_path))
    assert keys(discovery) == ["contacts_vcard", "documents", "mail", "photos", "whatsapp"]
    assert taken(discovery, "documents") == [
        "Invoices/2025/old.doc",
        "Invoices/2025/one.pdf",
        "Invoices/two.docx",
        "lease.pdf",
        "notes.zip/rules.pdf",
        "takeout-20260101T000000Z-001.zip/Takeout/Drive/plan.pdf",
    ]
    assert taken(discovery, "photos") == [
        "Pictures/Trip/a.jpg",
        "Pictures/Trip/a.mov",
        "Pictures/Trip/screen.png",
        "holiday.jpg",
        "takeout-20260101T000000Z-001.zip/Takeout/Google Photos/Trip/IMG_1.jpg",
    ]
    assert discovery.unknown == [
        f"{tmp_path.name} also holds 1 file that no source reads: setup.exe",
        "notes.zip also holds 1 file that no source reads: notes.zip/read me.txt. "
        "A part of it comes in with --as documents (1 document)",
        f"{tmp_path.name} also holds 1 picture without a camera's time: logo.png. "
        f"Import with: pdpp import {tmp_path / 'logo.png'} --as photos",
    ]
    [people] = [f for f in discovery.exports if f.export.source.connector_key == "contacts_vcard"]
    unread = {entry.name for entry in people.tree.entries}
    assert unread == {"people.vcf"}, "what nobody knows is told once, and in no report"
    assert not unread & {*taken(discovery, "documents"), *taken(discovery, "photos")}
    assert not any("Ana" in name for name in unread), (
        "what a chat attaches is told of the chat alone"
    )


@pytest.mark.parametrize(("name", "form"), forms_of(SAMPLES, "folder", "zip", every=SOAK))
def test_no_file_of_another_export_becomes_a_document_or_a_photo(
    name: str, form: str, tmp_path: Path
) -> None:
    sample: FormatSample = SAMPLES[name]
    real = {".pdf": papers.pdf("An attachment"), ".docx": papers.WORD}
    files = {
        place: photo(place)
        if Path(place).suffix.lower() in (".jpg", ".jpeg", ".heic", ".png", ".webp")
        else real.get(Path(place).suffix.lower(), content)
        for place, content in sample.files.items()
    }
    write(tmp_path, Invoices__one_dot_pdf=papers.pdf("One"), Trip__a_dot_jpg=photo("trip"))
    if form == "zip":
        zipped(tmp_path / "an export.zip", files)
    else:
        sample.folder(tmp_path / "an export", files)
    discovery = look(tmp_path)
    assert taken(discovery, "documents") == ["Invoices/one.pdf"]
    assert taken(discovery, "photos") == ["Trip/a.jpg"]
    assert keys(discovery).count(sample.source) >= 1


def test_a_chat_beside_other_downloads_keeps_what_it_names_and_nothing_else(
    tmp_path: Path,
) -> None:
    write(tmp_path, _chat_dot_txt=CHAT, rota_dot_pdf=papers.pdf("The rota"))
    (tmp_path / "00000035-PHOTO-2026-09-19-09-52-11.jpg").write_bytes(photo("chat"))
    (tmp_path / "00000036-PHOTO-2026-09-19-09-52-12.jpg").write_bytes(photo("not named"))
    write(tmp_path, lease_dot_pdf=papers.pdf("The lease"), sub__rota_dot_pdf=papers.pdf("Other"))
    discovery = look(tmp_path)
    assert taken(discovery, "documents") == ["lease.pdf", "sub/rota.pdf"]
    assert taken(discovery, "photos") == []


def test_conversations_beside_other_downloads_keep_the_files_that_an_id_names(
    tmp_path: Path,
) -> None:
    for source in ("chatgpt", "claude_ai"):
        sample = next(s for s in SAMPLES.values() if s.source == source)
        folder = sample.folder(tmp_path / source)
        write(folder, lease_dot_pdf=papers.pdf("The lease"), Trip__a_dot_jpg=photo("trip"))
        (folder / "dalle-generations").mkdir()
        (folder / "dalle-generations" / "boat.jpg").write_bytes(photo("a made one"))
        (folder / "file-9x-plan.pdf").write_bytes(papers.pdf("An upload"))
        discovery = look(folder)
        own = [] if source == "chatgpt" else ["dalle-generations/boat.jpg"]
        assert taken(discovery, "photos") == ["Trip/a.jpg", *own]
        own = [] if source == "chatgpt" else ["file-9x-plan.pdf"]
        assert taken(discovery, "documents") == [*own, "lease.pdf"]
        assert source in keys(discovery)


def test_notes_keep_the_files_they_show_and_a_vault_all_of_its_files(tmp_path: Path) -> None:
    files: dict[str, bytes | str] = {
        "notes__a_dot_md": "See ![the map](../maps/quay%20map.jpg) and ![[plan.pdf]]",
        "maps__quay map_dot_jpg": photo("map"),
        "maps__other_dot_jpg": photo("other"),
        "deep__er__plan_dot_pdf": papers.pdf("The plan"),
        "deep__er__lease_dot_pdf": papers.pdf("The lease"),
    }
    write(tmp_path, **files)
    discovery = look(tmp_path)
    assert taken(discovery, "photos") == ["maps/other.jpg"]
    assert taken(discovery, "documents") == ["deep/er/lease.pdf"]
    write(tmp_path, deep___dot_obsidian__app_dot_json="{}", deep__b_dot_md="Hi")
    assert taken(look(tmp_path), "documents") == []


def test_what_the_tools_of_an_agent_answered_stays_with_the_session(tmp_path: Path) -> None:
    sample = next(s for s in SAMPLES.values() if s.source == "claude_code")
    [log] = [name for name in sample.files if name.endswith(".jsonl")]
    sample.folder(tmp_path / "projects")
    answer = tmp_path / "projects" / log.removesuffix(".jsonl") / "tool-results" / "page.pdf"
    answer.parent.mkdir(parents=True)
    answer.write_bytes(papers.pdf("What a tool fetched"))
    assert keys(look(tmp_path / "projects")) == ["claude_code"]
    write(tmp_path, lease_dot_pdf=papers.pdf("The lease"))
    assert taken(look(tmp_path), "documents") == ["lease.pdf"]


@pytest.mark.parametrize(
    ("name", "above", "content", "field"),
    [
        ("codex: lines with payloads", "session_index.jsonl", NAMED_SESSION, "title"),
        ("copilot: a document for each session", "", b"", "project"),
        ("copilot: a log of changes", "User/workspaceStorage/cd/workspace.json", PLACE, "project"),
    ],
)
def test_what_lies_above_sessions_and_tells_of_them_stays_with_them(
    name: str, above: str, content: bytes, field: str, tmp_path: Path
) -> None:
    sample = SAMPLES[name]
    files = {**sample.files, **({above: content} if above else {})}
    folder = sample.folder(tmp_path / "in" / "Old computer", files)
    alone, beside = Home(tmp_path / "alone"), Home(tmp_path / "beside")
    alone.bring(folder)
    SAMPLES["bank_csv: a German table"].folder(tmp_path / "in" / "Bank")
    beside.bring(tmp_path / "in")
    [told] = told_of_sessions(alone, field)
    assert told
    assert told_of_sessions(beside, field) == [told]


def told_of_sessions(home: Home, field: str) -> list[Any]:
    return [data.get(field) for (stream, _), data in home.records().items() if stream == "sessions"]


def test_an_archive_among_the_files_of_an_export_stays_with_it(tmp_path: Path) -> None:
    sample = next(s for s in SAMPLES.values() if s.source == "telegram")
    sample.folder(tmp_path / "ChatExport_2026")
    zipped(
        tmp_path / "ChatExport_2026" / "files" / "papers.zip",
        {"a/b.txt": b"x", "c.pdf": papers.pdf("C")},
    )
    write(tmp_path, lease_dot_pdf=papers.pdf("The lease"))
    assert taken(look(tmp_path), "documents") == ["lease.pdf"]


def test_files_of_a_note_that_came_in_the_next_archive_stay_with_it(tmp_path: Path) -> None:
    sample = next(s for s in SAMPLES.values() if s.source == "google_keep")
    notes = {name: held for name, held in sample.files.items() if not name.endswith(".jpg")}
    parts = {"001": notes, "002": {"Takeout/Keep/pic.jpg": photo("a note's")}}
    parts["002"]["Takeout/Drive/plan.pdf"] = papers.pdf("The plan")
    for number, files in parts.items():
        zipped(tmp_path / f"takeout-20260101T000000Z-{number}.zip", files)
    discovery = look(tmp_path)
    assert keys(discovery) == ["documents", "google_keep"]


def test_an_archive_of_a_service_that_cannot_be_read_gives_no_documents(tmp_path: Path) -> None:
    page = "your_activity_across_facebook/messages/inbox/ana_1/message_1.html"
    zipped(tmp_path / "facebook.zip", {page: b"<html>", "files/rota.pdf": papers.pdf("The rota")})
    write(tmp_path, lease_dot_pdf=papers.pdf("The lease"), a_dot_txt="x")
    discovery = look(tmp_path)
    assert taken(discovery, "documents") == ["lease.pdf"]
    assert any("as web pages" in words for words in discovery.unknown)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Takeout/Timeline/Timeline Edits.json", b'{"timelineEdits": [{"deviceId": "0"}]}'),
        (".cursor/projects/p/agent-transcripts/a/a.jsonl", b'{"role": "user"}\n'),
        ("notes.jex", b"a tar archive"),
    ],
)
def test_documents_beside_files_that_cannot_be_read_come_in(
    tmp_path: Path, name: str, content: bytes
) -> None:
    zipped(tmp_path / "all.zip", {name: content, "Drive/rota.pdf": papers.pdf("The rota")})
    discovery = look(tmp_path / "all.zip")
    assert taken(discovery, "documents") == ["Drive/rota.pdf"]
    assert any(words.startswith("in all.zip: ") for words in discovery.unknown)


def test_what_is_called_so_and_is_none_is_left(tmp_path: Path) -> None:
    write(tmp_path, page_dot_pdf=b"<html>404", people_dot_vcf=vcard.book(vcard.plain("Ana")))
    write(tmp_path, icons__a_dot_png=DRAWING, _dot_cache__x_dot_pdf=papers.pdf("Hidden"))
    assert keys(look(tmp_path)) == ["contacts_vcard"]


def reports(home: Home, path: Path, *options: str) -> dict[str, dict[str, Any]]:
    document = home.bring(path, *options)
    listed = document.get("imports", [document])
    return {report["source"]["connector_key"]: report for report in listed}


def check_nothing_new(home: Home, path: Path, *options: str) -> dict[str, dict[str, Any]]:
    before = home.records()
    found = reports(home, path, *options)
    for source, report in found.items():
        changes = {name: report["counts"][name] for name in ("new", "changed", "deleted")}
        assert changes == {"new": 0, "changed": 0, "deleted": 0}, (path, source, report)
    assert home.records() == before
    return found


def test_a_folder_and_its_parts_in_any_order_zipped_or_not_come_once(tmp_path: Path) -> None:
    folder = downloads(tmp_path / "Downloads")
    home = Home(tmp_path / "home")
    first = reports(home, folder)
    assert {report["status"] for report in first.values()} == {"complete"}
    assert first["documents"]["counts"]["new"] == 5
    assert first["photos"]["counts"]["new"] == 4
    assert first["documents"]["files"]["unknown"] == first["photos"]["files"]["unknown"] == []
    accounts = {source: report["connection"] for source, report in first.items()}
    inner = ["Invoices", "Invoices/2025", "lease.pdf", "Pictures", "Pictures/Trip"]
    for name in (*inner, "Pictures/Trip/a.jpg", "."):
        for source, report in check_nothing_new(home, folder / name).items():
            assert report["connection"] == accounts[source]
    said = check_nothing_new(home, folder / "Invoices", "--as", "documents")
    assert said["documents"]["connection"] == accounts["documents"]
    with zipfile.ZipFile(folder / "Trip.zip", "w") as archive:
        for name in ("a.jpg", "screen.png"):
            archive.write(folder / "Pictures" / "Trip" / name, name)
    check_nothing_new(home, folder / "Trip.zip")
    again = check_nothing_new(home, folder)
    [twice] = again["photos"]["skipped"]
    assert (twice["reason"], twice["count"]) == ("a picture that stands twice", 2)
    shutil.make_archive(str(tmp_path / "Downloads"), "zip", tmp_path, "Downloads")
    assert check_nothing_new(home, tmp_path / "Downloads.zip").keys() >= {"documents", "photos"}


def test_the_whole_after_its_parts_is_the_same_as_the_whole_alone(tmp_path: Path) -> None:
    folder = downloads(tmp_path / "Downloads")
    steps, once = Home(tmp_path / "steps"), Home(tmp_path / "once")
    once.seal_like(steps)
    for part in ("Invoices", "Pictures/Trip", "lease.pdf", "."):
        steps.bring(folder / part)
    once.bring(folder)
    assert steps.records() == once.records()
    albums = {
        data["name"]: data.get("album")
        for (kind, _), data in once.records().items()
        if kind == "photos"
    }
    assert albums == {
        "a.jpg": "Trip",
        "screen.png": "Trip",
        "holiday.jpg": "Downloads",
        "IMG_1.jpg": "Trip",
    }


def test_everything_in_a_mixed_folder_is_accounted_for(tmp_path: Path) -> None:
    folder = downloads(tmp_path / "Downloads")
    ended = pdpp_here("import", folder, "--audit", "--json", data=tmp_path / "no")
    audits = {a["source"]["connector_key"]: a for a in json.loads(ended.out)["audits"]}
    assert all(audit["accounted"] for audit in audits.values())
    documents, pictures = audits["documents"], audits["photos"]
    assert documents["units"] == {"document": 5}
    assert documents["census"]["files"] == {".pdf": 4, ".docx": 1, ".doc": 1}
    assert pictures["units"] == {"picture": 4}
    assert pictures["census"]["files"] == {".jpg": 3, ".png": 1, ".mov": 1}


def test_the_table_has_a_line_for_documents_and_one_for_photos(tmp_path: Path) -> None:
    ended = pdpp_here("import", downloads(tmp_path / "Downloads"), "--yes", data=tmp_path / "home")
    lines = [line.split("  ") for line in ended.err.splitlines() if line.startswith("Downloads ")]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    assert [
        "Downloads",
        "Documents (PDF, Word, Excel, PowerPoint)",
        "5 documents",
        "Documents",
        "new",
    ] in cells
    assert ["Downloads", "Photos in a folder", "4 pictures", "Photos", "new"] in cells


@pytest.mark.parametrize(
    "options",
    [
        ("--account", "Ana"),
        ("--mirror",),
        ("--connection", "cin_people"),
        ("--as", "contacts_vcard"),
    ],
)
def test_who_names_an_account_or_a_source_gets_nothing_beside_it(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    folder = write(
        tmp_path / "in",
        people_dot_vcf=vcard.book(vcard.plain("Ana")),
        lease_dot_pdf=papers.pdf("The lease"),
    )
    found = reports(Home(tmp_path / "home"), folder, *options)
    assert found.keys() == {"contacts_vcard"}
    assert [case["reason"] for case in found["contacts_vcard"]["files"]["unknown"]] == [
        "a file of the kind .pdf"
    ]


def test_a_setting_of_one_source_may_be_given_for_a_folder_of_several(tmp_path: Path) -> None:
    folder = write(tmp_path / "in", _chat_dot_txt=CHAT, lease_dot_pdf=papers.pdf("The lease"))
    home = Home(tmp_path / "home")
    found = reports(home, folder, "--set", "time_zone=Europe/Lisbon")
    assert found.keys() == {"whatsapp", "documents"}
    problem = home.run(folder, "--yes", "--set", "nonsense=1").failed()
    assert "has no setting 'nonsense'" in problem


def test_a_server_that_goes_on_with_an_import_finds_the_loose_files_again(tmp_path: Path) -> None:
    folder = downloads(tmp_path / "Downloads")
    order = import_order(folder, "documents", within=folder)
    with closing(open_store(tmp_path / "home")) as store:
        state = ImportState(tmp_path / "home")
        tree, export = _export(store, state, OwnerChoices(), order.parameters)
    assert export.source.connector_key == "documents"
    assert len(tree.entries) == 6
