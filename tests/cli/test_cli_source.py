import json
from copy import deepcopy
from pathlib import Path

import pytest
from tests.cli.shell import DECLARATION, entry, pdpp, pdpp_here


def test_a_declaration_is_registered_with_its_revision_and_streams(
    declaration: Path, tmp_path: Path
) -> None:
    ended = pdpp("source", "add", declaration, "--json", data=tmp_path / "data")
    document = ended.document
    assert document["status"] == "registered"
    assert document["streams"] == ["entries", "moods"]
    assert document["revision"]


def test_a_person_is_told_what_comes_next_in_a_form_the_shell_takes_as_it_is(
    tmp_path: Path,
) -> None:
    odd = deepcopy(DECLARATION)
    odd["display"]["name"] = "Diary $(rm x)"
    ended = pdpp_here("source", "add", "-", data=tmp_path / "data", stdin=json.dumps(odd).encode())
    assert ended.out.startswith("Registered: diary, revision ")
    told = f"pdpp connection add diary --name 'Diary $(rm x)' --data {tmp_path / 'data'}\n"
    assert told in ended.out


def test_the_same_declaration_twice_changes_nothing(declaration: Path, diary: Path) -> None:
    ended = pdpp_here("source", "add", declaration, data=diary)
    assert ended.out.startswith("Unchanged: diary")


def test_a_new_revision_indexes_the_records_there_are(diary: Path, tmp_path: Path) -> None:
    where = ("--connection", "cin_diary", "--stream", "entries")
    assert pdpp_here("ingest", "-", *where, data=diary, stdin=entry("e1")).code == 0
    newer = deepcopy(DECLARATION)
    newer["declaration_version"] = "2"
    newer["streams"][0]["query"]["aggregations"] = {"group_by": ["title"]}
    ended = pdpp_here("source", "add", "-", "--json", data=diary, stdin=json.dumps(newer).encode())
    assert ended.document["status"] == "updated"
    listed = pdpp_here("source", "list", "--json", data=diary).document["sources"]
    assert [held["declaration_version"] for held in listed] == ["2"]
    assert pdpp_here("check", data=diary).code == 0


def test_a_bad_declaration_is_told_with_the_place_of_what_is_wrong(tmp_path: Path) -> None:
    bad = deepcopy(DECLARATION)
    bad["streams"][1]["semantics"] = "append"
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(bad))
    told = pdpp_here("source", "add", path, data=tmp_path / "data").failed()
    assert told.startswith(f"{path}, at /streams/1/semantics: ")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"{", "<stdin> is not JSON"),
        (b"[]", "at the top: "),
        (b" " * ((16 << 20) + 1), "is longer than"),
    ],
)
def test_what_is_no_declaration_is_told_in_one_line(text: bytes, told: str, tmp_path: Path) -> None:
    assert told in pdpp("source", "add", "-", data=tmp_path / "data", stdin=text).failed()


def test_a_key_that_names_another_source_is_refused(diary: Path) -> None:
    other = deepcopy(DECLARATION)
    other["source"]["id"] = "https://sources.example/other"
    ended = pdpp_here("source", "add", "-", data=diary, stdin=json.dumps(other).encode())
    assert "already names another source" in ended.failed()


def test_the_list_shows_every_source(diary: Path) -> None:
    heading, row = pdpp_here("source", "list", data=diary).out.splitlines()
    assert heading.split() == ["KEY", "NAME", "REVISION", "STREAMS"]
    assert row.startswith("diary  Diary  ")
    assert row.endswith("entries, moods")


def test_an_empty_store_lists_no_sources_and_no_connections(tmp_path: Path) -> None:
    assert pdpp_here("owner", "token", data=tmp_path).code == 0
    assert pdpp_here("source", "list", data=tmp_path).out == "No sources yet.\n"
    assert pdpp_here("connection", "list", data=tmp_path).out == "No connections yet.\n"
    assert pdpp_here("grant", "list", data=tmp_path).out == "No grants.\n"
