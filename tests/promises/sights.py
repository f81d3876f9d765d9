"""Sights: grants, alone or as packages, and the store that the two worlds of each begin as."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.engine import open_store
from tests.made_once import parse_once
from tests.promises.letters import declaration
from tests.serving import SetClock, approve

from pdpp.authz.selection import Selection, make_package, resolve
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.store.port import Store

INSIDE = (
    "2026-03-01T00:00:00Z",
    "2026-03-05T12:30:00Z",
    "2026-03-05T12:30:00.5Z",
    "2026-04-30T23:59:59.999999Z",
)
OUTSIDE = ("2026-02-28T23:59:59.999999Z", "2026-05-01T00:00:00Z", "2019-01-01T00:00:00Z", None)
SEASON = Interval(instant.parse("2026-03-01"), instant.parse("2026-05-01"))

VISIBLE_KEYS = ("v1", "v2", "v3", "v4")
STRAY_KEYS = ("h1", "h2", "a0", "z9")
WORDS = (
    "alpha",
    "alpha",
    "beta",
    "gamma delta",
    "alpha beta alpha",
    "東京",
    "Ünï-códe",
    "e\u0301t",
)
BLOBS = (b"plain words alpha", b"\x89PNG\r\n\x1a\n\x00\x01", b"only hidden records refer to this")


@dataclass(frozen=True, slots=True)
class Sight:
    """A selection and what follows from it for a history that it must not see."""

    name: str
    selection: Selection

    @property
    def timed(self) -> bool:
        """Tell whether the grant is limited in time."""
        return self.selection.time is not None

    def shows(self, name: str) -> bool:
        """Tell whether a field is visible."""
        return not self.selection.fields or name in self.selection.fields

    def shows_key(self, key: str) -> bool:
        """Tell whether a key is visible, time aside."""
        return not self.selection.keys or key in self.selection.keys

    def feeds(self) -> list[tuple[str, str]]:
        """Return the connections and streams that are visible."""
        return [(c, s) for c in self.selection.connections for s in self.selection.streams]


SIGHTS = (
    Sight(
        "few fields",
        Selection(
            connections=("home",),
            streams=("messages", "threads"),
            fields=("id", "subject", "amount", "size", "sent_at", "label", "thread_id"),
        ),
    ),
    Sight(
        "a season",
        Selection(connections=("home", "work"), streams=("messages", "threads"), time=SEASON),
    ),
    Sight(
        "a season without its dates",
        Selection(
            connections=("home",),
            streams=("messages", "threads"),
            fields=("id", "body", "note", "amount", "label", "thread_id", "attachment"),
            time=SEASON,
        ),
    ),
    Sight(
        "some keys",
        Selection(
            connections=("home", "work"),
            streams=("messages", "threads"),
            fields=("id", "subject", "note", "attachment", "seen_at", "starred"),
            keys=VISIBLE_KEYS[:3],
        ),
    ),
    Sight("one stream", Selection(connections=("home",), streams=("messages",))),
)


@dataclass(frozen=True, slots=True)
class Template:
    """A folder to copy: a store with its source and its grants, and nothing written yet."""

    folder: Path
    tokens: Mapping[str, str]
    packages: Mapping[str, str]
    other: str
    blob_ids: tuple[str, ...]

    def token(self, sight: Sight, *, packaged: bool) -> str:
        """Return the token that a sight is seen under."""
        return (self.packages if packaged else self.tokens)[sight.name]


def make_template(folder: Path) -> Template:
    """Make the store that both twins begin as."""
    clock = SetClock("2026-08-01T00:00:00Z")
    store = open_store(folder, clock)
    store.secret()
    store.register(parse_once(declaration()))
    for connection_id in ("home", "work", "other"):
        store.connect(connection_id, "letters", connection_id.title())
    kept = [store.keep_blob(io.BytesIO(content), "text/plain", 1 << 20) for content in BLOBS]
    tokens = {s.name: approve(store, s.selection, now=clock()).token for s in SIGHTS}
    packages = {s.name: wrap(store, s.selection, clock()) for s in SIGHTS}
    other = approve(store, now=clock()).token
    store.close()
    return Template(folder, tokens, packages, other, tuple(blob.blob_id for blob in kept))


def wrap(store: Store, selection: Selection, now: int) -> str:
    """Approve a package with one grant for each connection; return its token."""
    allowances = sorted(resolve(selection, store.catalogue()), key=lambda a: a.connection_id)
    package, grants, secret, token = make_package(
        tuple(allowances), client_id="test-client", purpose="a test", now=now
    )
    store.vault.keep_package(package, grants, [token])
    return secret
