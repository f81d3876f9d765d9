"""What imports keep: reports and what the owner decided."""

import json
from dataclasses import replace

from tests.sources.word_lists import WordLists

from pdpp.sources.importing.recognition import RecognisedExport


def test_what_the_owner_decided_is_remembered_for_files_of_that_shape(
    word_lists: WordLists,
) -> None:
    word_lists.put("a", "one")
    task = word_lists.task()
    found = replace(task.export.recognition, shape="a;b", remember={"date": "a"})
    task.export = RecognisedExport(task.export.source, found)
    task.settle()
    assert word_lists.state.recall("words", "a;b") == {"date": "a"}
    assert word_lists.state.recall("words", "other") == {}
    assert word_lists.state.recall("others", "a;b") == {}


def test_a_report_tells_what_was_imported_and_is_kept(word_lists: WordLists) -> None:
    word_lists.put("a", "one", "two")
    (word_lists.export / "link").symlink_to(word_lists.export / "a")
    task = word_lists.bring()
    [(name, kept)] = word_lists.state.reports()
    assert kept == json.loads(json.dumps(task.document()))
    assert kept["import_id"] == name
    assert kept["status"] == "complete"
    assert kept["started_at"] == kept["ended_at"] == "2026-10-01T00:00:00Z"
    assert kept["source"] == {
        "connector_key": "words",
        "name": "Word lists",
        "version": "lists",
        "confidence": "certain",
    }
    assert kept["counts"]["read"] == 3
    assert kept["skipped"] == [
        {"reason": "a link to another place", "count": 1, "examples": ["link"]}
    ]


def test_reports_are_private_and_the_newest_comes_first(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    names = [word_lists.bring().name, word_lists.bring().name]
    assert [name for name, _ in word_lists.state.reports()] == names[::-1]
    folder = word_lists.export.parent / "data" / "imports"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.json")} == {0o600}


def test_what_is_no_report_is_passed_over(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    word_lists.bring()
    folder = word_lists.export.parent / "data" / "imports"
    (folder / "zzz.json").write_text("[1]")
    (folder / "zzzz.json").write_text("{")
    assert len(list(word_lists.state.reports())) == 1
