"""Accounting: what was read equals what is said of it, or the import is not complete."""

from collections.abc import Iterator

from tests.sources.harness import Harness

from pdpp.sources.item import Finding, Item, Skipped, Unknown
from pdpp.sources.reading.guard import account


def test_a_unit_of_which_nothing_is_said_is_unknown() -> None:
    def silent() -> Iterator[Finding]:
        yield from ()

    seen, said = account(silent(), "a.json item 3", "item")
    assert said == Unknown("an entry from which nothing was read", "a.json item 3")
    assert seen.kind == "item"  # type: ignore[union-attr]


def test_a_unit_that_is_skipped_for_a_reason_is_accounted_for() -> None:
    skipped = Skipped("an empty message", "a.json item 3")
    assert list(account([skipped], "a.json item 3", "item"))[1:] == [skipped]


def test_an_import_in_which_something_is_lost_is_not_complete(harness: Harness) -> None:
    report = harness.report
    report.counts["read"] = 3
    report.counts["new"] = 2
    assert report.unaccounted() == 1
    report.skip("a reason", "where")
    assert report.unaccounted() == 0
    report.files.total = 2
    report.files.read = 1
    assert report.unaccounted() == 1


def test_the_machinery_counts_what_a_reader_yields(harness: Harness) -> None:
    def read(entry: object, point: object) -> Iterator[Finding]:
        assert entry != point
        yield from account([Item("notes", "a", {"id": "a", "text": "x"})], "a.txt 1", "line")
        yield from account([], "a.txt 2", "line")

    harness.put("a.txt", "")
    assert harness.read_parts(read)
    assert harness.report.units == {"line": 2}
    assert harness.report.unaccounted() == 0
    assert harness.report.counts["unknown"] == 1
