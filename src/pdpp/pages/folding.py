"""Folding: where there is more to tick than a light page holds, one part is open at a time.

The ticks of all other parts travel with the form in a short notation: an account or a stream is
spelled out only where its ticks are not those that the page began with. Before anything else reads
the form, ``unfold`` writes every tick out again. A source that changed meanwhile may change what
"as at the beginning" means, but then the draft has another digest and is shown again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from pdpp.authz.choice import ConsentChoice, FeedKey
from pdpp.pages.chooser import AccountBox, Box
from pdpp.pages.form import PostedForm

_ROOM = 7_500
"""Bytes of boxes on a page: with the frame, the style sheet and the summary they make 40 KB."""
_ACCOUNT, _STREAM, _FIELD = 160, 260, 110
"""About how many bytes the HTML of a box takes beside its texts."""
_CONNECTIONS, _STREAMS, _FIELDS, _OPENED = "connections", "streams", "fields", "opened"


@dataclass(frozen=True, slots=True)
class Folding:
    """What a page leaves out; ``opened`` is the account or the stream whose boxes it shows."""

    fields: bool = False
    streams: bool = False
    opened: str = ""

    def shows_account(self, account: AccountBox) -> bool:
        """Tell whether the page has a box for an account: all, or the one that is open."""
        return not (self.streams and self.opened) or self.shows_streams(account)

    def shows_streams(self, account: AccountBox) -> bool:
        """Tell whether the page has boxes for the streams of an account."""
        return not self.streams or self.opened.partition("/")[0] == account.value

    def shows_fields(self, stream: Box) -> bool:
        """Tell whether the page has boxes for the fields of a stream."""
        return bool(stream.fields) and (not self.fields or self.opened == stream.value)


def fold(accounts: Sequence[AccountBox], opened: str) -> Folding:
    """Return what has to be left out for a light page."""
    streams = [stream for account in accounts for stream in account.streams]
    size = _ACCOUNT * len(accounts) + sum(map(_stream_size, streams))
    fields = sum(_FIELD + _text_size(field) for stream in streams for field in stream.fields)
    if size + fields <= _ROOM:
        return Folding()
    return Folding(fields=True, streams=size > _ROOM, opened=opened)


def _stream_size(stream: Box) -> int:
    return _STREAM + _text_size(stream)


def _text_size(box: Box) -> int:
    return len(box.value) + len(box.label) + len(box.note)


def carried(
    folding: Folding, accounts: Sequence[AccountBox], choice: ConsentChoice, start: ConsentChoice
) -> Iterator[tuple[str, str]]:
    """Yield the hidden fields with the ticks of what a page leaves out."""
    if not folding.fields:
        return
    yield _OPENED, folding.opened
    if folding.streams:
        unseen = (a.value for a in accounts if a.ticked and not folding.shows_account(a))
        yield _CONNECTIONS, " ".join(map(_quoted, unseen))
        hidden = [account for account in accounts if not folding.shows_streams(account)]
        yield _STREAMS, " ".join(_account_entry(account, choice, start) for account in hidden)
    yield _FIELDS, " ".join(_field_entries(folding, accounts, choice, start))


def carried_whole(
    accounts: Sequence[AccountBox], choice: ConsentChoice, start: ConsentChoice
) -> Iterator[tuple[str, str]]:
    """Yield the hidden fields with every tick, for a page without any box."""
    # A space is part of no account's name, so that none is open.
    for name, value in carried(
        Folding(fields=True, streams=True, opened=" "), accounts, choice, start
    ):
        yield name, value.strip()


def _account_entry(account: AccountBox, choice: ConsentChoice, start: ConsentChoice) -> str:
    name, ticked = _quoted(account.value), _streams_of(account.value, choice)
    if ticked == _streams_of(account.value, start):
        return name
    return f"{name}={','.join(map(_quoted, ticked))}"


def _streams_of(connection_id: str, choice: ConsentChoice) -> list[str]:
    return sorted(stream for account, stream in choice.streams if account == connection_id)


def _field_entries(
    folding: Folding, accounts: Sequence[AccountBox], choice: ConsentChoice, start: ConsentChoice
) -> Iterator[str]:
    boxes = {stream.value: stream for account in accounts for stream in account.streams}
    for place, fields in start.fields.items():
        box, ticked = boxes.get("/".join(place)), choice.fields.get(place, frozenset())
        if box is not None and not folding.shows_fields(box) and ticked != fields:
            yield _field_entry(place, fields, ticked)


def _field_entry(place: FeedKey, fields: frozenset[str], ticked: frozenset[str]) -> str:
    """Return the ticked fields of a stream, or after a ``!`` those without a tick, if fewer."""
    unticked = fields - ticked
    mark, names = ("!", unticked) if len(unticked) < len(ticked) else ("=", ticked)
    return f"{_quoted_place(place)}{mark}{','.join(map(_quoted, sorted(names)))}"


def unfold(form: PostedForm, start: ConsentChoice) -> PostedForm:
    """Return a form with every tick written out, as a page that shows all boxes sends it."""
    if _OPENED not in form:
        return form
    connections = [*form.all("connection"), *map(unquote, form.one(_CONNECTIONS).split())]
    streams = [*form.all("stream"), *_unfolded_streams(form, start)]
    fields = [*form.all("field"), *_unfolded_fields(form, start)]
    filled = form.without(_CONNECTIONS, _STREAMS, _FIELDS)
    for name, values in (("connection", connections), ("stream", streams), ("field", fields)):
        filled = filled.replaced(name, list(dict.fromkeys(values)))
    return filled


def _unfolded_streams(form: PostedForm, start: ConsentChoice) -> Iterator[str]:
    for entry in form.one(_STREAMS).split():
        name, changed, streams = entry.partition("=")
        account = unquote(name)
        ticked = _names(streams) if changed else _streams_of(account, start)
        yield from (f"{account}/{stream}" for stream in ticked)


def _unfolded_fields(form: PostedForm, start: ConsentChoice) -> Iterator[str]:
    changed = dict(map(_read_field_entry, form.one(_FIELDS).split()))
    opened = form.one(_OPENED)
    for place, fields in start.fields.items():
        if "/".join(place) != opened:
            all_but, names = changed.get(_quoted_place(place), (True, frozenset()))
            ticked = fields - names if all_but else names
            yield from ("/".join((*place, field)) for field in ticked)


def _read_field_entry(entry: str) -> tuple[str, tuple[bool, frozenset[str]]]:
    place, changed, names = entry.partition("!")
    if not changed:
        place, _, names = entry.partition("=")
    return place, (bool(changed), frozenset(_names(names)))


def _names(text: str) -> list[str]:
    return [unquote(name) for name in text.split(",") if name]


def _quoted(name: str) -> str:
    return quote(name, safe="")


def _quoted_place(place: FeedKey) -> str:
    return "/".join(map(_quoted, place))
