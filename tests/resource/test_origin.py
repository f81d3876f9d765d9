from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.oauth.dance import Dance, Party, dancing, query
from tests.serving import UNLIMITED

from pdpp.service.origin import UNKNOWN, from_proxy, public_origin, sender
from pdpp.service.settings import Settings

OWN = Settings(origin="http://127.0.0.1:7377")
BEHIND = replace(OWN, trusted_proxies=("10.0.0.0/8", "::1"))


def scope(peer: str | None = "10.0.0.9", **headers: str) -> dict[str, Any]:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "headers": named, "client": None if peer is None else (peer, 1)}


TOLD = {"x_forwarded_proto": "https", "x_forwarded_host": "data.example"}


def test_the_configured_address_always_wins() -> None:
    settings = replace(BEHIND, origin="https://my.example", public=True)
    assert public_origin(scope(**TOLD, host="localhost:7377"), settings) == "https://my.example"


def test_a_trusted_proxy_names_the_address() -> None:
    assert public_origin(scope(**TOLD), BEHIND) == "https://data.example"
    assert public_origin(scope("::1", **TOLD), BEHIND) == "https://data.example"
    assert public_origin(scope("::ffff:10.0.0.9", **TOLD), BEHIND) == "https://data.example"


@pytest.mark.parametrize("peer", ["192.0.2.1", "127.0.0.1", "testclient", None])
@pytest.mark.parametrize("settings", [OWN, BEHIND])
def test_nobody_else_does(peer: str | None, settings: Settings) -> None:
    forwarded = {"forwarded": "proto=https;host=evil.example", **TOLD, "host": "evil.example"}
    asked = scope(peer, **forwarded)
    assert public_origin(asked, settings) == settings.origin
    assert not from_proxy(asked, settings)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            {"forwarded": 'for=1.2.3.4;proto=https;host="data.example:8443"'},
            "https://data.example:8443",
        ),
        (
            {"forwarded": "host=evil.example, proto=https; host=data.example"},
            "https://data.example",
        ),
        ({"x_forwarded_proto": "https", "host": "data.example"}, "https://data.example"),
        (
            {"x_forwarded_proto": "http, https", "x_forwarded_host": "a, b.example"},
            "https://b.example",
        ),
        (
            {"x_forwarded_proto": "https", "x_forwarded_host": "Data.Example:443"},
            "https://data.example",
        ),
        (
            {"x_forwarded_proto": "http", "x_forwarded_host": "data.example:80"},
            "http://data.example",
        ),
        (
            {"x_forwarded_proto": "https", "x_forwarded_host": "[2001:db8::1]"},
            "https://[2001:db8::1]",
        ),
    ],
)
def test_the_nearest_proxy_wrote_last(headers: dict[str, str], expected: str) -> None:
    assert public_origin(scope(**headers), BEHIND) == expected


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "data.example"},
        {"x_forwarded_proto": "javascript", "x_forwarded_host": "data.example"},
        {"x_forwarded_proto": "https", "x_forwarded_host": "data.example/path"},
        {"x_forwarded_proto": "https", "x_forwarded_host": "user@data.example"},
        {"x_forwarded_proto": "https", "x_forwarded_host": 'a"b'},
        {"x_forwarded_proto": "https"},
    ],
)
def test_a_word_that_makes_no_address_is_not_taken(headers: dict[str, str]) -> None:
    assert public_origin(scope(**headers), BEHIND) == BEHIND.origin


@pytest.mark.parametrize("host", ["localhost:7377", "[::1]:7377", "127.0.0.1:7377"])
def test_every_loopback_name_with_our_port_is_ours(host: str) -> None:
    assert public_origin(scope("127.0.0.1", host=host), OWN) == f"http://{host}"


@pytest.mark.parametrize(
    "host", ["localhost:80", "localhost", "evil.example:7377", "", "127.1:7377"]
)
def test_no_other_name_is(host: str) -> None:
    assert public_origin(scope("127.0.0.1", host=host), OWN) == OWN.origin


def test_a_server_on_another_interface_has_no_loopback_names() -> None:
    settings = replace(OWN, origin="http://192.0.2.7:7377")
    assert public_origin(scope("127.0.0.1", host="localhost:7377"), settings) == settings.origin


def test_a_sender_is_told_as_far_back_as_proxies_are_trusted() -> None:
    chain = {"x_forwarded_for": "6.6.6.6, 203.0.113.5, 10.0.0.1"}
    assert sender(scope(**chain), BEHIND) == "203.0.113.5"
    assert sender(scope("192.0.2.1", **chain), BEHIND) == "192.0.2.1"
    assert sender(scope(**chain), OWN) == "10.0.0.9"
    assert sender(scope(), BEHIND) == "10.0.0.9"
    assert sender(scope(None), BEHIND) == UNKNOWN


def test_a_sender_is_told_by_several_lines_as_by_one() -> None:
    asked = scope()
    asked["headers"] += [(b"x-forwarded-for", part) for part in (b"203.0.113.5", b"10.0.0.1")]
    assert sender(asked, BEHIND) == "203.0.113.5"


PROXY = replace(UNLIMITED, trusted_proxies=("127.0.0.1/32",))
FORWARDED = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "data.example"}


@pytest.mark.scenario("S069", 1, on="http")
def test_behind_a_trusted_proxy_everything_names_the_public_address(tmp_path: Path) -> None:
    with dancing(tmp_path, PROXY) as dance:
        get = dance.http.get
        resource = get("/.well-known/oauth-protected-resource/mcp", headers=FORWARDED).json()
        assert resource["resource"] == "https://data.example/mcp"
        assert resource["authorization_servers"] == ["https://data.example"]
        assert resource["pdpp_mcp_endpoint"] == "https://data.example/mcp"
        server = get("/.well-known/oauth-authorization-server", headers=FORWARDED).json()
        assert server["issuer"] == "https://data.example"
        assert server["token_endpoint"] == "https://data.example/oauth/token"
        for method, path, metadata in (("GET", "/v1/streams", ""), ("POST", "/mcp", "/mcp")):
            refused = dance.http.request(method, path, headers=FORWARDED)
            named = f"https://data.example/.well-known/oauth-protected-resource{metadata}"
            assert f'resource_metadata="{named}"' in refused.headers["www-authenticate"]
            assert refused.json()["error"]["resource_metadata"] == named


def test_behind_a_trusted_proxy_a_client_dances_under_the_public_address(tmp_path: Path) -> None:
    with dancing(tmp_path, PROXY) as dance:
        party = dance.register()
        dance.http.headers.update(FORWARDED)
        code = query(dance.approve(dance.review_of(party, resource="https://data.example/mcp")))
        assert code["iss"] == "https://data.example"
        tokens = dance.exchange(party, code["code"], resource="https://data.example/mcp").json()
        found = search(dance, tokens["access_token"], Host="data.example")
        assert found["results"][0]["url"].startswith("https://data.example/r/")
        assert dance.read(tokens["access_token"]) == 401


def search(dance: Dance, token: str, **headers: str) -> dict[str, Any]:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "quiet"}},
    }
    told = {
        "Authorization": f"Bearer {token}",
        "Origin": "https://data.example",
        "Accept": "application/json, text/event-stream",
        **headers,
    }
    answer = dance.http.post("/mcp", json=call, headers=told)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["result"]["structuredContent"]
    return found


def test_a_spoofed_host_changes_nothing(tmp_path: Path) -> None:
    with dancing(tmp_path) as dance:
        for headers in (FORWARDED, {"Host": "evil.example"}, {"Forwarded": "host=evil.example"}):
            told = dance.http.get("/.well-known/oauth-authorization-server", headers=headers)
            assert told.json()["issuer"] == dance.url
        refused = dance.http.post("/mcp", headers={"Host": "evil.example"})
        assert refused.status_code == 403


def test_a_person_may_type_either_loopback_name(tmp_path: Path) -> None:
    with dancing(tmp_path) as dance:
        local = dance.url.replace("127.0.0.1", "localhost")
        dance.http.headers["Host"] = local.removeprefix("http://")
        told = dance.http.get("/.well-known/oauth-protected-resource/mcp").json()
        assert told["resource"] == f"{local}/mcp"
        party = Party(dance.register().client_id, "v" * 43)
        tokens = dance.connect(party, resource=f"{local}/mcp")
        found = search(dance, tokens["access_token"], Origin=local)
        assert found["results"][0]["url"].startswith(f"{local}/r/")
