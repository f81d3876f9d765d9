"""A stock: a world held in a store, filled over HTTP as an owner does, kept for the next run."""

import hashlib
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from bench import world
from bench.client import Client, post
from bench.engine import DatabasePlace, open_store, put_place
from bench.process import serving
from pdpp.authz.selection import Selection, make_grant, make_package, resolve
from pdpp.authz.token import TokenKind, mint
from pdpp.evidence import analyse
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.model.validation import parse_declaration
from pdpp.store import cell
from pdpp.store.port import Store
from pdpp.store.sqlite import bulk, schema
from pdpp.store.tables import feeds, numbering
from pdpp.store.tables.records import dated
from pdpp.store.tables.search import (
    analysis,
    blocks,
    entry,
    index,
    long_postings,
    packing,
    tables,
    tending,
    vocabulary,
)
from pdpp.store.tables.write import prepared, rows, writer

Say = Callable[[str], None]

_FACTS = "stock.json"
_GRANTED = tuple(map(world.connection_id, range(0, world.CONNECTIONS, 3)))
CHILDREN = tuple(map(world.connection_id, range(20)))
"""The connections of the package: each has a grant of its own."""
_SHAPING = (
    world,
    schema,
    numbering,
    analysis,
    blocks,
    entry,
    index,
    long_postings,
    packing,
    tables,
    tending,
    vocabulary,
    feeds,
    prepared,
    dated,
    bulk,
    writer,
    rows,
    cell,
    analyse,
)


@dataclass(frozen=True, slots=True)
class Ingest:
    """Records a second, and processor time a record: over all, and over either end."""

    overall: float
    first: float
    last: float
    cpu_microseconds: float


@dataclass(frozen=True, slots=True)
class Tokens:
    """The secrets of callers: owner, a third of the streams, all, parts of a third, a package."""

    owner: str
    third: str
    everything: str
    narrow: str
    package: str


@dataclass(frozen=True, slots=True)
class Stock:
    """A filled store and what filling it took."""

    folder: Path
    world: world.World
    tokens: Tokens
    ingest: Ingest
    built: str


def open_stock(
    shelf: Path, records: int, *, fresh: bool, say: Say, database: str | None = None
) -> Stock:
    """Return the stock of a size; an older one of the same code is taken as it is.

    ``database`` is where the records of a new one go, else into a file.
    """
    folder = shelf / f"{records}-{_fingerprint()}"
    if fresh or not (folder / _FACTS).exists():
        for old in shelf.glob(f"{records}-*"):
            shutil.rmtree(old)
        if database is not None:
            put_place(folder, DatabasePlace(database, str(folder.resolve())))
        _fill(folder, world.make_world(records), say)
    return read_stock(folder)


def read_stock(folder: Path) -> Stock:
    """Return the stock in a folder as it is; its name begins with how many records it holds."""
    facts = orjson.loads((folder / _FACTS).read_bytes())
    return Stock(
        folder,
        world.make_world(int(folder.name.partition("-")[0])),
        Tokens(**facts["tokens"]),
        Ingest(**facts["ingest"]),
        facts["built"],
    )


def _fingerprint() -> str:
    """Name the code that decides what a filled store holds."""
    files = (__file__, *(str(module.__file__) for module in _SHAPING))
    sources = b"".join(Path(file).read_bytes() for file in files)
    return hashlib.sha256(sources).hexdigest()[:12]


def _fill(folder: Path, made: world.World, say: Say) -> None:
    say(f"Filling a store with {made.records:,} records")
    tokens = prepare_stock(folder)
    ingest = _send(folder, made, tokens.owner, say)
    _tend(folder)
    facts = {
        "tokens": asdict(tokens),
        "ingest": asdict(ingest),
        "built": instant.to_text(instant.now()),
    }
    (folder / _FACTS).write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2))


def _tend(folder: Path) -> None:
    """Merge the word index as a server does in idle time."""
    store = open_store(folder)
    while store.tend():
        pass
    store.close()


def prepare_stock(folder: Path) -> Tokens:
    """Make a store with every source, connection and caller, and no record."""
    store = open_store(folder)
    for document in world.declarations():
        store.register(parse_declaration(document))
    for number in range(world.CONNECTIONS):
        name = world.connection_id(number)
        store.connect(name, world.connector_key(number), name.capitalize())
    owner, token = mint(TokenKind.OWNER, "bench", instant.now())
    store.vault.keep_token(token)
    tokens = Tokens(
        owner=owner,
        third=grant_token(store, Selection(connections=_GRANTED)),
        everything=grant_token(store, Selection()),
        narrow=grant_token(
            store,
            Selection(
                connections=_GRANTED,
                fields=("title", "body", "sent_at"),
                time=Interval(since=instant.parse("2020-01-01T00:00:00Z")),
            ),
        ),
        package=package_token(store, Selection(connections=CHILDREN)),
    )
    store.close()
    return tokens


def grant_token(store: Store, selection: Selection) -> str:
    """Keep a grant of a selection and return its token."""
    allowances = resolve(selection, store.catalogue())
    grant, secret, token = make_grant(
        allowances, client_id="bench", purpose="measuring", now=instant.now()
    )
    store.vault.keep_grant(grant, [token])
    return secret


def package_token(store: Store, selection: Selection) -> str:
    """Keep a package of a selection and return its token."""
    package, grants, secret, token = make_package(
        resolve(selection, store.catalogue()),
        client_id="bench",
        purpose="measuring",
        now=instant.now(),
    )
    store.vault.keep_package(package, grants, [token])
    return secret


def _send(folder: Path, made: world.World, owner: str, say: Say) -> Ingest:
    """Send every batch; only the time between a request and its answer counts."""
    sent: list[tuple[int, float]] = []
    done = 0
    with serving("product", folder) as server, Client(server.port) as client:
        started = server.cpu_seconds()
        for batch in made.batches():
            feed = batch.feed
            path = f"/v1/ingest/{feed.stream}?connection_id={feed.connection_id}"
            request = post(path, owner, made.lines(batch))
            before = time.perf_counter()
            answer = client.ask(request)
            sent.append((batch.size, time.perf_counter() - before))
            assert orjson.loads(answer)["records_new"] == batch.size, answer
            done += batch.size
            if done // 100_000 > (done - batch.size) // 100_000:
                say(f"  {done:,} records")
        used = server.cpu_seconds() - started
    part = min(100_000, made.records // 10)
    return Ingest(
        overall=_rate(sent, made.records),
        first=_rate(sent, part),
        last=_rate(sent[::-1], part),
        cpu_microseconds=1e6 * used / made.records,
    )


def _rate(sent: Sequence[tuple[int, float]], records: int) -> float:
    """Return records a second over the first so many records."""
    count, seconds = 0, 0.0
    for size, took in sent:
        count, seconds = count + size, seconds + took
        if count >= records:
            break
    return count / seconds
