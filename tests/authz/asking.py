"""What tests of requests share: a world to ask about, reviews and details."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.engine import open_store
from tests.store.world import NOW, Clock, World, declare, stream

from pdpp.authz.review import Review
from pdpp.model.instant import DAY, SECOND

VIEWS = [{"id": "brief", "label": "Brief", "fields": ["id", "subject"]}]
NAMES = {"id": {"type": "string"}, "title": {"type": "string"}}


@contextmanager
def asked_world(folder: Path) -> Iterator[World]:
    """Mail with a dated and an undated stream on two connections, and notes on one."""
    clock = Clock()
    store = open_store(folder, clock)
    world = World(store, clock)
    letters = stream(views=VIEWS, display={"label": "Letters", "detail": "What was written"})
    labels = stream("labels", NAMES, {}, consent_time_field=None)
    world.settle(declare(letters, labels), "home", "work")
    world.settle(declare(stream("notes"), key="notes"), "diary")
    world.settle(declare(stream("unused"), key="empty"), "e1")
    try:
        yield world
    finally:
        store.close()


def detail(*streams: Mapping[str, Any], **members: Any) -> dict[str, Any]:
    """Return one object of details."""
    return {
        "type": "https://pdpp.dev/data-access",
        "source": "mail",
        "streams": list(streams) or [{"name": "messages"}],
        **members,
    }


def review(
    *details: Mapping[str, Any], redirect_uri: str | None = "https://a.example/cb"
) -> Review:
    """Return a review of a request; no details means the picker."""
    return Review(
        id="rev_1",
        issuer="http://127.0.0.1:7377",
        client_id="cli_1",
        redirect_uri=redirect_uri,
        state=None,
        scope="pdpp:read",
        resource=None,
        code_challenge=None,
        details=tuple(details),
        device=None,
        created_at=NOW,
        expires_at=NOW + 600 * SECOND,
    )


NEXT_MONTH = NOW + 30 * DAY
