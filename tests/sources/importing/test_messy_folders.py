"""Folders of downloads as people have them: everything is found, once, and in the right account."""

import itertools
import json
import shlex
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
from tests.sources.importing.test_loose_files import CHAT, DRAWING, photo, reports, taken
from tests.sources.kit import Home, Records, zipped
from tests.sources.samples import documents as papers
from tests.sources.samples import every_sample, forms_of
from tests.sources.samples.google import KEEP, NOTE, OVERVIEW
from tests.sources.samples.sample import FormatSample, json_bytes

from pdpp.jobs.import_run import _export
from pdpp.jobs.importing import import_order
from pdpp.model.errors import DamagedFile
from pdpp.sources.importing.discovery import Discovery, discover, usable_sources
from pdpp.sources.importing.state import ImportState
from pdpp.sources.item import START, Item
from pdpp.sources.reading import folder
from pdpp.sources.registry import load
from pdpp.sources.source import FileSource, OwnerChoices

SAMPLES = {
    name: sample
    for name, sample in every_sample().items()
    if not isinstance(load(sample.source), FileSource)
}
FIRST = {sample.source: sample for sample in reversed(SAMPLES.values())}
SAME_TIME = {
    "bank_ofx: XML of a broker",
    "gemini_cli: a document for each session",
    "google_keep: notes and lists",
    "opencode: a database",
    "whatsapp: a chat of Android",
}
"""Samples of which nothing says which month is the later one."""
PEOPLE = vcard.book(vcard.plain("Ana"))


CHAT_OF_TELEGRAM = {
    "type": "personal_chat",
    "messages": [
        {"id": 1, "type": "message", "date": "2026-01-01T10:00:00", "from": "Bo", "text": "Ahoy"}
    ],
}


def held(discovery: Discovery, source: str) -> list[tuple[str, str, int]]:
    """Return the records that the exports of a source bring in, with the number of their files."""
    items: list[tuple[str, str, int]] = []
    for found in discovery.exports:
        export = found.export
        if export.source.connector_key == source:
            for part in export.source.parts(found.tree, export.recognition):
                try:
                    read = [item for item in part.findings(START) if isinstance(item, Item)]
                except DamagedFile:
                    read = []
                items += [(item.stream, item.key, len(item.attachments)) for item in read]
    return sorted(items)


# At the very top


@pytest.mark.parametrize("name", SAMPLES)
def test_an_export_unpacked_at_the_top_hides_nothing_that_lies_beside_it(
    name: str, tmp_path: Path
) -> None:
    sample: FormatSample = SAMPLES[name]
    sample.folder(tmp_path)
    places = {
        "lease.pdf": papers.pdf("The lease"),
        "Invoices/one.pdf": papers.pdf("One"),
        "Trip/a.jpg": photo("trip"),
        "holiday.jpg": photo("holiday"),
    }
    for place, content in places.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_bytes(content)
    zipped(tmp_path / "people (1).zip", {"people.vcf": PEOPLE})
    discovery = look(tmp_path)
    assert sample.source in keys(discovery)
    assert "contacts_vcard" in keys(discovery)
    assert taken(discovery, "documents") == ["Invoices/one.pdf", "lease.pdf"]
    assert taken(discovery, "photos") == ["Trip/a.jpg", "holiday.jpg"]


NEIGHBOURS = ("signal", "claude_code", "codex", "facebook", "instagram", "opencode")


def neighbours(name: str, form: str) -> list[str]:
    """Return the sources to put beside a sample: each in turn, and in a soak all of them."""
    others = [other for other in NEIGHBOURS if other != SAMPLES[name].source]
    at = list(SAMPLES).index(name) + (len(others) // 2 if form == "top" else 0)
    return others if SOAK else [others[at % len(others)]]


@pytest.mark.parametrize(("name", "form"), forms_of(SAMPLES, "folder", "top", every=SOAK))
def test_an_export_brings_in_the_same_beside_another(name: str, form: str, tmp_path: Path) -> None:
    sample, source = SAMPLES[name], SAMPLES[name].source
    sample.folder(tmp_path / "alone" / "here" if form == "folder" else tmp_path / "alone")
    alone = held(look(tmp_path / "alone"), source)
    assert alone
    for other in neighbours(name, form):
        folder = tmp_path / f"beside {other}"
        sample.folder(folder / "here" if form == "folder" else folder)
        FIRST[other].folder(folder / "there")
        discovery = look(folder)
        assert {source, other} <= set(keys(discovery)), (other, discovery.unknown)
        if source != "whatsapp":  # It knows a chat by its folder.
            assert held(discovery, source) == alone, other


@pytest.mark.parametrize(
    "other", ["bank_ofx: SGML", "opencode: a database", "mail: an mbox of Gmail"]
)
def test_statements_of_two_months_hide_no_table_in_the_folder_around_them(
    other: str, tmp_path: Path
) -> None:
    table = SAMPLES["bank_csv: Mint, whose amounts have no sign"]
    for month, name in itertools.product("12", (table.name, other)):
        sample = SAMPLES[name]
        files = sample.earlier if month == "1" else sample.files
        sample.folder(tmp_path / "e" / "Backups" / month / sample.source, files)
    discovery = look(tmp_path / "e")
    assert keys(discovery).count("bank_csv") == 2
    assert SAMPLES[other].source in keys(discovery)


@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize(
    "beside",
    [
        *("bank_ofx: SGML", "contacts_vcard: three versions", "gpx: tracks, a route and a place"),
        *("goodreads: a library", "google_timeline: a phone with Android"),
    ],
)
def test_files_that_stand_alone_hide_no_table_and_no_note_beside_them(
    beside: str, form: str, tmp_path: Path
) -> None:
    folder = SAMPLES[beside].folder(tmp_path / "e" / "Papers")
    SAMPLES["bank_csv: Mint, whose amounts have no sign"].folder(folder)
    (folder / "todo.md").write_text("# To do\n\nBuy rope\n")
    (tmp_path / "e" / "mail.mbox").write_bytes(MBOX)
    path = tmp_path / "e"
    if form == "zip":
        files = {str(one.relative_to(path)): one for one in path.rglob("*") if one.is_file()}
        path = zipped(tmp_path / "e.zip", {name: one.read_bytes() for name, one in files.items()})
    discovery = look(path)
    source = SAMPLES[beside].source
    assert sorted(keys(discovery)) == sorted(["bank_csv", "mail", "markdown", source])
    assert discovery.unknown == []


def test_a_table_that_came_with_a_mail_is_no_statement(tmp_path: Path) -> None:
    folder = tmp_path / "e" / "com.microsoft.__Attachments"
    folder.mkdir(parents=True)
    (tmp_path / "e" / "all.mbox").write_bytes(MBOX)
    (folder / "table.csv").write_text("Date,Description,Amount\n01/31/2026,Rope,-4.50\n")
    assert keys(look(tmp_path)) == ["mail"]


def test_a_channel_saved_in_two_months_comes_in_whole_beside_other_exports(tmp_path: Path) -> None:
    channel = SAMPLES["discord: DiscordChatExporter"]
    alone, beside = Home(tmp_path / "alone"), Home(tmp_path / "beside")
    beside.seal_like(alone)
    for month, files in (("1", channel.earlier), ("2", channel.files)):
        alone.bring(channel.folder(tmp_path / "months" / month, files))
        channel.folder(tmp_path / "e" / "Backups" / month / "chats", files)
        SAMPLES["codex: lines with payloads"].folder(tmp_path / "e" / "Backups" / month / "logs")
    beside.run(tmp_path / "e", "--yes")
    records = beside.records()
    assert {key: records.get(key) for key in alone.records()} == alone.records()


def test_chats_in_folders_of_their_own_hide_no_table_beside_them(tmp_path: Path) -> None:
    place = tmp_path / "e" / "Chats"
    for number in (1, 2):
        document = {**CHAT_OF_TELEGRAM, "id": number, "name": f"Chat {number}"}
        folder = place / f"ChatExport_{number}"
        (folder / "files").mkdir(parents=True)
        (folder / "result.json").write_bytes(json_bytes(document))
        (folder / "files" / "table.md").write_text("# sent in the chat")
    SAMPLES["bank_csv: Mint, whose amounts have no sign"].folder(place)
    assert keys(look(tmp_path / "e")) == ["bank_csv", "telegram"]


def test_encrypted_chats_come_in_beside_the_archive_of_the_same_service(tmp_path: Path) -> None:
    chats = SAMPLES["facebook: chats encrypted from end to end"]
    alone = held(look(chats.folder(tmp_path / "chats")), "facebook")
    FIRST["facebook"].folder(tmp_path / "both" / "facebook-nora")
    FIRST["instagram"].folder(tmp_path / "both" / "instagram-nora")
    archive = held(look(tmp_path / "both"), "facebook")
    chats.folder(tmp_path / "both" / "chats")
    discovery = look(tmp_path / "both")
    assert keys(discovery) == ["facebook", "facebook", "instagram"]
    assert held(discovery, "facebook") == sorted([*alone, *archive])
    assert discovery.unknown == []


def test_notes_of_two_programs_in_one_folder_go_each_to_their_own(tmp_path: Path) -> None:
    FIRST["markdown"].folder(tmp_path / "a")
    FIRST["notion"].folder(tmp_path / "b")
    discovery = look(tmp_path)
    assert keys(discovery) == ["markdown", "notion"]
    assert not any("more than one thing" in words for words in discovery.left_out)
    assert held(discovery, "notion") == held(look(tmp_path / "b"), "notion")


@pytest.mark.parametrize("agent", ["claude_code", "codex"])
def test_logs_are_found_behind_many_files_of_lines_that_are_none(
    agent: str, tmp_path: Path
) -> None:
    FIRST[agent].folder(tmp_path / "alone")
    FIRST[agent].folder(tmp_path / "both" / "work")
    for number in range(30):
        (tmp_path / "both" / f"a{number:02}.jsonl").write_text('{"city": "Graz"}\n')
    discovery = look(tmp_path / "both")
    assert agent in keys(discovery)
    assert held(discovery, agent) == held(look(tmp_path / "alone"), agent) != []


# Several people


def account(sample: FormatSample, **changes: str) -> dict[str, bytes]:
    """Return the files of an export as if they were of somebody else."""
    files = dict(sample.files)
    for old, new in changes.items():
        files = {name: held.replace(old.encode(), new.encode()) for name, held in files.items()}
    return files


TWO_PEOPLE = {
    "chatgpt": ("nora@lind.example", "bo@reis.example"),
    "claude_ai": ("acc-1", "acc-2"),
    "discord": ("4242", "4343"),
    "reddit": ("nora_l", "bo_r"),
    "slack": ("T9", "T8"),
}


@pytest.mark.parametrize("source", TWO_PEOPLE)
def test_unpacked_exports_of_two_people_are_two_accounts_as_the_zips_are(
    source: str, tmp_path: Path
) -> None:
    old, new = TWO_PEOPLE[source]
    samples = [sample for sample in SAMPLES.values() if sample.source == source]
    sample = next(s for s in samples if any(old.encode() in held for held in s.files.values()))
    other = account(sample, **{old: new})
    sample.folder(tmp_path / "plain" / "exports" / "mine")
    sample.folder(tmp_path / "plain" / "exports" / "yours", other)
    zipped(tmp_path / "zips" / "mine.zip", sample.files)
    zipped(tmp_path / "zips" / "yours.zip", other)

    def identities(path: Path) -> list[str]:
        found = look(path).exports
        return sorted(f.export.recognition.identity for f in found)

    assert len(identities(tmp_path / "zips")) == 2
    assert identities(tmp_path / "plain") == identities(tmp_path / "zips")
    home = Home(tmp_path / "home")
    home.bring(tmp_path / "zips")
    before = home.records()
    again = home.bring(tmp_path / "plain")
    assert [report["counts"]["new"] for report in again["imports"]] == [0, 0]
    assert home.records() == before


def mailbox(owner: str) -> bytes:
    """Return some messages that came to an address."""
    return b"".join(
        f"From x@y Mon Jan  1 00:00:0{number} 2024\nDelivered-To: {owner}\nFrom: x@example.org\n"
        f"To: {owner}\nSubject: One\nMessage-ID: <{number}.{owner}>\n\nHello\n\n".encode()
        for number in range(4)
    )


@pytest.mark.parametrize(
    "boxes",
    [
        {"anna.mbox": "anna@x.org", "ben@x.org (1).mbox": "ben@x.org"},
        {"a/Inbox.mbox": "anna@x.org", "b/Inbox.mbox": "ben@x.org"},
        {"a/INBOX.mbox/mbox": "anna@x.org", "b/INBOX.mbox/mbox": "ben@x.org"},
        {
            "Anna/Takeout/Mail/All mail.mbox": "anna@x.org",
            "Ben/Takeout/Mail/All mail.mbox": "ben@x.org",
            "Ben/Takeout/Mail/Sent.mbox": "ben@x.org",
        },
        {
            "takeout-20240301T101010Z-001/Takeout/Mail/All mail.mbox": "anna@x.org",
            "ben mail/Ben.mbox": "ben@x.org",
        },
        {"Takeout/Mail/Inbox.mbox": "anna@x.org", "old mail.mbox": "ben@x.org"},
        {
            "Takeout/Mail/Inbox.mbox": "anna@x.org",
            "Takeout 2/Mail/Inbox.mbox": "anna@x.org",
            "Profile/Inbox": "ben@x.org",
            "Profile/Shopping.sbd/Orders": "ben@x.org",
        },
        {"Takeout/Mail/A.mbox": "anna@x.org", "ben.mbox": "ben@x.org", "cem.mbox": "cem@x.org"},
    ],
    ids=[
        "files",
        "folders",
        "folders of Apple Mail",
        "takeouts",
        "takeout and mailbox",
        "takeout and mailbox of any name",
        "months of a takeout and a profile",
        "takeout and mailboxes of two",
    ],
)
def test_mailboxes_of_two_people_in_one_folder_are_two_accounts(
    boxes: dict[str, str], tmp_path: Path
) -> None:
    lay(tmp_path, boxes)
    owners = {
        found.export.recognition.identity: {boxes[entry.name] for entry in found.tree.entries}
        for found in look(tmp_path).exports
    }
    assert owners == {owner: {owner} for owner in boxes.values()}


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("form", ["folder", "zip"])
@pytest.mark.parametrize(
    "boxes",
    [
        {"anna.mbox": "anna@x.org", "ben.mbox": "ben@x.org", "c/Inbox.mbox": "cem@x.org"},
        {
            "Takeout/Mail/All.mbox": "anna@x.org",
            "b/Takeout/Mail/All.mbox": "ben@x.org",
            "c/Inbox.mbox": "cem@x.org",
        },
    ],
    ids=["boxes", "takeouts"],
)
def test_who_goes_on_with_an_import_reads_the_mail_of_the_same_person(
    boxes: dict[str, str], form: str, chosen: bool, tmp_path: Path
) -> None:
    lay(tmp_path / "in", boxes)
    if form == "zip":
        files = {name: (tmp_path / "in" / name).read_bytes() for name in boxes}
        zipped(tmp_path / "zips" / "mail.zip", files)
    within = tmp_path / {"folder": "in", "zip": "zips"}[form]
    sources, _ = usable_sources("mail" if chosen else None, ())
    choices = OwnerChoices(chosen=chosen)
    found = discover(within, choices, sources, loose=not chosen).exports
    assert len(found) == 3
    with closing(open_store(tmp_path / "home")) as store:
        state = ImportState(tmp_path / "home")
        orders = [
            import_order(one.tree.path, "mail", within=within, chosen=chosen) for one in found
        ]
        again = [_export(store, state, choices, order.parameters) for order in orders]
    for one, (tree, export) in zip(found, again, strict=True):
        assert tree.entries == one.tree.entries
        assert export.recognition.identity == one.export.recognition.identity


@pytest.mark.parametrize(
    "boxes",
    [
        {"Takeout/Mail/Inbox.mbox": "anna@x.org", "Takeout/Mail/Shopping.mbox": "shop@x.org"},
        {"Inbox": "anna@x.org", "Shopping.sbd/Orders": "shop@x.org"},
        {"INBOX.mbox/mbox": "anna@x.org", "Shopping.mbox/mbox": "shop@x.org"},
        {"2023/Inbox.mbox": "anna@x.org", "2024/Inbox.mbox": "anna@x.org"},
    ],
    ids=["labels", "folders", "folders of Apple Mail", "years"],
)
def test_the_sorted_mail_of_one_person_stays_one_account(
    boxes: dict[str, str], tmp_path: Path
) -> None:
    lay(tmp_path, boxes)
    (found,) = look(tmp_path).exports
    assert found.export.recognition.identity == "anna@x.org"
    assert {entry.name for entry in found.tree.entries} == boxes.keys()


def lay(folder: Path, boxes: dict[str, str]) -> None:
    """Write mailboxes, each of an owner."""
    for name, owner in boxes.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(mailbox(owner))


def test_an_export_at_the_top_and_another_persons_in_a_folder_are_two(tmp_path: Path) -> None:
    sample, (old, new) = FIRST["chatgpt"], TWO_PEOPLE["chatgpt"]
    sample.folder(tmp_path)
    sample.folder(tmp_path / "yours", account(sample, **{old: new}))
    found = look(tmp_path).exports
    assert sorted(f.export.recognition.identity for f in found) == sorted([old, new])


def test_months_of_one_account_unpacked_beside_each_other_stay_one_export(tmp_path: Path) -> None:
    sample = FIRST["chatgpt"]
    for month in ("July", "August (1)"):
        sample.folder(tmp_path / month)
    assert keys(look(tmp_path)) == ["chatgpt"]


def test_the_user_of_another_service_is_not_the_owner_of_conversations(tmp_path: Path) -> None:
    FIRST["discord"].folder(tmp_path / "a")
    FIRST["chatgpt"].folder(tmp_path / "b" / "c" / "d")
    FIRST["claude_ai"].folder(tmp_path / "e")
    FIRST["slack"].folder(tmp_path / "f" / "g")
    found = {f.export.source.connector_key: f.export.recognition for f in look(tmp_path).exports}
    for source in ("discord", "chatgpt", "claude_ai", "slack"):
        [alone] = look(FIRST[source].folder(tmp_path / "alone" / source)).exports
        assert found[source].identity == alone.export.recognition.identity


MONTHLY = {n: sample for n, sample in SAMPLES.items() if sample.earlier and n not in SAME_TIME}
FIRST_MONTHLY = {sample.source: name for name, sample in reversed(MONTHLY.items())}
"""A layout of each format; in a soak it is every layout."""


@pytest.mark.parametrize("name", MONTHLY if SOAK else sorted(FIRST_MONTHLY.values()))
def test_months_beside_each_other_come_to_the_same_in_any_order(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    assert sample.earlier
    step_by_step = Home(tmp_path / "steps")
    sample.folder(tmp_path / "new first" / "a")
    sample.folder(tmp_path / "new first" / "b", sample.earlier)
    sample.folder(tmp_path / "old first" / "a", sample.earlier)
    sample.folder(tmp_path / "old first" / "b")
    for month in ("old first/a", "old first/b"):
        step_by_step.bring(tmp_path / month, *sample.options)
    accounts = len(open_store(step_by_step.data).catalogue().connections)
    for order in ("new first", "old first"):
        home = Home(tmp_path / f"home of {order}")
        home.seal_like(step_by_step)
        home.bring(tmp_path / order, *sample.options)
        assert unplaced(home.records()) == unplaced(step_by_step.records()), order
        assert len(open_store(home.data).catalogue().connections) == accounts


def unplaced(records: Records) -> Records:
    """Return records without their folder: mailboxes beside each other are called by it."""
    return {
        key: {name: value for name, value in data.items() if name != "folder"}
        for key, data in records.items()
    }


# Takeouts in parts


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_a_file_of_a_note_that_came_in_another_part_of_the_takeout_is_kept(
    form: str, tmp_path: Path
) -> None:
    note = {**NOTE, "attachments": [{"filePath": "pic.jpg", "mimetype": "image/jpeg"}]}
    parts: dict[str, dict[str, bytes]] = {
        "001": {f"{KEEP}/Boat.json": json_bytes(note), "Takeout/Mail/All mail.mbox": MBOX},
        "002": {f"{KEEP}/pic.jpg": photo("a note's")},
    }
    for number, files in parts.items():
        zipped(tmp_path / "in" / f"takeout-20260101T000000Z-{number}.zip", files)
    if form == "folder":
        for path in list((tmp_path / "in").iterdir()):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(path.with_suffix(""))
            path.unlink()
    discovery = look(tmp_path / "in")
    assert keys(discovery) == ["google_keep", "mail"]
    home = Home(tmp_path / "home")
    report = reports(home, tmp_path / "in")["google_keep"]
    assert report["skipped"] == []
    assert report["files"]["unknown"] == []
    assert [stream for stream, _ in home.records()].count("attachments") == 1


@pytest.mark.parametrize(
    "form", ["named one by one", "unpacked as Takeout", "unpacked under its name"]
)
def test_pieces_of_a_takeout_are_one_export_however_they_lie(form: str, tmp_path: Path) -> None:
    note = {**NOTE, "attachments": [{"filePath": "pic.jpg", "mimetype": "image/jpeg"}]}
    first = {f"{KEEP}/Boat.json": json_bytes(note), "Takeout/archive_browser.html": OVERVIEW}
    second = {f"{KEEP}/pic.jpg": photo("a note's"), "Takeout/Mail/All mail.mbox": MBOX}
    folder, name = tmp_path / "in", "takeout-20260101T000000Z"
    paths = [folder]
    if form == "named one by one":
        paths = [
            zipped(folder / f"{name}-001.zip", first),
            zipped(folder / f"{name}-002.zip", second),
        ]
        zipped(folder / "people.zip", {"people.vcf": PEOPLE})
    else:
        around = folder if form == "unpacked as Takeout" else folder / f"{name}-001"
        FIRST["google_keep"].folder(around, first)
        zipped(folder / f"{name}-002.zip", second)
    ended = pdpp_here("import", *paths, "--yes", "--json", data=tmp_path / "home")
    imports = json.loads(ended.out)["imports"]
    found = {report["source"]["connector_key"]: report for report in imports}
    assert found.keys() == {"google_keep", "mail"}
    assert found["google_keep"]["skipped"] == []
    assert found["google_keep"]["connection"]["display_name"].endswith("(nora.lind@gmail.example)")
    assert [s for s, _ in Home(tmp_path / "home").records()].count("attachments") == 1


@pytest.mark.parametrize("page", ["archive_browser.html", "Archiv_Übersicht.html"])
def test_a_takeout_says_whose_it_is_in_any_language(page: str, tmp_path: Path) -> None:
    files = {f"{KEEP}/Boat.json": json_bytes(NOTE), f"Takeout/{page}": OVERVIEW}
    zipped(tmp_path / "in" / "takeout-20260101T000000Z-001.zip", files)
    [found] = look(tmp_path / "in").exports
    assert found.export.recognition.identity == "nora.lind@gmail.example"
    report = reports(Home(tmp_path / "home"), tmp_path / "in")["google_keep"]
    assert report["files"]["unknown"] == []


def test_a_takeout_beside_another_one_that_is_packed_stays_apart(tmp_path: Path) -> None:
    mine = {f"{KEEP}/Boat.json": json_bytes(NOTE), "Takeout/archive_browser.html": OVERVIEW}
    FIRST["google_keep"].folder(tmp_path, mine)
    theirs = {**mine, "Takeout/archive_browser.html": OVERVIEW.replace(b"nora.lind@", b"ben.lind@")}
    zipped(tmp_path / "takeout-20260101T000000Z-001.zip", theirs)
    owners = [found.export.recognition.identity for found in look(tmp_path).exports]
    assert sorted(owners) == ["ben.lind@gmail.example", "nora.lind@gmail.example"]


# Notes


@pytest.mark.parametrize("settings", [".obsidian/app.json", "plan.txt"])
def test_a_note_is_the_same_note_zipped_unzipped_and_inside_a_folder(
    settings: str, tmp_path: Path
) -> None:
    notes = {
        "Moon.md": b"# Moon\n![[mole.png]]",
        "harbour/Tides.md": b"High.",
        "pics/mole.png": DRAWING,
        settings: b"{}",
    }
    downloads = tmp_path / "Downloads"
    sample = FIRST["markdown"]
    sample.folder(tmp_path / "Sea", notes)
    inner = {f"Sea/{name}": content for name, content in notes.items()}
    zipped(downloads / "Sea (1).zip", {**inner, "__MACOSX/Sea/._Moon.md": b"\x00"})
    (downloads / "people.vcf").write_bytes(PEOPLE)
    home = Home(tmp_path / "home")
    first = home.bring(tmp_path / "Sea")
    before = home.records()
    assert {stream for stream, _ in before} == {"notes", "attachments"}
    assert home.bring(downloads / "Sea (1).zip")["counts"]["new"] == 0
    again = reports(home, downloads)["markdown"]
    assert (again["counts"]["new"], again["counts"]["changed"]) == (0, 0)
    assert again["connection"] == first["connection"]
    if settings.startswith("."):
        sample.folder(downloads / "old" / "Sea", notes)
        (downloads / "readme.md").write_text("Other")
        found = look(downloads).exports
        assert [f.export.source.connector_key for f in found].count("markdown") == 3
        home.bring(downloads)
    new = home.records().keys() - before.keys() - {k for k in home.records() if k[0] == "contacts"}
    assert len([key for key in new if key[0] == "notes"]) == settings.startswith(".")


# Pictures


def test_pictures_without_a_cameras_time_are_told_with_the_command_that_takes_them(
    tmp_path: Path,
) -> None:
    places = {
        "Downloads/people.vcf": PEOPLE,
        "Downloads/My screens/a.png": DRAWING,
        "Downloads/My screens/b.png": DRAWING + b"b",
        "Downloads/holiday.jpg": photo("holiday"),
        "Downloads/chat/_chat.txt": CHAT.encode(),
        "Downloads/chat/00000035-PHOTO-2026-09-19-09-52-11.jpg": DRAWING + b"c",
    }
    for place, content in places.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / place).write_bytes(content)
    ended = pdpp_here("import", tmp_path / "Downloads", "--yes", data=tmp_path / "home")
    [line] = [line for line in ended.err.splitlines() if "camera's time" in line]
    words, _, command = line.partition(". Import with: ")
    assert words == (
        "Not known: Downloads also holds 2 pictures without a camera's time: "
        "My screens/a.png, My screens/b.png"
    )
    assert shlex.split(command)[0] == "pdpp"
    told = pdpp_here(*shlex.split(command)[1:], "--yes", "--json", data=tmp_path / "home")
    assert json.loads(told.out)["counts"]["new"] == 2


def test_many_links_are_one_line_below_the_table(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for number in range(40):
        (tmp_path / "in" / f"link {number:02}").symlink_to(tmp_path)
    (tmp_path / "in" / "people.vcf").write_bytes(PEOPLE)
    (tmp_path / "in" / "All mail.mbox").write_bytes(MBOX)
    ended = pdpp_here("import", tmp_path / "in", "--yes", data=tmp_path / "home")
    lines = ended.err.splitlines()
    assert "Left out, a link to another place: link 00, link 01, link 02 and 37 more" in lines


def test_what_nobody_knows_is_told_once_before_anything_is_imported(tmp_path: Path) -> None:
    strange = {f"game/level{number}.dat": b"x" for number in range(3)}
    places = {"people.vcf": PEOPLE, "All mail.mbox": MBOX, "setup.exe": b"MZ", **strange}
    zipped(tmp_path / "in" / "chat.zip", {"_chat.txt": CHAT.encode()})
    for place, content in places.items():
        (tmp_path / "in" / place).parent.mkdir(exist_ok=True)
        (tmp_path / "in" / place).write_bytes(content)
    ended = pdpp_here("import", tmp_path / "in", "--yes", data=tmp_path / "home")
    assert (
        "Not known: in also holds 4 files that no source reads: game/level0.dat, game/level1.dat, "
        "game/level2.dat and more (3 .dat, 1 .exe)"
    ) in ended.err.splitlines()
    assert "files not known" not in ended.out


def test_what_nobody_knows_in_a_zip_of_several_exports_is_told_once(tmp_path: Path) -> None:
    files = {"people.vcf": PEOPLE, "All mail.mbox": MBOX, "setup.exe": b"MZ", "in/a.dat": b"x"}
    path = zipped(tmp_path / "in.zip", files)
    ended = pdpp_here("import", path, "--yes", data=tmp_path / "home")
    words = "Not known: in.zip also holds 2 files that no source reads: in/a.dat, setup.exe"
    assert words in ended.err.splitlines()
    assert "files not known" not in ended.out


@pytest.mark.parametrize("name", ["node_modules", "site-packages", "bower_components"])
def test_what_installers_fill_is_left_out_unless_it_is_named(name: str, tmp_path: Path) -> None:
    inside = tmp_path / "in" / "project" / name
    (inside / "left-pad").mkdir(parents=True)
    (inside / "left-pad" / "README.md").write_text("# Pads")
    (inside / "left-pad" / "logo.jpg").write_bytes(photo("logo"))
    (tmp_path / "in" / "people.vcf").write_bytes(PEOPLE)
    (tmp_path / "in" / "All mail.mbox").write_bytes(MBOX)
    discovery = look(tmp_path / "in")
    assert keys(discovery) == ["contacts_vcard", "mail"]
    reason = "a folder of parts that programs are built from"
    assert discovery.left_out == [f"project/{name} ({reason})"]
    assert keys(look(inside)) == ["markdown", "photos"]


# Archives as attachments


@pytest.mark.parametrize("form", ["zip", "zip in a folder", "folder", "folder in a folder"])
def test_an_archive_that_was_sent_in_a_chat_is_kept_with_its_message(
    form: str, tmp_path: Path
) -> None:
    sample = FIRST["telegram"]
    document = json.loads(sample.files["result.json"])
    chat = next(chat for chat in document["chats"]["list"] if chat.get("messages"))
    said = {"id": 990, "type": "message", "date": "2026-01-01T10:00:00", "from": "Ana", "text": "x"}
    chat["messages"].append({**said, "file": "files/plans.zip", "mime_type": "application/zip"})
    plans = zipped(tmp_path / "plans.zip", {"a.txt": b"a", "b.txt": b"b"}).read_bytes()
    files = {**sample.files, "result.json": json_bytes(document), "files/plans.zip": plans}
    path = tmp_path / "in"
    if form.startswith("zip"):
        archive = zipped(path / "chats.zip", files)
        path = archive if form == "zip" else path
    else:
        sample.folder(path if form == "folder" else path / "chats", files)
    discovery = look(path)
    assert discovery.left_out == []
    home = Home(tmp_path / "home")
    report = home.bring(path)
    before = home.bring(zipped(tmp_path / "before.zip", sample.files))
    missing = "a file that is not in the export"
    told = {case["reason"]: case["count"] for case in report["skipped"]}
    assert told[missing] == {c["reason"]: c["count"] for c in before["skipped"]}[missing]
    media = [data for (stream, _), data in home.records().items() if stream == "media"]
    kept = [value for data in media for value in data.values() if isinstance(value, dict)]
    assert len(plans) in [blob["size_bytes"] for blob in kept]
    assert not any(".zip" in case["reason"] for case in report["files"]["unknown"])


# What cannot be read, and what is left


def test_an_archive_with_a_password_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    path = zipped(tmp_path / "secret.zip", {f"{number}.json": b"{}" for number in range(50)})
    _encrypt(path)
    zipped(tmp_path / "people.zip", {"people.vcf": PEOPLE})
    discovery = look(tmp_path)
    assert keys(discovery) == ["contacts_vcard"]
    [words] = discovery.left_out
    assert words.startswith("secret.zip: none of its 50 files can be read (encrypted)")


def test_archives_that_are_not_opened_and_unfinished_downloads_stand_in_the_table(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "in"
    whole = zipped(tmp_path / "whole.zip", {"people.vcf": PEOPLE}).read_bytes()
    places = {
        "people/people.vcf": PEOPLE,
        "people/old.7z": b"7z",
        "facebook.7z": b"7z\xbc\xaf",
        "box.mbox.gz": b"\x1f\x8b",
        "big.zip.001": whole[:99],
        "big.zip.002": whole[99:],
        "empty.zip": b"",
        "Unconfirmed 12.crdownload": whole[:99],
        "sub/All mail.mbox.part": MBOX[:99],
        "conversations.json.download/Info.plist": b"<plist/>",
        "conversations.json.download/conversations.json": b'[{"mapping": {',
    }
    FIRST["chatgpt"].folder(folder, places)
    discovery = look(folder)
    assert keys(discovery) == ["contacts_vcard"]
    told = {words.partition(":")[0].partition(" (")[0]: words for words in discovery.left_out}
    assert told.keys() == {
        "Unconfirmed 12.crdownload",
        "big.zip.001",
        "big.zip.002",
        "box.mbox.gz",
        "conversations.json.download",
        "empty.zip",
        "facebook.7z",
        "sub/All mail.mbox.part",
    }
    assert "unpack it and import the folder" in told["facebook.7z"]
    assert "put the pieces together" in told["big.zip.001"]
    assert "a download that is not finished" in told["sub/All mail.mbox.part"]
    [report] = reports(Home(tmp_path / "home"), folder).values()
    assert [case["examples"] for case in report["files"]["unknown"]] == [["people/old.7z"]]


@pytest.mark.parametrize("name", ["facebook.7z", "big.zip.001", "empty.zip", "x.zip.part"])
def test_one_path_that_cannot_be_read_costs_none_of_the_others(name: str, tmp_path: Path) -> None:
    whole = zipped(tmp_path / "whole.zip", {"people.vcf": PEOPLE}).read_bytes()
    (tmp_path / name).write_bytes(b"" if name == "empty.zip" else whole[:99])
    (tmp_path / "cut.zip").write_bytes(whole[:-30])
    people = tmp_path / "people.vcf"
    people.write_bytes(PEOPLE)
    alone = pdpp_here("import", tmp_path / name, "--yes", data=tmp_path / "home")
    assert (alone.code, alone.out) == (1, "")
    assert "Known are" not in alone.err
    paths = (tmp_path / name, people, tmp_path / "cut.zip")
    ended = pdpp_here("import", *paths, "--yes", data=tmp_path / "home")
    assert ended.code == 1, "of two of the paths nothing came in"
    assert "1 new" in ended.out
    below = ("Cannot be read: ", "Left out, ")
    rows = [line for line in ended.err.splitlines() if line.startswith(below)]
    assert len(rows) == 2
    assert name in rows[0] + rows[1]


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_a_file_that_cannot_be_read_costs_none_of_the_others(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = FIRST["chatgpt"]
    broken = {"shared_conversations.json": b'{"a": "' + bytes(range(256)) * 9 + b'"}'}
    path = zipped(tmp_path / "in" / "export.zip", {**broken, **sample.files})
    content = path.read_bytes()
    if form == "zip":
        path.write_bytes(content[:60] + bytes(60) + content[120:])
    else:
        path.unlink()
        sample.folder(tmp_path / "in", {**broken, **sample.files, "people.vcf": PEOPLE})
        _lock(tmp_path / "in" / "shared_conversations.json", monkeypatch)
    discovery = look(tmp_path / "in")
    assert "chatgpt" in keys(discovery)
    alone = held(look(sample.folder(tmp_path / "alone")), "chatgpt")
    assert held(discovery, "chatgpt") == alone
    told = [words for words in discovery.unknown if "shared_conversations.json" in words]
    assert len(told) == 1
    assert "cannot be read" in told[0]
    report = reports(Home(tmp_path / "home"), tmp_path / "in")["chatgpt"]
    assert report["status"] == "incomplete", "a mirror deletes nothing after it"
    assert "a file that cannot be read" in [case["reason"] for case in report["skipped"]]


def test_an_archive_that_nobody_may_open_is_told_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "people.vcf").write_bytes(PEOPLE)
    _lock(zipped(tmp_path / "mine.zip", {"people.vcf": PEOPLE}), monkeypatch)
    discovery = look(tmp_path)
    assert keys(discovery) == ["contacts_vcard"]
    [words] = discovery.left_out
    assert words.startswith("mine.zip: ")


def _lock(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file one that may not be opened, also for a user who may open all files."""
    opened = folder._open_file

    def open_file(place: Path) -> Any:
        if place == path.resolve():
            raise PermissionError(13, "Permission denied", str(place))
        return opened(place)

    monkeypatch.setattr(folder, "_open_file", open_file)


def test_what_may_not_be_read_in_an_archive_is_told_with_that_archive(tmp_path: Path) -> None:
    zipped(tmp_path / "a.zip", {"people.vcf": PEOPLE, "../outside.txt": b"x"})
    zipped(tmp_path / "b.zip", {"Takeout/Mail/All mail.mbox": MBOX})
    refused = {
        found.export.source.connector_key: [skip.example for skip in found.tree.refused]
        for found in look(tmp_path).exports
    }
    assert refused == {"contacts_vcard": ["a.zip/../outside.txt"], "mail": []}


def test_what_lies_outside_the_folder_of_the_only_export_is_told(tmp_path: Path) -> None:
    FIRST["facebook"].folder(tmp_path / "facebook-nora")
    (tmp_path / "savegame.xyz").write_bytes(b"\x00\x01")
    (tmp_path / "loop").symlink_to(tmp_path)
    discovery = look(tmp_path)
    assert keys(discovery) == ["facebook"]
    told = " ".join(discovery.left_out)
    assert "savegame.xyz" in told
    assert "loop (a link to another place)" in told


def test_an_export_that_cannot_be_read_is_told_beside_one_that_can(tmp_path: Path) -> None:
    (tmp_path / "people.vcf").write_bytes(PEOPLE)
    (tmp_path / "signal-2026-01-01.backup").write_bytes(b"\x00\x01")
    [words] = look(tmp_path).unknown
    assert "an encrypted backup of Signal" in words


def test_archives_of_windows_and_of_macs_have_the_names_they_unpack_to(tmp_path: Path) -> None:
    files: dict[str, bytes] = {"Takeout\\Mail\\All mail.mbox": MBOX, "Takeout\\Mail\\": b""}
    zipped(tmp_path / "windows.zip", files)
    [mail] = look(tmp_path / "windows.zip").exports
    assert [entry.name for entry in mail.tree.entries] == ["Takeout/Mail/All mail.mbox"]
    path = zipped(tmp_path / "mac.zip", {"Müller/Müller.vcf": PEOPLE})
    _clear_flags(path)
    [people] = look(path).exports
    assert [entry.name for entry in people.tree.entries] == ["Müller/Müller.vcf"]


def _flags(path: Path) -> Any:
    """Yield the content of a zip and each place in it where the flags of an entry stand."""
    content = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.find(mark)
        while place >= 0:
            yield content, place + at
            place = content.find(mark, place + 1)
    path.write_bytes(content)


def _encrypt(path: Path) -> None:
    for content, place in _flags(path):
        content[place] |= 1


def _clear_flags(path: Path) -> None:
    for content, place in _flags(path):
        content[place + 1] &= ~0x08
