"""Breaks of what is kept: pages, batches, moments, exports, imports and receipts."""

# ruff: noqa: ARG005 - a stand-in takes whatever the real thing takes

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

from tests.promises.mutants.mutant import Mutant

PAGES = "Pages show nothing twice and miss nothing that stayed"
KILLED = "Nothing acknowledged is lost, nothing is corrupted"
MOMENT = "Every answer is of one moment."
GONE = "Deleted is gone."
EXPORTED = "What the owner exports comes back equal"
IMPORTED = "An import tells everything and changes nothing twice."
TOLD = "No read under a grant is lost in silence, and a log that was touched says so."

_PAGING = "tests/promises/test_paging_under_writes.py"
_RESTORE = "tests/cli/exporting/test_restore.py"
_CHAIN = "tests/store/sqlite/test_receipts.py"


def _before_its_equals(_: Any) -> Any:
    return lambda after: 2**63 - 1


def _leaving_deleted_rows(real: Any) -> Any:
    def make_ready(database: Any, db: Any) -> Any:
        real(database, db).pragma("secure_delete", False)
        return db

    return make_ready


def _one_batch_late(real: Any) -> Any:
    held: list[Any] = []

    def write(store: Any, batch: Any) -> Any:
        from pdpp.store.batch import WriteResult

        while held:
            real(store, held.pop())
        held.append(batch)
        return WriteResult(batch.turns, 0, 0, 0)

    return write


def _always_new_year(real: Any) -> Any:
    return SimpleNamespace(**{**vars(real), "to_text": lambda at: "2026-01-01T00:00:00Z"})


def _without_columns(real: Any) -> Any:
    return lambda before, last, latest, events, content: real(before, last, latest, events, b"")


def _always_again(real: Any) -> Any:
    """Write a record even where it stands already."""

    def stored(writer: Any, keys: Any) -> Any:
        return {key: row._replace(data=b"{}") for key, row in real(writer, keys).items()}

    return stored


MUTANTS = (
    Mutant(
        PAGES,
        "begins a page anew among equal values",
        (("pdpp.store.tables.records.reader:_last_surrogate", _before_its_equals),),
        (f"{_PAGING}::test_pages_show_nothing_twice_and_miss_nothing_that_stayed[at once]",),
    ),
    Mutant(
        PAGES,
        "leaves out of the changes what went away",
        (
            (
                "pdpp.resource.changes:ChangeQuery",
                lambda real: lambda **asked: real(**{**asked, "tombstones": False}),
            ),
        ),
        (f"{_PAGING}::test_replayed_changes_come_to_what_a_full_read_shows[few fields]",),
    ),
    Mutant(
        KILLED,
        "acknowledges a batch before it is written",
        (("pdpp.store.tables.store:TableStore._write", _one_batch_late),),
        (
            "tests/promises/test_kill.py"
            "::test_a_killed_ingest_loses_nothing_acknowledged_and_corrupts_nothing[0]",
        ),
    ),
    Mutant(
        MOMENT,
        "reads without holding a moment",
        (
            (
                "pdpp.store.tables.store:TableStore.reading",
                lambda real: lambda store, *_: nullcontext(),
            ),
            (
                "pdpp.store.postgres.store:PostgresStore.reading",
                lambda real: lambda store, *_: nullcontext(),
            ),
        ),
        (
            "tests/promises/test_concurrency.py"
            "::test_a_read_keeps_to_its_moment_whatever_is_written_meanwhile",
        ),
    ),
    Mutant(
        EXPORTED,
        "restores files without checking them",
        (("pdpp.cli.restore:_check", lambda real: lambda folder, entry: None),),
        (
            f"{_RESTORE}"
            "::test_an_export_that_is_not_as_it_was_is_refused_before_anything_is_written",
        ),
    ),
    Mutant(
        EXPORTED,
        "dates records by their export",
        (("pdpp.cli.exporting.local:instant", _always_new_year),),
        (f"{_RESTORE}::test_a_folder_exported_and_restored_is_an_equal_store",),
    ),
    Mutant(
        IMPORTED,
        "says nothing of what it skips",
        (("pdpp.sources.importing.report:ImportReport.skip", lambda real: lambda *_: None),),
        ("tests/sources/importing/test_run.py::test_everything_that_was_read_is_counted_once",),
    ),
    Mutant(
        IMPORTED,
        "writes again what stands already",
        (("pdpp.store.tables.write.writer:BatchWriter._stored", _always_again),),
        ("tests/resource/test_ingest.py::test_the_same_batch_twice_changes_nothing",),
    ),
    Mutant(
        IMPORTED,
        "follows names that lead out of an archive",
        (("pdpp.sources.reading.archive:name_problem", lambda real: lambda *_: None),),
        (
            "tests/sources/reading/test_archive.py"
            "::test_names_that_lead_outside_are_refused_and_the_others_stay",
        ),
    ),
    Mutant(
        TOLD,
        "writes nothing down",
        (("pdpp.receipts.recorder:Recorder.take", lambda real: lambda recorder, reading: None),),
        (
            "tests/receipts/test_served.py"
            "::test_a_page_over_several_connections_leaves_a_receipt_for_each",
        ),
    ),
    Mutant(
        TOLD,
        "goes on reading when the log is full",
        (("pdpp.receipts.recorder:Recorder._refuse", lambda real: lambda recorder, reading: None),),
        (
            "tests/receipts/test_recorder.py"
            "::test_reads_under_a_grant_stop_when_they_cannot_be_recorded_and_none_is_lost",
        ),
    ),
    Mutant(
        TOLD,
        "chains receipts without what they say",
        (("pdpp.store.tables.receipts.chain:link", _without_columns),),
        (f"{_CHAIN}::test_a_change_of_any_value_shows",),
        embedded=True,
    ),
    Mutant(
        TOLD,
        "takes any seal",
        (("pdpp.store.tables.receipts.chain:is_sealed", lambda real: lambda *_: True),),
        (f"{_CHAIN}::test_a_tail_that_was_cut_off_with_its_end_moved_is_not_sealed",),
        embedded=True,
    ),
    Mutant(
        GONE,
        "leaves the bytes of rows that it deletes",
        (("pdpp.store.sqlite.database:SqliteDatabase._made_ready", _leaving_deleted_rows),),
        ("tests/store/sqlite/test_deletion.py",),
        embedded=True,
    ),
    Mutant(
        GONE,
        "leaves copies of deleted rows in unused space",
        (("pdpp.store.sqlite.scrubbing:Scrubber.step", lambda real: lambda scrubber: False),),
        (
            "tests/store/sqlite/test_scrubbing.py"
            "::test_copies_are_overwritten_after_something_was_deleted",
        ),
        embedded=True,
    ),
)
