"""The chooser: the boxes an owner ticks, and what the ticked ones mean."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby

from pdpp.authz.choice import ConsentChoice, FeedKey, LookBack, Term
from pdpp.authz.detail import Necessity
from pdpp.authz.grant_draft import RequestedAllowance
from pdpp.authz.requester import one_line
from pdpp.authz.wording import label_of
from pdpp.model import instant
from pdpp.model.declaration import Stream
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import Interval
from pdpp.pages.form import PostedForm
from pdpp.store.catalogue import Catalogue, Feed

SPANS = {
    LookBack.MONTH: "30 days",
    LookBack.QUARTER: "3 months",
    LookBack.YEAR: "12 months",
    LookBack.EVERYTHING: "no limit",
    LookBack.DATES: "between two days",
}
TERMS = {
    Term.DAY: "1 day",
    Term.WEEK: "1 week",
    Term.MONTH: "30 days",
    Term.QUARTER: "3 months",
    Term.YEAR: "1 year",
    Term.ALWAYS: "until I revoke it",
}
_LONGEST = 200
_LAST_DAY = instant.of_datetime(datetime(9999, 12, 31, tzinfo=UTC))


@dataclass(frozen=True, slots=True)
class Box:
    """One thing to tick; ``fixed`` is a part that cannot be left out."""

    value: str
    label: str
    ticked: bool
    note: str = ""
    fixed: bool = False
    fields: tuple["Box", ...] = ()

    @property
    def ticked_fields(self) -> int:
        """Return how many fields are ticked."""
        return sum(field.ticked for field in self.fields)


@dataclass(frozen=True, slots=True)
class AccountBox:
    """One connection to tick, with its streams."""

    value: str
    name: str
    source: str
    ticked: bool
    streams: tuple[Box, ...]

    @property
    def ticked_streams(self) -> str:
        """Return the names of the streams that are ticked."""
        return ", ".join(stream.label for stream in self.streams if stream.ticked)


def first_choice(asks: Sequence[RequestedAllowance]) -> ConsentChoice:
    """Return where an owner begins with a request: what it needs, and nothing optional."""
    return ConsentChoice(connections=frozenset(ask.allowance.connection_id for ask in asks))


def open_choice(catalogue: Catalogue, now: int) -> ConsentChoice:
    """Return where an owner begins without one: no connection, and little of each that is ticked.

    A ticked connection means its dated streams for the last year. What has no dates cannot be
    limited in time, so it waits for a tick of its own.
    """
    dated = {place for place, feed in catalogue.feeds.items() if feed.stream.consent_time_field}
    fields = {place: frozenset(feed.stream.fields) for place, feed in catalogue.feeds.items()}
    return ConsentChoice(
        streams=frozenset(dated), fields=fields, time=LookBack.YEAR.interval(now), term=Term.MONTH
    )


def read_choice(form: PostedForm, now: int) -> ConsentChoice:
    """Return the choice in a form."""
    fields: dict[FeedKey, set[str]] = {}
    for text in form.all("field"):
        connection_id, stream, name = _parts(text, 3)
        fields.setdefault((connection_id, stream), set()).add(name)
    places = (_parts(text, 2) for text in form.all("stream"))
    return ConsentChoice(
        connections=frozenset(form.all("connection")),
        streams=frozenset((connection_id, stream) for connection_id, stream in places),
        fields={place: frozenset(names) for place, names in fields.items()},
        time=_time(form, now),
        term=_term(form.one("term")),
    )


def span_of(form: PostedForm) -> LookBack:
    """Return how far back a form lets an agent look; the last year unless it says."""
    try:
        return LookBack(form.one("span") or LookBack.YEAR.value)
    except ValueError:
        raise InvalidRequest("Choose one of the time ranges offered.", param="span") from None


def _term(text: str) -> Term:
    try:
        return Term(text or Term.MONTH.value)
    except ValueError:
        raise InvalidRequest("Choose one of the durations offered.", param="term") from None


def _time(form: PostedForm, now: int) -> Interval | None:
    span = span_of(form)
    if span is not LookBack.DATES:
        return span.interval(now)
    since, until = _date(form.one("since")), _date(form.one("until"))
    if since is until is None:
        raise InvalidRequest("Write the first day, the last day, or both.", param="since")
    interval = Interval(since, None if until is None else until + instant.DAY)
    if interval.empty:
        raise InvalidRequest("The first day must not be after the last.", param="since")
    return interval


def _date(text: str) -> int | None:
    if not text:
        return None
    moment = instant.parse(text)
    # The day after it must have a name too: a range ends with its beginning.
    if moment is None or moment % instant.DAY or moment >= _LAST_DAY:
        raise InvalidRequest("Write a day such as 2026-01-31.", param="since")
    return moment


def _parts(text: str, count: int) -> list[str]:
    parts = text.split("/", count - 1)
    if len(parts) != count:
        raise InvalidRequest(
            "The form names something that is not on the page. Reload the page and try again."
        )
    return parts


def asked_boxes(
    asks: Sequence[RequestedAllowance], choice: ConsentChoice, catalogue: Catalogue
) -> Iterator[AccountBox]:
    """Yield the accounts a request asks for; a stream it can do without has a box of its own."""
    for connection_id, group in groupby(asks, lambda ask: ask.allowance.connection_id):
        streams = tuple(_asked_box(ask, choice, catalogue) for ask in group)
        yield _account(connection_id, catalogue, choice, streams)


def _asked_box(ask: RequestedAllowance, choice: ConsentChoice, catalogue: Catalogue) -> Box:
    fixed = ask.necessity is Necessity.REQUIRED
    stream = catalogue.revisions[ask.allowance.revision].streams[ask.allowance.stream]
    return Box(
        value="/".join(ask.place),
        label=label_of(stream),
        ticked=fixed or ask.place in choice.streams,
        note="needed" if fixed else "optional",
        fixed=fixed,
    )


def open_boxes(
    choice: ConsentChoice, catalogue: Catalogue, counts: Mapping[FeedKey, int]
) -> Iterator[AccountBox]:
    """Yield every account with its streams and fields."""
    feeds = sorted(catalogue.feeds.values(), key=lambda feed: (_name(feed), *feed.address))
    for connection_id, group in groupby(feeds, lambda feed: feed.connection.connection_id):
        streams = tuple(_open_box(feed, choice, counts.get(feed.address)) for feed in group)
        yield _account(connection_id, catalogue, choice, streams)


def _name(feed: Feed) -> str:
    return feed.connection.display_name.casefold()


def _open_box(feed: Feed, choice: ConsentChoice, count: int | None) -> Box:
    place, stream = feed.address, feed.stream
    notes = [] if count is None else [f"{count:,} in all"]
    if stream.consent_time_field is None:
        notes.append("without dates, so always all of it")
    return Box(
        value="/".join(place),
        label=label_of(stream),
        ticked=place in choice.streams,
        note=", ".join(notes),
        fields=tuple(_field_boxes(place, stream, choice.fields.get(place, frozenset()))),
    )


def _field_boxes(place: FeedKey, stream: Stream, ticked: frozenset[str]) -> Iterator[Box]:
    for name, declared in stream.fields.items():
        note = one_line(declared.description, _LONGEST)
        yield Box("/".join((*place, name)), one_line(name, _LONGEST), name in ticked, note)


def _account(
    connection_id: str, catalogue: Catalogue, choice: ConsentChoice, streams: tuple[Box, ...]
) -> AccountBox:
    connection = catalogue.connections[connection_id]
    source = catalogue.sources[connection.connector_key]
    return AccountBox(
        value=connection_id,
        name=one_line(connection.display_name, _LONGEST),
        source=one_line(source.display_name, _LONGEST),
        ticked=connection_id in choice.connections,
        streams=streams,
    )
