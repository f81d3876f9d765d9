"""What a grant hides changes no byte of any answer."""

import io
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import apsw.fts5aux
import httpx
import orjson
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from tests.promises.letters import declaration
from tests.promises.probes import Probe, Prober
from tests.promises.twins import (
    INSIDE,
    OUTSIDE,
    SIGHTS,
    VISIBLE_KEYS,
    Data,
    Sight,
    Template,
    Twin,
    Twins,
    make_template,
    twins,
)

from pdpp.model import instant
from pdpp.model.validation import parse_declaration
from pdpp.store.scope import Reach, owner_reaches
from pdpp.store.sqlite import changes, postings, predicate, search
from pdpp.store.sqlite.records import RecordReader
from pdpp.store.sqlite.store import SqliteStore

EXAMPLES = max(5, settings().max_examples // 4)
_REQUEST_ID = re.compile(rb"req_[0-9a-f]{16}")
_MOST_PAGES = 5

Seen = tuple[int, tuple[tuple[str, str], ...], bytes]


class Interference(AssertionError):
    """Something hidden changed an answer."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return make_template(tmp_path_factory.mktemp("template"))


def seen(answer: httpx.Response) -> Seen:
    """Return everything of an answer but the id of its request."""
    headers = sorted((k, v) for k, v in answer.headers.items() if k != "request-id")
    return answer.status_code, tuple(headers), _REQUEST_ID.sub(b"req", answer.content)


class Observer:
    """Asks both twins the same and compares what they say."""

    def __init__(self, pair: Twins) -> None:
        self._pair = pair
        self._bookmarks: dict[tuple[str, str], str] = {}
        self._cursors: dict[str, str] = {}

    def ask(self, probe: Probe, params: list[tuple[str, str]]) -> dict[str, Any]:
        """Send one request to both; return the body of a good list, or nothing."""
        answers = [self._send(twin, probe, params) for twin in self._pair.both]
        left, right = (seen(answer) for answer in answers)
        if left != right:
            raise Interference(f"{probe.method} {probe.path} {params}\n{left}\n{right}")
        if answers[0].status_code >= 500:
            raise AssertionError(f"{probe} failed: {answers[0].text}")
        good = answers[0].status_code == 200 and b'"object":"list"' in answers[0].content
        body: dict[str, Any] = answers[0].json() if good else {}
        return body

    def _send(self, twin: Twin, probe: Probe, params: list[tuple[str, str]]) -> httpx.Response:
        query = httpx.QueryParams(urlencode(params))
        return twin.caller.send(probe.path, query, method=probe.method, headers=probe.headers)

    def follow(self, probe: Probe) -> None:
        """Ask, and go on through the pages of a list."""
        params = probe.params
        for _ in range(_MOST_PAGES):
            body = self.ask(probe, params)
            if "next_cursor" not in body:
                return
            params = [*probe.params, ("cursor", body["next_cursor"])]

    def watch_changes(self) -> None:
        """Read what changed in every visible stream since the last time."""
        for connection_id, stream in self._pair.sight.feeds():
            since = self._bookmarks.get((connection_id, stream), "beginning")
            asked = [("changes_since", since), ("limit", "2"), ("connection_id", connection_id)]
            probe = Probe(f"/v1/streams/{stream}/records")
            params = asked
            while True:
                body = self.ask(probe, params)
                if "next_changes_since" in body:
                    self._bookmarks[(connection_id, stream)] = body["next_changes_since"]
                    break
                params = [*asked, ("cursor", body["next_cursor"])]

    def turn_pages(self) -> None:
        """Go one page further in sessions that stay open while things are written."""
        for sort in ("sent_at", "-amount", "label", ""):
            asked = [("limit", "1"), *([("sort", sort)] if sort else [])]
            held = self._cursors.pop(sort, None)
            params = [*asked, ("cursor", held)] if held else asked
            body = self.ask(Probe("/v1/streams/messages/records"), params)
            if "next_cursor" in body:
                self._cursors[sort] = body["next_cursor"]


def attack(template: Template, sight: Sight, seed: int, steps: int) -> None:
    """Live two lives that a sight cannot tell apart, and try to."""
    with (
        tempfile.TemporaryDirectory() as folder,
        twins(template, Path(folder), sight, seed) as pair,
    ):
        observer = Observer(pair)
        for _ in range(steps):
            pair.live()
            observer.watch_changes()
            observer.turn_pages()
        for probe in Prober(seed, template.blob_ids).probes(40):
            observer.follow(probe)


@pytest.fixture(autouse=True, scope="module")
def looks_everywhere_first() -> Iterator[None]:
    """Let the few streams of these stores be searched as many would be, by the plan that looks at
    rows outside the grant.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "_FEW_REACHES", 0)
        yield


def cramp(patch: pytest.MonkeyPatch) -> None:
    """Make plans change after a few rows, as they otherwise do after thousands."""
    patch.setattr(search, "_PROBE", 3)
    patch.setattr(postings, "_FAR", 1)
    patch.setattr(predicate, "_SELECTIVE", 2)


LIVES = {
    "sight": st.sampled_from(SIGHTS),
    "seed": st.integers(0, 2**32),
    "steps": st.integers(1, 8),
    "cramped": st.booleans(),
}


@given(**LIVES)
@example(sight=SIGHTS[2], seed=0, steps=8, cramped=False)
@settings(max_examples=EXAMPLES)
def test_nothing_hidden_changes_a_byte_of_any_answer(
    template: Template, sight: Sight, seed: int, steps: int, cramped: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if cramped:
            cramp(patch)
        attack(template, sight, seed, steps)


def test_thousands_of_hidden_matches_change_neither_plans_nor_scores(
    template: Template, tmp_path: Path
) -> None:
    sight = SIGHTS[2]
    with twins(template, tmp_path, sight, 7) as pair:
        for _ in range(4):
            pair.live()
        crowd = [
            (
                f"c{i}",
                {"id": f"c{i}", "body": "alpha beta", "label": "a", "amount": 1.0},
                pair.start,
            )
            for i in range(2_500)
        ]
        pair.left.write("home", "messages", crowd)
        observer = Observer(pair)
        for probe in Prober(7, template.blob_ids).probes(150):
            observer.follow(probe)


def test_a_record_that_was_outside_the_time_before_it_is_first_shown_looks_new(
    template: Template, tmp_path: Path
) -> None:
    with twins(template, tmp_path, SIGHTS[2], 0) as pair:
        before = {"id": "v1", "body": "alpha", "sent_at": OUTSIDE[0]}
        pair.left.write("home", "messages", [("v1", before, pair.start - instant.DAY)])
        for twin in pair.both:
            twin.clock.advance(60)
            inside = {"id": "v1", "body": "alpha", "sent_at": INSIDE[0]}
            twin.write("home", "messages", [("v1", inside, pair.start)])
            twin.clock.advance(60)
        observer = Observer(pair)
        observer.watch_changes()
        observer.follow(Probe("/v1/streams/messages/records"))
        observer.follow(Probe("/v1/search", [("q", "alpha")]))


def test_a_later_declaration_cannot_order_answers_by_a_hidden_time(
    template: Template, tmp_path: Path
) -> None:
    with twins(template, tmp_path, SIGHTS[0], 0) as pair:
        moved = declaration()
        for stream in moved["streams"][:1]:
            stream["consent_time_field"] = "seen_at"
        for twin, moments in zip(pair.both, (INSIDE, INSIDE[::-1]), strict=True):
            twin.store.register(parse_declaration(moved))
            thread = {"id": "v1", "subject": "beta"}
            twin.write("home", "threads", [("v1", thread, pair.start)])
            for key, moment in zip(VISIBLE_KEYS, moments, strict=True):
                data = {"id": key, "subject": "alpha", "thread_id": "v1", "seen_at": moment}
                twin.write("home", "messages", [(key, {**data, "sent_at": INSIDE[0]}, pair.start)])
            twin.clock.advance(60)
        observer = Observer(pair)
        observer.follow(Probe("/v1/search", [("q", "alpha"), ("limit", "1")]))
        observer.follow(Probe("/v1/streams/threads/records/v1", [("expand", "messages")]))


def test_a_hidden_upload_of_the_same_bytes_does_not_change_their_type(
    template: Template, tmp_path: Path
) -> None:
    content = b"\x00\x01 the same bytes"
    with twins(template, tmp_path, SIGHTS[4], 0) as pair:
        pair.left.store.keep_blob(io.BytesIO(content), "text/plain", 1 << 20)
        for twin in pair.both:
            blob = twin.store.keep_blob(io.BytesIO(content), "image/png", 1 << 20)
            reference = {"blob_id": blob.blob_id, "mime_type": "image/png"}
            data = {"id": "v1", "attachment": reference}
            twin.write("home", "messages", [("v1", data, pair.start)])
            twin.clock.advance(60)
        observer = Observer(pair)
        observer.follow(Probe(f"/v1/blobs/{blob.blob_id}"))
        window = "/v1/streams/messages/records/v1/field-window"
        observer.follow(Probe(window, [("field", "attachment")]))


@pytest.fixture
def crowded(template: Template, tmp_path: Path) -> Iterator[Observer]:
    """Twins of which one has so many hidden records that the other way into the data is shorter."""
    amounts = ((1e308, INSIDE[0]), (1e308, INSIDE[3]), (-1e308, INSIDE[1]), (1, INSIDE[2]))
    lines: list[tuple[str, Data | None, int]] = [
        (key, {"id": key, "label": "a", "amount": amount, "sent_at": moment}, 0)
        for key, (amount, moment) in zip(VISIBLE_KEYS, amounts, strict=True)
    ]
    lines.append(("a1", {"id": "a1", "label": "a", "amount": 1.0, "sent_at": INSIDE[3]}, 0))
    with twins(template, tmp_path, SIGHTS[1], 0) as pair:
        pair.right.write("home", "messages", lines)
        lines += [(f"h{i}", {"id": f"h{i}", "label": "a"}, 0) for i in range(6)]
        pair.left.write("home", "messages", lines)
        yield Observer(pair)


@pytest.mark.parametrize("metric", ["sum", "min", "max", "count_distinct"])
def test_hidden_records_cannot_change_the_order_in_which_numbers_are_taken(
    crowded: Observer, metric: str
) -> None:
    asked = [("metric", metric), ("field", "amount"), ("filter[label]", "a")]
    crowded.follow(Probe("/v1/streams/messages/aggregate", asked))
    crowded.follow(Probe("/v1/streams/messages/aggregate", [*asked, ("group_by", "label")]))


def test_hidden_records_cannot_change_how_a_group_is_named(crowded: Observer) -> None:
    asked = [("group_by", "amount"), ("filter[label]", "a")]
    crowded.follow(Probe("/v1/streams/messages/aggregate", asked))


# The attack must notice a store that looks where it should not.


def _score_by_corpus(api: Any, *_: Any) -> int:
    return -round(1_000_000 * apsw.fts5aux.bm25(api))


def _version_of_everything(
    reach: Reach,
    data: bytes,
    digest: str,
    shape: frozenset[str] | None,
    select: frozenset[str] | None,
) -> tuple[bytes, str]:
    return _project(reach, data, digest, shape, select)[0], digest


def _count_everything(reader: RecordReader, reach: Reach) -> int:
    sql = "SELECT record_count FROM feed WHERE id = ?"
    return int(reader._db.execute(sql, (reach.feed.id,)).get)


def _any_cell(reach: Reach, name: str) -> int | None:
    place = reach.feed.cells.get(name)
    return None if place is None else place[0]


def _any_lexical_place(reach: Reach) -> dict[int, str]:
    return {place: name for name, place in reach.feed.lexical.items()}


def _last_stamp(reach: Reach, created: int, emitted: int, stamps: str | None) -> tuple[int, int]:
    marks = orjson.loads(stamps) if stamps else {}
    return max([(created, emitted), *(tuple(mark) for name, mark in marks.items() if name)])


def _any_use(store: SqliteStore, blob_id: str, reaches: Iterable[Reach]) -> str | None:
    everything = owner_reaches(store.catalogue())
    return _blob_shown(store, blob_id, everything)


_project = Reach.project
_blob_shown = SqliteStore.blob_shown

MUTANTS: dict[str, list[tuple[object, str, object]]] = {
    "scores by statistics of the whole corpus": [(postings, "mark", _score_by_corpus)],
    "versions by the whole record": [(Reach, "project", _version_of_everything)],
    "counts of the whole stream": [(RecordReader, "count", _count_everything)],
    "sorts by hidden fields": [(Reach, "cell", _any_cell)],
    "finds words in hidden fields": [(Reach, "lexical_places", _any_lexical_place)],
    "tells of changes in hidden fields": [(changes, "visible_stamp", _last_stamp)],
    "shows blobs of hidden records": [(SqliteStore, "blob_shown", _any_use)],
}


def forget() -> None:
    """Empty every memo table of the store, so that no mutant lives on in one."""
    for name, module in sys.modules.items():
        if name.startswith("pdpp.store"):
            for value in vars(module).values():
                getattr(value, "cache_clear", lambda: None)()


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_attack_catches_a_store_that(mutant: str, template: Template) -> None:
    @given(**LIVES)
    @settings(
        max_examples=EXAMPLES, phases=[Phase.generate], database=None, report_multiple_bugs=False
    )
    def attacked(sight: Sight, seed: int, steps: int, cramped: bool) -> None:
        attack(template, sight, seed, steps)

    forget()
    with pytest.MonkeyPatch.context() as patch:
        for owner, name, replacement in MUTANTS[mutant]:
            patch.setattr(owner, name, replacement)
        with pytest.raises(Interference):
            attacked()
    forget()
