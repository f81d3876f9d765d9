"""What a grant hides changes no byte of any answer, whichever way one looks."""

import io
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.promises.commands import Typist
from tests.promises.cramping import cramp
from tests.promises.letters import declaration, later_declaration
from tests.promises.messages import Talker, tool_call
from tests.promises.observer import Observer, Program, Switch, merge
from tests.promises.probes import Probe, Prober
from tests.promises.sights import (
    INSIDE,
    OUTSIDE,
    SIGHTS,
    VISIBLE_KEYS,
    Sight,
    Template,
    make_template,
)
from tests.promises.twins import Data, twins
from tests.promises.worlds import WORLDS_OF_EACH
from tests.serving import running
from tests.soak import SOAK

from pdpp.model import instant
from pdpp.model.validation import parse_declaration

SURFACES = {"v1", "mcp legacy", "mcp modern", "pdpp read"}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """The program at the one address where all worlds are served."""
    switch = Switch()
    with running(switch) as server:
        yield Program(switch, server, tmp_path_factory.mktemp("cache"))


def attack(
    template: Template, program: Program, sight: Sight, life: tuple[int, int], *, packaged: bool
) -> Observer:
    """Live two lives that a sight cannot tell apart, and try to."""
    seed, steps = life
    with (
        tempfile.TemporaryDirectory() as folder,
        twins(template, Path(folder), sight, seed, packaged=packaged) as pair,
    ):
        observer = Observer(pair)
        for _ in range(steps):
            pair.live()
            observer.watch_changes()
            observer.turn_pages()
        for probe in Prober(seed, template.blob_ids).some(12):
            observer.follow(probe)
        for message in Talker(seed, template.blob_ids).messages(5):
            observer.go_on(message)
        for words in Typist(seed, template.blob_ids).commands(2):
            observer.run(program, words)
        return observer


@pytest.mark.parametrize("packaged", [False, True], ids=["grant", "package"])
@pytest.mark.parametrize("sight", SIGHTS, ids=lambda sight: sight.name)
def test_nothing_hidden_changes_a_byte_of_any_answer(
    template: Template, program: Program, sight: Sight, packaged: bool
) -> None:
    asked: dict[str, int] = {}
    lives: set[tuple[int, int]] = set()

    @given(seed=st.integers(0, 2**32), steps=st.integers(1, 3), cramped=st.booleans())
    @example(seed=0, steps=8, cramped=False)
    @settings(max_examples=WORLDS_OF_EACH, derandomize=not SOAK, database=None)
    def attacked(seed: int, steps: int, cramped: bool) -> None:
        lives.add((seed, steps))
        with pytest.MonkeyPatch.context() as patch:
            if cramped:
                cramp(patch)
            observer = attack(template, program, sight, (seed, steps), packaged=packaged)
        merge(observer.asked, asked)

    attacked()
    assert len(lives) > 0.9 * WORLDS_OF_EACH
    assert asked.keys() == SURFACES
    assert min(asked.values()) >= 2 * WORLDS_OF_EACH


@pytest.mark.parametrize("packaged", [False, True], ids=["grant", "package"])
def test_nothing_hidden_changes_what_the_program_prints_in_a_process_of_its_own(
    template: Template, program: Program, tmp_path: Path, packaged: bool
) -> None:
    apart = Program(program.switch, program.server, program.root, apart=True)
    with twins(template, tmp_path, SIGHTS[2], 11, packaged=packaged) as pair:
        for _ in range(4):
            pair.live()
        observer = Observer(pair)
        printed = [
            observer.run(apart, ["search", "beta"]),
            observer.run(apart, ["records", "messages", "--count=exact", "--connection=home"]),
            observer.run(apart, ["streams", "--json"]),
        ]
        assert all("messages" in text for text in printed)
        for words in Typist(11, template.blob_ids).commands(12 if SOAK else 2):
            observer.run(apart, words)


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
        for message in Talker(7, template.blob_ids).messages(60):
            observer.go_on(message)


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
        observer.go_on(tool_call("fetch", {"id": "home/messages:v1"}, "modern"))


def test_a_tombstone_does_not_tell_what_a_record_became(template: Template, tmp_path: Path) -> None:
    with twins(template, tmp_path, SIGHTS[1], 0) as pair:
        inside = {"id": "v1", "body": "alpha", "sent_at": INSIDE[0]}
        moved = {"id": "v1", "body": "alpha", "sent_at": OUTSIDE[1]}
        for twin in pair.both:
            twin.write("home", "messages", [("v1", inside, pair.start)])
        observer = Observer(pair)
        observer.watch_changes()
        for twin, becomes in zip(pair.both, (None, moved), strict=True):
            twin.clock.advance(60)
            # A deletion is emitted when it is told of, a record mostly when it happens.
            emitted = twin.clock() if becomes is None else instant.parse(OUTSIDE[1] or "")
            twin.write("home", "messages", [("v1", becomes, emitted or 0)])
            twin.clock.advance(60)
        observer.watch_changes()


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


@pytest.mark.parametrize(("before", "after"), [(1.0, 1), (1, 1.0), (-0.0, 0)])
def test_a_later_declaration_does_not_tell_how_a_number_was_once_written(
    template: Template, tmp_path: Path, before: float, after: float
) -> None:
    with twins(template, tmp_path, SIGHTS[4], 0) as pair:
        for twin in pair.both:
            for amount in (before, after):
                data = {"id": "v1", "amount": amount}
                other = {"id": "v2", "amount": 0.5}
                twin.write("home", "messages", [("v1", data, 0), ("v2", other, 0)])
        pair.left.store.register(parse_declaration(later_declaration()))
        observer = Observer(pair)
        for sort in ("amount", "-amount"):
            observer.follow(Probe("/v1/streams/messages/records", [("sort", sort), ("limit", "1")]))
        observer.follow(Probe("/v1/streams/messages/aggregate", [("group_by", "amount")]))


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


def test_a_stream_that_shows_nothing_does_not_lend_its_name(
    template: Template, tmp_path: Path
) -> None:
    with twins(template, tmp_path, SIGHTS[3], 0) as pair:
        for twin in pair.both:
            data = {"id": "v1", "subject": "alpha of the work"}
            twin.write("home", "messages", [("v1", data, pair.start)])
        pair.left.write("work", "messages", [("h1", {"id": "h1", "subject": "beta"}, pair.start)])
        for twin in pair.both:
            twin.clock.advance(60)
        Observer(pair).follow(Probe("/v1/search", [("q", "work alpha")]))


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
