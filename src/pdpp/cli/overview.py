"""``pdpp`` alone: what state this installation is in, and what to do next."""

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pdpp.encryption.data_key import DataKey
from pdpp.evidence.amount import counted
from pdpp.model.errors import StoreError
from pdpp.wire.http import HttpClient, HttpLimits, Unreachable

_REFUSED_NAME = 400
"""How a server answers to a name that is not its own."""
_LOOK = HttpLimits(seconds=1.0, most_bytes=1 << 16)


class Overview(NamedTuple):
    """What there is: data, accounts, records, grants, a passphrase, and a server that answers."""

    data: Path
    address: str
    running: bool
    exists: bool
    accounts: int = 0
    records: int = 0
    grants: int = 0
    has_passphrase: bool = False
    locked: bool = False
    """The store is encrypted, and nothing but a person gives its passphrase."""
    taken: bool = False
    """The server that answers at the address serves other data than this."""


def address_of(data: Path | None) -> str:
    """Return where a server of a data folder answers, by its settings."""
    return _settings(data)[1]


def folder_of(data: Path | None) -> Path:
    """Return the data folder that a command without --data uses, or the given one."""
    return _settings(data)[0]


def for_folder(command: str, data: Path) -> str:
    """Return a command with its data folder, which is left out where it is the usual one."""
    return command if folder_of(None) == data else with_folder(command, data)


def with_folder(command: str, data: Path) -> str:
    """Return a command with its data folder; ``pdpp read`` would ask a server without it."""
    return f"{command} --data {shlex.quote(str(data))}"


def _settings(data: Path | None) -> tuple[Path, str]:
    from pdpp.configuration.effective import configure
    from pdpp.serving.data_folder import own_folder

    configuration = configure({} if data is None else {"data": data}, os.environ, own_folder())
    host, port = configuration["host"], configuration["port"]
    displayed_host = f"[{host}]" if ":" in host else host
    return configuration["data"], f"http://{displayed_host}:{port}"


def overview(data: Path | None = None) -> Overview:
    """Look at the data folder and the address that the settings name."""
    from pdpp.serving.data_folder import has_store, store_key

    data, address = _settings(data)
    exists = has_store(data)
    seen = Overview(data, address, _answers(address), exists)
    if not exists:
        return _beside_another(seen)
    try:
        key = store_key(data, asks=False)
    except StoreError:
        return seen._replace(locked=True)
    return _with_counts(seen, key)


def _answers(address: str) -> bool:
    try:
        return HttpClient(_LOOK).get(f"{address}/healthz").status == 200
    except Unreachable:
        return False


def _beside_another(seen: Overview) -> Overview:
    return seen._replace(running=False, taken=seen.running)


def _checked(seen: Overview, private_host: str | None) -> Overview:
    """Find out whether the server that answers knows the private name of this data."""
    if private_host is None:
        return _beside_another(seen)
    host = f"{private_host}:{urlsplit(seen.address).port}"
    try:
        reply = HttpClient(_LOOK).request("GET", f"{seen.address}/login", {"Host": host})
    except Unreachable:
        return seen
    return _beside_another(seen) if reply.status == _REFUSED_NAME else seen


def _with_counts(seen: Overview, key: DataKey | None) -> Overview:
    from pdpp.authz.owner import has_passphrase, known_private_host
    from pdpp.model import instant
    from pdpp.model.grant import ACTIVE, status
    from pdpp.serving.data_folder import open_store
    from pdpp.serving.database import database_of
    from pdpp.store.scope import owner_reaches

    now = instant.now()
    with open_store(seen.data, key=key) as store, store.reading():
        catalogue = store.catalogue()
        # The owners of one database share its servers, which answer to other names.
        if seen.running and database_of(seen.data) is None:
            seen = _checked(seen, known_private_host(store.vault))
        return seen._replace(
            accounts=len(catalogue.connections),
            records=sum(store.counts(owner_reaches(catalogue)).values()),
            grants=sum(status(grant, now) == ACTIVE for grant in store.vault.grants()),
            has_passphrase=has_passphrase(store.vault),
        )


def overview_lines(seen: Overview) -> Iterator[str]:
    """Yield the state in words, and the commands that come next."""
    if not seen.exists:
        yield f"Nothing is stored yet ({seen.data})."
    elif seen.locked:
        yield f"The store in {seen.data} is encrypted; commands ask for its passphrase."
    else:
        records = counted(seen.records, "record")
        accounts, grants = counted(seen.accounts, "account"), counted(seen.grants, "grant")
        yield f"{records} of {accounts} in {seen.data}; {grants} for agents."
    yield answer_line(seen)
    yield ""
    yield "Next:"
    yield from _aligned(list(_next(seen)))
    yield ""
    yield "pdpp --help lists every command."


def answer_line(seen: Overview) -> str:
    """Return in words whether the server of this data answers."""
    if seen.taken:
        return f"The server that answers on {seen.address} serves other data."
    return f"{'The' if seen.running else 'No'} server answers on {seen.address}."


def next_after_import(data: Path) -> Iterator[str]:
    """Yield what an owner may do with records that have just come in."""
    return _aligned(
        [
            (with_folder("pdpp read search WORDS", data), "search your records"),
            (for_folder("pdpp serve", data), "see them in your browser"),
            ("pdpp mcp install CLIENT", "connect an agent"),
        ]
    )


def _aligned(rows: Sequence[tuple[str, str]]) -> Iterator[str]:
    width = max(len(command) for command, _ in rows)
    return (f"  {command:<{width}}  {purpose}" for command, purpose in rows)


def _next(seen: Overview) -> Iterator[tuple[str, str]]:
    if not seen.exists:
        yield "pdpp setup", "choose a folder and a passphrase, and start at login"
        yield "pdpp demo", "watch an agent read invented records first"
        return
    if seen.locked:
        yield "pdpp serve", "start the server; it asks for the passphrase"
        yield "pdpp encryption keyring", "let this machine's keyring open the store"
        return
    if not seen.records:
        yield "pdpp import FILE", "import an export that you downloaded"
    if seen.taken:
        yield "pdpp serve --port 8000", "start the server on another port"
    elif not seen.running:
        yield "pdpp serve", "start the server, or: pdpp service install"
    if not seen.has_passphrase:
        yield "pdpp owner init", "choose your passphrase"
    if seen.records:
        yield with_folder("pdpp read search WORDS", seen.data), "search your own records"
        if not (seen.grants or seen.taken):
            yield f"pdpp connect {seen.address}", "let an agent on this machine ask for a grant"
        yield "pdpp mcp install CLIENT", "connect an agent"
        yield "pdpp receipts", "see what each agent read"
