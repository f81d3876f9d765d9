"""A database machine that is gone without a word: whoever waits for its answer hears of it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener

from pdpp.store.postgres.opening import open_session


def _pour(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):  # one of the two may be closed already
        while piece := source.recv(1 << 16):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@contextmanager
def over_network() -> Iterator[str]:
    """Let the database be reached over TCP by one caller; its own server listens on a file."""
    (folder,) = parse_qs(urlsplit(server_url()).query)["host"]
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as listener,
        closing(socket.socket(socket.AF_UNIX)) as inner,
    ):
        inner.connect(f"{folder}/.s.PGSQL.5432")

        def serve() -> None:
            outer, _ = listener.accept()
            with outer:
                back = threading.Thread(target=_pour, args=(inner, outer), daemon=True)
                back.start()
                _pour(outer, inner)
                back.join()

        served = threading.Thread(target=serve, daemon=True)
        served.start()
        yield f"postgresql://postgres:@127.0.0.1:{listener.getsockname()[1]}/postgres"
        served.join()


@pytest.mark.skipif(not hasattr(socket, "TCP_KEEPIDLE"), reason="the system has no such setting")
def test_the_system_asks_a_silent_machine_whether_it_is_there(opened: Opener) -> None:
    opened("anna")
    with over_network() as url, closing(open_session(url)) as session:
        assert session.execute("SELECT 7").fetchone() == (7,)
        with socket.fromfd(session.fileno(), socket.AF_INET, socket.SOCK_STREAM) as caller:
            assert caller.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            assert caller.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= 30
            assert caller.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL) <= 30
