"""Drafts: exactly what an approval would make, resolved before the owner sees it."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from pdpp.authz.choice import ConsentChoice, FeedKey, Term
from pdpp.authz.detail import EVERY_STREAM, Detail, Necessity, StreamRequest, parse_details
from pdpp.authz.requester import one_line
from pdpp.authz.review import Review
from pdpp.authz.selection import Selection, resolve
from pdpp.model.declaration import Declaration
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import AccessMode, Allowance, Grant
from pdpp.store.catalogue import Catalogue

_LONGEST_SOURCE = 200
NO_PURPOSE = "not stated"

_MEMBERS = {
    "connection": "/connection_ids",
    "stream": "/name",
    "fields": "/fields",
    "view": "/view",
}


@dataclass(frozen=True, slots=True)
class GrantDraft:
    """What would be approved; two drafts with one digest are the same in every respect.

    ``allowances`` are sorted by connection and stream, and name the declaration revision they were
    resolved against. ``claims`` is what the client merely promises. ``package`` says whether the
    approval makes a package with one grant per connection, or one grant.
    """

    client_id: str
    purpose_code: str | None
    purpose: str
    access_mode: AccessMode
    allowances: tuple[Allowance, ...]
    expires_at: int | None
    package: bool
    claims: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the draft as JSON data."""
        return {
            "client_id": self.client_id,
            "purpose_code": self.purpose_code,
            "purpose": self.purpose,
            "access_mode": self.access_mode.value,
            "allowances": [allowance.as_json() for allowance in self.allowances],
            "expires_at": self.expires_at,
            "package": self.package,
            "claims": dict(self.claims),
        }

    @property
    def digest(self) -> str:
        """Return the sha-256 of everything in the draft."""
        canonical = orjson.dumps(self.as_json(), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(canonical).hexdigest()

    def as_grant(self) -> Grant:
        """Return the grant that an approval would make, to look at what it shows."""
        return Grant("draft", self.client_id, self.purpose, self.access_mode, self.allowances, 0)


@dataclass(frozen=True, slots=True)
class RequestedAllowance:
    """One stream of one connection that a client asks for, and whether it can do without."""

    allowance: Allowance
    necessity: Necessity
    pointer: str

    @property
    def place(self) -> FeedKey:
        """Return the connection and the stream."""
        return self.allowance.connection_id, self.allowance.stream


def requested_allowances(review: Review, catalogue: Catalogue) -> tuple[RequestedAllowance, ...]:
    """Return what a request with details asks for; refuse with the JSON pointer of what is wrong.

    A request for every stream is for those that no other item of the request names.
    """
    requested: dict[FeedKey, RequestedAllowance] = {}
    for detail, stream_request in _named_first(parse_details(list(review.details))):
        source = _source(detail, catalogue)
        for allowance in _resolve(stream_request, source, catalogue):
            ask = RequestedAllowance(allowance, stream_request.necessity, stream_request.pointer)
            if stream_request.name != EVERY_STREAM and ask.place in requested:
                raise InvalidRequest(
                    "This stream is asked for twice.", param=stream_request.pointer
                )
            requested.setdefault(ask.place, ask)
    return tuple(requested[place] for place in sorted(requested))


def from_details(
    review: Review, catalogue: Catalogue, choice: ConsentChoice | None = None
) -> GrantDraft:
    """Return what a request with details asks for, or what of it the owner chose.

    Times are counted from when the review was made, so that a draft stays the same while the
    owner looks at it.
    """
    asks = requested_allowances(review, catalogue)
    kept = asks if choice is None else _narrowed(asks, choice)
    first, *others = parse_details(list(review.details))
    single = first.access_mode is AccessMode.SINGLE_USE
    term = Term.DAY if single else (choice or ConsentChoice()).term
    return GrantDraft(
        client_id=review.client_id,
        purpose_code=first.purpose_code,
        purpose=first.purpose or NO_PURPOSE,
        access_mode=first.access_mode,
        allowances=tuple(ask.allowance for ask in kept),
        expires_at=term.end(review.created_at),
        package=bool(others),
        claims=first.claims,
    )


def from_choice(review: Review, choice: ConsentChoice, catalogue: Catalogue) -> GrantDraft:
    """Return what the owner picked for a client that asked for nothing in particular."""
    return GrantDraft(
        client_id=review.client_id,
        purpose_code=None,
        purpose=NO_PURPOSE,
        access_mode=AccessMode.CONTINUOUS,
        allowances=tuple(_picked(choice, catalogue)),
        expires_at=choice.term.end(review.created_at),
        package=True,
    )


def _named_first(details: Iterable[Detail]) -> list[tuple[Detail, StreamRequest]]:
    pairs = [
        (detail, stream_request) for detail in details for stream_request in detail.stream_requests
    ]
    return sorted(pairs, key=lambda pair: pair[1].name == EVERY_STREAM)


def _source(detail: Detail, catalogue: Catalogue) -> Declaration:
    for declaration in catalogue.sources.values():
        if detail.source in (declaration.source_id, declaration.connector_key):
            if detail.source_kind not in (None, declaration.source_kind):
                raise InvalidRequest(
                    "The source is of another kind.", param=f"{detail.pointer}/source/kind"
                )
            return declaration
    named = one_line(detail.source, _LONGEST_SOURCE)
    raise InvalidRequest(
        f"It asks for “{named}”, and you have imported nothing of that kind. Deny it, or import "
        "that first and let it ask again.",
        param=f"{detail.pointer}/source",
    )


def _resolve(
    stream_request: StreamRequest, source: Declaration, catalogue: Catalogue
) -> tuple[Allowance, ...]:
    selection = Selection(
        connections=stream_request.connections,
        streams=() if stream_request.name == EVERY_STREAM else (stream_request.name,),
        fields=stream_request.fields,
        view=stream_request.view,
        time=stream_request.time,
        keys=stream_request.keys,
        source=source.connector_key,
    )
    try:
        return resolve(selection, catalogue)
    except InvalidRequest as problem:
        pointer = stream_request.pointer + _MEMBERS.get(problem.param or "", "")
        raise InvalidRequest(problem.message, param=pointer) from None


def _narrowed(
    asks: tuple[RequestedAllowance, ...], choice: ConsentChoice
) -> tuple[RequestedAllowance, ...]:
    """Return what the owner keeps; what the client cannot do without stays on some connection."""
    kept = tuple(ask for ask in asks if _keeps(choice, ask))
    for ask in asks:
        required = ask.necessity is Necessity.REQUIRED
        if required and not any(allowance.pointer == ask.pointer for allowance in kept):
            raise InvalidRequest(
                f"The agent requires {ask.allowance.stream} of at least one account. Tick one, or "
                "deny the request."
            )
    if not kept:
        raise InvalidRequest("Nothing is chosen yet. Tick at least one box; none is required.")
    return kept


def _keeps(choice: ConsentChoice, ask: RequestedAllowance) -> bool:
    if ask.allowance.connection_id not in choice.connections:
        return False
    return ask.necessity is Necessity.REQUIRED or ask.place in choice.streams


def _picked(choice: ConsentChoice, catalogue: Catalogue) -> Iterator[Allowance]:
    places = sorted(place for place in choice.streams if place[0] in choice.connections)
    chosen = [place for place in places if choice.fields.get(place)]
    if not chosen:
        raise InvalidRequest("Nothing is chosen yet. Tick an account.")
    for place in chosen:
        yield from resolve(_selection(place, choice, catalogue), catalogue)


def _selection(place: FeedKey, choice: ConsentChoice, catalogue: Catalogue) -> Selection:
    connection_id, name = place
    feed = catalogue.feeds.get(place)
    fields = choice.fields[place]
    whole = feed is not None and fields == feed.stream.fields.keys()
    dated = feed is not None and feed.stream.consent_time_field is not None
    return Selection(
        connections=(connection_id,),
        streams=(name,),
        fields=() if whole else tuple(sorted(fields)),
        time=choice.time if dated else None,
    )
