import pytest

from pdpp.authz.redirect import is_registered, redirect_problem

GOOD = [
    "https://claude.ai/api/mcp/auth_callback",
    "https://chatgpt.com/connector_platform_oauth_redirect?x=1",
    "https://client.example:8443/cb",
    "https://[2606:4700::1111]/cb",
    "http://localhost/callback",
    "http://localhost:51234/callback",
    "http://127.0.0.1:9/cb",
    "http://[::1]:9/cb",
    "cursor://anysphere.cursor-retrieval/oauth/user-agent-mcp/callback",
    "com.example.app:/oauth2redirect",
    "vscode://vscode.github-authentication/did-authenticate",
]
BAD = [
    "",
    "/callback",
    "client.example/cb",
    "javascript:alert(1)",
    "JavaScript://client.example/%0aalert(1)",
    "java\tscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:https://client.example/1",
    "about:blank",
    "view-source:https://client.example/",
    "ms-msdt:/id",
    "search-ms:query=x",
    "intent://scan/#Intent;end",
    "mailto:a@b.example",
    "urn:ietf:wg:oauth:2.0:oob",
    "ftp://client.example/cb",
    "ws://localhost/cb",
    "http://client.example/cb",
    "http://localhost.evil.example/cb",
    "http://127.0.0.1.evil.example/cb",
    "http://127.1/cb",
    "http://0.0.0.0/cb",
    "http://localhost@evil.example/cb",
    "https://client.example@evil.example/cb",
    "https://client.example/cb#fragment",
    "https://client.example/cb#",
    "https://client.example\\@evil.example/cb",
    "https://client.example/c b",
    "https://client.example/cb\r\nSet-Cookie: a=b",
    "https://clіent.example/cb",
    "https:///cb",
    "https://*.client.example/cb",
    "https://client.example:port/cb",
    "https://[::1/cb",
    "myapp:callback",
    "https://client.example/" + "a" * 2_048,
]


@pytest.mark.parametrize("uri", GOOD)
def test_a_redirect_uri_that_leads_to_a_client_may_be_registered(uri: str) -> None:
    assert redirect_problem(uri) is None
    assert is_registered(uri, [uri])


@pytest.mark.parametrize("uri", BAD)
def test_a_redirect_uri_that_could_harm_is_refused_even_where_it_was_registered(uri: str) -> None:
    assert redirect_problem(uri) is not None
    assert not is_registered(uri, [uri])


@pytest.mark.parametrize(
    "asked",
    [
        "https://client.example/cb/",
        "https://client.example/CB",
        "https://client.example/cb?x=1",
        "https://client.example:443/cb",
        "https://client.example/cb/../evil",
        "https://client.example/cb/%2e%2e/evil",
        "https://CLIENT.example/cb",
        "https://client.example.evil.example/cb",
        "https://evil.example/https://client.example/cb",
        "http://client.example/cb",
    ],
)
def test_an_https_address_is_matched_exactly(asked: str) -> None:
    assert not is_registered(asked, ["https://client.example/cb"])


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_on_the_loopback_interface_only_the_port_is_free(host: str) -> None:
    registered = [f"http://{host}:1/cb?x=1"]
    assert is_registered(f"http://{host}:65535/cb?x=1", registered)
    assert is_registered(f"http://{host}/cb?x=1", registered)
    for asked in (f"http://{host}:2/other?x=1", f"http://{host}:2/cb", f"https://{host}:2/cb?x=1"):
        assert not is_registered(asked, registered)


def test_one_loopback_name_does_not_stand_for_another() -> None:
    assert not is_registered("http://127.0.0.1/cb", ["http://localhost/cb"])


def test_a_private_scheme_is_matched_exactly() -> None:
    assert not is_registered("com.example.app:/other", ["com.example.app:/cb"])
