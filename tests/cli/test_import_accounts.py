"""Whose export it is: asked once where the data does not say, and remembered."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.shell import DEADLINE_SECONDS, pdpp_here
from tests.cli.test_demo import in_terminal, read_until
from tests.sources.kit import Home, zipped


def newsletters(path: Path, *subjects: str) -> Path:
    """Write a mailbox whose messages tell nothing of their owner."""
    messages = [
        f"From a@example.org Mon Feb  2 10:00:00 2026\nMessage-ID: <{subject}@example.org>\n"
        f"Date: Mon, 2 Feb 2026 10:00:00 +0000\nFrom: {subject}@example.org\n"
        f"To: list-{subject}@example.org\nSubject: {subject}\n\nWords\n\n"
        for subject in subjects
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(messages))
    return path


def calendar(path: Path, *uids: str, name: str = "Nora", id: str = "") -> Path:
    """Write a calendar with an event for each uid."""
    known = f"X-WR-RELCALID:{id}\n" if id else ""
    events = "".join(
        f"BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260201T100000Z\nDTSTART:20260202T100000Z\n"
        f"SUMMARY:{uid}\nEND:VEVENT\n"
        for uid in uids
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    head = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//T//C//EN\nX-WR-CALNAME:{name}\n{known}"
    path.write_text(f"{head}{events}END:VCALENDAR\n")
    return path


def account_of(report: dict[str, dict[str, str]]) -> tuple[str, str]:
    connection = report["connection"]
    return connection["connection_id"], connection["display_name"]


def test_a_script_says_whose_mailbox_it_is_and_the_next_one_goes_there(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "data")
    box = newsletters(tmp_path / "old.mbox", "one", "two")
    first = home.bring(box, "--account", "Nora@example.org")
    assert account_of(first)[1] == "Mail (Nora@example.org)"
    # The same name again, with nothing in common and nobody to ask.
    newsletters(box, "three", "four")
    assert account_of(home.bring(box)) == account_of(first)
    # Another name: the same owner is said again.
    other = newsletters(tmp_path / "other.mbox", "five")
    assert account_of(home.bring(other, "--account", "nora@example.org")) == account_of(first)


def test_whose_a_file_is_says_nothing_of_another_of_the_same_name(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    noras = people(tmp_path / "noras" / "contacts.vcf", "one", "two")
    first = home.bring(noras, "--account", "Nora")
    other = home.bring(people(tmp_path / "bens" / "contacts.vcf", "three", "four"))
    assert account_of(other)[0] != account_of(first)[0]
    assert "nothing in it says whose it is" in other["notes"][-1]
    again = home.bring(people(noras, "five"))
    assert account_of(again) == account_of(first)
    assert "it is of Nora, as you said of such a file before" in again["notes"][-1]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_person_is_asked_once(tmp_path: Path) -> None:
    data, box = tmp_path / "data", newsletters(tmp_path / "box.mbox", "one", "two")
    with in_terminal("import", str(box), "--data", str(data)) as (process, terminal):
        shown = read_until(terminal, "Its owner's address")
        assert "box.mbox does not say whose mail it holds" in shown
        os.write(terminal, b"nora@example.org\n")
        read_until(terminal, "Import it?")
        os.write(terminal, b"y\n")
        read_until(terminal, "\0")
        assert process.wait(DEADLINE_SECONDS) == 0
    newsletters(box, "three", "four")
    with in_terminal("import", str(box), "--data", str(data)) as (process, terminal):
        shown = read_until(terminal, "Import it?")
        assert "Its owner's address" not in shown
        os.write(terminal, b"y\n")
        read_until(terminal, "\0")
        assert process.wait(DEADLINE_SECONDS) == 0
    listed = pdpp_here("connection", "list", "--json", data=data).document["connections"]
    assert [account["display_name"] for account in listed] == ["Mail (nora@example.org)"]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_yes_is_no_name_of_an_account(tmp_path: Path) -> None:
    data, box = tmp_path / "data", newsletters(tmp_path / "box.mbox", "one", "two")
    with in_terminal("import", str(box), "--data", str(data)) as (process, terminal):
        read_until(terminal, "Its owner's address")
        os.write(terminal, b"n\n")
        again = "'n' names no account: write a name, or press Enter.\r\nIts owner's address"
        read_until(terminal, again)
        os.write(terminal, b"\n")
        read_until(terminal, "Import it?")
        os.write(terminal, b"y\n")
        read_until(terminal, "\0")
        assert process.wait(DEADLINE_SECONDS) == 0
    listed = pdpp_here("connection", "list", "--json", data=data).document["connections"]
    assert [account["display_name"] for account in listed] == ["Mail (box)"]


@pytest.mark.parametrize("said", ["giro", "Bank (Giro)"])
def test_an_account_is_found_by_its_whole_name_and_by_what_stands_in_brackets(
    said: str, tmp_path: Path
) -> None:
    home, row = Home(tmp_path / "data"), "Date,Description,Amount\n2026-0{0}-0{0},Tea {0},-3.00\n"
    (tmp_path / "giro.csv").write_text(row.format(1) + "2026-01-03,Bread,-4.00\n")
    (tmp_path / "more.csv").write_text(row.format(2) + "2026-02-03,Oil,-5.00\n")
    first = home.bring(tmp_path / "giro.csv")
    assert account_of(first)[1] == "Bank (giro)"
    assert account_of(home.bring(tmp_path / "more.csv", "--account", said)) == account_of(first)


def test_an_export_that_says_whose_it_is_names_the_account_for_one_that_does_not(
    tmp_path: Path,
) -> None:
    mapping = {
        "r": {"id": "r", "message": None, "parent": None, "children": ["m"]},
        "m": {
            "id": "m",
            "parent": "r",
            "children": [],
            "message": {
                "id": "m",
                "author": {"role": "user"},
                "create_time": 1.7e9,
                "content": {"content_type": "text", "parts": ["How is rope made?"]},
            },
        },
    }
    chat = {"id": "c", "title": "Ropes", "create_time": 1.7e9, "mapping": mapping}
    chats = json.dumps([chat | {"update_time": 1.7e9, "current_node": "m"}])
    owner = json.dumps({"id": "user-1", "email": "nora@lind.example"})
    zipped(tmp_path / "in" / "0 whose.zip", {"conversations.json": chats.encode()})
    named = {"conversations.json": chats.encode(), "user.json": owner.encode()}
    zipped(tmp_path / "in" / "1 noras.zip", named)
    ended = pdpp_here("import", tmp_path / "in", "--yes", data=tmp_path / "data")
    assert ended.code == 0, ended.err
    listed = pdpp_here("connection", "list", "--json", data=tmp_path / "data").document
    names = [account["display_name"] for account in listed["connections"]]
    assert names == ["ChatGPT (nora@lind.example)"]


def test_a_calendar_is_known_by_its_id_whatever_it_and_its_file_are_called(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "data")
    first = home.bring(calendar(tmp_path / "a.ics", "one", id="cal-1"))
    renamed = calendar(tmp_path / "b.ics", "two", name="Work", id="cal-1")
    assert account_of(home.bring(renamed)) == account_of(first)
    other = calendar(tmp_path / "c.ics", "one", id="cal-2")
    assert account_of(home.bring(other)) != account_of(first)


def test_a_folder_of_calendars_under_another_name_is_the_same_account(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    for folder in ("Takeout", "Takeout 2"):
        calendar(tmp_path / folder / "work.ics", "one", name="Work")
        calendar(tmp_path / folder / "home.ics", "two", name="Home")
    reports = [home.bring(tmp_path / folder) for folder in ("Takeout", "Takeout 2")]
    assert account_of(reports[0]) == account_of(reports[1])
    assert reports[1]["counts"]["new"] == 0


def people(path: Path, *names: str) -> Path:
    cards = (f"BEGIN:VCARD\nVERSION:3.0\nFN:{name}\nEND:VCARD\n" for name in names)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(cards))
    return path


def notes(folder: Path, *names: str) -> Path:
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "app.json").write_text("{}")
    for name in names:
        (folder / f"{name}.md").write_text(f"# {name}\n\nWords about {name}\n")
    return folder


def texts(path: Path, *numbers: str) -> Path:
    rows = "".join(
        f'<sms address="{number}" date="1767261600000" type="1" body="Hello {number}" />'
        for number in numbers
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"<?xml version='1.0'?><smses count='{len(numbers)}'>{rows}</smses>")
    return path


@pytest.mark.parametrize(
    ("write", "name"),
    [(people, "contacts.vcf"), (notes, "vault"), (texts, "sms.xml"), (newsletters, "box.mbox")],
)
def test_what_two_people_export_without_a_name_are_two_accounts(
    write: Callable[..., Path], name: str, tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    first = home.bring(write(tmp_path / "noras" / name, "one", "two"))
    second = home.bring(write(tmp_path / "bens" / name, "three", "four"))
    assert account_of(second)[0] != account_of(first)[0]
    assert account_of(second)[1] != account_of(first)[1]
    assert "nothing in it says whose it is" in second["notes"][-1]
    # What both hold already goes to whose it is, from wherever it comes.
    for report, words in ((first, ("one", "two", "five")), (second, ("three", "four", "six"))):
        again = home.bring(write(tmp_path / "".join(words) / name, *words))
        assert account_of(again) == account_of(report)
        assert again["counts"]["new"] == 1


def watched(path: Path, newest: int, oldest: int = 0) -> Path:
    """Write what somebody watched as Google does: the newest first, and not whose it is."""
    entries = [
        {
            "header": "YouTube",
            "title": f"Watched clip {number}",
            "titleUrl": f"https://www.youtube.com/watch?v=v{number}",
            "time": f"2026-01-{1 + number // 86_400:02}T{number // 3600 % 24:02}:"
            f"{number // 60 % 60:02}:{number % 60:02}Z",
            "products": ["YouTube"],
        }
        for number in range(newest, oldest, -1)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(entries))
    return path


def test_a_later_export_that_begins_with_what_is_new_is_of_the_same_account(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "data")
    first = home.bring(watched(tmp_path / "January" / "watch-history.json", 500))
    later = home.bring(watched(tmp_path / "February" / "watch-history (1).json", 1_500))
    assert account_of(later) == account_of(first)
    assert (later["counts"]["new"], later["counts"]["unchanged"]) == (1_000, 500)
    # The service forgets what is old: only the end of it is there already.
    last = home.bring(watched(tmp_path / "June" / "watch-history.json", 3_000, oldest=1_300))
    assert account_of(last) == account_of(first)
    assert last["counts"]["unchanged"] == 200
    other = home.bring(watched(tmp_path / "bens" / "watch-history.json", 9_000, oldest=8_000))
    assert account_of(other) != account_of(first)


def test_an_account_that_had_little_is_the_same_when_it_has_grown(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    first = home.bring(people(tmp_path / "January" / "contacts.vcf", "one", "two"))
    many = [f"new {number}" for number in range(40)]
    path = people(tmp_path / "June" / "contacts (1).vcf", *many[:20], "one", "two", *many[20:])
    later = home.bring(path)
    assert account_of(later) == account_of(first)
    assert (later["counts"]["new"], later["counts"]["unchanged"]) == (40, 2)


def test_two_exports_of_one_account_in_one_folder_are_one_account(tmp_path: Path) -> None:
    people(tmp_path / "Downloads" / "a" / "contacts.vcf", "one", "two")
    people(tmp_path / "Downloads" / "b" / "contacts.vcf", "one", "two", "three")
    for number, name in enumerate(("Ben", "Ida")):
        chat = f"01.01.26, 10:0{number} - {name}: Hello\n" * 3
        (tmp_path / "Downloads" / f"WhatsApp Chat mit {name}.txt").write_text(chat)
        zipped(tmp_path / "Downloads" / f"WhatsApp Chat - {name}.zip", {"_chat.txt": chat.encode()})
    home = Home(tmp_path / "data")
    ended = home.run(tmp_path / "Downloads", "--yes", "--json")
    assert ended.code == 0, ended
    listed = pdpp_here("connection", "list", "--json", data=home.data).document["connections"]
    assert sorted(account["display_name"] for account in listed) == [
        "Contacts (a)",
        "WhatsApp",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_person_says_once_which_account_an_export_belongs_to(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    first = home.bring(people(tmp_path / "contacts.vcf", "one", "two"))
    other = people(tmp_path / "new.vcf", "three")
    with in_terminal("import", str(other), "--data", str(home.data)) as (process, terminal):
        shown = read_until(terminal, "The account that it belongs to")
        assert account_of(first)[1] in shown
        os.write(terminal, account_of(first)[1].encode() + b"\n")
        read_until(terminal, "Import it?")
        os.write(terminal, b"y\n")
        read_until(terminal, "\0")
        assert process.wait(DEADLINE_SECONDS) == 0
    # Nobody is asked again about that file, and it goes to the same account.
    again = home.bring(people(tmp_path / "new.vcf", "four"))
    assert account_of(again)[0] == account_of(first)[0]


def test_a_calendar_alone_and_then_among_others_is_there_once(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    home.bring(calendar(tmp_path / "home.ics", "one", "two"))
    calendar(tmp_path / "Takeout" / "home.ics", "one", "two")
    calendar(tmp_path / "Takeout" / "work.ics", "three", name="Work")
    home.bring(tmp_path / "Takeout")
    home.bring(calendar(tmp_path / "work.ics", "three", name="Work"))
    titles = [data["title"] for data in home.records().values()]
    assert sorted(titles) == ["one", "three", "two"]


def test_calendars_with_ids_are_the_same_accounts_alone_and_in_a_folder(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    home.bring(calendar(tmp_path / "home.ics", "one", id="cal-1"))
    calendar(tmp_path / "all" / "a.ics", "one", id="cal-1")
    calendar(tmp_path / "all" / "b.ics", "two", name="Work", id="cal-2")
    assert home.run(tmp_path / "all", "--yes").code == 0
    listed = pdpp_here("connection", "list", "--json", data=home.data).document["connections"]
    assert sorted(account["display_name"] for account in listed) == ["Nora", "Work"]
    assert len(home.records()) == 2


def test_chats_of_telegram_that_come_one_by_one_are_one_collection(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    for number, name in enumerate(("Ben", "Ida"), 1):
        said = {"id": 1, "type": "message", "date": "2026-01-01T10:00:00", "text": f"From {name}"}
        chat = {"name": name, "type": "personal_chat", "id": number, "messages": [said]}
        folder = tmp_path / "Telegram" / f"ChatExport_2026-01-0{number}"
        folder.mkdir(parents=True)
        (folder / "result.json").write_text(json.dumps(chat))
        home.bring(folder)
    again = home.bring(tmp_path / "Telegram")
    assert again["counts"]["new"] == 0
    listed = pdpp_here("connection", "list", "--json", data=home.data).document["connections"]
    assert [account["display_name"] for account in listed] == ["Telegram"]
