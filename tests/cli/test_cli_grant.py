import io
import json
import sys
from pathlib import Path

import httpx
import pytest
from tests.cli.shell import Served, entry, opened, pdpp, pdpp_here, serving

from pdpp.cli.grant_text import in_words
from pdpp.model.grant import AccessMode, Allowance, Grant, Interval, status
from pdpp.store.vault import RegisteredClient

ASK = ("grant", "create", "--client", "my-agent", "--purpose", "Answer my questions")


def test_a_grant_is_told_in_words_and_its_token_once(diary: Path) -> None:
    limits = ("--stream", "entries", "--view", "titles", "--since", "2026-01-01")
    more = ("--until", "2026-02-01T00:00:00Z", "--record", "e1", "--record", "e2")
    made = pdpp(*ASK, *limits, *more, data=diary)
    head, purpose, connection, stream, blank, told, token = made.out.splitlines()
    assert head.endswith(", active: my-agent may read")
    assert purpose == '  purpose: "Answer my questions"'
    assert connection == "  My days (cin_diary)"
    assert stream == (
        "    entries: only id, title, from 2026-01-01T00:00:00Z, before 2026-02-01T00:00:00Z,"
        " only the records e1, e2"
    )
    assert (blank, told) == ("", "Its token, which is not shown again:")
    assert token.startswith("pdpp_client_")
    for path in diary.iterdir():
        assert path.is_dir() or token.encode() not in path.read_bytes()


def test_the_json_of_a_grant_has_its_id_its_token_and_what_it_opens(diary: Path) -> None:
    made = pdpp_here(*ASK, "--field", "title", "--expires", "30d", "--json", data=diary).document
    assert made["grant_id"].startswith("grt_")
    assert made["client_token"].startswith("pdpp_client_")
    assert made["status"] == "active"
    assert made["expires_at"] > made["created_at"]
    assert [(held["stream"], held["fields"]) for held in made["allowances"]] == [
        ("entries", ["title"])
    ]
    shown = pdpp_here("grant", "show", made["grant_id"], "--json", data=diary).document
    assert shown == {name: value for name, value in made.items() if name != "client_token"}


def test_a_grant_shows_its_client_what_it_says_and_no_more(diary: Path, tmp_path: Path) -> None:
    where = ("--connection", "cin_diary", "--stream", "entries")
    pdpp_here("ingest", "-", *where, data=diary, stdin=entry("e1", text="secret") + entry("e2"))
    made = pdpp_here(*ASK, "--field", "title", "--record", "e1", "--json", data=diary).document
    with serving(diary, tmp_path / "notes") as served:
        answer = served.get("/v1/streams/entries/records", made["client_token"])
    assert [row["data"] for row in answer.json()["data"]] == [{"title": "Day e1"}]


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        (("--connection", "cin_x"), "connection: There is no connection 'cin_x'"),
        (("--stream", "notes"), "stream: There is no stream 'notes'"),
        (("--field", "colour"), "has a field 'colour'"),
        (("--view", "colours"), "has a view 'colours'"),
        (("--stream", "moods", "--since", "2026-01-01"), "These choices open nothing"),
    ],
)
def test_a_choice_that_is_not_there_is_told(
    choice: tuple[str, ...], told: str, diary: Path
) -> None:
    assert told in pdpp_here(*ASK, *choice, data=diary).failed()


@pytest.mark.parametrize(
    ("choice", "told"),
    [
        (("--since", "yesterday"), "'yesterday' is not a time such as"),
        (("--since", "2026-02-01", "--until", "2026-01-01"), "--since must be before --until"),
        (("--expires", "soon"), "'soon' is neither a duration such as"),
        (("--expires", "2020-01-01"), "'2020-01-01' has passed"),
        (("--record", "a/b"), "The id holds '/'"),
    ],
)
def test_a_choice_that_makes_no_sense_is_wrong_usage(
    choice: tuple[str, ...], told: str, diary: Path
) -> None:
    assert told in pdpp_here(*ASK, *choice, data=diary).failed(code=64)


def test_an_approved_client_is_told_by_name_and_id(diary: Path) -> None:
    with opened(diary) as store, store.vault.transaction() as transaction:
        approved = RegisteredClient("cli_1", "Kitchen helper", (), 0, approved_at=1)
        transaction.keep_client(approved)
    asked = ("--client", "cli_1", "--purpose", "Plan", "--everything")
    for kind in (("grant",), ("grant", "package")):
        made = pdpp_here(*kind, "create", *asked, data=diary).out
        number = made.split()[1].removesuffix(",")
        for told in (
            made,
            pdpp_here(*kind, "list", data=diary).out,
            pdpp_here(*kind, "show", number, data=diary).out,
            pdpp_here("connection", "rename", "cin_diary", "Days", data=diary).out,
            pdpp_here("connection", "remove", "cin_diary", "--dry-run", data=diary).out,
        ):
            assert "Kitchen helper (cli_1)" in told


def test_the_list_shows_what_is_active_and_on_request_what_was(diary: Path) -> None:
    first = pdpp_here(*ASK, "--everything", "--json", data=diary).document["grant_id"]
    second = pdpp_here(
        *ASK, "--everything", "--expires", "2099-01-01", "--json", data=diary
    ).document["grant_id"]
    assert pdpp_here("grant", "revoke", first, data=diary).out == f"Revoked: {first}\n"
    heading, row = pdpp_here("grant", "list", data=diary).out.splitlines()
    assert heading.split() == ["ID", "CLIENT", "STATUS", "EXPIRES", "STREAMS", "PURPOSE"]
    assert row == f"{second}  my-agent  active  2099-01-01  2        Answer my questions"
    listed = pdpp_here("grant", "list", "--all", "--json", data=diary).document["grants"]
    assert {held["grant_id"]: held["status"] for held in listed} == {
        first: "revoked",
        second: "active",
    }


def test_a_grant_can_be_revoked_twice_and_says_since_when(diary: Path) -> None:
    number = pdpp_here(*ASK, "--everything", "--json", data=diary).document["grant_id"]
    revoked = pdpp_here("grant", "revoke", number, "--json", data=diary).document
    assert revoked["status"] == "revoked"
    assert (
        pdpp_here("grant", "revoke", number, data=diary).out == f"{number} was already revoked.\n"
    )
    words = pdpp_here("grant", "show", number, data=diary).out
    assert f"revoked since {revoked['revoked_at']}" in words


@pytest.mark.parametrize("verb", ["show", "revoke"])
def test_a_grant_that_is_not_there_is_told(verb: str, diary: Path) -> None:
    assert "there is no grant 'grt_x'" in pdpp_here("grant", verb, "grt_x", data=diary).failed()


def test_a_running_server_refuses_the_very_next_request_after_a_revocation(
    demo_server: Served,
) -> None:
    data = demo_server.data
    made = pdpp_here(*ASK, "--connection", "cin_notes", "--json", data=data).document
    headers = {"Authorization": f"Bearer {made['client_token']}"}
    with httpx.Client(base_url=demo_server.url, headers=headers, trust_env=False) as client:
        page = client.get("/v1/streams/documents/records?limit=2")
        assert page.status_code == 200
        assert pdpp_here("grant", "revoke", made["grant_id"], data=data).code == 0
        after = client.get(
            "/v1/streams/documents/records",
            params={"limit": 2, "cursor": page.json()["next_cursor"]},
        )
    assert after.status_code == 403
    assert after.json()["error"]["code"] == "grant_revoked"


def test_an_owner_token_is_printed_alone_so_that_a_script_can_take_it(diary: Path) -> None:
    ended = pdpp_here("owner", "token", "--label", "laptop", "--expires", "12h", data=diary)
    assert ended.code == 0
    assert ended.out.startswith("pdpp_owner_")
    assert ended.out.count("\n") == 1
    assert "is not shown again" in ended.err
    assert ended.out.strip() not in ended.err


def test_an_owner_token_opens_everything(demo_server: Served) -> None:
    document = pdpp_here("owner", "token", "--json", data=demo_server.data).document
    assert document["label"] == "owner"
    assert document["expires_at"] is None
    answer = demo_server.get("/v1/schema?view=compact", document["owner_token"])
    assert answer.json()["bearer"]["token_kind"] == "owner"
    assert json.loads(answer.text)["connector_count"] == 7


def test_a_grant_over_a_lost_connection_and_many_records_can_still_be_told() -> None:
    allowance = Allowance(
        "cin_lost",
        "entries",
        "r1",
        ("id",),
        time=Interval(until=0),
        keys=frozenset(f"e{number:02}" for number in range(12)),
    )
    grant = Grant("grt_1", "a", "b", AccessMode.CONTINUOUS, (allowance,), 0, expires_at=5)
    assert status(grant, 5) == "expired"
    assert list(in_words(grant, {}, {}, 5)) == [
        "Grant grt_1, expired: a may read until 1970-01-01T00:00:00.000005Z",
        '  purpose: "b"',
        "  cin_lost",
        "    entries: every field, before 1970-01-01T00:00:00Z, only the records "
        "e00, e01, e02, e03, e04, e05, e06, e07, e08, e09 and 2 more",
    ]


def test_a_grant_over_everything_must_be_meant(diary: Path) -> None:
    told = pdpp_here(*ASK, data=diary).failed(code=64)
    assert "this would share everything" in told
    assert "--everything" in told
    both = pdpp_here(*ASK, "--everything", "--stream", "entries", data=diary).failed(code=64)
    assert "not both" in both
    assert pdpp_here("grant", "list", "--json", data=diary).document == {"grants": []}


class Typing(io.StringIO):
    """A person at a terminal who types this."""

    def isatty(self) -> bool:
        """Tell that this is a terminal."""
        return True


@pytest.mark.parametrize(
    ("answer", "code", "grants"), [("y\n", 0, 1), ("n\n", 130, 0), ("", 130, 0)]
)
def test_a_person_is_asked_before_everything_is_shared(
    diary: Path, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, grants: int
) -> None:
    monkeypatch.setattr(sys, "stdin", Typing(answer))
    ended = pdpp_here(*ASK, data=diary)
    assert ended.code == code
    assert "my-agent could read every account and field" in ended.err
    assert "Share everything? [y/N]" in ended.err
    listed = pdpp_here("grant", "list", "--json", data=diary).document
    assert len(listed["grants"]) == grants
