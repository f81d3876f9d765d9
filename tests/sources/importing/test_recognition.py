"""Which source takes an export."""

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest
from tests.sources.kit import zipped

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources import registry
from pdpp.sources.importing.claims import look_at
from pdpp.sources.importing.recognition import ask_source, recognise_export
from pdpp.sources.reading.tree import Tree, open_tree
from pdpp.sources.registry import BrokenPlugin
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    ExportRefusal,
    OwnerChoices,
    Recognition,
    Source,
)


class Opinion(Source):
    """A source that says what it was made to say."""

    def __init__(self, key: str, says: Recognition | ExportRefusal | Exception | None) -> None:
        self.connector_key = key
        self.label = key.title()
        self._says = says

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | ExportRefusal | None:  # noqa: ARG002
        if isinstance(self._says, Exception):
            raise self._says
        return self._says

    def parts(self, tree: Tree, found: Recognition) -> Iterable[ExportPart]:  # noqa: ARG002
        return []


SURE = Recognition(Confidence.CERTAIN, "1", "Nora")
GUESS = Recognition(Confidence.LIKELY, "1", "Nora")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "export.txt").write_text("hello")
    return open_tree(tmp_path / "export.txt")


def asked(tree: Tree, monkeypatch: pytest.MonkeyPatch, *sources: Source | BrokenPlugin) -> str:
    """Return the key of the source that takes a tree, or the words of the refusal."""
    monkeypatch.setattr(registry, "every", lambda: iter(sources))
    try:
        return recognise_export(tree, OwnerChoices()).source.connector_key
    except ImportRefused as problem:
        return problem.message


def test_the_surest_source_takes_it(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    sources: list[Source | BrokenPlugin] = [
        Opinion("a", None),
        Opinion("b", GUESS),
        Opinion("c", SURE),
        BrokenPlugin("d", "x"),
    ]
    assert asked(tree, monkeypatch, *sources) == "c"
    assert asked(tree, monkeypatch, *sources[:2]) == "b"


@pytest.mark.parametrize("says", [SURE, GUESS])
def test_two_that_are_equally_sure_must_be_told_apart(
    says: Recognition, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = asked(tree, monkeypatch, Opinion("a", says), Opinion("b", says))
    assert words == (
        "export.txt looks like more than one thing: A (--as a), B (--as b); say which with --as"
    )


def test_what_nobody_knows_is_refused_with_what_was_seen_and_what_to_try(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = asked(tree, monkeypatch, Opinion("a", None))
    assert words.startswith("export.txt is not known: it is a file of 5 bytes. Known are ")
    assert "claude_code" in words
    assert words.endswith("CSV, JSON and NDJSON of any other kind come in with --infer")


@pytest.mark.parametrize("place", ["", "places.sqlite"])
def test_a_database_that_is_cut_off_is_called_so(tmp_path: Path, place: str) -> None:
    path = tmp_path / "places.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE moz_places (url TEXT)")
        made.executemany("INSERT INTO moz_places VALUES (?)", [("x" * 1_000,)] * 100)
        made.commit()
    content = path.read_bytes()
    path.write_bytes(content[: -(16 << 10)])
    told = f"places.sqlite is cut off: {len(content) - (16 << 10):,} of {len(content):,} bytes"
    with pytest.raises(ImportRefused, match=told):
        recognise_export(open_tree(tmp_path / place), OwnerChoices())


def test_a_source_that_knows_what_is_wrong_says_what_to_do(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusal = ExportRefusal("choose JSON when you export it")
    sources = [Opinion("a", refusal), Opinion("b", refusal), Opinion("c", None)]
    assert asked(tree, monkeypatch, *sources) == "choose JSON when you export it"
    assert asked(tree, monkeypatch, *sources, Opinion("d", GUESS)) == "d"


def test_damage_that_one_source_meets_does_not_keep_another_from_taking_it(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = Opinion("a", DamagedFile("x cannot be read"))
    assert asked(tree, monkeypatch, damaged, Opinion("b", SURE)) == "b"
    assert asked(tree, monkeypatch, damaged) == "x cannot be read"


def test_a_source_that_is_surprised_is_passed_over(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(tree, monkeypatch, Opinion("a", KeyError("x")), Opinion("b", SURE)) == "b"


def test_a_chosen_source_that_is_surprised_is_told_not_to_know_it(tree: Tree) -> None:
    with pytest.raises(ImportRefused, match=r"export\.txt does not look like A: it is a file"):
        recognise_export(tree, OwnerChoices(), "a", [Opinion("a", KeyError("x"))])


def test_a_plugin_that_could_not_be_asked_is_told_where_nobody_knows_it(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = asked(tree, monkeypatch, Opinion("a", None), BrokenPlugin("b", "no licence"))
    assert words.startswith("export.txt is not known")
    assert words.endswith("; the plugin 'b' cannot be used: no licence")


def test_an_export_without_files_is_refused_with_what_was_in_it(tmp_path: Path) -> None:
    tree = open_tree(zipped(tmp_path / "x.zip", {"../a": b""}))
    with pytest.raises(
        ImportRefused,
        match=r"holds no file that can be read, and 1 refused \(a name that leads outside",
    ):
        recognise_export(tree, OwnerChoices())


def test_a_chosen_source_is_asked_alone(tmp_path: Path) -> None:
    line = {"type": "user", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z", "uuid": "u"}
    (tmp_path / "a.jsonl").write_text(json.dumps(line))
    tree = open_tree(tmp_path)
    assert (
        recognise_export(tree, OwnerChoices(), "claude_code").source.connector_key == "claude_code"
    )
    with pytest.raises(ImportRefused, match="does not look like Codex logs: it is a folder of 1"):
        recognise_export(tree, OwnerChoices(), "codex")
    with pytest.raises(ImportRefused, match="there is no source 'myspace'"):
        recognise_export(tree, OwnerChoices(), "myspace")


def test_a_chosen_source_may_be_the_owners_own(tree: Tree) -> None:
    mine = Opinion("mine", GUESS)
    assert recognise_export(tree, OwnerChoices(), "mine", [mine]).source is mine
    with pytest.raises(ImportRefused, match="not like this"):
        recognise_export(
            tree, OwnerChoices(), "mine", [Opinion("mine", ExportRefusal("not like this"))]
        )


def test_a_source_that_fails_in_its_own_code_keeps_no_other_from_being_asked(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Opinion("rides", NameError("name 'x' is not defined"))
    assert asked(tree, monkeypatch, broken, Opinion("b", SURE)) == "b"
    words = asked(tree, monkeypatch, broken)
    assert words.startswith("Rides failed with NameError in test_recognition.py line ")
    assert "not defined" not in words


def test_a_source_that_stumbles_is_told_where_its_owner_named_it(tree: Tree) -> None:
    stumbling = Opinion("rides", KeyError("Nora"))
    assert ask_source(stumbling, tree, OwnerChoices()) is None
    told = ask_source(stumbling, tree, OwnerChoices(chosen=True))
    assert isinstance(told, ExportRefusal)
    assert told.message.startswith("Rides failed with KeyError in test_recognition.py line ")


def test_what_a_source_refuses_by_itself_stays_as_it_is(tree: Tree) -> None:
    with pytest.raises(ImportRefused, match="no such zone"):
        ask_source(Opinion("rides", ImportRefused("no such zone")), tree, OwnerChoices())


def test_a_source_whose_parts_fail_loses_none_of_the_others(tree: Tree) -> None:
    class Partless(Opinion):
        def parts(self, tree: Tree, found: Recognition) -> Iterable[ExportPart]:
            raise RuntimeError(f"{tree} {found}")

    piece = look_at(tree, OwnerChoices(), [Partless("rides", SURE), Opinion("b", SURE)])
    assert [claim.claimed.export.source.connector_key for claim in piece.kept] == ["b"]
    [words] = piece.refusals
    assert words.startswith("Rides failed with RuntimeError in test_recognition.py line ")
