"""What hidden records cost: the same requests over what is visible alone, and among many others.

Both stores show the same few records to the same grants; one of them also holds hundreds of
thousands that match every word and lie outside the time, the list or the fields of a grant.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from bench.agent import calling
from bench.client import get
from bench.declaration import moment, source, stream, text
from bench.measures import cost
from bench.process import serving
from bench.report import Row, print_alone
from bench.stock import grant_token, package_token
from bench.timing import Target, compare
from pdpp.authz.selection import Selection
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.model.validation import parse_declaration
from pdpp.store.batch import Line
from pdpp.store.sqlite.store import SqliteStore

VISIBLE = 20
GOAL = 1.3
_MOST_HIDDEN = 500_000
_BATCH = 10_000
_WORDS = ("ferry", "harbour", "lantern", "orchard", "saddle", "timber")
_SINCE = instant.parse("2026-01-01T00:00:00Z")
_KEYS = tuple(f"visible-{at}" for at in range(VISIBLE))


class Tokens(NamedTuple):
    """The bearers of one store, by what limits their grants."""

    time: str
    listed: str
    fields: str
    package: str


def hidden_rows(records: int, rounds: int) -> Iterator[Row]:
    """Yield what requests cost among hidden records against the same without them."""
    hidden = min(_MOST_HIDDEN, records // 2)
    with TemporaryDirectory() as folder, ExitStack() as stack:
        servers, tokens = {}, {}
        for name, many in (("hidden", hidden), ("alone", 0)):
            tokens[name] = _fill(Path(folder) / name, many)
            servers[name] = stack.enter_context(serving("product", Path(folder) / name))
        for server in servers.values():
            server.wait_until_idle(rounds)
        for what in _requests(tokens["alone"]):
            targets = {
                name: Target(server, _requests(tokens[name])[what])
                for name, server in servers.items()
            }
            found = compare(targets, rounds)
            note = f"{cost(found['hidden'])}; without them {cost(found['alone'])}"
            ratio = found["hidden"].ratio(found["alone"])
            yield Row(f"{hidden:,} hidden matches: {what}", ratio, "×", GOAL, note)


def _requests(tokens: Tokens) -> dict[str, list[bytes]]:
    one, six = _WORDS[0], "%20".join(_WORDS)
    page = "/v1/streams/letters/records?limit=20"
    return {
        "search for a word, grant by time": [get(f"/v1/search?q={one}", tokens.time)],
        "search for six words, grant by time": [get(f"/v1/search?q={six}", tokens.time)],
        "search for six words, grant by list": [get(f"/v1/search?q={six}", tokens.listed)],
        "search for six words, grant by field": [get(f"/v1/search?q={six}", tokens.fields)],
        "package search for six words, grant by time": [
            calling(tokens.package, "search", {"query": " ".join(_WORDS)})
        ],
        "page of 20, grant by time": [get(page, tokens.time)],
        "page of 20, grant by list": [get(page, tokens.listed)],
        "changes, grant by time": [get(f"{page}&changes_since=beginning", tokens.time)],
    }


def _fill(folder: Path, hidden: int) -> Tokens:
    """Make a store with the visible records, and among them so many hidden ones."""
    store = SqliteStore(folder)
    fields = {
        "id": text("The key"),
        "title": text("What it is about", "primary-title", search=True),
        "body": text("What it says", "body", search=True),
        "memo": text("What only the owner reads", search=True),
        "sent_at": moment("When it was sent", "event-time"),
    }
    letters = stream("letters", "Letters", "Letters sent", fields, time="sent_at")
    store.register(parse_declaration(source("letters", "Letters", [letters])))
    store.connect("home", "letters", "Home")
    feed = store.catalogue().feeds["home", "letters"]
    store.write(feed, [_line(at, key, "2026-05-01T00:00:00Z") for at, key in enumerate(_KEYS)])
    for start in range(0, hidden, _BATCH):
        numbers = range(start, min(start + _BATCH, hidden))
        store.write(feed, [_line(at, f"h-{at}", "2019-01-01T00:00:00Z") for at in numbers])
    while store.tend():
        pass
    since = Interval(since=_SINCE)
    shown = ("id", "title", "sent_at")
    tokens = Tokens(
        time=grant_token(store, Selection(time=since)),
        listed=grant_token(store, Selection(keys=_KEYS)),
        fields=grant_token(store, Selection(fields=shown, time=since)),
        package=package_token(store, Selection(time=since)),
    )
    store.close()
    return tokens


def _line(number: int, key: str, at: str) -> Line:
    said = f"{' '.join(_WORDS)} number {number}"
    data = {"id": key, "title": said, "body": said, "memo": said, "sent_at": at}
    return Line(number, key, instant.now(), data)


if __name__ == "__main__":
    print_alone("bench.hidden", __doc__, hidden_rows, records=100_000)
