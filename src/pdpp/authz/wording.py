"""Wording: a draft in the sentences that the owner reads; the same text is kept as evidence."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from pdpp.authz.choice import FeedKey
from pdpp.authz.grant_draft import NO_PURPOSE, GrantDraft
from pdpp.authz.redirect import LOOPBACK
from pdpp.authz.requester import Requester, one_line
from pdpp.evidence.amount import counted
from pdpp.evidence.fence import visible
from pdpp.evidence.text import field_text
from pdpp.model import instant
from pdpp.model.declaration import Stream
from pdpp.model.grant import AccessMode, Allowance, Interval
from pdpp.store.catalogue import Catalogue

MANY_RECORDS = 10_000
MANY_ACCOUNTS = 3

_LONGEST = 600
_CODE_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_TRAINING = frozenset({"train", "training", "finetune", "finetuning", "tuning"})
_DURATION = re.compile(r"P(\d{1,6})([DWMY])")
_UNITS = {"D": "day", "W": "week", "M": "month", "Y": "year"}
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True, slots=True)
class StreamWords:
    """One stream of an account: what of it the server lets the client see."""

    place: FeedKey
    label: str
    detail: str
    fields: str
    names: str
    time: str
    keys: str
    count: int | None
    in_all: int | None = None
    limited: bool = False

    @property
    def lines(self) -> list[str]:
        """Return the sentences about this stream."""
        parts = (self.fields, self.time, self.keys, self.amount)
        return [part for part in parts if part]

    @property
    def amount(self) -> str:
        """Return how many records it opens now, and of how many where that is not all."""
        if self.count is None:
            return ""
        if not self.count and self.limited:
            return "nothing in this period"
        if self.in_all is None or self.in_all == self.count:
            return f"{records(self.count)} now"
        return f"{self.count:,} of {counted(self.in_all, 'record')} now"


@dataclass(frozen=True, slots=True)
class AccountWords:
    """One connection by its name, the kind of source it is, and its streams."""

    name: str
    source: str
    streams: tuple[StreamWords, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    """Everything the owner reads about a draft, in the parts the page keeps apart."""

    title: str
    identity: str
    destination: str
    purpose: str
    accounts: tuple[AccountWords, ...]
    total: str
    promiser: str
    promises: tuple[str, ...]
    lasting: str
    warnings: tuple[str, ...]
    training: str | None

    @property
    def text(self) -> str:
        """Return the whole as plain text, to be kept."""
        return "\n".join(_lines(self))


def word(
    draft: GrantDraft,
    requester: Requester,
    redirect_uri: str | None,
    catalogue: Catalogue,
    counts: Mapping[FeedKey, int] | None = None,
    totals: Mapping[FeedKey, int] | None = None,
) -> Wording:
    """Put a draft into words.

    ``counts`` is how many records each stream opens now, ``totals`` how many it has.
    """
    accounts = tuple(accounts_of(draft.allowances, catalogue, counts or {}, totals or {}))
    total = sum(counts.values()) if counts else None
    name = requester.name
    return Wording(
        title=f"{asker(redirect_uri)} wants to read your data",
        identity=identity(requester, redirect_uri),
        destination=destination(redirect_uri),
        purpose=_purpose(draft, name),
        accounts=accounts,
        total=_total(draft, accounts, total),
        promiser=f"“{name}” says, and this server cannot check it:",
        promises=tuple(_promises(draft.claims)),
        lasting=_lasting(draft),
        warnings=_warnings(draft, catalogue, total),
        training=(
            f"“{name}” may use what it reads to train AI models. What a model has learnt from "
            "your data cannot be taken back."
            if is_training(draft.purpose_code)
            else None
        ),
    )


def is_training(purpose_code: str | None) -> bool:
    """Tell whether a purpose is the training of models, however its code is spelled."""
    words = {word.lower() for word in _CODE_WORD.findall(purpose_code or "")}
    return not words.isdisjoint(_TRAINING)


def records(count: int) -> str:
    """Return a number of records in words."""
    return counted(count, "record") if count else "no records"


def day(moment: int) -> str:
    """Return a moment as a date in words, with the time where it is not midnight in UTC."""
    at = instant.to_datetime(moment)
    date = f"{at.day} {_MONTHS[at.month - 1]} {at.year}"
    return date if moment % instant.DAY == 0 else f"{date}, {at.hour:02d}:{at.minute:02d} UTC"


def date(moment: int) -> str:
    """Return the day of a moment, in words."""
    return day(moment - moment % instant.DAY)


def asker(redirect_uri: str | None) -> str:
    """Return who asks, by where the owner's answer goes: the one thing no program can lie about."""
    if redirect_uri is None:
        return "A device with a code"
    parts = urlsplit(redirect_uri)
    if parts.hostname in LOOPBACK:
        return "A program on this computer"
    if parts.scheme == "https":
        return parts.netloc
    return "An app on this device"


def identity(requester: Requester, redirect_uri: str | None) -> str:
    """Return what is known of a client beside the name that it gives itself.

    Its document proves something only where the answer goes to the document's own host: any
    program on this computer can use the public id of another, with a loopback address.
    """
    claim = f"It calls itself “{requester.name}”"
    if requester.host is None:
        return f"{claim}. Nobody has checked that."
    if redirect_uri is not None and urlsplit(redirect_uri).hostname == requester.host:
        return f"{claim}, and {requester.host} confirms it: its description was fetched from there."
    return (
        f"{claim} and uses the public id of {requester.host}, which any program can do. "
        "Go on only if you started this yourself, just now."
    )


def destination(redirect_uri: str | None) -> str:
    """Return where the owner's answer goes, which no program can lie about."""
    if redirect_uri is None:
        return "Your answer goes to the device that showed you the code."
    parts = urlsplit(redirect_uri)
    if parts.hostname in LOOPBACK:
        return f"Your answer goes to a program on the computer you are using ({parts.netloc})."
    if parts.scheme == "https":
        return f"Your answer goes to {parts.netloc}."
    return f"Your answer goes to the app that opens {parts.scheme}: links on this device."


def _purpose(draft: GrantDraft, name: str) -> str:
    if draft.purpose == NO_PURPOSE:
        return f"“{name}” did not say what for."
    code = "" if draft.purpose_code is None else f" ({one_line(draft.purpose_code, _LONGEST)})"
    return f"“{name}” says what for: “{one_line(draft.purpose, _LONGEST)}”{code}"


def accounts_of(
    allowances: Iterable[Allowance],
    catalogue: Catalogue,
    counts: Mapping[FeedKey, int],
    totals: Mapping[FeedKey, int] | None = None,
) -> Iterator[AccountWords]:
    """Yield what allowances open, by account; one that is gone has only its id."""
    # After a merge what opens an account need not stand together.
    ordered = sorted(allowances, key=_connection_id)
    for connection_id, group in groupby(ordered, _connection_id):
        connection = catalogue.connections.get(connection_id)
        source = catalogue.sources[connection.connector_key].display_name if connection else ""
        yield AccountWords(
            name=one_line(connection.display_name if connection else connection_id, _LONGEST),
            source=one_line(source, _LONGEST),
            streams=tuple(
                _stream(allowance, catalogue, counts, totals or {}) for allowance in group
            ),
        )


def _connection_id(allowance: Allowance) -> str:
    return allowance.connection_id


def _stream(
    allowance: Allowance,
    catalogue: Catalogue,
    counts: Mapping[FeedKey, int],
    totals: Mapping[FeedKey, int],
) -> StreamWords:
    place = (allowance.connection_id, allowance.stream)
    stream = catalogue.revisions[allowance.revision].streams[allowance.stream]
    size, all_of_it = len(allowance.fields), len(stream.fields)
    return StreamWords(
        place=place,
        label=label_of(stream),
        detail=one_line(stream.detail or stream.description, _LONGEST),
        fields=f"all {size} fields" if allowance.whole else f"{size} of {all_of_it} fields",
        names=visible(", ".join(allowance.fields), lines=False),
        time=_time(allowance.time, dated=stream.consent_time_field is not None),
        keys="" if allowance.keys is None else f"only {records(len(allowance.keys))} by name",
        count=counts.get(place),
        in_all=totals.get(place),
        limited=allowance.time is not None,
    )


def label_of(stream: Stream) -> str:
    """Return what a stream is called: its declared label, else its name."""
    return one_line(stream.label or stream.name, _LONGEST)


def _time(time: Interval | None, *, dated: bool) -> str:
    if time is None:
        return "from any time" if dated else "without dates, so from any time"
    return interval(time)


def interval(time: Interval) -> str:
    """Return a stretch of time in words; a bound at midnight names the last day inside."""
    parts = []
    if time.since is not None:
        parts.append(f"from {day(time.since)}")
    if time.until is None:
        parts.append("on")
    elif time.until % instant.DAY:
        parts.append(f"until {day(time.until)}")
    else:
        parts.append(f"up to and including {day(time.until - instant.DAY)}")
    return " ".join(parts)


def _total(draft: GrantDraft, accounts: tuple[AccountWords, ...], total: int | None) -> str:
    streams = len({(allowance.revision, allowance.stream) for allowance in draft.allowances})
    parts = [
        counted(len(accounts), "account"),
        counted(streams, "kind of record", "kinds of records"),
    ]
    if total is not None:
        parts.append(f"{records(total)} now")
    return ", ".join(parts)


def _promises(claims: Mapping[str, Any]) -> Iterator[str]:
    for topic, claim in claims.items():
        about = _spaced(topic)
        if not isinstance(claim, Mapping):
            yield f"{about}: “{_claim_words(claim)}”"
            continue
        for key, value in claim.items():
            yield f"{about}, {_spaced(key)}: “{_claim_words(value)}”"


def _spaced(name: str) -> str:
    return one_line(name.replace("_", " "), _LONGEST)


def _claim_words(value: object) -> str:
    """Return a promise in words where it has a plain meaning, else as it was written."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = field_text(value)
    duration = _DURATION.fullmatch(text)
    if duration is None:
        return one_line(text, _LONGEST)
    count, unit = int(duration[1]), _UNITS[duration[2]]
    return f"{count} {unit}" if count == 1 else f"{count:,} {unit}s"


def _lasting(draft: GrantDraft) -> str:
    if draft.access_mode is AccessMode.SINGLE_USE:
        return "Once: it gets one key that ends soon and cannot be renewed."
    if draft.expires_at is None:
        return "Until you revoke it; it does not end by itself."
    return f"Until {date(draft.expires_at)}, unless you revoke it before."


def _warnings(draft: GrantDraft, catalogue: Catalogue, total: int | None) -> tuple[str, ...]:
    """Return what makes a draft broad, where that is more than one thing."""
    accounts = {allowance.connection_id for allowance in draft.allowances}
    reasons = []
    if len(accounts) >= MANY_ACCOUNTS:
        reasons.append(f"It covers {len(accounts)} of your accounts.")
    if total is not None and total >= MANY_RECORDS:
        reasons.append(f"It opens {records(total)}.")
    if all(allowance.whole for allowance in draft.allowances):
        reasons.append("It shows every field.")
    if any(_timeless(allowance, catalogue) for allowance in draft.allowances):
        reasons.append("It reaches back without any limit in time.")
    if draft.expires_at is None:
        reasons.append("It never ends by itself.")
    return tuple(reasons) if len(reasons) > 1 else ()


def _timeless(allowance: Allowance, catalogue: Catalogue) -> bool:
    stream = catalogue.revisions[allowance.revision].streams[allowance.stream]
    limited = allowance.time is not None and allowance.time.since is not None
    return stream.consent_time_field is not None and allowance.keys is None and not limited


def _lines(wording: Wording) -> Iterator[str]:
    yield wording.title
    yield wording.identity
    yield wording.destination
    yield wording.purpose
    if wording.training is not None:
        yield wording.training
    yield f"What it may read, which this server enforces: {wording.total}"
    for account in wording.accounts:
        yield f"{account.name} ({account.source})"
        for stream in account.streams:
            yield f"  {stream.label}: {', '.join(stream.lines)}"
            yield f"    {stream.names}"
    if wording.promises:
        yield wording.promiser
        yield from (f"  {promise}" for promise in wording.promises)
    yield f"How long: {wording.lasting}"
    if wording.warnings:
        yield "This is broad:"
        yield from (f"  {warning}" for warning in wording.warnings)
