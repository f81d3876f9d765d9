"""Search answers: hits in their order, from whichever server found them."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from pdpp.evidence.budget import cut
from pdpp.evidence.fence import has_hidden
from pdpp.evidence.handle import Handle, parse_handle
from pdpp.evidence.lean import DISPLAY
from pdpp.evidence.presentation import is_web_link
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.list_meta import ListMeta, read_meta
from pdpp.model.errors import InvalidRequest
from pdpp.wire.answer import answer_without
from pdpp.wire.members import Json, id_in, objects_in, text_in, texts_in, whole_in
from pdpp.wire.passage import passages_in
from pdpp.wire.verbatim import Verbatim, all_json

_PREVIEW_CHARS = 400
_LONGEST_LINK = 1_000
_MOST_MATCHED = 12
_MATCHED_CHARS = 80
_WORD_CHARS, _MOST_WORDS = 40, 64
_PARTS = frozenset({"connection_id", "stream", "record_key", "record_id", "record_uri"})
"""Members that name a record beside its id."""

_CURSOR = re.compile(r"(?<=[?&]cursor=)[^&]*")


class HitPassage(NamedTuple):
    """A passage that was proven to hold the match; offsets are there all or none."""

    field_path: str
    preview: str
    span: tuple[int, int, int] | None = None
    """Where it starts and ends, and how long the field is."""


class ServerHit(NamedTuple):
    """One hit; a member that the server did not send is None or empty."""

    handle: Handle
    connector_key: str | None
    display_name: str | None
    title: str | None
    event_time: str | None
    emitted_at: str | None
    matched_fields: Sequence[str]
    passage: HitPassage | None
    link: str | None
    score: float
    sent: Verbatim
    matched: Sequence[str] = ()
    missing: Sequence[str] = ()
    """The words of the question that it holds and lacks, where a server tells."""


class SearchAnswer(NamedTuple):
    """A page of hits as a server sent it; ``cursors`` are those after the last hits."""

    hits: Sequence[ServerHit]
    next_cursor: str | None
    meta: ListMeta
    envelope: Verbatim
    cursors: Sequence[str] = ()

    nameless: int = 0
    """How many hits the server sent that name no record."""

    url: str | None = None
    """The address that the server says it answered."""

    hidden_characters: bool = False
    """Whether its hits hold characters that cannot be seen."""

    def first(self, count: int) -> "SearchAnswer | None":
        """Return the first hits as a page that goes on, None where only the server can.

        That is so where the server did not tell the cursor after them.
        """
        if count == len(self.hits):
            return self
        untold = len(self.hits) - len(self.cursors)
        if untold < 0 or count <= untold:
            return None
        cursor = self.cursors[count - 1 - untold]
        ahead: dict[str, object] = {"has_more": True, "next_cursor": cursor}
        if (url := self.url) is not None:
            onward = _CURSOR.sub(cursor, url) if "cursor=" in url else f"{url}&cursor={cursor}"
            ahead["links"] = {"next": onward}
        return self._of(self.hits[:count], self.envelope.with_members(ahead))._replace(
            next_cursor=cursor, cursors=()
        )

    def _of(self, hits: Sequence[ServerHit], envelope: Verbatim) -> "SearchAnswer":
        """Return the page with these of its hits in an envelope."""
        sent = all_json(hit.sent for hit in hits)
        return self._replace(
            hits=hits,
            envelope=envelope.with_members({"data": sent}),
            hidden_characters=self.hidden_characters and has_hidden(sent),
        )

    def without_hits(self) -> "SearchAnswer":
        """Return what stands around the hits."""
        return self._of((), self.envelope)

    def bare(self, *, has_more: bool) -> "SearchAnswer":
        """Return the page in an envelope of ours that holds no hits."""
        members = {"object": "list", "data": [], "has_more": has_more}
        return self._replace(envelope=Verbatim(members), hidden_characters=False)

    def at_most(self, limit: int) -> "SearchAnswer":
        """Return the page without hits that were sent although nobody asked for them."""
        if len(self.hits) <= limit:
            return self
        kept = self.envelope.only("next_cursor", "meta").with_members({"object": "list"})
        return self._of(self.hits[:limit], kept)._replace(cursors=())


NO_HITS = SearchAnswer((), None, ListMeta(), Verbatim({"data": []}))
"""A page where there is nothing more to read."""


class SearchResults(NamedTuple):
    """Hits to show; ``first`` is the page of so many, None where only the server can make it.

    ``extra`` hits were sent although nobody asked for them; ``unavailable`` sources gave none.
    """

    hits: Sequence[ServerHit]
    first: Callable[[int], SearchAnswer | None]
    extra: int = 0
    unavailable: Sequence[ConnectionChoice] = ()


def results_of(answer: SearchAnswer, limit: int) -> SearchResults:
    """Return what one server found."""
    page = answer.at_most(limit)
    return SearchResults(page.hits, page.first, len(answer.hits) - len(page.hits))


def read_search(
    body: Json, cursors: Sequence[str] = (), *, shows_all: bool = False
) -> SearchAnswer:
    """Read a page of hits, in any of the places servers put them.

    ``shows_all`` says that every character of it is known to be one that can be seen.
    """
    display = objects_in(body, DISPLAY)
    sent = Verbatim(body).without(DISPLAY) if display else Verbatim(body)
    listed = _listed(body)
    beside: Sequence[Json] = display if len(display) == len(listed) else [{}] * len(listed)
    read = [_hit(hit, more) for hit, more in zip(listed, beside, strict=True)]
    hits = [hit for hit in read if hit.handle.stream and hit.handle.record_id]
    return SearchAnswer(
        hits=hits,
        next_cursor=text_in(body, "next_cursor"),
        meta=read_meta(body),
        envelope=sent,
        cursors=cursors,
        nameless=len(read) - len(hits),
        url=text_in(body, "url"),
        hidden_characters=not shows_all and has_hidden(body.get("data")),
    )


def _listed(body: Json) -> list[Json]:
    inner = body.get("data")
    within = inner if isinstance(inner, Mapping) else body
    if not any(isinstance(within.get(name), list) for name in ("results", "data")):
        raise answer_without("list of hits")
    if isinstance(inner, list):
        return objects_in(body, "data")
    return objects_in(within, "results") or objects_in(within, "data")


def _hit(hit: Json, display: Json) -> ServerHit:
    merged = {**hit, **display} if display else hit
    return ServerHit(
        handle=_handle(hit),
        connector_key=text_in(merged, "connector_key"),
        display_name=text_in(merged, "display_name"),
        title=text_in(merged, "title"),
        event_time=text_in(merged, "event_time"),
        emitted_at=text_in(merged, "emitted_at"),
        matched_fields=shortened_fields(texts_in(hit, "matched_fields")),
        passage=_passage(merged, text_in(display, "preview_text")),
        link=_link(hit),
        score=_score(hit.get("score")),
        sent=Verbatim(hit),
        matched=shortened_words(texts_in(hit, "matched")),
        missing=shortened_words(texts_in(hit, "missing")),
    )


def shortened_fields(names: Sequence[str]) -> list[str]:
    """Return the names of fields that matched, as many and as long as are shown."""
    return [name[:_MATCHED_CHARS] for name in names[:_MOST_MATCHED]]


def shortened_words(words: Sequence[str]) -> list[str]:
    """Return words of a question, as many and as long as are looked at."""
    return [word[:_WORD_CHARS] for word in words[:_MOST_WORDS]]


def shortened_preview(text: str) -> str:
    """Return the text of a passage, as long as is shown."""
    return cut(text, _PREVIEW_CHARS)[0]


def _handle(hit: Json) -> Handle:
    """Return a hit's handle from whatever names it: discrete parts, an id, or a URI."""
    if hit.keys().isdisjoint(_PARTS):
        return named_handle(id_in(hit, "id") or "")
    connection_id, stream = text_in(hit, "connection_id"), text_in(hit, "stream")
    record_id = id_in(hit, "record_key") or id_in(hit, "record_id")
    if connection_id is not None and stream is not None and record_id is not None:
        whole = Handle(connection_id, stream, record_id)
        if hit.get("id") == whole.id:
            return whole
    named: Handle | None = None
    for form in (text_in(hit, "record_uri"), id_in(hit, "id")):
        if named is None and form is not None:
            try:
                named = parse_handle(form)
            except InvalidRequest:
                record_id = record_id or form
    if named is not None:
        return Handle(named.connection_id or connection_id, named.stream, named.record_id)
    return Handle(connection_id, stream or "", record_id or "")


def named_handle(id: str) -> Handle:
    """Return the handle of a hit that has only an id, as those of our servers have."""
    try:
        return parse_handle(id)
    except InvalidRequest:
        return Handle(None, "", id)


def _passage(hit: Json, preview: str | None) -> HitPassage | None:
    for field, text, facts in passages_in(hit, preview):
        return HitPassage(field, shortened_preview(text), _span(facts))
    return None


def _span(excerpt: Json) -> tuple[int, int, int] | None:
    start, end = whole_in(excerpt, "start_chars"), whole_in(excerpt, "end_chars")
    total = whole_in(excerpt, "total_chars")
    if start is None or end is None or total is None:
        return None
    return start, end, total


def _link(hit: Json) -> str | None:
    links = (text_in(hit, name) for name in ("url", "record_url"))
    return next(
        (link for link in links if link and len(link) <= _LONGEST_LINK and is_web_link(link)), None
    )


def _score(score: object) -> float:
    """Return how good a hit is, higher the better, whichever way its server counts."""
    facts: Json = score if isinstance(score, Mapping) else {"value": score}
    value = facts.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    lower = str(facts.get("order", "")).startswith(("lower", "asc"))
    return -float(value) if lower else float(value)
