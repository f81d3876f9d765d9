"""An import that was killed is gone on with by the same command, in the same account."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home

from pdpp.sources.importing import writer
from pdpp.sources.importing.positions import PositionLog
from pdpp.sources.importing.task import ImportTask


class Killed(BaseException):
    """Nothing that comes after it is done."""


def cards(folder: Path) -> Path:
    """Write address books, none of which says whose it is."""
    for number in range(60):
        card = "BEGIN:VCARD\nVERSION:3.0\nFN:Person {}\nEND:VCARD\n".format
        path = folder / f"book {number}.vcf"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(card(f"{number}-{at}") for at in range(10)))
    return folder


def mailboxes(folder: Path) -> Path:
    """Write mailboxes that say whose they are."""
    for number in range(60):
        path = folder / f"Box {number}.mbox"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "".join(
                f"From a@example.org Mon Feb  2 10:00:00 2026\nMessage-ID: <{number}.{at}@a.b>\n"
                "Date: Mon, 2 Feb 2026 10:00:00 +0000\nFrom: ben@example.org\n"
                "To: nora@example.org\nDelivered-To: nora@example.org\nSubject: Hello\n\nWords\n\n"
                for at in range(10)
            )
        )
    return folder


def die(times: int) -> Callable[..., Any]:
    """Return a function that kills the import when it is called for the last of some times."""
    left = [times]

    def called(*_: object, **__: object) -> None:
        left[0] -= 1
        if not left[0]:
            raise Killed

    return called


@pytest.mark.parametrize("write", [cards, mailboxes])
@pytest.mark.parametrize(
    ("part", "method", "times"),
    [(ImportTask, "run", 1), (PositionLog, "note", 6), (ImportTask, "end", 1)],
    ids=["before the first record", "on the way", "after the last record"],
)
def test_an_import_that_was_killed_ends_as_one_that_was_not(
    write: Callable[[Path], Path],
    part: type,
    method: str,
    times: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, home = write(tmp_path / "export"), Home(tmp_path / "data")
    with monkeypatch.context() as killing:
        killing.setattr(writer, "BATCH_ITEMS", 10)
        killing.setattr(part, method, die(times))
        with pytest.raises(Killed):
            home.run(path, "--yes")
    again = home.bring(path)
    assert again["status"] == "complete"
    assert len(home.accounts()) == 1
    assert len(home.records()) == 600


def test_another_file_in_the_place_of_one_whose_import_was_killed_is_another_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, home = tmp_path / "contacts.vcf", Home(tmp_path / "data")
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:{}\nEND:VCARD\n".format
    path.write_text(card("Ida"))
    with monkeypatch.context() as killing:
        killing.setattr(ImportTask, "end", die(1))
        with pytest.raises(Killed):
            home.run(path, "--yes")
    path.write_text(card("Somebody else"))
    home.bring(path)
    assert len(home.accounts()) == 2


def shared_events(folder: Path) -> Path:
    """Write two calendars with some of the same events."""
    for name in ("Home", "Work"):
        events = "".join(
            f"BEGIN:VEVENT\nUID:{uid}\nDTSTART:20260202T100000Z\nSUMMARY:{uid}\nEND:VEVENT\n"
            for uid in (*(f"{name} {at}" for at in range(15)), *(f"both {at}" for at in range(15)))
        )
        path = folder / f"{name}.ics"
        path.parent.mkdir(exist_ok=True)
        head = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\nX-WR-CALNAME:{name}\n"
        path.write_text(f"{head}{events}END:VCALENDAR\n")
    return folder


def shared_mail(folder: Path) -> Path:
    """Write two mailboxes with some of the same messages."""
    for name in ("Archive", "Inbox"):
        path = folder / f"{name}.mbox"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "".join(
                f"From a@example.org Mon Feb  2 10:00:00 2026\nMessage-ID: <{uid}@a.b>\n"
                "Date: Mon, 2 Feb 2026 10:00:00 +0000\nFrom: ben@example.org\n"
                "To: nora@example.org\nDelivered-To: nora@example.org\nSubject: Hello\n\nWords\n\n"
                for uid in (*(f"{name}.{at}" for at in range(25)), *map(str, range(15)))
            )
        )
    return folder


@pytest.mark.parametrize("write", [shared_events, shared_mail])
@pytest.mark.parametrize("times", [3, 5, 6, 7])
def test_what_stands_in_two_parts_is_kept_of_both_where_an_import_was_killed_between_them(
    write: Callable[[Path], Path], times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, home, undisturbed = write(tmp_path / "e"), Home(tmp_path / "a"), Home(tmp_path / "b")
    undisturbed.seal_like(home)
    with monkeypatch.context() as killing:
        killing.setattr(writer, "BATCH_ITEMS", 10)
        killing.setattr(PositionLog, "note", counted_down(PositionLog.note, times))
        with pytest.raises(Killed):
            home.run(path, "--yes")
    again = home.bring(path)
    undisturbed.bring(path)
    assert again["counts"]["changed"] == 0
    assert home.records() == undisturbed.records()


def counted_down(method: Callable[..., None], times: int) -> Callable[..., None]:
    """Return a method that does what it does, and kills the import at the last of some times."""
    end = die(times)

    def called(*arguments: Any) -> None:
        method(*arguments)
        end()

    return called


def test_a_file_that_nobody_knows_is_told_by_its_kind_when_an_import_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, home = tmp_path / "vault", Home(tmp_path / "data")
    (folder / ".obsidian").mkdir(parents=True)
    (folder / ".obsidian" / "app.json").write_text("{}")
    for number in range(60):
        (folder / f"{number}.md").write_text(f"# Note {number}\n\nWords\n")
    (folder / "odd.xyz").write_text("?")
    with monkeypatch.context() as killing:
        killing.setattr(writer, "BATCH_ITEMS", 10)
        noted, dies = PositionLog.note, die(6)
        killing.setattr(PositionLog, "note", lambda *told: (noted(*told), dies()))
        with pytest.raises(Killed):
            home.run(folder, "--yes")
    again = home.bring(folder)
    told = {case["reason"]: case["examples"] for case in again["files"]["passed_over"]}
    [words] = [reason for reason, examples in told.items() if "odd.xyz" in examples]
    assert ".xyz" in words
    assert "not know" in words
