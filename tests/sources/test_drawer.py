"""What imports keep: reports and what the owner decided."""

import json
from dataclasses import replace

from tests.sources.scene import Scene

from pdpp.sources.verdict import Verdict


def test_what_the_owner_decided_is_remembered_for_files_of_that_shape(scene: Scene) -> None:
    scene.put("a", "one")
    arrival = scene.arrival()
    found = replace(arrival.verdict.found, shape="a;b", remember={"date": "a"})
    arrival.verdict = Verdict(arrival.verdict.source, found)
    arrival.settle()
    assert scene.drawer.recall("words", "a;b") == {"date": "a"}
    assert scene.drawer.recall("words", "other") == {}
    assert scene.drawer.recall("others", "a;b") == {}


def test_a_report_tells_what_was_imported_and_is_kept(scene: Scene) -> None:
    scene.put("a", "one", "two")
    (scene.export / "link").symlink_to(scene.export / "a")
    arrival = scene.bring()
    [(name, kept)] = scene.drawer.reports()
    assert kept == json.loads(json.dumps(arrival.document()))
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


def test_reports_are_private_and_the_newest_comes_first(scene: Scene) -> None:
    scene.put("a", "one")
    names = [scene.bring().name, scene.bring().name]
    assert [name for name, _ in scene.drawer.reports()] == names[::-1]
    folder = scene.export.parent / "data" / "imports"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.glob("*.json")} == {0o600}


def test_what_is_no_report_is_passed_over(scene: Scene) -> None:
    scene.put("a", "one")
    scene.bring()
    folder = scene.export.parent / "data" / "imports"
    (folder / "zzz.json").write_text("[1]")
    (folder / "zzzz.json").write_text("{")
    assert len(list(scene.drawer.reports())) == 1
