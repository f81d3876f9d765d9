"""Tokens of the owner's own: listed without being shown, and taken back at once."""

from pathlib import Path

import httpx
import pytest
from tests.cli.shell import Served, pdpp, pdpp_here, serving

ASK = ("grant", "create", "--client", "my-agent", "--purpose", "b", "--everything", "--json")


def new_token(data: Path, *more: str) -> dict[str, str]:
    made: dict[str, str] = pdpp_here("owner", "token", "--json", *more, data=data).document
    return made


def test_tokens_are_listed_by_what_they_are_for_and_never_shown(diary: Path) -> None:
    script = new_token(diary, "--label", "laptop \u202escript", "--expires", "2099-01-01")
    other = ("owner", "resource-server", "--label", "archive", "--json")
    archive = pdpp_here(*other, data=diary).document
    listed = pdpp("owner", "tokens", data=diary)
    heading, first, second = listed.out.splitlines()
    assert heading.split() == ["ID", "FOR", "STATUS", "MADE", "EXPIRES", "LABEL"]
    assert first.split()[:3] == [script["token_id"], "owner", "active"]
    assert first.endswith("2099-01-01  laptop ⟨U+202E⟩script")
    assert second.split()[:4] == [archive["token_id"], "resource", "server", "active"]
    assert second.endswith("never       archive")
    told = listed.out + pdpp_here("owner", "tokens", "--json", data=diary).out
    assert script["owner_token"] not in told
    assert archive["resource_server_secret"] not in told


def test_the_tokens_of_clients_are_not_the_owners(diary: Path) -> None:
    made = pdpp_here(*ASK, data=diary).document
    assert pdpp_here("owner", "tokens", "--all", data=diary).out == "No tokens.\n"
    assert pdpp_here("owner", "revoke", "--all", "--json", data=diary).document == {"revoked": []}
    shown = pdpp_here("grant", "show", made["grant_id"], "--json", data=diary).document
    assert shown["status"] == "active"


def test_a_running_server_refuses_the_very_next_request_with_a_revoked_token(
    demo_server: Served,
) -> None:
    data = demo_server.data
    lost, kept = new_token(data, "--label", "lost"), new_token(data, "--label", "kept")
    headers = {"Authorization": f"Bearer {lost['owner_token']}"}
    with httpx.Client(base_url=demo_server.url, headers=headers, trust_env=False) as client:
        assert client.get("/v1/streams").status_code == 200
        revoked = pdpp_here("owner", "revoke", lost["token_id"], data=data)
        assert revoked.out == f"Revoked: {lost['token_id']}\n"
        after = client.get("/v1/streams")
    assert after.status_code == 401
    assert "revoked" in after.json()["error"]["message"]
    assert demo_server.get("/v1/streams", kept["owner_token"]).status_code == 200


def test_all_of_them_can_be_taken_back_at_once(diary: Path, tmp_path: Path) -> None:
    tokens = [new_token(diary), new_token(diary)]
    grant = pdpp_here(*ASK, data=diary).document
    with serving(diary, tmp_path / "notes") as served:
        revoked = pdpp_here("owner", "revoke", "--all", "--json", data=diary).document["revoked"]
        for made in tokens:
            assert served.get("/v1/streams", made["owner_token"]).status_code == 401
        assert served.get("/v1/streams", grant["client_token"]).status_code == 200
    assert set(revoked) == {made["token_id"] for made in tokens}
    assert pdpp_here("owner", "tokens", data=diary).out == "No tokens.\n"
    listed = pdpp_here("owner", "tokens", "--all", "--json", data=diary).document["tokens"]
    assert [(held["status"], held["revoked_at"] is None) for held in listed] == [
        ("revoked", False),
        ("revoked", False),
    ]
    assert pdpp_here("owner", "revoke", "--all", data=diary).out == "There is nothing to revoke.\n"


def test_a_token_can_be_revoked_twice(diary: Path) -> None:
    name = new_token(diary)["token_id"]
    assert pdpp_here("owner", "revoke", name, data=diary).out == f"Revoked: {name}\n"
    again = pdpp_here("owner", "revoke", name, data=diary)
    assert (again.code, again.out) == (0, f"{name} was already revoked.\n")


def test_whoever_makes_a_token_is_told_how_to_take_it_back(diary: Path) -> None:
    made = pdpp_here("owner", "token", data=diary)
    command = next(line for line in made.err.splitlines() if line.startswith("pdpp owner revoke "))
    name = command.split()[3]
    assert pdpp_here("owner", "revoke", name, data=diary).out == f"Revoked: {name}\n"


def test_a_token_that_is_not_there_is_told(diary: Path) -> None:
    told = pdpp_here("owner", "revoke", "tok_x", data=diary).failed()
    assert told == "there is no token 'tok_x'; see pdpp owner tokens --all"


@pytest.mark.parametrize("which", [(), ("tok_x", "--all")])
def test_either_one_token_is_named_or_all(which: tuple[str, ...], diary: Path) -> None:
    assert "Name one token, or say --all." in pdpp_here(
        "owner", "revoke", *which, data=diary
    ).failed(code=64)
