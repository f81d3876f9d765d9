"""Single requests to an address that somebody else named."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from pdpp.wire import post
from pdpp.wire.channel import Unreachable
from pdpp.wire.post import get, post_form, told

DEADLINE = 20.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """Serve one connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE)

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                connection.recv(65_536)
                answer(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(DEADLINE)


def test_a_form_gets_its_answer() -> None:
    with server(lambda to: to.sendall(HEAD % 10 + b'{"a": "b"}')) as url:
        reply = post_form(f"{url}/token?x=1", {"grant_type": "refresh_token"})
    assert (reply.status, told(reply)) == (200, {"a": "b"})


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(post, "_TIMEOUT", 0.3)
    ended = threading.Event()

    def drip(to: socket.socket) -> None:
        to.sendall(HEAD % 1_000)
        while not ended.wait(0.02):
            to.sendall(b" ")

    with server(drip) as url:
        began = time.monotonic()
        with pytest.raises(Unreachable, match="TimeoutError"):
            get(url)
        ended.set()
    assert time.monotonic() - began < DEADLINE / 2


def test_an_answer_without_end_is_not_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(post, "_MOST_BYTES", 100)
    with (
        server(lambda to: to.sendall(HEAD % 200 + b"x" * 200)) as url,
        pytest.raises(Unreachable, match="more than 100 bytes"),
    ):
        get(url)


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
        post_form(address, {})
