from typing import Any

import pytest

from pdpp.authz.client_metadata import UNNAMED, as_document, new_client, read_metadata
from pdpp.model.errors import OAuthError

CALLBACK = "https://client.example/cb"


def metadata(**members: Any) -> dict[str, Any]:
    return {"redirect_uris": [CALLBACK], **members}


def test_what_a_client_may_say_of_itself_is_kept_and_told_back() -> None:
    told = metadata(
        client_name="  My   app ",
        client_uri="https://client.example/",
        policy_uri="",
        logo_uri="https://client.example/logo.png",
        token_endpoint_auth_method="client_secret_post",
        grant_types=["authorization_code", "implicit"],
        response_types=["code", "token"],
        contacts=["someone"],
        anything={"deep": []},
    )
    client = new_client(read_metadata(told), 5_000_000)
    assert client.id.startswith("cli_")
    assert as_document(client) == {
        "client_id": client.id,
        "client_id_issued_at": 5,
        "client_name": "My app",
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "scope": "pdpp:read offline_access",
        "client_uri": "https://client.example/",
    }


def test_a_client_that_says_little_gets_codes_and_refreshes() -> None:
    described = read_metadata(metadata())
    assert described.name == UNNAMED
    assert described.grant_types == ("authorization_code", "refresh_token")
    assert read_metadata(metadata(client_name="")).name == UNNAMED
    assert read_metadata(metadata(client_name="   ")).name == UNNAMED


def test_a_device_needs_no_redirect_uri() -> None:
    device = "urn:ietf:params:oauth:grant-type:device_code"
    described = read_metadata({"grant_types": [device, "refresh_token"]})
    assert described.redirect_uris == ()
    assert as_document(new_client(described, 0))["response_types"] == []


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "text",
        7,
        metadata(client_name=7),
        metadata(client_name="x" * 101),
        metadata(client_name="<script>alert(1)</script>"),
        metadata(client_name="a < b"),
        metadata(client_name="a > b"),
        metadata(client_name="Bank\u202egnp.exe"),
        metadata(client_name="Goo\u200bgle"),
        metadata(client_name="two\nlines"),
        metadata(client_name="nul\x00"),
        metadata(client_name="half \ud800"),
        metadata(redirect_uris="https://client.example/cb"),
        metadata(redirect_uris=[7]),
        metadata(redirect_uris=[CALLBACK] * 17),
        metadata(redirect_uris=[CALLBACK + "a" * 2_048]),
        metadata(grant_types=["implicit"]),
        metadata(grant_types=["refresh_token"]),
        metadata(grant_types=[["authorization_code"]]),
        metadata(grant_types=["a"] * 17),
        metadata(response_types=["token"]),
        metadata(client_uri="http://client.example/"),
        metadata(client_uri="javascript:alert(1)"),
        metadata(tos_uri=["https://client.example/"]),
    ],
)
def test_metadata_that_could_mislead_or_burden_is_refused(document: object) -> None:
    with pytest.raises(OAuthError) as caught:
        read_metadata(document)
    assert caught.value.code == "invalid_client_metadata"


@pytest.mark.parametrize(
    "uris", [[], ["javascript:alert(1)"], [CALLBACK, "http://client.example/cb"]]
)
def test_a_bad_redirect_uri_is_refused_without_being_repeated(uris: list[str]) -> None:
    with pytest.raises(OAuthError) as caught:
        read_metadata({"redirect_uris": uris})
    assert caught.value.code == "invalid_redirect_uri"
    assert not any(uri in caught.value.message for uri in uris)
