"""Packages: one token for several accounts, each of them a grant of its own."""

from pathlib import Path

import httpx
import pytest
from tests.cli.shell import Served, pdpp, pdpp_here

PACKAGE = ("grant", "package")
ASK = (*PACKAGE, "create", "--client", "my-agent", "--purpose", "Answer my questions")
TWO = ("--connection", "cin_home", "--connection", "cin_notes")


def test_a_package_is_told_in_words_and_its_token_once(diary: Path) -> None:
    made = pdpp(*ASK, "--stream", "entries", "--view", "titles", data=diary)
    head, gap, grant, purpose, connection, stream, blank, told, token = made.out.splitlines()
    assert head.endswith(", active: my-agent may read through 1 grant")
    assert grant.startswith("Grant grt_")
    assert purpose == '  purpose: "Answer my questions"'
    assert (connection, stream) == ("  My days (cin_diary)", "    entries: only id, title")
    assert (gap, blank, told) == ("", "", "Its token, which is not shown again:")
    assert token.startswith("pdpp_package_")
    for path in diary.iterdir():
        assert path.is_dir() or token.encode() not in path.read_bytes()


def test_each_account_is_a_grant_of_its_own_under_one_token(demo_server: Served) -> None:
    data = demo_server.data
    made = pdpp_here(*ASK, *TWO, "--expires", "30d", "--json", data=data).document
    held = {grant["allowances"][0]["connection_id"]: grant["grant_id"] for grant in made["grants"]}
    assert set(held) == {"cin_home", "cin_notes"}
    assert {grant["grant_package_id"] for grant in made["grants"]} == {made["grant_package_id"]}
    assert made["expires_at"] == made["grants"][0]["expires_at"]
    headers = {"Authorization": f"Bearer {made['package_token']}"}
    with httpx.Client(base_url=demo_server.url, headers=headers, trust_env=False) as client:
        assert connections(client) == {"cin_home", "cin_notes"}
        assert pdpp_here("grant", "revoke", held["cin_home"], data=data).code == 0
        assert connections(client) == {"cin_notes"}
        shown = pdpp_here(*PACKAGE, "list", data=data).out
        [row] = [line for line in shown.splitlines() if made["grant_package_id"] in line]
        assert "1 of 2" in row
        assert pdpp_here(*PACKAGE, "revoke", made["grant_package_id"], data=data).code == 0
        after = client.get("/v1/streams")
    assert after.status_code == 403
    assert after.json()["error"]["code"] == "grant_revoked"


def connections(client: httpx.Client) -> set[str]:
    rows = client.get("/v1/streams").json()["data"]
    return {row["connection_id"] for row in rows}


def test_a_package_is_shown_as_it_was_made(diary: Path) -> None:
    made = pdpp_here(*ASK, "--everything", "--json", data=diary).document
    number = made["grant_package_id"]
    shown = pdpp_here(*PACKAGE, "show", number, "--json", data=diary).document
    assert shown == {name: value for name, value in made.items() if name != "package_token"}
    words = pdpp_here(*PACKAGE, "show", number, data=diary).out
    assert "    moods: every field" in words
    assert "pdpp_package_" not in words


def test_the_list_shows_what_is_active_and_on_request_what_was(diary: Path) -> None:
    assert pdpp_here(*PACKAGE, "list", data=diary).out == "No packages.\n"
    first = pdpp_here(*ASK, "--everything", "--json", data=diary).document["grant_package_id"]
    later = ("--expires", "2099-01-01", "--json")
    second = pdpp_here(*ASK, "--everything", *later, data=diary).document["grant_package_id"]
    assert pdpp_here(*PACKAGE, "revoke", first, data=diary).out == f"Revoked: {first}\n"
    heading, row = pdpp_here(*PACKAGE, "list", data=diary).out.splitlines()
    assert heading.split() == ["ID", "CLIENT", "STATUS", "EXPIRES", "GRANTS", "PURPOSE"]
    assert row == f"{second}  my-agent  active  2099-01-01  1       Answer my questions"
    listed = pdpp_here(*PACKAGE, "list", "--all", "--json", data=diary).document["packages"]
    assert {held["grant_package_id"]: held["status"] for held in listed} == {
        first: "revoked",
        second: "active",
    }


def test_a_package_can_be_revoked_twice_and_says_since_when(diary: Path) -> None:
    number = pdpp_here(*ASK, "--everything", "--json", data=diary).document["grant_package_id"]
    revoked = pdpp_here(*PACKAGE, "revoke", number, "--json", data=diary).document
    assert [held["status"] for held in revoked["grants"]] == ["revoked"]
    again = pdpp_here(*PACKAGE, "revoke", number, data=diary)
    assert again.out == f"{number} was already revoked.\n"
    words = pdpp_here(*PACKAGE, "show", number, data=diary).out
    assert f"revoked since {revoked['revoked_at']}: my-agent" in words


@pytest.mark.parametrize("verb", ["show", "revoke"])
def test_a_package_that_is_not_there_is_told(verb: str, diary: Path) -> None:
    told = pdpp_here(*PACKAGE, verb, "pkg_x", data=diary).failed()
    assert told == "there is no package 'pkg_x'; see pdpp grant package list --all"


def test_a_choice_that_is_not_there_makes_no_package(diary: Path) -> None:
    told = pdpp_here(*ASK, "--connection", "cin_x", data=diary).failed()
    assert told.endswith("There is no connection 'cin_x'. See pdpp connection list.")
    assert pdpp_here(*PACKAGE, "list", "--all", data=diary).out == "No packages.\n"
