"""Reports for people and programs."""

from typing import Any

from pdpp.sources.importing import report as module
from pdpp.sources.importing.report import COUNTS, ImportReport, ImportSubject, tell


def report() -> ImportReport:
    subject = ImportSubject(
        "/x.zip", "slack", "Slack", "2", "certain", "T1", "cin_1", "Work\x1b[2J", "x.zip"
    )
    return ImportReport(subject, 0)


def answer(**counts: Any) -> dict[str, Any]:
    held = {f"records_{name}": 0 for name in ("new", "changed", "unchanged", "deleted")}
    return {**held, "rejections": [], **counts}


def test_reasons_are_counted_with_the_first_examples() -> None:
    made = report()
    for number in range(5):
        made.skip("too long", f"line {number}")
    made.skip("odd", "line 9")
    assert made.document()["skipped"] == [
        {"reason": "too long", "count": 5, "examples": ["line 0", "line 1", "line 2"]},
        {"reason": "odd", "count": 1, "examples": ["line 9"]},
    ]


def test_examples_are_short_and_cannot_steer_a_terminal() -> None:
    made = report()
    made.wonder("odd", "\x1b[31m" + "x" * 1_000)
    [case] = made.document()["unknown"]
    assert "\x1b" not in case["examples"][0]
    assert len(case["examples"][0]) <= 160


def test_however_many_reasons_a_file_gives_the_report_stays_small() -> None:
    made = report()
    for number in range(1_000):
        made.skip(f"reason {number}", "here")
    cases = made.document()["skipped"]
    assert len(cases) <= module._MOST_REASONS + 1
    assert cases[0]["reason"] == "other reasons"
    assert sum(case["count"] for case in cases) == 1_000


def test_what_ingest_refuses_is_skipped_with_its_key() -> None:
    made = report()
    rejection = {"input_index": 1, "code": "schema_violation", "message": "data/x is wrong."}
    made.write("messages", answer(records_new=1, rejections=[rejection]), ["a", "b"])
    document = made.document()
    assert document["counts"]["new"] == document["streams"]["messages"]["new"] == 1
    assert document["skipped"][0] == {
        "reason": "refused as schema_violation: data/x is wrong.",
        "count": 1,
        "examples": ["messages b"],
    }


def test_a_report_is_told_in_lines() -> None:
    made = report()
    made.counts["read"] = 1_234
    made.write("messages", answer(records_new=1_000, records_unchanged=230), [])
    made.write("users", answer(), [])
    for number in range(4):
        made.skip("too long", f"line {number}")
    made.end("complete", 5_000_000)
    lines = tell(made.document())
    assert lines == [
        "Slack into Work⟨U+001B⟩[2J (cin_1): complete",
        "  1,234 read: 1,000 new, 0 changed, 230 unchanged, 0 deleted, 4 skipped, 0 unknown",
        "  messages: 1,000 new, 230 unchanged",
        "  users: nothing",
        "  skipped, 4 × too long: line 0; line 1; line 2; …",
    ]


def test_a_report_has_every_count_and_both_times() -> None:
    made = report()
    assert made.document()["ended_at"] is None
    made.end("complete", 60_000_000)
    document = made.document()
    assert tuple(document["counts"]) == COUNTS
    assert document["started_at"] == "1970-01-01T00:00:00Z"
    assert document["ended_at"] == "1970-01-01T00:01:00Z"
