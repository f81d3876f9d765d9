from pathlib import Path

import httpx
import pytest
from tests.engine import kept_bytes
from tests.oauth.dance import CALLBACK, Dance, Party, dancing, details, query
from tests.oauth.publisher import HOST, good, publishing

from pdpp.model.errors import NotFound


def page(answer: httpx.Response, words: str, status: int = 400) -> None:
    """Check that a person sees what is wrong, and that the browser goes nowhere."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"].startswith("text/html")
    assert "location" not in answer.headers
    assert words in answer.text, answer.text


def test_a_good_request_waits_for_the_owner(dance: Dance, party: Party) -> None:
    review = dance.authority.review(dance.review_of(party, resource=f"{dance.url}/mcp"))
    assert review.client_id == party.client_id
    assert review.redirect_uri == CALLBACK
    assert review.state == "a state"
    assert review.scope == "pdpp:read"
    assert review.resource == f"{dance.url}/mcp"
    assert review.issuer == dance.url
    assert review.details == ()
    assert review.device is None


def test_the_answer_carries_the_code_the_state_and_who_gives_it(dance: Dance, party: Party) -> None:
    location = dance.approve(dance.review_of(party))
    assert location.startswith(f"{CALLBACK}?")
    told = query(location)
    assert told.keys() == {"code", "state", "iss"}
    assert told["state"] == "a state"
    assert told["iss"] == dance.url


def test_a_no_goes_back_as_an_error_with_state_and_issuer(dance: Dance, party: Party) -> None:
    review_id = dance.review_of(party, state="x&y=z #é")
    told = query(dance.authority.deny(review_id).location or "")
    assert told == {"error": "access_denied", "state": "x&y=z #é", "iss": dance.url}


def test_a_redirect_uri_keeps_the_query_it_was_registered_with(dance: Dance) -> None:
    party = dance.register(f"{CALLBACK}?tenant=7")
    location = dance.approve(dance.review_of(party, state=None))
    assert location.startswith(f"{CALLBACK}?tenant=7&code=")
    assert "state" not in query(location)


def test_a_review_is_decided_once(dance: Dance, party: Party) -> None:
    review_id = dance.review_of(party)
    draft = dance.draft(review_id)
    dance.approve(review_id)
    for decide in (
        lambda: dance.authority.approve(review_id, draft, ""),
        lambda: dance.authority.deny(review_id),
        lambda: dance.authority.review(review_id),
    ):
        with pytest.raises(NotFound):
            decide()


def test_a_review_ends_when_nobody_decides(dance: Dance, party: Party) -> None:
    review_id = dance.review_of(party)
    draft = dance.draft(review_id)
    dance.clock.advance(600)
    with pytest.raises(NotFound):
        dance.authority.approve(review_id, draft, "")
    assert list(dance.store.vault.grants()) == []


def test_the_id_of_a_review_is_not_kept(dance: Dance, party: Party, tmp_path: Path) -> None:
    review_id = dance.review_of(party)
    kept = kept_bytes(tmp_path / "data")
    assert party.client_id.encode() in kept
    assert review_id.encode() not in kept


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"client_id": None}, "client_id"),
        ({"client_id": "cli_unknown"}, "does not know this client"),
        ({"client_id": "https://127.0.0.1/client.json"}, "plain https address"),
        ({"redirect_uri": None}, "redirect_uri"),
        ({"redirect_uri": "https://evil.example/callback"}, "not one this client registered"),
        ({"redirect_uri": f"{CALLBACK}/"}, "not one this client registered"),
        ({"redirect_uri": "javascript:alert(1)"}, "not one this client registered"),
    ],
)
def test_without_a_trusted_redirect_uri_a_person_is_told(
    dance: Dance, party: Party, changes: dict[str, str | None], words: str
) -> None:
    page(dance.ask(party, **changes), words)


FAULTS = [
    ({"response_type": None}, "unsupported_response_type"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"response_type": "code token"}, "unsupported_response_type"),
    ({"response_mode": "fragment"}, "invalid_request"),
    ({"response_mode": "form_post"}, "invalid_request"),
    ({"code_challenge": None, "code_challenge_method": None}, "invalid_request"),
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"code_challenge": "short"}, "invalid_request"),
    ({"code_challenge": "!" * 43}, "invalid_request"),
    ({"request": "eyJ"}, "request_not_supported"),
    ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
    ({"authorization_details": "not json"}, "invalid_authorization_details"),
    ({"authorization_details": "{}"}, "invalid_authorization_details"),
    ({"authorization_details": "[]"}, "invalid_authorization_details"),
    ({"authorization_details": "[{}]"}, "invalid_authorization_details"),
    ({"authorization_details": "[7]"}, "invalid_authorization_details"),
]


@pytest.mark.parametrize(("changes", "error"), FAULTS)
def test_a_client_the_owner_knows_learns_what_is_wrong_with_its_request(
    dance: Dance, party: Party, changes: dict[str, str | None], error: str
) -> None:
    dance.connect(party)
    answer = dance.ask(party, **changes)
    assert answer.status_code == 303, answer.text
    location = answer.headers["location"]
    assert location.startswith(f"{CALLBACK}?")
    told = query(location)
    assert told.keys() == {"error", "error_description", "state", "iss"}
    assert told["error"] == error
    assert told["state"] == "a state"
    assert told["iss"] == dance.url


@pytest.mark.parametrize(("changes", "error"), FAULTS)
def test_pushing_a_bad_request_is_refused_at_once(
    dance: Dance, party: Party, changes: dict[str, str | None], error: str
) -> None:
    answer = dance.http.post("/oauth/par", data=dance.request(party, **changes))
    assert answer.status_code == 400
    assert answer.json()["error"] == error


def test_a_client_without_codes_cannot_ask_for_one(dance: Dance) -> None:
    party = dance.register(grant_types=["urn:ietf:params:oauth:grant-type:device_code"])
    page(dance.ask(party), "did not register for authorization codes")


def test_what_is_wrong_with_details_is_told_with_its_place(dance: Dance, party: Party) -> None:
    wrong = details({"name": "notes", "fields": ["title", 7]})
    answer = dance.http.post("/oauth/par", data=dance.request(party, authorization_details=wrong))
    assert "/0/streams/0/fields" in answer.json()["error_description"]


def test_unknown_scopes_are_left_out_and_what_is_given_is_said(dance: Dance, party: Party) -> None:
    for asked, given in (
        (None, "pdpp:read"),
        ("openid profile", "pdpp:read"),
        ("offline_access pdpp:read admin", "pdpp:read offline_access"),
    ):
        assert dance.connect(party, scope=asked)["scope"] == given


@pytest.mark.parametrize("resource", ["", "/", "/v1", "/mcp"])
def test_each_resource_of_ours_may_be_asked_for(dance: Dance, party: Party, resource: str) -> None:
    dance.review_of(party, resource=dance.url + resource)


@pytest.mark.parametrize("resource", ["/mcp/", "/v2", "/mcp?x", ":1/mcp", "mcp"])
def test_what_only_looks_like_ours_may_not(dance: Dance, party: Party, resource: str) -> None:
    assert dance.ask(party, resource=dance.url + resource).status_code == 400


def test_a_pushed_request_is_begun_once_and_by_its_own_client(
    dance: Dance, party: Party, other: Party
) -> None:
    answer = dance.http.post("/oauth/par", data=dance.request(party))
    assert answer.status_code == 201
    pushed = answer.json()
    assert pushed["expires_in"] == 90
    assert pushed["request_uri"].startswith("urn:ietf:params:oauth:request_uri:")

    def begin(client_id: str) -> httpx.Response:
        asked = {"client_id": client_id, "request_uri": pushed["request_uri"]}
        return dance.http.get("/oauth/authorize", params=asked)

    page(begin(other.client_id), "request_uri")
    begun = begin(party.client_id)
    assert begun.status_code == 303
    review_id = begun.headers["location"].removeprefix("/consent/")
    assert dance.authority.review(review_id).state == "a state"
    page(begin(party.client_id), "request_uri")


def test_a_pushed_request_ends_in_time(dance: Dance, party: Party) -> None:
    pushed = dance.http.post("/oauth/par", data=dance.request(party)).json()
    dance.clock.advance(90)
    asked = {"client_id": party.client_id, "request_uri": pushed["request_uri"]}
    page(dance.http.get("/oauth/authorize", params=asked), "request_uri")


def test_a_pushed_request_cannot_name_another(dance: Dance, party: Party) -> None:
    data = dance.request(party, request_uri="urn:ietf:params:oauth:request_uri:x")
    assert dance.http.post("/oauth/par", data=data).json()["error"] == "invalid_request"


def test_a_client_may_be_the_document_it_publishes(tmp_path: Path) -> None:
    with (
        publishing() as publisher,
        dancing(tmp_path, fetcher=publisher.fetcher()) as dance,
    ):
        party = Party(publisher.client_id, "v" * 43, "http://localhost:4711/callback")
        tokens = dance.connect(party)
        assert dance.read(tokens["access_token"]) == 200
        (client,) = dance.authority.clients()
        assert (client.id, client.name) == (publisher.client_id, "Published app")
        dance.refresh(party, tokens["refresh_token"])
        dance.review_of(party)
        assert len(publisher.asked) == 1


def test_a_document_is_read_again_after_its_time_and_then_holds(tmp_path: Path) -> None:
    with (
        publishing() as publisher,
        dancing(tmp_path, fetcher=publisher.fetcher()) as dance,
    ):
        party = Party(publisher.client_id, "v" * 43, "http://localhost:4711/callback")
        dance.connect(party)
        publisher.reply = lambda client_id: (
            good(client_id)
            .replace(b"http://localhost/callback", b"http://localhost/elsewhere")
            .replace(b"Content-Length: ", b"X-Length: ")
        )
        dance.review_of(party)
        dance.clock.advance(3_600)
        page(dance.ask(party), "not one this client registered")
        assert len(publisher.asked) == 2
        (client,) = dance.authority.clients()
        assert client.approved_at is not None


def test_a_document_that_is_gone_takes_its_client_with_it(tmp_path: Path) -> None:
    with (
        publishing() as publisher,
        dancing(tmp_path, fetcher=publisher.fetcher()) as dance,
    ):
        party = Party(publisher.client_id, "v" * 43, "http://localhost:4711/callback")
        dance.review_of(party)
        publisher.reply = lambda _: b"HTTP/1.1 404 Not Found\r\n\r\n"
        dance.clock.advance(3_600)
        page(dance.ask(party), f"cannot be fetched from {HOST}: it answered with status 404")


def test_nobody_learns_what_is_here_by_asking_for_it(dance: Dance, party: Party) -> None:
    wishes = [
        details({"name": "notes"}),
        details({"name": "no such stream"}),
        details({"name": "notes", "fields": ["no such field"]}),
        details({"name": "notes", "connection_ids": ["no such connection"]}),
        details(source="no such source"),
    ]
    for asked in wishes:
        assert dance.review_of(party, authorization_details=asked).startswith("rev_")
        pushed = dance.http.post(
            "/oauth/par", data=dance.request(party, authorization_details=asked)
        )
        assert pushed.status_code == 201, pushed.text
