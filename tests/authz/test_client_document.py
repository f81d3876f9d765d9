import asyncio
import json
import ssl
from collections.abc import Callable
from typing import Any

import pytest
from tests.oauth.publisher import HOST, answer, document, good, publishing

from pdpp.authz import client_document as documents
from pdpp.authz.client_document import DocumentFetcher, is_public
from pdpp.authz.client_metadata import Description, is_document_id
from pdpp.model.errors import OAuthError


def fetch(fetcher: DocumentFetcher, client_id: str) -> Description:
    return asyncio.run(fetcher.fetch(client_id))


def refused(fetcher: DocumentFetcher, client_id: str) -> str:
    with pytest.raises(OAuthError) as caught:
        fetch(fetcher, client_id)
    assert caught.value.code == "invalid_client"
    return caught.value.message


def says(**members: Any) -> Callable[[str], bytes]:
    return lambda client_id: answer(json.dumps(document(client_id) | members).encode())


def test_a_client_is_what_the_document_at_its_id_says() -> None:
    with publishing() as publisher:
        described = fetch(publisher.fetcher(), publisher.client_id)
    assert described.name == "Published app"
    assert described.redirect_uris == ("http://localhost/callback", f"https://{HOST}/callback")
    (asked,) = publisher.asked
    assert asked.startswith("GET /client.json HTTP/1.1\r\n")
    assert f"\r\nHost: {HOST}:{publisher.port}\r\n" in asked
    assert "authorization" not in asked.lower()
    assert "cookie" not in asked.lower()


def test_a_document_may_come_in_pieces_and_without_a_length() -> None:
    def chunked(client_id: str) -> bytes:
        body = json.dumps(document(client_id)).encode()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/cimd+json\r\n"
        pieces = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:9], body[9:]))
        return head + b"Transfer-Encoding: chunked\r\n\r\n" + pieces + b"0\r\n\r\n"

    def endless(client_id: str) -> bytes:
        body = json.dumps(document(client_id)).encode()
        return b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + body

    for reply in (chunked, endless):
        with publishing(reply) as publisher:
            assert fetch(publisher.fetcher(), publisher.client_id).name == "Published app"


@pytest.mark.parametrize(
    "client_id",
    [
        "http://client.example/client.json",
        "https://client.example",
        "https://client.example/",
        "https://client.example/a?b=c",
        "https://client.example/a#b",
        "https://user@client.example/a",
        "https://client.example/a/../b",
        "https://client.example/./a",
        "https://client.example/a/%2f/b",
        "https://client.example//a",
        "https://client.example/a\\b",
        "https://client.example/a b",
        "https://client.example/<a>",
        "https://clіent.example/a",
        "https://127.0.0.1/a",
        "https://2130706433/a",
        "https://0177.0.0.1/a",
        "https://127.0.0.0x1/a",
        "https://localhost/a",
        "https://[::1]/a",
        "https://client.example:99999/a",
        "https://client.example/" + "a" * 1_024,
    ],
)
def test_an_address_that_is_not_plain_is_never_asked(client_id: str) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        raise AssertionError("resolved")

    refused(DocumentFetcher(resolve=resolve), client_id)


@pytest.mark.parametrize("host", ["client.xn--p1ai", "3com.com", "a.b1", "192.0.2.1.example"])
def test_a_name_that_looks_a_little_like_a_number_is_asked(host: str) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return ["10.0.0.1"]

    told = refused(DocumentFetcher(resolve=resolve), f"https://{host}/client.json")
    reason = "it is not at a public address"
    assert told == f"The client's document cannot be fetched from {host}: {reason}."


@pytest.mark.parametrize(
    "addresses",
    [
        [],
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["::1"],
        ["fe80::1%eth0"],
        ["93.184.216.34", "192.168.1.1"],
    ],
)
def test_a_name_that_leads_to_a_private_address_is_never_connected_to(
    addresses: list[str],
) -> None:
    with publishing() as publisher:
        fetcher = publisher.fetcher(addresses, allowed=is_public)
        assert "public address" in refused(fetcher, publisher.client_id)
        assert publisher.asked == []


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:4700::1111", True),
        ("::ffff:93.184.216.34", True),
        ("64:ff9b::5db8:d822", True),
        ("0.0.0.0", False),  # noqa: S104 - an address to refuse
        ("100.64.0.1", False),
        ("172.16.0.1", False),
        ("192.0.2.1", False),
        ("224.0.0.1", False),
        ("240.0.0.1", False),
        ("255.255.255.255", False),
        ("::", False),
        ("fc00::1", False),
        ("ff02::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False),
        ("2002:a00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("2001:0:53aa:64c:0:0:f5ff:fffe", False),
    ],
)
def test_an_address_is_public_whatever_it_is_wrapped_in(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_the_connection_goes_to_the_address_that_was_checked() -> None:
    """A name that resolves to something else a moment later gains nothing."""
    asked = []
    with publishing() as publisher:

        async def resolve(host: str, port: int) -> list[str]:
            asked.append((host, port))
            return ["127.0.0.1"] if len(asked) == 1 else ["192.0.2.1"]

        ours = publisher.fetcher()
        fetcher = DocumentFetcher(resolve=resolve, allowed=lambda _: True, context=ours.context)
        fetch(fetcher, publisher.client_id)
    assert asked == [(HOST, publisher.port)]


@pytest.mark.parametrize(
    "reply",
    [
        lambda _: answer(b"", "302 Found", more="Location: https://client.example/other\r\n"),
        lambda _: answer(b"{}", "404 Not Found"),
        lambda _: answer(b"{}", "200 OK", "text/html"),
        lambda _: answer(b"not json"),
        lambda _: answer(b"[]"),
        lambda _: answer(b"{}"),
        lambda client_id: answer(
            json.dumps(document(client_id)).encode(), more="Content-Encoding: gzip\r\n"
        ),
        lambda _: b"garbage\r\n\r\n",
        lambda _: b"",
        says(client_id="https://client.example/other"),
        says(token_endpoint_auth_method="client_secret_post"),
        says(token_endpoint_auth_method="private_key_jwt"),
        says(client_secret="x"),
        says(padding="x" * 40_000),
        lambda _: b"HTTP/1.1 200 OK\r\n" + b"X-Header: y\r\n" * 4_000,
    ],
)
def test_a_document_that_is_not_right_is_refused(reply: Callable[[str], bytes]) -> None:
    with publishing(reply) as publisher:
        assert HOST in refused(publisher.fetcher(), publisher.client_id)
        assert len(publisher.asked) == 1


def test_what_a_document_says_is_held_to_the_rules_of_registration() -> None:
    with publishing(says(redirect_uris=["javascript:alert(1)"])) as publisher:
        with pytest.raises(OAuthError) as caught:
            fetch(publisher.fetcher(), publisher.client_id)
        assert caught.value.code == "invalid_redirect_uri"


def test_an_answer_that_breaks_off_is_refused() -> None:
    with publishing(lambda client_id: good(client_id)[:-5]) as publisher:
        refused(publisher.fetcher(), publisher.client_id)


def test_a_silent_server_is_left_when_time_is_up() -> None:
    async def dance() -> None:
        held: list[asyncio.StreamWriter] = []
        server = await asyncio.start_server(
            lambda _reader, writer: held.append(writer), "127.0.0.1", 0
        )
        port = server.sockets[0].getsockname()[1]

        async def resolve(_host: str, _port: int) -> list[str]:
            return ["127.0.0.1"]

        fetcher = DocumentFetcher(resolve=resolve, allowed=lambda _: True, seconds=0.2)
        with pytest.raises(OAuthError):
            await fetcher.fetch(f"https://{HOST}:{port}/client.json")
        for writer in held:
            writer.close()
        server.close()

    asyncio.run(dance())


def test_a_certificate_that_is_not_trusted_is_refused() -> None:
    with publishing() as publisher:
        ours = publisher.fetcher()
        fetcher = DocumentFetcher(resolve=ours.resolve, allowed=ours.allowed)
        assert "cannot be fetched" in refused(fetcher, publisher.client_id)
        assert publisher.asked == []


def test_a_name_that_does_not_exist_is_refused() -> None:
    assert "cannot be fetched" in refused(DocumentFetcher(), "https://nowhere.invalid/client.json")


def test_the_usual_fetcher_checks_certificates_and_addresses() -> None:
    fetcher = DocumentFetcher()
    context = fetcher.context()
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert context.check_hostname
    assert fetcher.allowed is is_public
    assert fetcher.resolve is documents.resolve
    assert is_document_id("https://client.example/a")
    assert not is_document_id("cli_1")


def test_a_host_is_resolved_to_addresses() -> None:
    assert "127.0.0.1" in asyncio.run(documents.resolve("127.0.0.1", 443))


def test_the_certificate_of_another_host_is_refused() -> None:
    with publishing(good) as publisher:
        other = publisher.client_id.replace(HOST, "other.example")
        assert "cannot be fetched" in refused(publisher.fetcher(), other)
