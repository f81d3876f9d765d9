"""What is quoted is what is stored: windows and excerpts are exact slices of the field."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.engine import open_store
from tests.evidence.texts import PIECES
from tests.promises.caller import Caller, calling
from tests.promises.letters import declaration
from tests.serving import UNLIMITED, SetClock, approve

from pdpp.app import make_app
from pdpp.evidence.text import digest
from pdpp.model.validation import parse_declaration
from pdpp.store.batch import Line
from pdpp.store.port import Store

EXAMPLES = max(5, settings().max_examples)
WINDOW = "/v1/streams/messages/records/r/field-window"
MOST_WALKED = 400

AWKWARD = (
    *PIECES,
    "👨\u200d👩\u200d👧\u200d👦",
    "🏴\U000e0067\U000e0062\U000e007f",
    "a\u0327\u0301\u0323",
    "\u1100\u1161\u11a8",
    "\u212b",
    "\u2067عربي\u2069",
    "\U0010ffff",
    "𠮷",
    "&lt;mark&gt;",
    "\u0000",
)
UNICODE = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
TEXTS = st.lists(st.sampled_from(AWKWARD) | UNICODE, min_size=1, max_size=120).map("".join)
SPACED = st.lists(st.sampled_from(AWKWARD) | UNICODE, max_size=120).map(" ".join)


class Desk:
    """A server with one record whose fields a test sets."""

    def __init__(self, store: Store, caller: Caller, clock: SetClock) -> None:
        self._store = store
        self._clock = clock
        self.caller = caller

    def put(self, **fields: Any) -> None:
        """Make these the only fields of the one record."""
        feed = self._store.catalogue().feeds[("home", "messages")]
        self._clock.advance(1)
        self._store.write(feed, [Line(0, "r", self._clock(), {"id": "r", **fields})])

    def window(self, **params: Any) -> dict[str, Any]:
        """Return a window of the body, with its digest."""
        answer = self.caller.get(WINDOW, field="body", **params)
        return {**answer["window"], "digest": answer["digest"]}


@contextmanager
def _desk(store: Store, clock: SetClock) -> Iterator[Desk]:
    store.register(parse_declaration(declaration()))
    store.connect("home", "letters", "Home")
    with calling(make_app(store, UNLIMITED, clock), approve(store).token) as caller:
        yield Desk(store, caller, clock)
    store.close()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    clock = SetClock()
    with _desk(open_store(tmp_path_factory.mktemp("desk"), clock), clock) as made:
        yield made


@given(text=TEXTS, offset=st.integers(0, 300), limit=st.integers(1, 200))
@settings(max_examples=EXAMPLES)
def test_a_window_is_exactly_the_slice_of_the_stored_field(
    desk: Desk, text: str, offset: int, limit: int
) -> None:
    desk.put(body=text)
    window = desk.window(offset_chars=offset, limit_chars=limit)
    start, end = window["start_chars"], window["end_chars"]
    assert window["text"] == text[start:end] == text[offset : offset + limit]
    assert window["total_chars"] == len(text)
    assert window["has_more"] == (end < len(text))
    assert window["complete"] == (window["text"] == text)
    assert window["digest"] == digest(text)


@given(text=TEXTS, limit=st.integers(1, 60))
@settings(max_examples=max(5, EXAMPLES // 4))
def test_walking_forward_and_back_rebuilds_the_field(desk: Desk, text: str, limit: int) -> None:
    desk.put(body=text)
    assert "".join(_walk(desk, 0, limit, "next_offset_chars")) == text
    last = max(0, len(text) - limit)
    assert _rebuilt_backwards(desk, last, limit) == text


def _walk(desk: Desk, offset: int | None, limit: int, way: str) -> Iterator[str]:
    for _ in range(MOST_WALKED):
        if offset is None:
            return
        window = desk.window(offset_chars=offset, limit_chars=limit)
        yield window["text"]
        offset = window[way]
    raise AssertionError("the walk has no end")


def _rebuilt_backwards(desk: Desk, offset: int, limit: int) -> str:
    """Put a field together from its end, each piece cut where the one after it begins."""
    pieces: list[str] = []
    at: int | None = offset
    until = None
    while at is not None:
        window = desk.window(offset_chars=at, limit_chars=limit)
        kept = window["text"] if until is None else window["text"][: until - at]
        pieces.append(kept)
        at, until = window["previous_offset_chars"], at
    return "".join(reversed(pieces))


@given(
    before=SPACED,
    after=SPACED,
    needle=st.sampled_from(
        ("zebra", "東京", "cafe\u0301", "👩\u200d💻", "\u1112\u1161\u11ab", "ZEBRA two")
    ),
)
@example(before="x " * 300, after="y " * 300, needle="zebra")
@example(before="<mark>", after="</mark>", needle="zebra")
@settings(max_examples=EXAMPLES)
def test_an_excerpt_is_a_marked_slice_and_its_read_begins_with_it(
    desk: Desk, before: str, after: str, needle: str
) -> None:
    body = f"{before} {needle} {after}"
    desk.put(body=body, note=body[::-1])
    hits = desk.caller.get("/v1/search", q=f'"{needle}"')["data"]
    assert [hit["record_key"] for hit in hits] == ["r"]
    fields = {"body": body, "note": body[::-1]}
    excerpts = hits[0]["evidence_excerpts"]
    assert "body" in [excerpt["field_path"] for excerpt in excerpts]
    for excerpt in excerpts:
        _check_excerpt(desk, excerpt, fields[excerpt["field_path"]])


def _check_excerpt(desk: Desk, excerpt: dict[str, Any], text: str) -> None:
    start, end = excerpt["start_chars"], excerpt["end_chars"]
    quoted = text[start:end]
    assert _marked(quoted, start, excerpt["matches"]) == excerpt["preview_text"]
    assert excerpt["preview_text"].replace("<mark>", "").replace("</mark>", "") == quoted
    assert excerpt["matches"]
    assert len(excerpt["preview_text"]) <= 240
    assert excerpt["total_chars"] == len(text)
    assert excerpt["digest"] == digest(text)
    read = excerpt["read"]
    names = ("connection_id", "field", "offset_chars", "limit_chars")
    answer = desk.caller.get(read["route"], **{name: read[name] for name in names})
    assert answer["window"]["text"].startswith(quoted)
    assert answer["digest"] == excerpt["digest"]


def _marked(quoted: str, start: int, matches: list[dict[str, int]]) -> str:
    """Put marks around the matches of a quoted stretch, from the last to the first."""
    for match in reversed(matches):
        low, high = match["start_chars"] - start, match["end_chars"] - start
        assert 0 <= low < high <= len(quoted)
        quoted = f"{quoted[:low]}<mark>{quoted[low:high]}</mark>{quoted[high:]}"
    return quoted


@given(before=SPACED, after=SPACED, around=st.integers(0, 80))
@settings(max_examples=EXAMPLES)
def test_a_window_around_a_match_is_a_slice_that_holds_it(
    desk: Desk, before: str, after: str, around: int
) -> None:
    text = f"{before} zebra {after}"
    desk.put(body=text)
    window = desk.window(q="zebra", before_chars=around, after_chars=around)
    start, end = window["match_start_chars"], window["match_end_chars"]
    assert window["text"] == text[window["start_chars"] : window["end_chars"]]
    assert window["start_chars"] <= start < end <= window["end_chars"]
    assert text[start:end].startswith("zebra")
    assert window["matches"][0] == {"start_chars": start, "end_chars": end}


def test_the_digest_tells_one_text_from_another_that_looks_the_same(desk: Desk) -> None:
    desk.put(body="caf\u00e9")
    composed = desk.window()["digest"]
    desk.put(body="cafe\u0301")
    assert desk.window()["digest"] != composed
    desk.put(body="caf\u00e9", note="other")
    assert desk.window()["digest"] == composed
