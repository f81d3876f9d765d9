"""The program of a measured process: one worker, on a port it prints."""

import socket
import sys
from pathlib import Path

from starlette.applications import Starlette

from bench.engine import open_store, place_of
from pdpp.serving.process import configure, tune_process
from pdpp.serving.slow_clients import GuardedServer


def _product(folder: Path) -> Starlette:
    from pdpp.app import make_app
    from pdpp.service.settings import Settings

    return make_app(open_store(folder), Settings(requests_per_second=0))


def _unrecorded(folder: Path) -> Starlette:
    """Return the product with nothing taken down, only to tell what that costs."""
    from pdpp.receipts.recorder import AnsweredRead, Recorder

    def forget(_recorder: Recorder, reading: AnsweredRead) -> None:  # noqa: ARG001 - what take takes
        return None

    Recorder.take = forget  # type: ignore[assignment, method-assign]
    return _product(folder)


def _floor(folder: Path) -> Starlette:
    from bench.floor import make_floor

    place = place_of(folder)
    if place is None:
        return make_floor(folder)
    from bench.postgres_floor import make_postgres_floor

    return make_postgres_floor(place)


def main(kind: str, folder: str) -> None:
    """Serve the product, with or without receipts, or the floor over the store in a folder."""
    app = {"product": _product, "unrecorded": _unrecorded, "floor": _floor}[kind](Path(folder))
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    print(listener.getsockname()[1], flush=True)
    server = GuardedServer(configure(app))
    tune_process()
    server.run(sockets=[listener])


if __name__ == "__main__":
    main(*sys.argv[1:])
