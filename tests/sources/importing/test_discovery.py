"""Discovery: exports at any depth, several at once, zipped or not, and what nobody knows."""

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest
from tests.cli.shell import pdpp_here
from tests.sources.formats import test_bank_ofx as ofx
from tests.sources.formats import test_calendar_ics as ics
from tests.sources.formats import test_claude_ai as claude
from tests.sources.formats import test_contacts_vcard as vcard
from tests.sources.kit import Home, zipped
from tests.sources.samples import bank_statement as statements

from pdpp.model.errors import ImportRefused
from pdpp.sources.importing.discovery import Discovery, discover, usable_sources
from pdpp.sources.source import OwnerChoices

MBOX = (
    b"From a@x.example Thu Jan  1 00:00:00 2026\n"
    b"From: a@x.example\nTo: nora@lind.example\nDelivered-To: nora@lind.example\n"
    b"Subject: Tides\nMessage-ID: <1@x.example>\nDate: Thu, 1 Jan 2026 00:00:00 +0000\n\nHigh.\n\n"
)


def look(path: Path) -> Discovery:
    sources, _ = usable_sources(None, ())
    return discover(path, OwnerChoices(), sources)


def keys(discovery: Discovery) -> list[str]:
    return sorted(found.export.source.connector_key for found in discovery.exports)


def takeout(folder: Path) -> dict[str, bytes]:
    assert folder
    return {
        "Takeout/Mail/All mail.mbox": MBOX,
        "Takeout/Calendar/nora.ics": ics.calendar(ics.CHOIR),
        "Takeout/Contacts/All/All.vcf": vcard.book(vcard.plain("Ana")),
        "Takeout/archive_browser.html": b"<html>",
    }


def test_a_takeout_is_one_import_of_several_sources(tmp_path: Path) -> None:
    path = zipped(tmp_path / "takeout-20260101T000000Z-001.zip", takeout(tmp_path))
    assert keys(look(path)) == ["calendar_ics", "contacts_vcard", "mail"]


def test_files_of_a_takeout_that_are_near_no_export_are_told(tmp_path: Path) -> None:
    files = takeout(tmp_path)
    strange = {f"Takeout/Tasks/{name}.json": b'{"kind": "tasks"}' for name in "abcd"}
    path = zipped(tmp_path / "takeout-20260101T000000Z-001.zip", files)
    assert look(path).unknown == []
    path = zipped(tmp_path / "takeout-20260201T000000Z-001.zip", {**files, **strange})
    assert keys(look(path)) == ["calendar_ics", "contacts_vcard", "mail"]
    assert look(path).left_out == [
        "takeout-20260201T000000Z-001.zip also holds 4 files that no source reads: "
        "Takeout/Tasks/a.json, Takeout/Tasks/b.json, Takeout/Tasks/c.json and more "
        "(4 .json)"
    ]


def test_parts_of_one_takeout_stay_together_and_others_apart(tmp_path: Path) -> None:
    files = takeout(tmp_path)
    first = dict(list(files.items())[:1])
    zipped(tmp_path / "takeout-20260101T000000Z-001.zip", first)
    zipped(tmp_path / "takeout-20260101T000000Z-002.zip", {"Takeout/Mail/Spam.mbox": MBOX})
    zipped(tmp_path / "more.zip", {"nora.ics": ics.calendar(ics.CHOIR)})
    (tmp_path / "holiday.jpg").write_bytes(b"\xff\xd8")
    discovery = look(tmp_path)
    assert keys(discovery) == ["calendar_ics", "mail"]
    [mail] = [f for f in discovery.exports if f.export.source.connector_key == "mail"]
    assert len(mail.tree.entries) == 2
    [unknown] = discovery.unknown
    assert "is not known" in unknown


def test_what_is_not_known_as_a_whole_says_which_source_would_read_a_part_of_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "drawing.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "to do.txt").write_text("Call the landlord")
    [unknown] = look(tmp_path).unknown
    assert "A part of it comes in with --as photos (1 picture)." in unknown
    (tmp_path / "lease.pdf").write_bytes(b"%PDF-1.4\n%%EOF")
    discovery = look(tmp_path)
    assert keys(discovery) == ["documents"]
    [unknown] = discovery.unknown
    assert "also holds 2 files that no source reads: drawing.png, to do.txt. A part of" in unknown
    (tmp_path / "lease.pdf").unlink()
    (tmp_path / "drawing.png").unlink()
    [unknown] = look(tmp_path).unknown
    assert "comes in with --as documents (1 document)." in unknown
    (tmp_path / "to do.txt").rename(tmp_path / "to do.dat")
    [unknown] = look(tmp_path).unknown
    assert "--as" not in unknown


def new_claude(folder: Path) -> Path:
    """Write an export as it comes since August 2026: a zip for each category."""
    page = {
        "id": "a-1",
        "kind": "artifact",
        "updated_at": "2026-03-02T08:00:00Z",
        "active_version": "v2",
        "versions": [
            {"id": "v1", "title": "Old", "created_at": "2026-03-01T08:00:00Z"},
            {"id": "v2", "title": "Chart of the mole", "created_at": "2026-03-02T08:00:00Z"},
        ],
    }
    memory = {**claude.MEMORY, "memory_files": [{"path": "/areas/sea.md", "content": "Neap."}]}
    zipped(
        folder / "conversations-000.zip",
        {"conversations.json": json.dumps([claude.RHYTHM]).encode()},
    )
    zipped(folder / "projects-000.zip", {"projects/p-1.json": json.dumps(claude.PROJECT).encode()})
    zipped(folder / "memories-000.zip", {"memories/acc-1.json": json.dumps(memory).encode()})
    zipped(folder / "light_metadata-000.zip", {"users.json": json.dumps(claude.USERS).encode()})
    zipped(
        folder / "frames-000.zip",
        {
            "artifacts/a-1/artifact.json": json.dumps(page).encode(),
            "artifacts/a-1/versions/v1.html": b"<p>old</p>",
            "artifacts/a-1/versions/v2.html": b"<p>The mole at low water</p>",
        },
    )
    return folder


def test_a_claude_export_in_several_zips_is_one_export_of_one_account(tmp_path: Path) -> None:
    [found] = look(new_claude(tmp_path / "e")).exports
    recognition = found.export.recognition
    assert recognition.identity == "acc-1"
    assert recognition.account == "Claude (nora@lind.example)"
    home = Home(tmp_path / "home")
    report = home.bring(tmp_path / "e")
    assert report["status"] == "complete"
    assert report["files"]["unknown"] == []
    streams = {stream for stream, _ in home.records()}
    assert {"conversations", "projects", "memories", "artifacts", "messages"} <= streams


def claude_manifest(folder: Path, *names: str) -> None:
    files = [
        {"batch_index": 0, "category": "x", "part": 0, "filename": name, "export_url": "https://s"}
        for name in names
    ]
    manifest = {"version": "1.0", "total_files": len(files), "data_files": files}
    name = "manifest-1111-2-ab-2026-09-01-10-00-00.json"
    (folder / name).write_text(json.dumps(manifest))


def test_a_zip_that_claudes_manifest_names_and_that_is_not_there_is_told(tmp_path: Path) -> None:
    new_claude(tmp_path / "e")
    held = [path.name for path in (tmp_path / "e").glob("*.zip")]
    claude_manifest(tmp_path / "e", *held)
    whole = Home(tmp_path / "whole").bring(tmp_path / "e")
    assert whole["status"] == "complete"
    claude_manifest(tmp_path / "e", *held, "conversations-001.zip")
    report = Home(tmp_path / "home").bring(tmp_path / "e")
    [missing] = [case for case in report["skipped"] if "manifest" in case["reason"]]
    assert missing["examples"] == ["conversations-001.zip"]
    assert report["status"] != "complete"


def test_the_zipped_and_the_unzipped_form_are_the_same_account(tmp_path: Path) -> None:
    new_claude(tmp_path / "zips")
    for path in (tmp_path / "zips").glob("*.zip"):
        with zipfile.ZipFile(path) as archive:
            archive.extractall(tmp_path / "plain" / path.stem)  # noqa: S202 - our own
    home = Home(tmp_path / "home")
    first = home.bring(tmp_path / "zips")
    before = home.records()
    again = home.bring(tmp_path / "plain")
    assert again["connection"] == first["connection"]
    assert home.records() == before
    assert again["counts"]["new"] == 0


def test_zips_two_deep_are_read_and_three_deep_are_not(tmp_path: Path) -> None:
    inner = zipped(tmp_path / "a" / "inner.zip", {"nora.ics": ics.calendar(ics.CHOIR)})
    middle = zipped(tmp_path / "b" / "middle.zip", {"x/inner.zip": inner.read_bytes()})
    outer = zipped(tmp_path / "c" / "outer.zip", {"y/middle.zip": middle.read_bytes()})
    most = zipped(tmp_path / "d" / "most.zip", {"outer.zip": outer.read_bytes()})
    assert keys(look(outer)) == ["calendar_ics"]
    assert keys(look(most)) == []


def test_archives_of_one_archive_are_read_alike_alone_and_in_a_folder(tmp_path: Path) -> None:
    packed = {}
    for name in ("Ana", "Ben"):
        book = vcard.book(vcard.plain(name), vcard.plain("Cleo"))
        held = {"contacts.vcf": book, "a.ics": ics.calendar(ics.CHOIR)}
        packed[f"{name}.zip"] = zipped(tmp_path / f"{name}.zip", held).read_bytes()
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "both.zip", tmp_path / "folder" / "both.zip"):
        zipped(path, packed)
        discovery = look(path if path.parent == tmp_path else path.parent)
        assert keys(discovery).count("contacts_vcard") == 2
        assert discovery.unknown == []


@pytest.mark.parametrize("name", ["people.vcf.txt", "Bank/2026.qbo", "Bank/2026.MTA"])
def test_names_that_browsers_and_banks_give_are_found_in_a_folder(
    name: str, tmp_path: Path
) -> None:
    people = vcard.book(vcard.plain("Ana"))
    contents = {
        "vcf": people,
        "qbo": ofx.sgml(ofx.COFFEE),
        "MTA": statements.mt940(statements.MT940_PAY),
    }
    (tmp_path / "mail.mbox").write_bytes(MBOX)
    place = tmp_path / name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(contents[name.split(".")[1]])
    assert len(keys(look(tmp_path))) == 2


def test_a_tgz_is_read_as_a_zip_is(tmp_path: Path) -> None:
    path = tmp_path / "takeout-20260101T000000Z-001.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in takeout(tmp_path).items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("Takeout/Mail/link.mbox")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    discovery = look(path)
    assert keys(discovery) == ["calendar_ics", "contacts_vcard", "mail"]
    names = {entry.name for found in discovery.exports for entry in found.tree.entries}
    assert not any("link" in name for name in names)


def test_an_archive_that_unpacks_to_far_more_than_it_is_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"{number}.json", b"[" + b" " * (2 << 20) + b"]")
    with pytest.raises(ImportRefused, match="times its size"):
        look(path)


def test_several_paths_are_shown_in_a_table_and_asked_about_once(tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "nora.ics").write_bytes(ics.calendar(ics.CHOIR))
    (folder / "people.vcf").write_bytes(vcard.book(vcard.plain("Ana")))
    (tmp_path / "odd.bin").write_bytes(b"\x00\x01")
    ended = pdpp_here(
        "import", folder, tmp_path / "odd.bin", "--yes", "--json", data=tmp_path / "home"
    )
    document = json.loads(ended.out)
    keys = sorted(report["source"]["connector_key"] for report in document["imports"])
    assert keys == ["calendar_ics", "contacts_vcard"]
    [unknown] = document["not_known"]
    assert unknown.startswith("odd.bin is not known")


def test_a_damaged_zip_stands_below_the_table_once_and_in_no_report(tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "nora.ics").write_bytes(ics.calendar(ics.CHOIR))
    (folder / "people.vcf").write_bytes(vcard.book(vcard.plain("Ana")))
    whole = zipped(tmp_path / "whole.zip", {"Takeout/Mail/All mail.mbox": MBOX * 50})
    (folder / "takeout-1.zip").write_bytes(whole.read_bytes()[:-60])
    ended = pdpp_here("import", folder, "--yes", data=tmp_path / "home")
    [row] = [line for line in (ended.out + ended.err).splitlines() if "takeout-1.zip" in line]
    assert row.startswith("Cannot be read: takeout-1.zip is a zip whose end is missing")
    assert ended.out.count("complete") == 2
    document = json.loads(
        pdpp_here("import", folder, "--yes", "--json", data=tmp_path / "home").out
    )
    [left_out] = document["not_known"]
    assert left_out.startswith("takeout-1.zip")
    for report in document["imports"]:
        assert "takeout-1" not in json.dumps(report["files"]) + json.dumps(report["skipped"])


def test_a_folder_of_nothing_but_a_damaged_zip_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    whole = zipped(tmp_path / "whole.zip", {"Takeout/Mail/All mail.mbox": MBOX * 50})
    (tmp_path / "in" / "takeout-1.zip").write_bytes(whole.read_bytes()[:-60])
    problem = pdpp_here("import", tmp_path / "in", "--yes", data=tmp_path / "home").failed()
    assert "takeout-1.zip" in problem
    assert "an archive that cannot be read" in problem
