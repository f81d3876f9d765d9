from pathlib import Path

import pytest
from tests.cli.shell import entry, pdpp, pdpp_here


def test_a_connection_gets_an_id_of_its_own_unless_one_is_chosen(diary: Path) -> None:
    document = pdpp("connection", "add", "diary", "--name", " Two ", "--json", data=diary).document
    assert document["connection_id"].startswith("cin_")
    assert document["display_name"] == "Two"
    assert document["status"] == "added"


def test_a_person_is_told_how_to_bring_in_records(diary: Path) -> None:
    ended = pdpp_here("connection", "add", "diary", "--name", "Two", "--id", "my two", data=diary)
    assert "Added: Two (my two)" in ended.out
    ingest = "pdpp ingest RECORDS.ndjson --connection 'my two' --stream entries"
    assert f"{ingest} --data '{diary}'\n" in ended.out


def test_the_usual_folder_is_not_named_in_the_next_command(
    diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PDPP_DATA", str(diary))
    ended = pdpp_here("connection", "add", "diary", "--name", "Two", "--id", "cin_two", data=diary)
    assert ended.out.endswith(" --connection cin_two --stream entries\n")


def test_the_same_id_again_renames_the_connection(diary: Path) -> None:
    renamed = ("diary", "--name", "New name", "--id", "cin_diary")
    assert pdpp_here("connection", "add", *renamed, data=diary).out.startswith("Renamed: New name")
    listed = pdpp_here("connection", "list", "--json", data=diary).document["connections"]
    assert [held["display_name"] for held in listed] == ["New name"]


def test_a_source_that_is_not_there_is_told(diary: Path) -> None:
    told = pdpp_here("connection", "add", "mail", "--name", "Mail", data=diary).failed()
    assert told == "There is no source 'mail'; register it with pdpp source add."


@pytest.mark.parametrize(
    ("chosen", "told"),
    [("a/b", "The id holds '/'"), ("a:b", "The id holds ':'"), ("..", "'..'"), ("", "is empty")],
)
def test_an_id_that_no_handle_can_carry_is_refused(chosen: str, told: str, diary: Path) -> None:
    ended = pdpp_here("connection", "add", "diary", "--name", "x", "--id", chosen, data=diary)
    assert told in ended.failed(code=64)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 1_001])
def test_a_name_is_one_line_of_text(name: str, diary: Path) -> None:
    ended = pdpp_here("connection", "add", "diary", "--name", name, data=diary)
    assert "Write one line" in ended.failed(code=64)


def test_the_list_shows_every_stream_with_its_count(diary: Path) -> None:
    where = ("--connection", "cin_diary", "--stream", "entries")
    pdpp_here("ingest", "-", *where, data=diary, stdin=entry("e1") + entry("e2"))
    assert pdpp_here("connection", "list", data=diary).out.splitlines() == [
        "My days (cin_diary, diary)",
        "  entries  2 records",
        "  moods    0 records",
    ]


def test_a_hidden_character_in_a_name_is_made_visible(diary: Path) -> None:
    pdpp_here("connection", "add", "diary", "--name", "a\u202eb", "--id", "cin_diary", data=diary)
    assert "a⟨U+202E⟩b" in pdpp_here("connection", "list", data=diary).out
