"""Two stores in which the same things can be seen, each with a server in this process."""

import hashlib
import io
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from tests.engine import copy_store, open_store
from tests.made_once import parse_once
from tests.promises.caller import Caller, calling
from tests.promises.reference.embedder import InstalledEncoder
from tests.promises.reference.generator import Plan, Side, plan
from tests.promises.reference.world import AccountChange, Feed, Granted, Place, Write, look
from tests.serving import UNLIMITED, SetClock

from pdpp.app import make_app
from pdpp.authz.token import TokenKind, hash_token
from pdpp.jobs.embedding import embed_some
from pdpp.model.grant import AccessMode, Allowance, Grant, Interval, Package
from pdpp.service.accounts import merge_connections, remove_connection
from pdpp.store.batch import Line
from pdpp.store.catalogue import Feed as StoredFeed
from pdpp.store.port import Store
from pdpp.store.pseudonym import FeedSeal, GrantKeys
from pdpp.store.vault import Token

BEGIN = "2026-07-01T00:00:00Z"
NOW = "2026-09-01T12:00:00Z"


@dataclass(slots=True)
class Actor:
    """One store with its server, and the worlds that live in it."""

    name: str
    store: Store
    clock: SetClock
    caller: Caller
    secret: bytes
    encoder: InstalledEncoder | None = None
    sides: dict[int, Side] = field(default_factory=dict)
    _seals: dict[tuple[str, Place], FeedSeal] = field(default_factory=dict)
    _callers: dict[int, Caller] = field(default_factory=dict)
    _uploaded: set[tuple[bytes, str]] = field(default_factory=set)

    def write(self, batch: Sequence[Write]) -> None:
        """Write one batch at its moment."""
        self.clock.now = batch[0].at
        feed = self.store.catalogue().feeds[batch[0].place]
        side = self.sides[int(feed.connection.connector_key[1:])]
        for content, media_type in chain.from_iterable(side.files(line.data) for line in batch):
            # The same bytes under the same type once more leave everything as it is.
            if (content, media_type) not in self._uploaded:
                self._uploaded.add((content, media_type))
                self.store.keep_blob(io.BytesIO(content), media_type, 1 << 20)
        lines = [Line(at, line.key, line.emitted, line.data) for at, line in enumerate(batch)]
        self.store.write(feed, lines)

    def change(self, change: AccountChange) -> None:
        """Do with an account what its owner wants, to the last piece."""
        self.clock.now = change.at
        if change.into is None:
            remove_connection(self.store, None, change.connection_id, self.clock)
        else:
            merge_connections(self.store, change.connection_id, change.into, self.clock)
        while self.store.delete_removed():
            pass

    def live(self, number: int, step: int) -> None:
        """Let one step of one world pass; the last texts that are shown get their vectors.

        What happens after that is hidden, and must not take any away.
        """
        side = self.sides[number]
        last = step == len(side.plan.steps) - 1
        for batch in side.batches(step):
            if isinstance(batch, AccountChange):
                self.change(batch)
                continue
            self.write(batch)
            if last and self.encoder is not None and batch[0].at == side.visible_at(step):
                while embed_some(self.store, self.encoder):
                    pass

    def feeds(self, number: int) -> tuple[Feed, ...]:
        """Return what the grant of a world shows of it now."""
        side = self.sides[number]
        return look(side.world, side.granted(), self.name_of)

    def name_of(self, grant_id: str, place: Place, surrogate: int) -> str:
        """Return the pseudonym of a record under a grant."""
        if (grant_id, place) not in self._seals:
            self._seals[grant_id, place] = FeedSeal(GrantKeys(self.secret, grant_id), *place)
        return self._seals[grant_id, place].seal(surrogate)

    def in_package(self, number: int) -> tuple[Caller, dict[str, str]]:
        """Return the client of a package of grants, and how it chooses the one of a world."""
        chosen = {"PDPP-Grant": self.sides[number].plan.grant_id}
        return self.caller.under(PACKAGE_TOKEN), chosen

    def under(self, number: int) -> Caller:
        """Return a client of the grant of a world."""
        if number not in self._callers:
            self._callers[number] = self.caller.under(token_of(self.sides[number].plan.grant_id))
        return self._callers[number]


PACKAGE_ID = "pkg_0000000000000001"
PACKAGE_TOKEN = "pdpp_package_" + "p" * 43


def token_of(grant_id: str) -> str:
    """Return the text of a grant's token."""
    return f"pdpp_client_{hashlib.sha256(grant_id.encode()).hexdigest()[:43]}"


def _keep(actor: Actor, side: Side, granted: Granted, revision: str) -> None:
    """Approve a grant under an id and a token of the test's own."""
    allowances = tuple(
        Allowance(
            *one.place,
            revision,
            one.fields,
            one.whole,
            Interval(one.since, one.until) if one.timed else None,
            one.keys,
        )
        for one in granted.allowed
    )
    own = granted.id == side.plan.grant_id
    mode, package = AccessMode.CONTINUOUS, PACKAGE_ID if own and side.plan.packaged else None
    now = actor.clock()
    grant = Grant(
        granted.id, granted.client_id, "a test", mode, allowances, now, package_id=package
    )
    token = Token(
        hash=hash_token(token_of(granted.id)),
        kind=TokenKind.CLIENT.value,
        label=granted.client_id,
        created_at=actor.clock(),
        grant_id=granted.id,
    )
    actor.store.vault.keep_grant(grant, [token])


@dataclass(slots=True)
class Stage:
    """Both stores, and the plans of the worlds in them."""

    plans: list[Plan]
    left: Actor
    right: Actor

    @property
    def both(self) -> tuple[Actor, Actor]:
        return self.left, self.right

    def at(self, moment: int) -> None:
        """Set both clocks."""
        for actor in self.both:
            actor.clock.now = moment


def make_template(folder: Path) -> Path:
    """Make an empty store to copy: both sides have one secret."""
    store = open_store(folder, SetClock(BEGIN))
    store.secret()
    store.close()
    return folder


@contextmanager
def stage(
    template: Path, folder: Path, numbers: Sequence[int], seed: str, *, meaning: bool = False
) -> Iterator[Stage]:
    """Open two stores with the worlds of some numbers, declared and granted, nothing written."""
    plans = [plan(number, seed) for number in numbers]
    with ExitStack() as stack:
        encoder = InstalledEncoder() if meaning else None
        actors = [_actor(stack, template, folder, name, encoder) for name in ("left", "right")]
        for actor in actors:
            _settle(actor, plans, seed)
        yield Stage(plans, *actors)


def _actor(
    stack: ExitStack, template: Path, folder: Path, name: str, encoder: InstalledEncoder | None
) -> Actor:
    copy_store(template, folder / name)
    clock = SetClock(BEGIN)
    sides: dict[int, Side] = {}

    def surrogate_of(feed: StoredFeed, key: str) -> int:
        number = int(feed.connection.connector_key[1:])
        return sides[number].world.surrogates[feed.address, key]

    store = open_store(folder / name, clock, surrogate_of)
    stack.callback(store.close)
    app = make_app(store, UNLIMITED, clock, encoder=encoder)
    caller = stack.enter_context(calling(app, ""))
    return Actor(name, store, clock, caller, store.secret(), encoder, sides)


def _settle(actor: Actor, plans: Sequence[Plan], seed: str) -> None:
    """Declare, connect and grant; the right side in the other order."""
    for made in plans if actor.name == "left" else reversed(plans):
        side = actor.sides[made.number] = Side(made, actor.name, seed)
        parsed = parse_once(side.world.documents[made.key])
        actor.store.register(parsed)
        for connection_id, (key, name) in side.world.connections.items():
            actor.store.connect(connection_id, key, name)
        if len(actor.sides) == 1:
            _keep_package(actor, side.granted().client_id)
        _keep(actor, side, side.granted(), parsed.revision)
        for granted in side.others():
            _keep(actor, side, granted, parsed.revision)


def _keep_package(actor: Actor, client_id: str) -> None:
    """Approve a package, with a token that reads through whatever grants it has."""
    package = Package(PACKAGE_ID, client_id, actor.clock())
    token = Token(
        hash=hash_token(PACKAGE_TOKEN),
        kind=TokenKind.PACKAGE.value,
        label=client_id,
        created_at=actor.clock(),
        package_id=package.id,
    )
    actor.store.vault.keep_package(package, [], [token])
