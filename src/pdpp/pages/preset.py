"""Presets: choices that people understand, filled into the form with one press.

Which streams and fields are about money or health is guessed by their names, so the owner still
sees every tick and changes it before approving.
"""

import re
from collections.abc import Iterator

from pdpp.model import instant
from pdpp.model.declaration import Stream
from pdpp.model.errors import InvalidRequest
from pdpp.pages.form import PostedForm
from pdpp.store.catalogue import Catalogue, Feed

PRESETS = {
    "nothing": "Only what I pick",
    "everyday": "This year, no money, no health",
}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MONEY = (
    "account amount balance bank bill budget card credit currency debit iban income invoice "
    "invoices loan money paid pay payee payment payments payroll price salary tax transaction "
    "transactions value wallet"
)
_HEALTH = (
    "blood body calories diagnosis doctor dose fitness health heart medical medication mood "
    "patient pulse sleep steps symptom symptoms therapy vaccination weight workout workouts"
)
_PRIVATE = frozenset(f"{_MONEY} {_HEALTH}".split())


def preset_form(form: PostedForm, name: str, catalogue: Catalogue, now: int) -> PostedForm:
    """Return a form with the ticks of a preset in place of its own."""
    if name not in PRESETS:
        raise InvalidRequest("There is no such preset.", param="action")
    bare = form.without("connection", "stream", "field", "span", "since", "until")
    if name == "nothing":
        return bare
    feeds = [feed for feed in catalogue.feeds.values() if _is_everyday(feed, catalogue)]
    filled = bare.replaced("connection", sorted({feed.address[0] for feed in feeds}))
    filled = filled.replaced("stream", ["/".join(feed.address) for feed in feeds])
    fields = ["/".join((*feed.address, field)) for feed in feeds for field in _fields(feed.stream)]
    filled = filled.replaced("field", fields)
    year = instant.to_datetime(now).year
    return filled.replaced("span", ["dates"]).replaced("since", [f"{year}-01-01"])


def _is_everyday(feed: Feed, catalogue: Catalogue) -> bool:
    """Tell whether a stream has dates and is, by its names, about neither money nor health."""
    source = catalogue.sources[feed.connection.connector_key]
    names = (source.display_name, feed.stream.name, feed.stream.label or "")
    dated = feed.stream.consent_time_field is not None
    return dated and not any(_is_private(name) for name in names)


def _fields(stream: Stream) -> Iterator[str]:
    return (name for name in stream.fields if not _is_private(name))


def _is_private(name: str) -> bool:
    return not _PRIVATE.isdisjoint(word.lower() for word in _WORD.findall(name))
