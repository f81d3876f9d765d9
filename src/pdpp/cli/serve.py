"""Serving: the server from a bound port to a quiet stop."""

import json
import os
import shutil
import signal
import socket
import sys
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn
from urllib.parse import quote, urlencode, urlsplit

import click

from pdpp.app import make_app
from pdpp.authz.owner import begin_setup, has_passphrase, private_host
from pdpp.authz.redirect import LOOPBACK
from pdpp.cli.encryption import ENCRYPTED_BY_DATABASE, encrypted_key
from pdpp.cli.help_text import examples
from pdpp.cli.output import show, stop_writing
from pdpp.cli.seeding import DemoTokens, seed
from pdpp.cli.setting_options import configured
from pdpp.configuration.database import DatabaseAddress
from pdpp.configuration.effective import Configuration
from pdpp.demo.story import INVOICE, INVOICE_STORY
from pdpp.encryption.data_key import DataKey
from pdpp.hosted import MCP_PATH
from pdpp.model import instant
from pdpp.private import write_file
from pdpp.service.settings import Settings
from pdpp.serving.data_folder import has_store, open_store, store_key
from pdpp.serving.database import refuse_database
from pdpp.serving.fleet import heartbeat
from pdpp.serving.process import BACKLOG, AnnouncedServer, configure, tune_process
from pdpp.store.port import Store
from pdpp.watch.logs import LogOptions, configure_logging


@dataclass(frozen=True, slots=True)
class Ready:
    """What a caller needs to use a server that answers."""

    url: str
    place: str
    """Where the records are: a folder, or a database."""
    tokens: DemoTokens | None
    setup_code: str | None = None
    owner_url: str | None = None
    """The owner's own address, where it is not the one that agents are given."""
    all_owners: bool = False
    public_url: str | None = None
    """The address that agents and people are given, where a setting names it."""

    def document(self) -> dict[str, str]:
        """Return the content of the ready file."""
        document = {"url": self.url, "mcp_url": self.url + MCP_PATH}
        if self.tokens is not None:
            document |= {"client_token": self.tokens.client, "package_token": self.tokens.package}
        more = {"setup_code": self.setup_code, "owner_url": self.owner_url}
        return document | {name: value for name, value in more.items() if value is not None}

    def greeting(self) -> list[str]:
        """Return what a person reads when the server has started."""
        if self.all_owners:
            return [
                f"PDPP answers on {self.owner_url} for each owner NAME in {self.place}",
                "Add one with PDPP_OWNER=NAME pdpp owner init",
            ]
        lines = [
            f"PDPP answers on {self.url} with the data in {self.place}",
            f"Agents connect to {self.public_url or self.url}{MCP_PATH}",
            *self._to_the_owner(),
            "",
        ]
        if self.tokens is None:
            lines += [
                "Try next, in another terminal and with the same --data:",
                "  pdpp import ~/Downloads/export.zip",
                "or, for records of your own making:",
                "  pdpp source add SOURCE.json",
                '  pdpp connection add CONNECTOR_KEY --name "Work mail"',
                "  pdpp ingest RECORDS.ndjson --connection ID --stream NAME",
                "and for an agent that cannot ask by itself, a narrow grant with an end:",
                '  pdpp grant create --client my-agent --purpose "Answer my questions" \\',
                "    --connection ID --since 2026-01-01 --expires 30d",
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

    def _to_the_owner(self) -> list[str]:
        """Return how the owner decides what agents may read."""
        page = f"{self.owner_url or self.public_url or self.url}/agents"
        private = (
            []
            if self.owner_url is None
            else [
                "Only you know this address, so other programs on this computer cannot see there "
                "that you are",
                f"logged in. If your browser cannot open it, use {self.url}/agents",
            ]
        )
        if self.setup_code is None:
            return [f"You approve and revoke on {page}", *private]
        return [
            f"You approve them on {page}",
            "Choose your passphrase there with this code:",
            f"  {self.setup_code}",
            *private,
        ]


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


@click.command(
    epilog=examples(
        "pdpp serve --demo",
        "pdpp serve --data ~/my-data --port 8000",
        "PDPP_DATABASE=postgresql://pdpp@localhost/pdpp pdpp serve --workers 2",
        "pdpp serve --demo --port 0 --data DIR --ready-file ready.json",
    )
)
@configured
@click.option("--demo", is_flag=True, help="Fill the store with invented accounts first.")
@click.option("--encrypt", is_flag=True, help="Encrypt the store first, if it is not.")
@click.option(
    "--ready-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the address, and the demo's token, to this file once the server answers.",
)
@click.option("--json", "as_json", is_flag=True, help="Answer in JSON.")
def serve(
    configuration: Configuration,
    demo: bool,
    encrypt: bool,
    ready_file: Path | None,
    as_json: bool,
) -> None:
    """Start the server.

    Settings come from a file, the environment and these flags; the later ones win. pdpp config show
    prints the result.
    """
    signal.signal(signal.SIGTERM, _leave)
    log = LogOptions(
        configuration["log_level"], configuration["log_format"], configuration["access_log"]
    )
    configure_logging(log)
    data: Path = configuration["data"]
    database = configuration.database()
    if configuration["owners"]:
        _serve_owners(configuration, log, ready_file, as_json=as_json)
        return
    if encrypt:
        refuse_database(database, ENCRYPTED_BY_DATABASE)
    key = encrypted_key(data) if encrypt else None if database else store_key(data)
    require_owner(configuration, data, key)
    with bound(configuration["host"], configuration["port"]) as listener:
        url = address(listener)
        settings = configuration.settings(url)
        if ready_file is not None:
            clear(ready_file)
        with open_store(data, create=True, key=key, database=database) as store:
            place = str(data if database is None else database)
            ready = _ready(store, url, place, settings, demo=demo)
            announce = partial(_announce, ready, ready_file, as_json=as_json)
            if configuration["workers"] == 1:
                app = make_app(store, settings, data=data)
                server = AnnouncedServer(configure(app), announce)
                tune_process()
                with heartbeat(store.fleet, lambda: [app]):
                    server.run([listener])
        if configuration["workers"] > 1:
            from pdpp.serving.workers import WorkerOptions, WorkerPool

            work = WorkerOptions(data, settings, log, instant.now(), key, database)
            WorkerPool(configuration["workers"], listener, work).run(announce)
    if ready_file is not None:
        ready_file.unlink(missing_ok=True)


def _ready(store: Store, url: str, place: str, settings: Settings, *, demo: bool) -> Ready:
    """Fill the demo if it is asked for, and return what the server tells when it answers."""
    return Ready(
        url,
        place,
        seed(store, settings) if demo else None,
        begin_setup(store.vault),
        _owner_url(url, private_host(store.vault), settings),
        public_url=settings.origin if settings.public else None,
    )


def _serve_owners(
    configuration: Configuration, log: LogOptions, ready_file: Path | None, *, as_json: bool
) -> None:
    """Serve every owner of a database, whom the commands add and who choose passphrases there."""
    from pdpp.serving.owners import base_origin, origin_of, path_origin_of
    from pdpp.serving.workers import WorkerOptions, WorkerPool

    database = configuration.database()
    if database is None:
        raise click.UsageError("Several owners need a database: --database postgresql://…")
    data: Path = configuration["data"]
    with bound(configuration["host"], configuration["port"]) as listener:
        settings = configuration.settings(address(listener))
        by_path = configuration["owners_by"] == "path"
        if not by_path:
            settings = replace(settings, origin=base_origin(settings.origin))
        if ready_file is not None:
            clear(ready_file)
        address_of = path_origin_of if by_path else origin_of
        owner_url = address_of("NAME", settings.origin)
        ready = Ready(settings.origin, str(database), None, None, owner_url, all_owners=True)
        work = WorkerOptions(
            data, settings, log, instant.now(), None, database, owners=True, by_path=by_path
        )
        announce = partial(_announce, ready, ready_file, as_json=as_json)
        WorkerPool(configuration["workers"], listener, work).run(announce)
    if ready_file is not None:
        ready_file.unlink(missing_ok=True)


def _owner_url(url: str, private_name: str, settings: Settings) -> str | None:
    """Return the owner's own address; a server with a public address has no use for one."""
    parts = urlsplit(url)
    if settings.public or parts.hostname not in LOOPBACK:
        return None
    return f"http://{private_name}:{parts.port}"


def _announce(ready: Ready, ready_file: Path | None, *, as_json: bool) -> None:
    if ready_file is not None:
        write_file(ready_file, json.dumps(ready.document()).encode() + b"\n")
    try:
        show(ready.document(), ready.greeting(), as_json=as_json)
    except BrokenPipeError:
        stop_writing()


def _leave(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - a signal handler
    """End before the server has started; batches are whole or not there."""
    raise SystemExit(0)


def require_owner(configuration: Configuration, data: Path, key: DataKey | None = None) -> None:
    """Refuse an address that other machines reach while nobody has chosen a passphrase."""
    host = configuration["host"]
    _, place = resolved(host, configuration["port"])
    host_address = ip_address(str(place[0]).partition("%")[0])
    if host_address.is_loopback:
        return
    if not _has_owner(data, key, configuration.database()):
        raise click.ClickException(
            f"{host} is open to other machines, so choose your passphrase first, with "
            "pdpp owner init"
        )
    if host_address.is_unspecified and not (
        configuration["public_url"] or configuration["trusted_proxy"]
    ):
        raise click.ClickException(
            f"{host} stands for every address of this machine; say with --public-url which one "
            "people and agents use"
        )


def _has_owner(data: Path, key: DataKey | None, database: DatabaseAddress | None) -> bool:
    if not has_store(data, database):
        return False
    with open_store(data, key=key, database=database) as store:
        return has_passphrase(store.vault)


def resolved(host: str, port: int) -> tuple[socket.AddressFamily, Any]:
    """Return the address that a host name stands for on this machine."""
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise click.ClickException(f"there is no address {host!r} on this machine") from None
    return family, place


def bound(host: str, port: int) -> socket.socket:
    """Return a listening socket."""
    family, place = resolved(host, port)
    try:
        return socket.create_server(place, family=family, backlog=BACKLOG)
    except OSError as problem:
        raise click.ClickException(
            f"cannot listen on {host} port {port}: {os.strerror(problem.errno or 0).lower()}; "
            "choose another with --port 8000, or with make run PORT=8000"
        ) from None


def address(listener: socket.socket) -> str:
    """Return the URL under which a socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def clear(path: Path) -> None:
    """Take away what an earlier server left, and make sure that a new file can be put there."""
    if not path.parent.is_dir():
        raise click.ClickException(f"there is no folder {path.parent} for the ready file")
    path.unlink(missing_ok=True)
