"""A world of few visible records among many hidden ones, and what is asked of it under grants."""

from collections.abc import Sequence
from hashlib import sha256
from io import BytesIO

from tests.promises.letters import declaration

from pdpp.authz.selection import Selection
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.model.validation import parse_declaration
from pdpp.store.batch import Line
from pdpp.store.port import Store

VISIBLE, HIDDEN = 40, 4_000
RECORDS = "/v1/streams/messages/records"
SUMS = "/v1/streams/messages/aggregate"
YEAR = Interval(instant.parse("2026-01-01"), instant.parse("2027-01-01"))
LETTERS = "abcdefghijklmnopqrstuvwxyz"
KEYS = tuple(f"v{at:03d}" for at in range(VISIBLE))
FIELDS = ("id", "subject", "sent_at", "amount", "size", "label")
GRANTS = {
    "a time": Selection(("home",), ("messages",), time=YEAR),
    "a list": Selection(("home",), ("messages",), keys=KEYS),
    "some fields": Selection(("home",), ("messages",), fields=FIELDS, time=YEAR),
    "a connection": Selection(("home",), ("messages", "threads"), time=YEAR),
}
ASKED: dict[str, tuple[str, dict[str, str]]] = {
    "a page": (RECORDS, {}),
    "a page by another field": (RECORDS, {"sort": "sent_at", "limit": "5"}),
    "a filtered page": (RECORDS, {"filter[label]": "a"}),
    "a count": (RECORDS, {"count": "exact", "limit": "1"}),
    "one record": (f"{RECORDS}/v003", {}),
    "changes": (RECORDS, {"changes_since": "beginning", "connection_id": "home"}),
    "a sum": (SUMS, {"metric": "sum", "field": "amount"}),
    "groups": (SUMS, {"group_by": "label"}),
    "months": (SUMS, {"group_by_time": "sent_at", "granularity": "month"}),
    "streams": ("/v1/streams", {}),
    "a search": ("/v1/search", {"q": "alpha"}),
    "a search for six words": ("/v1/search", {"q": "alpha beta gamma delta party garden"}),
    "a search for nothing": ("/v1/search", {"q": "zzyzx"}),
}


WORDS: dict[str, str] = {
    "a prefix": "gard*",
    "a required prefix": "+gard*",
    "a prefix of hidden words": "zzzz*",
    "a misspelt word": "passwxyds",
}
ASKED |= {f"a search for {name}": ("/v1/search", {"q": word}) for name, word in WORDS.items()}

THREADS = KEYS[:10]
THREAD_PAGE = "/v1/streams/threads/records"
PICTURE = b"a picture that every message has"
SHARED_GRANTS = {
    "a time": Selection(("home",), ("messages", "threads"), time=YEAR),
    "a list": Selection(("home",), ("messages", "threads"), keys=KEYS),
}
SHARED: dict[str, tuple[str, dict[str, str]]] = {
    "a page of threads with their messages": (THREAD_PAGE, {"expand": "messages"}),
    "a thread with its messages": (f"{THREAD_PAGE}/v003", {"expand": "messages"}),
    "a thread without messages": (f"{THREAD_PAGE}/v009", {"expand": "messages"}),
    "a file": (f"/v1/blobs/{sha256(PICTURE).hexdigest()}", {}),
}
"""What hidden records share with visible ones: a thread, and a file."""


PLACES = (("home", "messages"), ("work", "messages"))


def fill(store: Store, hidden: int) -> None:
    """Write the visible records, and some that no grant shows, before and after them."""
    store.register(parse_declaration(declaration()))
    for name in ("home", "work"):
        store.connect(name, "letters", name.title())
    lines = [
        Line(at, key, 0, letter_data(key, f"2026-0{1 + at % 9}-15T00:00:00Z", at))
        for at, key in enumerate(KEYS)
    ]
    store.keep_blob(BytesIO(PICTURE), "image/png", 100)
    feeds = store.catalogue().feeds
    threads = [
        Line(at, key, 0, {"id": key, "sent_at": "2026-02-01T00:00:00Z"})
        for at, key in enumerate(THREADS)
    ]
    store.write(feeds["home", "threads"], threads)
    hide(store, hidden, lines)


def hide(store: Store, hidden: int, visible: Sequence[Line] = ()) -> None:
    """Write records that no grant shows around visible ones; change and delete some of them."""
    years = ("2019", "2025", "2028")
    others = [
        Line(at, key, 0, _hidden_data(key, f"{years[at % 3]}-06-01T00:00:00Z", at))
        for at, key in enumerate(f"h{at:05d}" for at in range(hidden))
    ]
    for place in PLACES:
        feed = store.catalogue().feeds[place]
        store.write(feed, [*others[: hidden // 2], *visible, *others[hidden // 2 :]])
        edited = [line._replace(data={**(line.data or {}), "size": -1}) for line in others[::3]]
        store.write(feed, [*edited, *(line._replace(data=None) for line in others[1::9])])
    while store.tend():
        pass


def _hidden_data(key: str, at: str, number: int) -> dict[str, object]:
    """Return a record with words that begin or are spelled like those that are asked for."""
    data = letter_data(key, at, number)
    one, two, three = (LETTERS[number // 26**place % 26] for place in range(3))
    words = f"gard{one}{two}{three} zzzz{one}{two}{three} passw{one}{two}ds"
    return data | {"subject": f"{data['subject']} {words}"}


def letter_data(key: str, at: str, number: int) -> dict[str, object]:
    """Return the members of a letter."""
    return {
        "id": key,
        "subject": "alpha beta passwords" if number % 2 else "alpha delta garden party",
        "body": "alpha again, and much more of it",
        "sent_at": at,
        "amount": number / 4,
        "size": number,
        "label": "ab"[number % 2],
        "thread_id": THREADS[number % 9],
        "attachment": {"blob_id": sha256(PICTURE).hexdigest()},
    }
