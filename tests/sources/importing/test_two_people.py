"""What two people hold both does not make one account of theirs, whoever comes first."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home
from tests.sources.samples.imessage import SCHEMA, ZERO, row
from tests.sources.samples.sample import sqlite_bytes

HOUSE = ("Mum", "Dad", "Ida", "Ben")


def contacts(path: Path, who: str, count: int = 30) -> Path:
    """Write an address book, a third of which the whole family has."""
    names = [*(f"Aunt {at}" for at in range(count // 3)), *(f"{who} {at}" for at in range(count))]
    path.mkdir(parents=True)
    file = path / "contacts.vcf"
    cards = (f"BEGIN:VCARD\nVERSION:3.0\nFN:{name}\nEND:VCARD\n" for name in names)
    file.write_text("".join(cards))
    return file


def calendar(path: Path, who: str, count: int = 30) -> Path:
    """Write a calendar without an id, with meals of the family among the appointments."""
    events = "".join(
        f"BEGIN:VEVENT\nUID:{uid}-{day}\nDTSTART:202601{day % 28 + 1:02}T{hour}0000Z\n"
        f"SUMMARY:{uid}\nEND:VEVENT\n"
        for day in range(count)
        for uid, hour in ((f"{who} a", "08"), (f"{who} b", "10"), ("Supper", "18"))
    )
    path.mkdir(parents=True)
    file = path / "calendar.ics"
    head = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nX-WR-CALNAME:{who}\n"
    file.write_text(f"{head}{events}END:VCALENDAR\n")
    return file


def diary(path: Path, who: str, count: int = 20) -> Path:
    """Write a vault with a note for each day, which has the same name in every such vault."""
    (path / "Diary" / ".obsidian").mkdir(parents=True)
    (path / "Diary" / ".obsidian" / "app.json").write_text("{}")
    for day in range(count):
        (path / "Diary" / f"2026-01-{day + 1:02}.md").write_text(f"# A day\n\n{who} slept well\n")
    return path / "Diary"


def signal(path: Path, who: str, count: int = 40) -> Path:
    """Write what one of a family exports, who hardly write to anybody but each other."""
    number = {name: str(at) for at, name in enumerate(HOUSE, 1)}
    people = [
        {"id": at, **({"self": {}} if name == who else {"contact": {"aci": name}})}
        for name, at in number.items()
    ]
    said = [
        {
            "chatId": "1",
            "authorId": number[HOUSE[at % len(HOUSE)]],
            "dateSent": str(1_767_261_600_000 + at),
            "incoming": {},
            "standardMessage": {"text": {"body": f"Message {at}"}},
        }
        for at in range(count)
    ]
    lines = [
        {"version": "1", "backupTimeMs": "1767261600000"},
        {"account": {"givenName": who}},
        *({"recipient": person} for person in people),
        {"recipient": {"id": "9", "group": {"masterKey": "a2V5"}}},
        {"chat": {"id": "1", "recipientId": "9"}},
        *({"chatItem": item} for item in said),
    ]
    path.mkdir(parents=True)
    (path / "main.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def imessage(path: Path, who: str, count: int = 40) -> Path:
    """Write the database of one of two people who write to each other."""
    messages = [
        row(at, text=f"Message {at}", is_from_me=int((who == "Mum") == bool(at % 2)))
        for at in range(1, count + 1)
    ]
    joined = [(1, at, ZERO) for at in range(1, count + 1)]
    tables: dict[str, list[tuple[Any, ...]]] = {
        "handle": [(1, f"not-{who}@x.example", "iMessage")],
        "chat": [(1, "iMessage;-;x", 45, "x", "iMessage", "", "")],
        "chat_handle_join": [(1, 1)],
        "message": messages,
        "chat_message_join": joined,
    }
    path.mkdir(parents=True)
    (path / "chat.db").write_bytes(sqlite_bytes(SCHEMA, tables))
    return path


@pytest.mark.parametrize("write", [contacts, calendar, diary, signal, imessage])
@pytest.mark.parametrize("order", [("Mum", "Dad"), ("Dad", "Mum")])
def test_what_two_people_share_does_not_mix_them(
    write: Callable[..., Path], order: tuple[str, str], tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    paths = [write(tmp_path / who, who) for who in order]
    first, second = (home.bring(path) for path in paths)
    assert second["connection"]["connection_id"] != first["connection"]["connection_id"]
    assert second["counts"]["changed"] == second["counts"]["unchanged"] == 0
    for report, path in zip((first, second), paths, strict=True):
        again = home.bring(path.rename(path.with_name(f"renamed {path.name}")))
        assert again["connection"] == report["connection"]
        assert again["counts"]["new"] == again["counts"]["changed"] == 0


@pytest.mark.parametrize("write", [contacts, calendar, diary, signal, imessage])
def test_a_later_export_of_one_person_is_of_the_same_account(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    first = home.bring(write(tmp_path / "January", "Mum", 16))
    later = home.bring(write(tmp_path / "February", "Mum", 24))
    assert later["connection"] == first["connection"]
    assert later["counts"]["new"] > 0
    earlier = home.bring(write(tmp_path / "before", "Mum", 9))
    assert earlier["connection"] == first["connection"]
    assert earlier["counts"]["new"] == 0


def test_a_person_who_took_another_name_is_the_same_account(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    first = home.bring(signal(tmp_path / "January", "Mum"))
    path = signal(tmp_path / "February", "Mum", 60) / "main.jsonl"
    path.write_text(path.read_text().replace('"givenName": "Mum"', '"givenName": "Ada"'))
    later = home.bring(path.parent)
    assert later["connection"]["connection_id"] == first["connection"]["connection_id"]
    assert later["counts"]["new"] == 20


def health(path: Path, who: str, count: int = 20) -> Path:
    """Write what a phone measured."""
    day = "2026-01-{:02} 08:00:00 +0000".format
    records = "".join(
        f'<Record type="HKQuantityTypeIdentifierStepCount" sourceName="{who}" unit="count"'
        f' startDate="{day(at + 1)}" endDate="{day(at + 1)}" value="{at + len(who)}{ord(who[0])}"/>'
        for at in range(count)
    )
    path.mkdir(parents=True)
    (path / "export.xml").write_text(
        f'<?xml version="1.0"?><HealthData locale="en"><ExportDate value="{day(28)}"/>'
        f'<Me HKCharacteristicTypeIdentifierDateOfBirth="19{ord(who[0])}-01-01"/>'
        f"{records}</HealthData>"
    )
    return path


@pytest.mark.parametrize("write", [diary, signal, imessage, health])
def test_two_people_whose_exports_lie_beside_each_other_are_two_accounts(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    alone = [home.bring(write(tmp_path / "both" / who, who)) for who in ("Mum", "Dad")]
    before = home.records()
    reports = home.bring(tmp_path / "both")["imports"]
    assert {report["connection"]["connection_id"] for report in reports} == {
        report["connection"]["connection_id"] for report in alone
    }
    assert all(report["counts"]["new"] == report["counts"]["changed"] == 0 for report in reports)
    assert home.records() == before
    folder = Home(tmp_path / "other")
    folder.bring(tmp_path / "both")
    assert len(folder.accounts()) == 2


@pytest.mark.parametrize("write", [diary, signal, imessage, health])
def test_two_months_of_one_person_beside_each_other_are_one_account(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    write(tmp_path / "both" / "January", "Mum", 12)
    write(tmp_path / "both" / "February", "Mum", 18)
    home.bring(tmp_path / "both")
    assert len(home.accounts()) == 1


def messages(path: Path, who: str, count: int = 30) -> Path:
    """Write a backup of a phone's messages, which the app names after the moment it was made."""
    said = "".join(
        f'<sms address="+4917000{at}" date="17672616{at:02}000" type="1" body="To {who} {at}"/>'
        for at in range(count)
    )
    path.mkdir(parents=True)
    file = path / f"sms-2026010112{len(who):02}{count:02}.xml"
    file.write_text(f"<?xml version='1.0'?>\n<smses count='{count}'>{said}</smses>")
    return file


NAMELESS = [contacts, calendar, messages]


@pytest.mark.parametrize("write", NAMELESS)
def test_files_of_two_people_that_came_alone_go_into_their_own_accounts_from_one_folder(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    folder = tmp_path / "Downloads"
    folder.mkdir()
    alone = []
    for who in ("Mum", "Dad"):
        file = write(tmp_path / who, who)
        alone.append(home.bring(file.rename(folder / f"{who} {file.name}")))
    before = home.records()
    reports = home.bring(folder)["imports"]
    assert [report["counts"]["new"] for report in reports] == [0, 0]
    assert {report["connection"]["connection_id"] for report in reports} == {
        report["connection"]["connection_id"] for report in alone
    }
    assert home.records() == before


@pytest.mark.parametrize("write", NAMELESS)
def test_what_another_person_has_is_not_added_to_an_account_from_one_folder(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    folder = tmp_path / "Downloads"
    folder.mkdir()
    files = [write(tmp_path / who, who) for who in ("Mum", "Dad")]
    files = [file.rename(folder / f"{file.parent.name} {file.name}") for file in files]
    first = home.bring(files[0])
    own = len(home.records())
    for report in home.bring(folder)["imports"]:
        if report["connection"]["connection_id"] == first["connection"]["connection_id"]:
            assert report["counts"]["new"] == 0
        else:
            assert report["counts"]["new"] == own
    assert len(home.accounts()) == 2


@pytest.mark.parametrize("write", NAMELESS)
def test_files_of_one_name_in_two_folders_are_two_accounts(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    for who in ("Mum", "Dad"):
        write(tmp_path / "both" / who, who)
    home.bring(tmp_path / "both")
    assert len(home.accounts()) == 2


@pytest.mark.parametrize("write", NAMELESS)
def test_files_of_one_name_and_one_person_in_two_folders_are_one_account(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    home = Home(tmp_path / "data")
    write(tmp_path / "both" / "phone", "Mum", 12)
    write(tmp_path / "both" / "laptop", "Mum", 18)
    home.bring(tmp_path / "both")
    assert len(home.accounts()) == 1


def test_downloads_that_a_browser_numbered_may_be_of_two_people(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    folder = tmp_path / "Downloads"
    folder.mkdir()
    contacts(tmp_path / "Mum", "Mum").rename(folder / "contacts.vcf")
    contacts(tmp_path / "Dad", "Dad").rename(folder / "contacts (1).vcf")
    (folder / "Ida.vcf").write_text("BEGIN:VCARD\nVERSION:3.0\nFN:Ida\nEND:VCARD\n")
    reports = home.bring(folder)["imports"]
    assert len(home.accounts()) == 3
    assert [report["status"] for report in reports] == ["complete"] * 3


def test_a_card_that_came_into_a_folder_is_of_the_account_of_the_others(tmp_path: Path) -> None:
    home = Home(tmp_path / "data")
    for at in range(9):
        card = f"BEGIN:VCARD\nVERSION:3.0\nFN:Friend {at}\nEND:VCARD\n"
        (tmp_path / "cards").mkdir(exist_ok=True)
        (tmp_path / "cards" / f"{at}.vcf").write_text(card)
        home.bring(tmp_path / "cards")
    assert len(home.accounts()) == 1
    assert len(home.records()) == 9


@pytest.mark.parametrize("write", NAMELESS)
def test_files_that_become_one_account_though_none_says_whose_it_is_are_told(
    write: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "Downloads"
    folder.mkdir()
    for who in ("Mum", "Dad"):
        file = write(tmp_path / who, who)
        file.rename(folder / f"{who} {file.name}")
    report = Home(tmp_path / "data").bring(folder)
    assert any("Mum" in note and "Dad" in note for note in report["notes"]), report["notes"]


def mailbox(path: Path, owner: str, count: int = 10) -> Path:
    """Write a mailbox of which the messages alone tell whose it is."""
    messages = (
        f"From x@y.example Mon Feb  2 10:00:00 2026\nReceived: by y.example; Mon, 2 Feb 2026\n"
        f"Message-ID: <{at}.{owner}>\nDate: Mon, 2 Feb 2026 10:{at:02}:00 +0000\n"
        f"From: friend{at}@y.example\nTo: {owner}\nSubject: Number {at}\n\nWords\n\n"
        for at in range(count)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(messages))
    return path


def test_mailboxes_that_came_alone_go_into_their_own_accounts_from_one_folder(
    tmp_path: Path,
) -> None:
    home, folder = Home(tmp_path / "home"), tmp_path / "mail"
    for name in ("home", "work", "list"):
        home.bring(mailbox(folder / f"{name}.mbox", f"{name}@x.example"))
    mailbox(folder / "new.mbox", "list@x.example", 20)
    assert len(home.accounts()) == 3
    ended = home.run(folder, "--yes", "--json")
    counts = [report["counts"] for report in json.loads(ended.out)["imports"]]
    assert sum(each["new"] for each in counts) == 10
    assert len(home.accounts()) == 3
    assert len(home.records()) == 40


def test_a_box_of_an_account_that_holds_it_stays_there_though_another_is_called_so(
    tmp_path: Path,
) -> None:
    home, folder = Home(tmp_path / "home"), tmp_path / "mail"
    mailbox(folder / "Inbox", "ana@x.example", 30)
    mailbox(folder / "Lists.sbd/dev", "dev@x.example")
    home.bring(folder)
    home.bring(mailbox(tmp_path / "older.mbox", "dev@x.example", 3).rename(tmp_path / "dev.mbox"))
    assert len(home.accounts()) == 2
    assert home.bring(folder)["counts"]["new"] == 0


def test_what_lies_beside_a_message_is_read_though_a_mailbox_goes_into_an_account_of_its_own(
    tmp_path: Path,
) -> None:
    home, folder = Home(tmp_path / "home"), tmp_path / "mail"
    home.bring(mailbox(folder / "work.mbox", "work@x.example"))
    mailbox(folder / "home.mbox", "me@x.example", 30)
    (folder / "proton").mkdir()
    for name, text in {
        "1.eml": "From: a@y.example\nTo: me@x.example\nSubject: One\n\nWords\n",
        "1.metadata.json": '{"Payload": {"LabelIDs": ["L"]}}',
        "labels.json": '{"Payload": [{"ID": "L", "Name": "Holiday"}]}',
    }.items():
        (folder / "proton" / name).write_text(text)
    home.run(folder, "--yes", "--json")
    assert len(home.accounts()) == 2
    [message] = [data for data in home.records().values() if data.get("subject") == "One"]
    assert message["labels"] == ["Holiday"]
