"""HTTP to a server that misbehaves."""

import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from pdpp.wire import channel
from pdpp.wire.channel import Channel, Unreachable

DEADLINE = 20.0
HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"


@contextmanager
def server(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Serve one raw answer a connection, then end it; note what was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(DEADLINE)

        def serve() -> None:
            for answer in answers:
                connection, _ = listener.accept()
                with connection:
                    asked.append(connection.recv(65_536))
                    connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
        thread.join(DEADLINE)


def ask(way: Channel) -> bytes:
    return way.exchange("GET", "/v1/schema", {"X-Mine": "1"}).body


def test_a_kept_connection_that_dropped_is_opened_anew() -> None:
    with server(HEAD % 2 + b"ab", HEAD % 2 + b"cd") as (origin, asked):
        way = Channel(f"{origin}/", timeout=DEADLINE)
        assert (ask(way), ask(way)) == (b"ab", b"cd")
        way.close()
        assert len(asked) == 2
        assert asked[0].startswith(b"GET /v1/schema HTTP/1.1\r\n")
        assert b"X-Mine: 1" in asked[0]


def test_an_answer_that_breaks_off_twice_is_no_answer() -> None:
    with (
        server(HEAD % 10 + b"short", HEAD % 10 + b"short") as (origin, _),
        pytest.raises(Unreachable, match="IncompleteRead"),
    ):
        ask(Channel(origin, timeout=DEADLINE))


def test_a_download_is_read_piece_by_piece() -> None:
    content = b"x" * 200_000
    with server(HEAD % len(content) + content) as (origin, _):
        found = Channel(origin).download("/v1/blobs/b", {})
        pieces = list(found.chunks())
        found.close()
    assert (found.status, b"".join(pieces)) == (200, content)
    assert len(pieces) > 1


def test_a_download_that_breaks_off_is_never_taken_for_whole() -> None:
    with server(HEAD % 100 + b"only this") as (origin, _):
        found = Channel(origin).download("/v1/blobs/b", {})
        with pytest.raises(Unreachable, match="cannot be reached"):
            list(found.chunks())
        found.close()


def test_the_rest_of_a_download_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "MOST_BYTES", 100)
    with server(HEAD % 200 + b"x" * 200) as (origin, _):
        found = Channel(origin).download("/v1/blobs/b", {})
        with pytest.raises(Unreachable, match="more than 100 bytes"):
            found.rest()
        found.close()


def test_a_server_that_says_nothing_is_not_waited_for_without_end() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(Unreachable, match=r"did not answer within 0\.05 s"):
            Channel(origin, timeout=0.05).exchange("GET", "/", {})


def test_nobody_there_is_told_without_a_second_try() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable, match="ConnectionRefusedError"):
        Channel(f"http://127.0.0.1:{port}").exchange("GET", "/", {})


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
        way = Channel(f"http://127.0.0.1:{listener.getsockname()[1]}", timeout=DEADLINE)
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(lambda _: ask(way), range(2))) == [b"ab", b"ab"]
        assert ask(way) == b"ab"
        way.close()
        thread.join(DEADLINE)


@pytest.mark.parametrize("origin", ["http://127.0.0.1:1/tø", "https://a..example"])
def test_an_address_that_cannot_be_written_is_no_address(origin: str) -> None:
    with pytest.raises(Unreachable, match="cannot be reached"):
        Channel(origin).exchange("GET", "/", {})
