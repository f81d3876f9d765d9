"""The HTTP client against servers that misbehave."""

import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest

from pdpp.wire.failure import AnswerBrokeOff, NotHttp, unreachable
from pdpp.wire.http import HttpClient, HttpLimits, Unreachable

DEADLINE = 20.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
SHORT = HttpLimits(0.3)


def received(connection: socket.socket) -> bytes:
    """Return one request with its whole body."""
    request = connection.recv(65_536)
    head, _, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"Content-Length: (\d+)", head)
    while length is not None and len(body) < int(length[1]):
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


@contextmanager
def server(*answers: bytes | Callable[[socket.socket], None]) -> Iterator[tuple[str, list[bytes]]]:
    """Serve one raw answer a connection, then end it; note what was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE)

        def serve() -> None:
            for answer in answers:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    asked.append(received(connection))
                    if callable(answer):
                        answer(connection)
                    else:
                        connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
        thread.join(DEADLINE)


def kept(limits: HttpLimits = HttpLimits(DEADLINE)) -> HttpClient:  # noqa: B008 - it cannot change
    return HttpClient(limits, keep_alive=True)


def ask(http: HttpClient, origin: str) -> bytes:
    return http.request("GET", f"{origin}/v1/schema", {"X-Mine": "1"}).body


def test_a_kept_connection_that_dropped_is_opened_anew() -> None:
    with server(HEAD % 2 + b"ab", HEAD % 2 + b"cd") as (origin, asked):
        http = kept()
        assert (ask(http, origin), ask(http, origin)) == (b"ab", b"cd")
        http.close()
        assert len(asked) == 2
        assert asked[0].startswith(b"GET /v1/schema HTTP/1.1\r\n")
        assert b"X-Mine: 1" in asked[0]


def test_a_kept_connection_serves_the_next_request_too() -> None:
    def twice(to: socket.socket) -> None:
        to.sendall(HEAD % 2 + b"ab")
        to.recv(65_536)
        to.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
        to.recv(65_536)
        to.sendall(HEAD % 2 + b"cd")

    with server(twice) as (origin, asked):
        http = kept()
        assert [ask(http, origin) for _ in range(3)] == [b"ab", b"", b"cd"]
        http.close()
        assert len(asked) == 1


def test_a_connection_whose_answer_ends_it_is_not_kept() -> None:
    def last(to: socket.socket) -> None:
        to.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab")
        assert to.recv(65_536) == b""

    with server(last, HEAD % 2 + b"cd") as (origin, asked):
        http = kept()
        assert (ask(http, origin), ask(http, origin)) == (b"ab", b"cd")
        http.close()
        assert len(asked) == 2


def test_an_address_without_a_path_is_asked_for_its_root() -> None:
    with server(HEAD % 2 + b"ab", HEAD % 2 + b"cd") as (origin, asked):
        HttpClient().get(origin)
        HttpClient().get(f"{origin}?q=1")
    assert [line.split(b" HTTP")[0] for line in asked] == [b"GET /", b"GET /?q=1"]


def test_an_answer_that_breaks_off_twice_is_no_answer() -> None:
    broken = HEAD % 10 + b"short"
    with (
        server(broken, broken) as (origin, _),
        pytest.raises(Unreachable, match="the answer broke off"),
    ):
        ask(kept(), origin)


@pytest.mark.parametrize(
    ("problem", "words", "answered"),
    [
        (AnswerBrokeOff(), "answered what cannot be read (the answer broke off)", True),
        (NotHttp(), "answered what cannot be read (what came back is not", True),
        (ConnectionResetError(), "cannot be reached (the connection broke off)", False),
    ],
)
def test_only_a_server_that_says_nothing_is_unreachable(
    problem: Exception, words: str, answered: bool
) -> None:
    told = unreachable("https://other.example", problem, 1, 1)
    assert f"https://other.example {words}" in str(told)
    assert told.answered is answered


def test_a_post_is_never_sent_twice() -> None:
    with server(HEAD % 10 + b"short", HEAD % 2 + b"{}") as (origin, asked):
        with pytest.raises(Unreachable, match="the answer broke off"):
            kept().post_form(f"{origin}/token", {"code": "c"})
        assert len(asked) == 1
        ask(HttpClient(), origin)


def test_a_form_gets_its_answer() -> None:
    with server(HEAD % 10 + b'{"a": "b"}') as (origin, asked):
        reply = HttpClient().post_form(f"{origin}/token?x=1", {"grant_type": "refresh token"})
    assert (reply.status, reply.document) == (200, {"a": "b"})
    assert asked[0].startswith(b"POST /token?x=1 HTTP/1.1\r\n")
    assert b"grant_type=refresh+token" in asked[0]


def test_a_redirect_is_not_followed() -> None:
    elsewhere = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    with server(elsewhere) as (origin, _):
        assert HttpClient().get(origin).status == 302


def test_a_download_is_read_piece_by_piece() -> None:
    content = b"x" * 200_000
    with server(HEAD % len(content) + content) as (origin, _):
        download = kept().download(f"{origin}/v1/blobs/b", {})
        pieces = list(download.chunks())
        download.close()
    assert (download.status, b"".join(pieces)) == (200, content)
    assert len(pieces) > 1


def test_a_download_that_breaks_off_is_never_taken_for_whole() -> None:
    with server(HEAD % 100 + b"only this") as (origin, _):
        download = kept().download(f"{origin}/v1/blobs/b", {})
        with pytest.raises(Unreachable, match="the answer broke off"):
            list(download.chunks())
        download.close()


def test_the_rest_of_a_download_is_bounded() -> None:
    with server(HEAD % 200 + b"x" * 200) as (origin, _):
        download = kept(HttpLimits(DEADLINE, 100)).download(f"{origin}/v1/blobs/b", {})
        with pytest.raises(Unreachable, match="more than 100 bytes"):
            download.rest()
        download.close()


def test_a_server_that_says_nothing_is_not_waited_for_without_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(Unreachable, match=r"did not answer within 0\.05 s"):
            HttpClient(HttpLimits(0.05)).get(origin)


@pytest.mark.parametrize("first", [b"HTTP/1.1 200 OK\r\nX: ", HEAD % 1_000])
def test_an_answer_that_comes_byte_by_byte_is_not_waited_for_without_end(first: bytes) -> None:
    ended = threading.Event()

    def drip(to: socket.socket) -> None:
        to.sendall(first)
        while not ended.wait(0.02):
            to.sendall(b"x")

    with server(drip) as (origin, _):
        began = time.monotonic()
        with pytest.raises(Unreachable, match="did not answer within"):
            HttpClient(SHORT).get(origin)
        ended.set()
    assert time.monotonic() - began < DEADLINE / 2


@pytest.mark.parametrize(
    "answer",
    [
        HEAD % 200 + b"x" * 200,
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 200,
        b"HTTP/1.1 200 OK\r\n" + b"X-Long: " + b"y" * 60_000 + b"\r\nX-Longer: " + b"z" * 60_000,
    ],
    ids=["length", "until the end", "headers"],
)
def test_an_answer_without_end_is_not_taken_in(answer: bytes) -> None:
    with (
        server(answer) as (origin, _),
        pytest.raises(Unreachable, match="more than 100 bytes"),
    ):
        HttpClient(HttpLimits(DEADLINE, 100)).get(origin)


def test_nobody_there_is_told_without_a_second_try() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable, match="nothing listens there") as told:
        ask(kept(), f"http://127.0.0.1:{port}")
    assert str(told.value).endswith(f"; start the server with: pdpp serve --port {port}")


def test_whoever_finds_nobody_at_the_usual_port_is_told_to_start_the_server_there() -> None:
    told = unreachable("http://localhost:7377", ConnectionRefusedError(), 1, 100)
    assert "start the server with: pdpp serve (or at every login: pdpp service install)" in str(
        told
    )


def test_a_request_goes_to_the_address_that_was_judged_and_not_to_the_name() -> None:
    with server(HEAD % 2 + b"ok") as (origin, asked):
        port = origin.rpartition(":")[2]
        url = f"http://name.invalid:{port}/document"
        assert HttpClient().request("GET", url, address="127.0.0.1").body == b"ok"
    assert f"Host: name.invalid:{port}".encode() in asked[0]


def test_many_kept_connections_that_dropped_are_all_opened_anew() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE)

        def serve() -> None:
            for count in (2, 1):
                opened = [listener.accept()[0] for _ in range(count)]
                for connection in opened:
                    connection.recv(65_536)
                for connection in opened:
                    connection.sendall(HEAD % 2 + b"ab")
                    connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        http, origin = kept(), f"http://127.0.0.1:{listener.getsockname()[1]}"
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(lambda _: ask(http, origin), range(2))) == [b"ab", b"ab"]
        assert ask(http, origin) == b"ab"
        http.close()
        thread.join(DEADLINE)


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:99999/token",
        "http://127.0.0.1:1/tøken",
        "https://a..example/",
        "http://[/",
    ],
)
def test_an_address_that_leads_nowhere_is_told(address: str) -> None:
    with pytest.raises(Unreachable, match="cannot be reached"):
        kept().post_form(address, {})
    with pytest.raises(Unreachable, match="cannot be reached"):
        kept().get(address)
