"""Renaming, merging and removing accounts, as a person and a script do it."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import DEADLINE_SECONDS, Served, entry, opened, pdpp, pdpp_here, serving
from tests.cli.test_demo import in_terminal, read_until
from tests.engine import ENGINE, kept_bytes
from tests.sources.kit import stored

ASK = ("grant", "create", "--purpose", "Answer", "--json")
needs_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")


def put(data: Path, account: str, *lines: bytes) -> None:
    where = ("--connection", account, "--stream", "entries")
    assert pdpp_here("ingest", "-", *where, data=data, stdin=b"".join(lines)).code == 0


def grant(data: Path, client: str, *accounts: str) -> dict[str, Any]:
    chosen = [part for account in accounts for part in ("--connection", account)]
    return pdpp_here(*ASK, "--client", client, *chosen, data=data).document


def keys(served: Served, token: str) -> list[str]:
    answer = served.get("/v1/streams/entries/records", token)
    return sorted(f"{row['connection_id']}:{row['id']}" for row in answer.json()["data"])


@pytest.fixture
def two(diary: Path) -> Path:
    """The diary with a second account, and three clients: of one, of the other, of both."""
    added = ("connection", "add", "diary", "--name", "Old days", "--id", "cin_old")
    assert pdpp_here(*added, data=diary).code == 0
    put(diary, "cin_old", entry("e1", text="kelp"), entry("e2"))
    put(diary, "cin_diary", entry("e3"))
    return diary


def test_a_rename_says_who_sees_it(two: Path) -> None:
    grant(two, "reader", "cin_old")
    document = pdpp_here("connection", "rename", "cin_old", "Ancient", "--json", data=two).document
    assert document == {
        "status": "renamed",
        "connection_id": "cin_old",
        "display_name": "Ancient",
        "previous_name": "Old days",
        "seen_by": ["reader"],
    }
    assert "Ancient (cin_old, diary)" in pdpp_here("connection", "list", data=two).out


def test_an_account_is_known_by_its_name_too(two: Path) -> None:
    renamed = pdpp_here("connection", "rename", "old DAYS", "Ancient", "--json", data=two).document
    assert renamed["connection_id"] == "cin_old"
    look = ("connection", "remove", "Ancient", "--dry-run", "--json")
    assert pdpp_here(*look, data=two).document["connections"][0]["connection_id"] == "cin_old"
    add = ("connection", "add", "diary", "--name", "Ancient", "--id", "cin_more")
    assert pdpp_here(*add, data=two).code == 0
    problem = pdpp_here("connection", "remove", "Ancient", "--yes", data=two).failed()
    assert "2 accounts are called 'Ancient': say cin_more or cin_old." in problem


@pytest.mark.parametrize(
    "arguments",
    [("rename", "cin_odl", "x"), ("remove", "cin_odl"), ("merge", "cin_odl", "cin_diary")],
)
def test_an_unknown_id_is_answered_with_the_one_that_is_meant(
    arguments: tuple[str, ...], two: Path
) -> None:
    problem = pdpp_here("connection", *arguments, data=two).failed()
    assert "there is no account 'cin_odl'; did you mean 'cin_old'?" in problem


def test_a_script_must_say_yes_and_may_look_first(two: Path) -> None:
    ended = pdpp("connection", "remove", "cin_old", data=two)
    assert "Say --yes" in ended.failed(code=64)
    ended = pdpp_here("connection", "remove", "cin_old", "--dry-run", "--json", data=two)
    [account] = ended.document["connections"]
    assert ended.document["status"] == "preview"
    assert account["record_counts"] == {"entries": 2, "moods": 0}
    assert account["newest_record_at"] is not None
    assert "Old days (cin_old" in pdpp_here("connection", "list", data=two).out


def test_a_removal_ends_what_opened_only_it_while_a_server_runs(two: Path, tmp_path: Path) -> None:
    only, both = grant(two, "only", "cin_old"), grant(two, "both", "cin_old", "cin_diary")
    with serving(two, tmp_path / "notes") as served:
        assert keys(served, both["client_token"]) == ["cin_diary:e3", "cin_old:e1", "cin_old:e2"]
        removed = pdpp_here("connection", "remove", "cin_old", "--yes", "--json", data=two).document
        assert keys(served, both["client_token"]) == ["cin_diary:e3"]
        refused = served.get("/v1/streams/entries/records", only["client_token"])
        assert refused.json()["error"]["code"] == "grant_revoked"
    effects = {change["client_id"]: change["effect"] for change in removed["grants"]}
    assert effects == {"only": "revoked", "both": "changed"}
    again = ("connection", "add", "diary", "--name", "New", "--id", "cin_old")
    pdpp_here(*again, data=two)
    shown = pdpp_here("grant", "show", both["grant_id"], "--json", data=two).document
    assert {opened["connection_id"] for opened in shown["allowances"]} == {"cin_diary"}
    on_file = ENGINE == "sqlite"
    assert b"kelp" not in ((two / "pdpp.sqlite3").read_bytes() if on_file else kept_bytes(two))


def test_a_merge_moves_records_once_and_grants_follow(two: Path, tmp_path: Path) -> None:
    old = grant(two, "old", "cin_old")
    put(two, "cin_diary", entry("e1", text="newer"))
    preview = pdpp_here("connection", "merge", "cin_old", "cin_diary", "--dry-run", data=two).out
    assert f"Grant {old['grant_id']} of old then opens: My days (cin_diary)." in preview
    done = pdpp_here("connection", "merge", "cin_old", "cin_diary", "--yes", "--json", data=two)
    assert (done.document["status"], done.document["records_written"]) == ("merged", 1)
    with serving(two, tmp_path / "notes") as served:
        assert keys(served, old["client_token"]) == [f"cin_diary:e{n}" for n in (1, 2, 3)]
    assert "cin_old" not in pdpp_here("connection", "list", data=two).out


def test_an_account_is_not_merged_with_itself(two: Path) -> None:
    ended = pdpp_here("connection", "merge", "cin_old", "cin_old", "--yes", data=two)
    told = "Only two connections of the same source can be merged: both are the same one."
    assert told in ended.failed()


@needs_terminal
@pytest.mark.parametrize(("typed", "code"), [("Old days", 0), ("old", 1)])
def test_in_a_terminal_the_name_has_to_be_typed(typed: str, code: int, two: Path) -> None:
    arguments = ("connection", "remove", "cin_old", "--data", str(two))
    with in_terminal(*arguments) as (process, terminal):
        preview = read_until(terminal, "to go on")
        assert "2 records" in preview
        os.write(terminal, typed.encode() + b"\n")
        read_until(
            terminal, "emoved" if code == 0 else "'old' is not 'Old days'; nothing was removed"
        )
        assert process.wait(DEADLINE_SECONDS) == code
    assert ("cin_old" in pdpp_here("connection", "list", data=two).out) == bool(code)


def test_the_demo_is_taken_out_and_the_owners_account_stays(diary: Path, tmp_path: Path) -> None:
    put(diary, "cin_diary", entry("e1"))
    mine = grant(diary, "mine", "cin_diary")
    with serving(diary, tmp_path / "notes", "--demo") as served:
        both = grant(diary, "both", "cin_diary", "cin_team")
        message = served.get("/v1/streams/messages/records?limit=1", both["client_token"]).json()
        link = f"/v1/streams/messages/records/{message['data'][0]['id']}"
        assert served.get(link, both["client_token"]).status_code == 200
        preview = pdpp_here("demo", "remove", "--dry-run", "--json", data=diary).document
        assert preview["status"] == "preview"
        removed = pdpp_here("demo", "remove", "--yes", "--json", data=diary).document
        for owned in (mine, both):
            assert keys(served, owned["client_token"]) == ["cin_diary:e1"]
        assert served.get(link, both["client_token"]).status_code == 403
        assert served.get(link).json()["error"]["code"] == "grant_revoked"
    assert len(removed["connections"]) == 8
    effects = {change["client_id"]: change["effect"] for change in removed["grants"]}
    assert effects == {"demo-agent": "revoked", "both": "changed"}
    # What was read of it stays in the log, and nothing else of it stays anywhere.
    read = pdpp_here("receipts", "--client", "both", "--json", data=diary).document["receipts"]
    assert {receipt["connection_id"] for receipt in read} == {"cin_team", "cin_diary"}
    assert pdpp_here("receipts", "verify", data=diary).code == 0
    assert pdpp_here("check", data=diary).code == 0
    listed = pdpp_here("connection", "list", "--json", data=diary).document["connections"]
    assert [account["connection_id"] for account in listed] == ["cin_diary"]
    grants = pdpp_here("grant", "list", "--json", data=diary).document["grants"]
    assert {active["client_id"] for active in grants} == {"mine", "both"}
    assert pdpp_here("demo", "remove", "--json", data=diary).document == {"status": "absent"}
    with serving(diary, tmp_path / "more", "--demo"):
        listed = pdpp_here("connection", "list", "--json", data=diary).document["connections"]
    assert len(listed) == 9


def mailbox(path: Path, *subjects: str) -> Path:
    """Write a mailbox of one owner with a message for each subject."""
    messages = [
        f"From a@example.org Mon Feb  2 10:00:00 2026\nMessage-ID: <{subject}@example.org>\n"
        f"Date: Mon, 2 Feb 2026 10:00:0{number} +0000\nDelivered-To: nora@example.org\n"
        f"From: a@example.org\nTo: nora@example.org\nSubject: {subject}\n\nWords\n\n"
        for number, subject in enumerate(subjects)
    ]
    path.write_text("".join(messages))
    return path


def test_your_mail_stands_beside_the_demo_and_an_import_after_a_merge_goes_into_the_merged_account(
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    with serving(data, tmp_path / "notes", "--demo"):
        box = mailbox(tmp_path / "mine.mbox", "one", "two")
        first = pdpp_here("import", str(box), "--yes", "--json", data=data).document
    added = ("connection", "add", "mail", "--name", "Whole", "--id", "cin_whole")
    assert pdpp_here(*added, data=data).code == 0
    mine = first["connection"]["connection_id"]
    merged = pdpp_here("connection", "merge", mine, "cin_whole", "--yes", "--json", data=data)
    assert merged.document["status"] == "merged"
    box = mailbox(tmp_path / "next month.mbox", "one", "two", "three")
    again = pdpp_here("import", str(box), "--yes", "--json", data=data).document
    assert again["connection"]["connection_id"] == "cin_whole"
    assert (again["counts"]["new"], again["counts"]["unchanged"]) == (1, 2)
    listed = pdpp_here("connection", "list", "--json", data=data).document["connections"]
    assert [c["connection_id"] for c in listed if c["connector_key"] == "mail"] == ["cin_whole"]
    assert pdpp_here("demo", "remove", "--yes", "--json", data=data).code == 0
    listed = pdpp_here("connection", "list", "--json", data=data).document["connections"]
    assert [c["connection_id"] for c in listed] == ["cin_whole"]


def calendar(path: Path, **events: tuple[str, str]) -> Path:
    """Write a calendar of events, each with its title and when that was last changed."""
    entries = "".join(
        f"BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260201T100000Z\nDTSTART:20260202T100000Z\n"
        f"LAST-MODIFIED:{changed}\nSUMMARY:{title}\nEND:VEVENT\n"
        for uid, (title, changed) in events.items()
    )
    head = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//T//C//EN\nX-WR-CALNAME:Nora\n"
    path.write_text(f"{head}{entries}END:VCALENDAR\n")
    return path


@pytest.mark.parametrize("into_first", [True, False])
def test_of_two_overlapping_exports_a_merge_keeps_what_was_changed_last(
    into_first: bool, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    old, new = "20260201T100000Z", "20260301T100000Z"
    latest = calendar(tmp_path / "b.ics", one=("Choir at eight", new), two=("Dentist", new))
    earlier = calendar(tmp_path / "a.ics", one=("Choir", old), three=("Harvest", old))
    first = pdpp_here("import", latest, "--yes", "--json", data=data).document["connection"]
    added = ("connection", "add", "calendar_ics", "--name", "Old", "--id", "cin_old")
    assert pdpp_here(*added, data=data).code == 0
    # The older export comes in last: what it says of itself counts, and not when it came.
    where = ("--connection", "cin_old", "--yes", "--json")
    assert pdpp_here("import", earlier, *where, data=data).document["counts"]["new"] == 2
    mine = first["connection_id"]
    reader = grant(data, "reader", "cin_old")
    source, target = ("cin_old", mine) if into_first else (mine, "cin_old")
    preview = pdpp_here("connection", "merge", source, target, "--dry-run", data=data).out
    assert (f"Grant {reader['grant_id']} of reader then opens" in preview) == into_first
    assert ("may read INTO then also see what is moved: reader" in preview) != into_first
    done = pdpp("connection", "merge", source, target, "--yes", "--json", data=data)
    assert done.document["status"] == "merged"
    with opened(data) as store:
        events = [data for (stream, _), data in stored(store).items() if stream == "events"]
    titles = sorted(event["title"] for event in events)
    assert titles == ["Choir at eight", "Dentist", "Harvest"]
    again = pdpp_here("import", latest, "--yes", "--json", data=data).document
    assert (again["connection"]["connection_id"], again["counts"]["unchanged"]) == (target, 2)
    renamed = pdpp_here("connection", "rename", target, "Mine", "--json", data=data).document
    assert renamed["seen_by"] == ["reader"]
    removed = pdpp_here("connection", "remove", target, "--yes", "--json", data=data).document
    assert [change["effect"] for change in removed["grants"]] == ["revoked"]
    assert pdpp_here("connection", "list", "--json", data=data).document["connections"] == []


def test_a_removed_account_leaves_no_names_of_its_files(diary: Path, tmp_path: Path) -> None:
    notes = tmp_path / "quagmirelike"
    notes.mkdir()
    (notes / "zanzibarine.md").write_text("# A plan\n\nSome words.\n")
    (notes / "other.md").write_text("# Another\n\nMore words.\n")
    imported = pdpp_here("import", notes, "--yes", "--json", data=diary).document
    account = imported["connection"]["connection_id"]
    remembered = [path for path in (diary / "imports").rglob("*.*json") if path.is_file()]
    assert len(remembered) == 2
    assert any(b"zanzibarine" in path.read_bytes() for path in remembered)
    pdpp_here("connection", "remove", account, "--yes", data=diary)
    assert [path for path in remembered if path.exists()] == []


def test_a_removed_account_leaves_nothing_that_its_chats_are_known_by(
    diary: Path, tmp_path: Path
) -> None:
    accounts = []
    for owner, friend in (("Nora", "Ines"), ("Otto", "Paul")):
        chat = tmp_path / f"WhatsApp Chat with {friend}.txt"
        said = (f"{friend}: the ferry of day {day} was late again" for day in range(1, 29))
        lines = (f"{day:02}/01/2026, 08:00 - {text}\n" for day, text in enumerate(said, 1))
        chat.write_text("".join(lines))
        given = ("import", chat, "--account", owner, "--yes", "--json")
        accounts.append(pdpp_here(*given, data=diary).document["connection"]["connection_id"])
    assert accounts[0] != accounts[1]
    known, choices = (diary / "imports" / name for name in ("accounts", "choices"))
    assert len([*known.iterdir()]) == 2
    assert [*choices.iterdir()]
    pdpp_here("connection", "remove", accounts[0], "--yes", data=diary)
    assert len([*known.iterdir()]) == 1
    assert [*choices.iterdir()]
    pdpp_here("connection", "remove", accounts[1], "--yes", data=diary)
    assert [*known.iterdir()] == [*choices.iterdir()] == []
