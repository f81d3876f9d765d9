"""Seeding: the demo data goes into a store once, and a client gets a grant over it."""

import io

import orjson

from pdpp import demo
from pdpp.authz.selection import Selection, make_grant, resolve
from pdpp.cli.progress import Progress
from pdpp.model import instant
from pdpp.model.declaration import Declaration
from pdpp.model.validation import parse_declaration
from pdpp.resource.ingest import write_lines
from pdpp.resource.settings import Settings
from pdpp.store.port import Store

CLIENT = "demo-agent"


def seed(store: Store, settings: Settings, clock: instant.Clock = instant.now) -> str:
    """Fill a store with the demo unless it is there, and return the token of a new grant over it.

    The grant is the last thing made, so a store that has one holds the demo it names.
    """
    declarations = [parse_declaration(source.declaration) for source in demo.sources()]
    if not _is_seeded(store, declarations):
        _declare(store, declarations)
        with Progress("Writing demo data:") as progress:
            _keep_blobs(store, settings, progress)
            _write_records(store, settings, clock, progress)
    return _renew_grant(store, clock)


def _connection_ids() -> list[str]:
    return [connection_id for source in demo.sources() for connection_id, _ in source.connections]


def _is_seeded(store: Store, declarations: list[Declaration]) -> bool:
    wanted = {declaration.revision for declaration in declarations}
    return any(
        grant.client_id == CLIENT and wanted <= set(grant.revisions()) for grant in store.grants()
    )


def _declare(store: Store, declarations: list[Declaration]) -> None:
    catalogue = store.catalogue()
    for declaration in declarations:
        held = catalogue.sources.get(declaration.connector_key)
        if held is None or held.revision != declaration.revision:
            store.register(declaration)
    for source in demo.sources():
        for connection_id, name in source.connections:
            if connection_id not in catalogue.connections:
                store.connect(connection_id, source.declaration["connector_key"], name)


def _keep_blobs(store: Store, settings: Settings, progress: Progress) -> None:
    for done, blob in enumerate(demo.blobs(), 1):
        if store.blob(blob.blob_id) is None:
            store.keep_blob(io.BytesIO(blob.content), blob.media_type, settings.blob_bytes)
        progress.tell(done)


def _write_records(
    store: Store, settings: Settings, clock: instant.Clock, progress: Progress
) -> None:
    feeds = store.catalogue().feeds
    done = 0
    for batch in demo.batches():
        feed = feeds[batch.connection_id, batch.stream]
        lines = [orjson.dumps(line) for line in batch.lines]
        answer = write_lines(store, feed, lines, now=clock(), line_bytes=settings.line_bytes)
        if answer["rejections"]:
            raise AssertionError(answer["rejections"])
        done += len(lines)
        progress.tell(done)


def _renew_grant(store: Store, clock: instant.Clock) -> str:
    allowances = resolve(Selection(connections=tuple(_connection_ids())), store.catalogue())
    grant, secret, token = make_grant(
        allowances, client_id=CLIENT, purpose="Try the demo data", now=clock()
    )
    earlier = [held.id for held in store.grants() if held.client_id == CLIENT]
    store.add_grant(grant, [token])
    for grant_id in earlier:
        store.revoke_grant(grant_id)
    return secret
