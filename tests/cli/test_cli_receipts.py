"""What each client read, told by the real program beside a server and after it."""

import json
import re
from pathlib import Path

import apsw
import pytest
from tests.cli.shell import Ended, entry, pdpp, pdpp_here, serving
from tests.engine import copy_store

from pdpp.cli.receipts import ago
from pdpp.evidence.amount import counted
from pdpp.model import instant
from pdpp.receipts.summary import VERBS, sentence
from pdpp.resource.routes import ROUTES
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import ReadTotal, Receipt

FILE = "receipts.db"
PLANTED = ("marzipan", "overcast")


@pytest.fixture(scope="module")
def read_diary(fresh_diary: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A diary that an agent and its owner have read from; the server is stopped."""
    folder = tmp_path_factory.mktemp("read")
    data = copy_store(fresh_diary, folder / "data")
    lines = (
        entry("e1", text="A day of marzipan", day="2026-01-29T08:00:00Z")
        + entry("e2", text="Overcast", day="2026-01-30T08:00:00Z")
        + entry("e3", day="2026-01-31T08:00:00Z")
    )
    where = ("--connection", "cin_diary", "--stream", "entries")
    assert pdpp("ingest", "-", *where, data=data, stdin=lines).code == 0
    made = pdpp_here(
        "grant",
        "create",
        "--client",
        "my-agent",
        "--purpose",
        "p",
        "--everything",
        "--json",
        data=data,
    )
    owner = pdpp_here("owner", "token", "--json", data=data).document["owner_token"]
    with serving(data, folder / "notes") as served:
        token = made.document["client_token"]
        assert served.get("/v1/streams/entries/records?limit=2", token).status_code == 200
        assert served.get("/v1/streams/entries/records/e3", token).status_code == 200
        assert served.get("/v1/search?q=marzipan", token).status_code == 200
        assert served.get("/v1/schema", token).status_code == 200
        assert served.get("/v1/streams/entries/records/e1", owner).status_code == 200
    return data


@pytest.fixture
def diary_copy(read_diary: Path, tmp_path: Path) -> Path:
    return copy_store(read_diary, tmp_path / "data")


def told(*arguments: str, data: Path) -> Ended:
    ended = pdpp_here("receipts", *arguments, data=data)
    assert ended.code == 0, ended
    return ended


def test_the_summary_says_who_read_how_much_from_where(read_diary: Path) -> None:
    ended = pdpp_here("receipts", data=read_diary)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    totals = told("--json", data=read_diary).document["totals"]
    agent, owner = (next(t for t in totals if t["client_id"] == who) for who in ("my-agent", None))
    assert lines[:5] == [
        "In the last 7 days",
        "  my-agent",
        f"    3 records, {agent['characters']:,} characters from My days",
        "  You",
        f"    1 record, {owner['characters']:,} characters from My days",
    ]
    assert lines[6].split() == ["WHEN", "WHO", "READ", "FROM", "RECORDS", "CHARACTERS"]
    assert len(lines) == 7 + 5
    assert lines[7].split()[1:] == [
        *("You", "read", "a", "record", "My", "days/entries", "1"),
        f"{owner['characters']:,}",
    ]
    assert lines[8].split("  ")[1:3] == ["my-agent", "looked at what there is"]
    assert not any(word in ended.out.lower() for word in PLANTED)


def test_the_list_is_narrowed_by_client_grant_time_and_number(read_diary: Path) -> None:
    everything = told("--json", data=read_diary).document
    assert len(everything["receipts"]) == 5
    assert everything["events"] == []
    mine = told("--json", "--client", "my-agent", data=read_diary).document
    assert {receipt["client_id"] for receipt in mine["receipts"]} == {"my-agent"}
    grant_id = mine["receipts"][0]["grant_id"]
    under = told("--json", "--grant", grant_id, data=read_diary).document
    assert len(under["receipts"]) == len(mine["receipts"]) == 4
    assert told("--json", "--client", "nobody", data=read_diary).document["receipts"] == []
    assert told("--json", "--since", "2099-01-01", data=read_diary).document["totals"] == []
    assert "Nothing was read." in told("--since", "2099-01-01", data=read_diary).out
    few = told("--limit", "2", data=read_diary).out
    assert few.endswith("These are the newest 2; --limit lists more, --jsonl all.\n")


def test_every_receipt_is_a_line_of_json(read_diary: Path) -> None:
    lines = [json.loads(line) for line in told("--jsonl", data=read_diary).out.splitlines()]
    assert [line["number"] for line in lines] == [5, 4, 3, 2, 1]
    assert lines[4]["records"] == ["e3", "e2"]
    assert lines[4]["fields"] == ["day", "id", "text", "title"]
    assert lines[0]["fields"] is None
    assert all(len(line["hash"]) == 64 and line["at"].endswith("Z") for line in lines)


def test_a_log_that_is_whole_is_told_with_its_end(read_diary: Path) -> None:
    ended = pdpp_here("receipts", "verify", data=read_diary)
    assert ended.code == 0
    first, _, head = ended.out.splitlines()
    assert first == "The log is whole: 5 receipts, each following from the last."
    document = told("verify", "--json", data=read_diary).document
    assert document == {"ok": True, "receipts": 5, "head": head, "problems": []}
    assert told("verify", "--head", head, data=read_diary).out.startswith("The log is whole")
    assert told("verify", "--head", head, "--json", data=read_diary).document["ok"] is True


@pytest.mark.embedded("about the file of the embedded engine")
def test_a_log_that_was_changed_is_told_and_the_command_fails(diary_copy: Path) -> None:
    db = apsw.Connection(str(diary_copy / FILE))
    first = "(SELECT min(last) FROM batch)"
    text = "json_set(CAST(content AS TEXT), '$.receipts[0][3]', 1)"
    db.execute(f"UPDATE batch SET content = CAST({text} AS BLOB) WHERE last = {first}")
    db.close()
    for ended in (
        pdpp_here("receipts", "verify", data=diary_copy),
        pdpp_here("check", data=diary_copy),
    ):
        assert ended.code == 1
        assert re.match(r"receipts? 1( to \d)? (was|were) changed, or the one", ended.out)
        assert ended.out.count("\n") == 1


def test_a_noted_receipt_that_is_another_now_is_told(diary_copy: Path) -> None:
    ended = pdpp_here("receipts", "verify", "--head", "3:" + "0" * 64, data=diary_copy)
    assert (ended.code, ended.out) == (1, "receipt 3 is not the one that was noted down\n")
    again = pdpp_here("receipts", "verify", "--head", "9:" + "0" * 64, "--json", data=diary_copy)
    assert json.loads(again.out)["problems"] == ["receipt 9 is not the one that was noted down"]


def test_a_noted_receipt_that_made_room_is_told(diary_copy: Path) -> None:
    from tests.engine import open_store

    store = open_store(diary_copy)
    store.receipts.write([ReceiptBatch([Receipt(instant.now(), "listStreams")])])
    store.receipts.trim(1, 1 << 30)
    store.close()
    ended = pdpp_here("receipts", "verify", "--head", "1:" + "0" * 64, data=diary_copy)
    assert "receipt 1 made room for newer ones" in ended.out
    listed = told(data=diary_copy).out
    assert "What happened to the log" in listed
    assert "receipts 1 to 5 made room for newer" in listed


@pytest.mark.parametrize(
    "arguments",
    [
        ("--head", "1:" + "0" * 64),
        ("verify", "--head", "x"),
        ("--since", "soon"),
        ("prove",),
        ("--limit", "-1"),
    ],
)
def test_what_makes_no_sense_is_refused(read_diary: Path, arguments: tuple[str, ...]) -> None:
    pdpp_here("receipts", *arguments, data=read_diary).failed(code=64)


def test_a_folder_that_never_served_has_nothing_to_tell(diary: Path) -> None:
    assert told(data=diary).out == "In the last 7 days\n  Nothing was read.\n"
    assert told("verify", data=diary).out.startswith("The log is whole: 0 receipts")


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_carries_the_receipts(read_diary: Path, tmp_path: Path) -> None:
    assert pdpp_here("backup", tmp_path / "copy", data=read_diary).code == 0
    here, there = (told("--jsonl", data=data).out for data in (read_diary, tmp_path / "copy"))
    assert here == there
    assert pdpp_here("check", data=tmp_path / "copy").code == 0


def test_a_stretch_of_time_is_said_in_words() -> None:
    words, moment = ago("1w")
    assert words == "In the last 1 week"
    assert abs(instant.now() - 7 * instant.DAY - moment) < 60 * instant.SECOND
    assert ago("12h")[0] == "In the last 12 hours"
    assert ago("2026-01-31") == ("Since 2026-01-31T00:00:00Z", instant.parse("2026-01-31"))


def test_every_read_has_a_verb() -> None:
    reads = {route.name for route in ROUTES if not route.writes}
    assert set(VERBS) == reads


def test_totals_are_sentences() -> None:
    def total(records: int, characters: int, size: int = 0) -> ReadTotal:
        return ReadTotal("c", "cin", records, characters, size, 0)

    names = {"cin": "Work mail"}
    assert sentence(total(41, 12_300), names) == "41 records, 12,300 characters from Work mail"
    assert sentence(total(1, 1), names) == "1 record, 1 character from Work mail"
    assert sentence(total(1, 0, 2_500_000), {}) == "1 record, 2.5 MB of files from cin"
    assert sentence(total(0, 0), names) == "nothing from Work mail"
    assert counted(0, "record") == "0 records"
