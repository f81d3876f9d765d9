"""Exports that no source reads: they are told by name, and no other source takes them."""

from pathlib import Path

import pytest
from tests.sources.kit import Home, zipped
from tests.sources.samples import every_sample

from pdpp.sources.importing.discovery import Discovery, discover, usable_sources
from pdpp.sources.source import OwnerChoices

STRANGERS: dict[str, tuple[str, str]] = {
    "Mastodon": (
        "outbox.json",
        '{"@context": "https://www.w3.org/ns/activitystreams", "id": "outbox.json", '
        '"type": "OrderedCollection", "orderedItems": []}',
    ),
    "GitHub": (
        "issues_000001.json",
        '[{"type": "issue", "url": "https://github.com/ada/knots/issues/1", "title": "Loose"}]',
    ),
    "Trello": (
        "knots.json",
        '{"id": "1", "name": "Knots", "url": "https://trello.com/b/x/knots", "shortLink": "x"}',
    ),
    "Todoist": ("Inbox.csv", "TYPE,CONTENT,DESCRIPTION,PRIORITY,INDENT\ntask,Rope,,4,1\n"),
    "Pocket": ("part_000000.csv", "title,url,time_added,tags,status\nA,https://a.example/,1,,\n"),
    "Raindrop": ("a.csv", "id,title,note,excerpt,url,folder,tags\n1,A,,,https://a.example/,,\n"),
    "Day One": (
        "Journal.json",
        '{"metadata": {"version": "1.0"}, "entries": '
        '[{"uuid": "A", "creationDate": "2026-01-01T10:00:00Z", "text": "Fog"}]}',
    ),
    "Google Fit": (
        "run.json",
        '{"fitnessActivity": "running", "startTime": "2026-01-01T10:00:00Z", "segment": []}',
    ),
}
TALK = '<html><body><div class="hChatLog hfeed"><q>Fog at the pier</q></div></body></html>'
SENT = "BEGIN:VCARD\nVERSION:2.1\nN:Bee;Ann\nEND:VCARD\n"
OWN = (
    "BEGIN:VCARD\nVERSION:3.0\nFN:\nN:;;;;\nitem1.TEL:+15550100\n"
    "item1.X-ABLabel:Google Voice\nTEL;TYPE=CELL:+15550101\nEND:VCARD\n"
)


def look(path: Path) -> Discovery:
    sources, _ = usable_sources(None, ())
    return discover(path, OwnerChoices(), sources)


@pytest.mark.parametrize("name", STRANGERS)
@pytest.mark.parametrize("form", ["file", "folder", "zip"])
def test_an_export_that_nobody_reads_is_called_by_its_name(
    name: str, form: str, tmp_path: Path
) -> None:
    called, text = STRANGERS[name]
    path = tmp_path / "in"
    path.mkdir()
    if form == "zip":
        path = zipped(tmp_path / "in.zip", {called: text.encode()})
    else:
        (path / called).write_text(text)
    if form == "file":
        path /= called
    found = look(path)
    assert not found.exports
    [told] = found.left_out
    assert f"{called} looks like an export of {name}, which no source reads" in told


def test_a_stranger_among_the_files_of_an_export_is_named_in_its_report(tmp_path: Path) -> None:
    for called, text in [*STRANGERS.values(), ("buoy.md", "# Buoy\n")]:
        (tmp_path / called).write_text(text)
    report = Home(tmp_path.parent / "home").bring(tmp_path)
    assert report["counts"]["new"] == 1
    assert {case["reason"] for case in report["files"]["unknown"]} == {
        f"an export of {name}, which no source reads" for name in STRANGERS
    }


@pytest.mark.parametrize(
    "text",
    [
        "name,url,username,password,note\na,https://a.example/,ada,secret,\n",
        '"url","username","password","httpRealm"\n"https://a.example","ada","secret",""\n',
        "Title,URL,Username,Password,Notes,OTPAuth\na,https://a.example/,ada,secret,,\n",
        "folder,favorite,type,name,notes,login_uri,login_username,login_password\n,,login,a,,,b,c\n",
    ],
)
def test_nobody_is_told_how_to_import_passwords(text: str, tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(text)
    told = Home(tmp_path / "home").run(path, "--yes").failed()
    assert "list.csv looks like a list of passwords" in told
    assert "comes in with: pdpp import" not in told


def test_what_google_voice_wrote_is_no_address_book(tmp_path: Path) -> None:
    calls = "Takeout/Voice/Calls/+15550102 - Text - 2026-01-01T10_00_00Z"
    files = {
        "Takeout/Contacts/All Contacts/All Contacts.vcf": SENT.replace("Ann", "Bo"),
        f"{calls}.html": TALK,
        f"{calls}-5-1.vcf": SENT,
        "Takeout/Voice/Phones.vcf": OWN,
    }
    path = zipped(tmp_path / "takeout.zip", {name: text.encode() for name, text in files.items()})
    home = Home(tmp_path / "home")
    report = home.bring(path)
    assert [record["name"] for record in home.records().values()] == ["Bo Bee"]
    told = {case["reason"]: case["count"] for case in report["files"]["unknown"]}
    assert told == {
        "a file of the kind .vcf": 2,
        "an export of Google Voice, which no source reads": 1,
    }


def test_no_export_that_is_read_is_called_a_stranger(tmp_path: Path) -> None:
    for number, sample in enumerate(every_sample().values()):
        told = look(sample.folder(tmp_path / str(number))).left_out
        assert not [words for words in told if "looks like an export of" in words], sample.name
