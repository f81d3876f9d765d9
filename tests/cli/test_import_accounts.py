"""Whose export it is: asked once where the data does not say, and remembered."""

import os
import sys
from pathlib import Path

import pytest
from tests.cli.shell import DEADLINE_SECONDS, pdpp_here
from tests.cli.test_demo import in_terminal, read_until
from tests.sources.kit import Home


def newsletters(path: Path, *subjects: str) -> Path:
    """Write a mailbox whose messages tell nothing of their owner."""
    messages = [
        f"From a@example.org Mon Feb  2 10:00:00 2026\nMessage-ID: <{subject}@example.org>\n"
        f"Date: Mon, 2 Feb 2026 10:00:00 +0000\nFrom: {subject}@example.org\n"
        f"To: list-{subject}@example.org\nSubject: {subject}\n\nWords\n\n"
        for subject in subjects
    ]
    path.parent.mkdir(exist_ok=True)
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
    path.parent.mkdir(exist_ok=True)
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


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_person_is_asked_once(tmp_path: Path) -> None:
    data, box = tmp_path / "data", newsletters(tmp_path / "box.mbox", "one", "two")
    with in_terminal("import", str(box), "--data", str(data)) as (process, terminal):
        shown = read_until(terminal, "Its owner's address")
        assert "box.mbox does not say whose mail it holds" in shown
        os.write(terminal, b"nora@example.org\n")
        read_until(terminal, "Bring it in?")
        os.write(terminal, b"y\n")
        read_until(terminal, "\0")
        assert process.wait(DEADLINE_SECONDS) == 0
    newsletters(box, "three", "four")
    with in_terminal("import", str(box), "--data", str(data)) as (process, terminal):
        shown = read_until(terminal, "Bring it in?")
        assert "Its owner's address" not in shown
        os.write(terminal, b"y\n")
        read_until(terminal, "\0")
        assert process.wait(DEADLINE_SECONDS) == 0
    listed = pdpp_here("connection", "list", "--json", data=data).document["connections"]
    assert [account["display_name"] for account in listed] == ["Mail (nora@example.org)"]


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
