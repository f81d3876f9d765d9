import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.shell import Served, entry, pdpp, pdpp_here

from pdpp.cli.ingest import BATCH_BYTES, BATCH_LINES, batches, read_lines

WHERE = ("--connection", "cin_diary", "--stream", "entries")


def test_a_file_is_brought_in_and_counted(diary: Path, tmp_path: Path) -> None:
    path = tmp_path / "my days.ndjson"
    path.write_bytes(entry("e1") + entry("e2"))
    ended = pdpp("ingest", path, *WHERE, data=diary)
    assert ended.code == 0
    assert ended.out == (
        "2 attempted, 2 accepted, 0 rejected, 2 new, 0 changed, 0 unchanged, 0 deleted\n"
    )
    assert ended.err == ""


def test_the_same_file_twice_changes_nothing_and_a_changed_line_is_told(diary: Path) -> None:
    pdpp_here("ingest", "-", *WHERE, data=diary, stdin=entry("e1") + entry("e2") + entry("e3"))
    delete = json.dumps({"key": "e3", "op": "delete"}).encode()
    changed = entry("e1") + entry("e2", title="Another") + delete
    document = pdpp_here("ingest", "-", *WHERE, "--json", data=diary, stdin=changed).document
    assert document == {
        "records_attempted": 3,
        "records_accepted": 3,
        "records_rejected": 0,
        "records_new": 0,
        "records_changed": 1,
        "records_unchanged": 1,
        "records_deleted": 1,
        "rejections": [],
    }


def test_a_bad_line_is_told_by_its_number_and_loses_none_of_the_others(diary: Path) -> None:
    lines = b"\xef\xbb\xbf" + entry("e1") + b"\r\n" + b"{\n" + entry("a/b") + entry("e2")[:-1]
    ended = pdpp_here("ingest", "-", *WHERE, "--json", data=diary, stdin=lines)
    document = ended.document
    assert ended.code == 1
    assert document["records_accepted"] == 2
    told = [(rejection["line"], rejection["code"]) for rejection in document["rejections"]]
    assert told == [(3, "invalid_json"), (4, "invalid_key")]


def test_of_many_bad_lines_the_first_twenty_are_told_across_batches(diary: Path) -> None:
    bad = {3, 1_000, 1_001, *range(1_500, 1_550)}
    lines = [b"[]\n" if number in bad else entry(f"e{number}") for number in range(1, 2_001)]
    ended = pdpp_here("ingest", "-", *WHERE, data=diary, stdin=b"".join(lines))
    assert ended.code == 1
    counts, *told, more = ended.out.splitlines()
    assert counts.startswith("2,000 attempted, 1,947 accepted, 53 rejected, 1,947 new")
    expected = [3, 1_000, 1_001, *range(1_500, 1_517)]
    assert [line.split(": ")[0] for line in told] == [f"line {number}" for number in expected]
    assert more == "and 33 more"


def test_a_line_beyond_the_limit_is_refused_and_the_next_one_is_taken(diary: Path) -> None:
    lines = entry("e1", text="x" * (9 << 20)) + entry("e2")
    ended = pdpp_here("ingest", "-", *WHERE, "--json", data=diary, stdin=lines)
    document = ended.document
    assert ended.code == 1
    assert document["records_accepted"] == 1
    assert [(r["line"], r["code"]) for r in document["rejections"]] == [(1, "line_too_long")]


@pytest.mark.parametrize(
    ("where", "told"),
    [
        (("cin_other", "entries"), "there is no connection 'cin_other'; see pdpp connection list"),
        (("cin_diary", "notes"), "cin_diary has no stream 'notes'; it has entries, moods"),
    ],
)
def test_a_place_that_is_not_there_is_told(where: tuple[str, str], told: str, diary: Path) -> None:
    ended = pdpp_here("ingest", "-", "--connection", where[0], "--stream", where[1], data=diary)
    assert ended.failed() == told


def test_records_come_in_beside_a_running_server(demo_server: Served, tmp_path: Path) -> None:
    data = demo_server.data
    before = demo_server.get("/v1/streams/notebooks").json()
    record = demo_server.get("/v1/streams/notebooks/records?limit=1").json()["data"][0]
    line = {"key": "nb-new", "data": record["data"] | {"id": "nb-new"}}
    where = ("--connection", "cin_notes", "--stream", "notebooks")
    ended = pdpp_here("ingest", "-", *where, data=data, stdin=json.dumps(line).encode())
    assert ended.code == 0, ended.out
    after = demo_server.get("/v1/streams/notebooks").json()
    assert _count(after) == _count(before) + 1
    assert demo_server.get("/v1/streams/notebooks/records/nb-new").status_code == 200
    gone = json.dumps({"key": "nb-new", "op": "delete"}).encode()
    assert pdpp_here("ingest", "-", *where, data=data, stdin=gone).code == 0
    assert demo_server.get("/v1/streams/notebooks/records/nb-new").status_code == 404


def _count(answer: dict[str, object]) -> int:
    rows = answer.get("data", [answer])
    assert isinstance(rows, list)
    return sum(row["record_count"] for row in rows)


@given(st.lists(st.binary(max_size=12).map(lambda text: text.replace(b"\n", b"")), max_size=8))
def test_lines_are_those_of_the_file_and_too_long_ones_stay_too_long(lines: list[bytes]) -> None:
    longest = 5
    file = io.BytesIO(b"\n".join(lines))
    read = list(read_lines(file, longest))
    first = [text.removeprefix(b"\xef\xbb\xbf") if n == 0 else text for n, text in enumerate(lines)]
    kept = [(number, text) for number, text in enumerate(first, 1) if text.strip()]
    if not lines or not lines[0].startswith(b"\xef\xbb\xbf"):
        assert [number for number, _ in read] == [
            number for number, text in kept if text[: longest + 1].strip() or len(text) <= longest
        ]
    for number, text in read:
        whole = first[number - 1]
        assert text == whole or (len(whole) > longest and whole.startswith(text[:longest]))


def test_batches_are_bounded_by_lines_and_by_bytes() -> None:
    short = [(number, b"x") for number in range(BATCH_LINES + 1)]
    assert [len(batch) for batch in batches(iter(short))] == [BATCH_LINES, 1]
    long = [(number, b"x" * (BATCH_BYTES // 2)) for number in range(4)]
    assert [len(batch) for batch in batches(iter(long))] == [2, 2]
    assert list(batches(iter([]))) == []
