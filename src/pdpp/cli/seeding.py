"""Seeding: the demo data goes into a store once, and a client gets a grant over it."""

import io
from typing import NamedTuple

import orjson

from pdpp import demo
from pdpp.authz.authority import Authority
from pdpp.authz.selection import Selection, make_grant, make_package, resolve
from pdpp.cli.progress import Progress
from pdpp.model import instant
from pdpp.model.declaration import Declaration
from pdpp.model.validation import parse_declaration
from pdpp.service.settings import Settings
from pdpp.store.catalogue import Catalogue, Connection
from pdpp.store.intake import write_lines
from pdpp.store.port import Store

CLIENT = "demo-agent"
_PURPOSE = "Try the demo data"


class DemoTokens(NamedTuple):
    """Ways into the demo: one grant over everything, and a package of a grant per connection."""

    client: str
    package: str


def seed(store: Store, settings: Settings, clock: instant.Clock = instant.now) -> DemoTokens:
    """Fill a store with the demo unless it is there, and return new tokens for it.

    The grant is the last thing made, so a store that has one holds the demo it names.
    """
    declarations = [parse_declaration(source.declaration) for source in demo.sources()]
    if not _is_seeded(store, declarations):
        _declare(store, declarations)
        with Progress("Writing demo data:") as progress:
            blob_count = _keep_blobs(store, settings, progress)
            _write_records(store, settings, clock, progress, blob_count)
    return _renew_grants(store, clock)


def _connection_ids() -> list[str]:
    return [connection_id for source in demo.sources() for connection_id, _ in source.connections]


def demo_accounts(catalogue: Catalogue) -> list[Connection]:
    """Return the accounts of the demo, known by their sources."""
    keys = {source.declaration["connector_key"] for source in demo.sources()}
    return [
        connection
        for _, connection in sorted(catalogue.connections.items())
        if connection.connector_key in keys
    ]


def _is_seeded(store: Store, declarations: list[Declaration]) -> bool:
    if not store.catalogue().connections.keys() >= set(_connection_ids()):
        return False
    revisions = {declaration.revision for declaration in declarations}
    return any(
        grant.client_id == CLIENT and revisions <= set(grant.revisions())
        for grant in store.vault.grants()
    )


def _declare(store: Store, declarations: list[Declaration]) -> None:
    for declaration in declarations:
        store.register(declaration)
    connections = store.catalogue().connections
    for source in demo.sources():
        for connection_id, name in source.connections:
            if connection_id not in connections:
                store.connect(connection_id, source.declaration["connector_key"], name)


def _keep_blobs(store: Store, settings: Settings, progress: Progress) -> int:
    done = 0
    for done, blob in enumerate(demo.blobs(), 1):
        if store.blob(blob.blob_id) is None:
            store.keep_blob(io.BytesIO(blob.content), blob.media_type, settings.blob_bytes)
        progress.tell(done)
    return done


def _write_records(
    store: Store, settings: Settings, clock: instant.Clock, progress: Progress, done: int
) -> None:
    feeds = store.catalogue().feeds
    for batch in demo.batches():
        feed = feeds[batch.connection_id, batch.stream]
        lines = [orjson.dumps(line) for line in batch.lines]
        answer = write_lines(store, feed, lines, now=clock(), line_bytes=settings.line_bytes)
        if answer["rejections"]:
            raise AssertionError(answer["rejections"])
        done += len(lines)
        progress.tell(done)


def _renew_grants(store: Store, clock: instant.Clock) -> DemoTokens:
    """Approve anew, and take back what earlier starts approved."""
    earlier = [grant for grant in store.vault.grants() if grant.client_id == CLIENT]
    allowances = resolve(Selection(connections=tuple(_connection_ids())), store.catalogue())
    package, grants, package_secret, package_token = make_package(
        allowances, client_id=CLIENT, purpose=_PURPOSE, now=clock()
    )
    store.vault.keep_package(package, grants, [package_token])
    grant, secret, token = make_grant(allowances, client_id=CLIENT, purpose=_PURPOSE, now=clock())
    store.vault.keep_grant(grant, [token])
    authority = Authority(store, clock)
    for grant in earlier:
        if grant.package_id is None:
            authority.revoke_grant(grant.id)
        else:
            authority.revoke_package(grant.package_id)
    return DemoTokens(secret, package_secret)
