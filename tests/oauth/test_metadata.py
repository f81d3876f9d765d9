from dataclasses import replace
from pathlib import Path

import pytest
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from authlib.oauth2.rfc9207 import AuthorizationServerMetadata as IssuerMetadata
from tests.oauth.dance import Dance, Party, dancing, oauth_error
from tests.oauth.publisher import publishing
from tests.serving import UNLIMITED

SERVER = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize("path", [SERVER, f"{SERVER}/mcp"])
def test_the_server_tells_how_it_is_used_at_both_paths(dance: Dance, path: str) -> None:
    answer = dance.http.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    told = answer.json()
    assert told["issuer"] == dance.url
    assert told["scopes_supported"] == ["pdpp:read", "offline_access"]
    assert told["response_types_supported"] == ["code"]
    assert told["code_challenge_methods_supported"] == ["S256"]
    assert told["token_endpoint_auth_methods_supported"] == ["none"]
    assert told["authorization_response_iss_parameter_supported"] is True
    assert told["client_id_metadata_document_supported"] is True
    assert told["authorization_details_types_supported"] == ["https://pdpp.dev/data-access"]
    assert "logo_uri" not in told


def test_the_document_is_one_that_authlib_takes_for_valid(dance: Dance) -> None:
    told = AuthorizationServerMetadata(dance.http.get(SERVER).json())
    told.validate(metadata_classes=[IssuerMetadata])


def test_every_endpoint_that_is_told_of_is_there(dance: Dance) -> None:
    told = dance.http.get(SERVER).json()
    endpoints = [value for name, value in told.items() if name.endswith("_endpoint")]
    assert len(endpoints) == 7
    for endpoint in endpoints:
        assert endpoint.startswith(f"{dance.url}/oauth/")
        assert dance.http.get(endpoint).status_code in (400, 405)


@pytest.mark.scenario("S067")
@pytest.mark.scenario("S068")
@pytest.mark.scenario("S095")
def test_the_resources_name_their_authorization_server(dance: Dance) -> None:
    for path, resource in ((RESOURCE, ""), (f"{RESOURCE}/mcp", "/mcp")):
        told = dance.http.get(path).json()
        assert told["resource"] == dance.url + resource
        assert told["authorization_servers"] == [dance.url]
        assert told["scopes_supported"] == ["pdpp:read"]
        assert told["bearer_methods_supported"] == ["header"]
        assert told["pdpp_core_query_base"] == f"{dance.url}/v1"
        assert "logo_uri" not in told


def test_it_is_no_openid_provider_and_does_not_say_so(dance: Dance) -> None:
    assert dance.http.get("/.well-known/openid-configuration").status_code == 404


@pytest.mark.scenario("S058")
@pytest.mark.scenario("S094")
@pytest.mark.parametrize(
    ("path", "metadata"), [("/v1/streams", RESOURCE), ("/mcp", f"{RESOURCE}/mcp")]
)
def test_a_challenge_leads_to_the_metadata_and_names_the_scope(
    dance: Dance, path: str, metadata: str
) -> None:
    answer = dance.http.request("GET" if path != "/mcp" else "POST", path)
    assert answer.status_code == 401
    expected = f'Bearer resource_metadata="{dance.url}{metadata}", scope="pdpp:read"'
    assert answer.headers["www-authenticate"] == expected
    assert answer.json()["error"]["resource_metadata"] == dance.url + metadata


@pytest.mark.parametrize("path", [SERVER, RESOURCE, "/oauth/token", "/oauth/register"])
def test_programs_in_a_browser_may_read_metadata_register_and_get_tokens(
    dance: Dance, path: str
) -> None:
    asked = {
        "Origin": "http://localhost:6274",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type,mcp-protocol-version",
    }
    preflight = dance.http.options(path, headers=asked)
    assert preflight.status_code == 204
    assert "mcp-protocol-version" in preflight.headers["access-control-allow-headers"]
    for answer in (preflight, dance.http.get(path)):
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("path", ["/oauth/authorize", "/oauth/par", "/oauth/introspect"])
def test_no_other_page_of_a_browser_may_read_the_rest(dance: Dance, path: str) -> None:
    for answer in (dance.http.get(path), dance.http.options(path)):
        assert answer.status_code >= 400
        assert "access-control-allow-origin" not in answer.headers


def test_documents_are_offered_only_where_they_can_be_fetched(tmp_path: Path) -> None:
    with (
        publishing() as published,
        dancing(
            tmp_path, replace(UNLIMITED, client_documents=False), published.fetcher()
        ) as closed,
    ):
        told = closed.http.get(SERVER).json()
        assert told["client_id_metadata_document_supported"] is False
        assert told["registration_endpoint"] == f"{closed.url}/oauth/register"
        party = Party(published.client_id, "v" * 43, "http://localhost/callback")
        answer = closed.http.post("/oauth/par", data=closed.request(party))
        assert "Register first" in oauth_error(answer, "invalid_client", answer.status_code)
        assert published.asked == []
