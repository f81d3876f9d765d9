"""Serving: the server as one process, from a bound port to a quiet stop."""

import contextlib
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from math import ceil
from pathlib import Path
from types import FrameType
from typing import NoReturn
from urllib.parse import quote, urlencode, urlsplit

import click
import uvicorn

from pdpp.app import make_app
from pdpp.cli.folder import opened
from pdpp.cli.options import common, examples
from pdpp.cli.output import show, stop_writing
from pdpp.cli.process import BACKLOG, configure, settle
from pdpp.cli.seeding import DemoTokens, seed
from pdpp.demo.story import INVOICE, INVOICE_STORY
from pdpp.hosted import MCP_PATH
from pdpp.resource.settings import Settings

_BURST_SECONDS = 3
_FASTEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Ready:
    """What a caller needs to use a server that answers."""

    url: str
    data: Path
    tokens: DemoTokens | None

    def document(self) -> dict[str, str]:
        """Return the content of the ready file."""
        document = {"url": self.url, "mcp_url": self.url + MCP_PATH}
        if self.tokens is not None:
            document |= {"client_token": self.tokens.client, "package_token": self.tokens.package}
        return document

    def greeting(self) -> list[str]:
        """Return what a person reads when the server has started."""
        lines = [
            f"PDPP answers on {self.url} with the data in {self.data}",
            f"Agents connect to {self.url}{MCP_PATH}",
            "",
        ]
        if self.tokens is None:
            lines += [
                "Try next, in another terminal and with the same --data:",
                "  pdpp source add SOURCE.json",
                '  pdpp connection add CONNECTOR_KEY --name "Work mail"',
                "  pdpp ingest RECORDS.ndjson --connection ID --stream NAME",
                '  pdpp grant create --client my-agent --purpose "Answer my questions"',
            ]
        else:
            lines += [
                "A client that may read all of the demo has this token:",
                f"  {self.tokens.client}",
                "",
                "Try next, in another terminal:",
                f"  TOKEN={self.tokens.client}",
                *(f"  {line}" for line in _calls(self.url)),
                "",
                "Connect an agent on this machine:",
                f'  echo "$TOKEN" | {_program()} connect {self.url} --token-file -',
                f"  {_program()} mcp config claude-code --provider-url {self.url}",
            ]
        return [*lines, "", "Stop with Ctrl-C; the data stays."]


def _program() -> str:
    """Return how a person in this folder starts the program that is running."""
    beside = Path(sys.executable).with_name("pdpp")
    if shutil.which("pdpp"):
        return "pdpp"
    return os.path.relpath(beside) if beside.exists() else f"{sys.executable} -m pdpp"


def _calls(url: str) -> list[str]:
    connection_id, stream, key = INVOICE_STORY["letter"]
    window = urlencode({"connection_id": connection_id, "field": "body", "q": INVOICE})
    paths = [
        "/v1/streams",
        f"/v1/search?{urlencode({'q': INVOICE})}",
        f"/v1/streams/{stream}/records/{quote(key, safe='')}/field-window?{window}",
    ]
    return [f'curl -H "Authorization: Bearer $TOKEN" "{url}{path}"' for path in paths]


class AnnouncedServer(uvicorn.Server):
    """A server that tells when it answers and takes a signal as a wish to stop."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer, then say so."""
        await super().startup(sockets)
        self._announce()

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal, which uvicorn raises again when it is done; here it ends there."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        super().run(sockets)

    def _stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a signal handler
        self.should_exit = True


def requests_per_second(text: str) -> float:
    """Return the number in a rate such as 50/s."""
    try:
        rate = float(text.removesuffix("/s"))
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= _FASTEST:
        raise click.BadParameter(f"{text!r} is not a rate such as 50/s; 0 sets no limit.")
    return rate


def origin(text: str) -> str:
    """Return a public address without a slash at its end."""
    with contextlib.suppress(ValueError):
        parts = urlsplit(text)
        beyond = parts.path.strip("/") or parts.query or parts.fragment or parts.username
        if parts.scheme in ("http", "https") and parts.hostname and not beyond:
            return f"{parts.scheme}://{parts.netloc}"
    raise click.BadParameter(f"{text!r} is not an address such as https://data.example.org.")


@click.command(
    epilog=examples(
        "pdpp serve --demo",
        "pdpp serve --data ~/my-data --port 8000",
        "pdpp serve --demo --port 0 --data DIR --ready-file ready.json",
    )
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Loopback address to use.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=7377,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option(
    "--public-url", type=origin, metavar="URL", help="Address that others know this server by."
)
@click.option(
    "--rate-limit",
    type=requests_per_second,
    metavar="N/s",
    help="Requests each token may make; 0 for no limit.",
)
@click.option("--demo", is_flag=True, help="Fill the store with invented accounts first.")
@click.option(
    "--ready-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the address, and the demo's token, to this file once the server answers.",
)
@common
def serve(
    host: str,
    port: int,
    public_url: str | None,
    rate_limit: float | None,
    demo: bool,
    ready_file: Path | None,
    data: Path,
    as_json: bool,
) -> None:
    """Start the server."""
    signal.signal(signal.SIGTERM, _leave)
    with bound(host, port) as listener, opened(data, create=True) as store:
        url = address(listener)
        settings = make_settings(public_url or url, rate_limit)
        if ready_file is not None:
            clear(ready_file)
        ready = Ready(url, data, seed(store, settings) if demo else None)

        def announce() -> None:
            if ready_file is not None:
                write_private(ready_file, json.dumps(ready.document()) + "\n")
            try:
                show(ready.document(), ready.greeting(), as_json=as_json)
            except BrokenPipeError:
                stop_writing()

        server = AnnouncedServer(configure(make_app(store, settings)), announce)
        settle()
        server.run([listener])
        if ready_file is not None:
            ready_file.unlink(missing_ok=True)


def _leave(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - a signal handler
    """End before the server has started; batches are whole or not there."""
    raise SystemExit(0)


def bound(host: str, port: int) -> socket.socket:
    """Return a listening socket on a loopback address."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise click.ClickException(f"there is no address {host!r} on this machine") from None
    if not ip_address(str(place[0]).partition("%")[0]).is_loopback:
        raise click.ClickException(
            f"{host} is open to other machines, which needs an owner login that this version does "
            "not have; use 127.0.0.1"
        )
    try:
        return socket.create_server(place, family=family, backlog=BACKLOG)
    except OSError as problem:
        raise click.ClickException(
            f"cannot listen on {host} port {port}: {os.strerror(problem.errno or 0).lower()}; "
            "choose another with --port"
        ) from None


def address(listener: socket.socket) -> str:
    """Return the URL under which a socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_settings(origin: str, rate: float | None) -> Settings:
    """Return the server's settings with what the caller chose."""
    if rate is None:
        return Settings(origin=origin)
    burst = max(1, ceil(rate * _BURST_SECONDS))
    return Settings(origin=origin, requests_per_second=rate, request_burst=burst)


def clear(path: Path) -> None:
    """Take away what an earlier server left, and make sure that a new file can be put there."""
    if not path.parent.is_dir():
        raise click.ClickException(f"there is no folder {path.parent} for the ready file")
    path.unlink(missing_ok=True)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as target:
            target.write(text)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
