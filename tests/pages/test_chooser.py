from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.authz.asking import asked_world, detail, review
from tests.store.world import NOW, World

from pdpp.authz.choice import ConsentChoice, LookBack, Term
from pdpp.authz.grant_draft import requested_allowances
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import Interval
from pdpp.model.instant import DAY
from pdpp.pages.chooser import (
    SPANS,
    TERMS,
    asked_boxes,
    first_choice,
    open_boxes,
    open_choice,
    read_choice,
    span_of,
)
from pdpp.pages.form import PostedForm

TODAY = NOW - NOW % DAY


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with asked_world(Path(tmp_path_factory.mktemp("data"))) as made:
        yield made


def form(*pairs: tuple[str, str]) -> PostedForm:
    return PostedForm.of_pairs(pairs)


# Where an owner begins


def test_a_request_begins_with_what_it_needs_and_nothing_optional(world: World) -> None:
    asks = requested_allowances(
        review(detail({"name": "messages"}, {"name": "labels", "necessity": "optional"})),
        world.store.catalogue(),
    )
    choice = first_choice(asks)
    assert choice == ConsentChoice(connections=frozenset({"home", "work"}), term=Term.MONTH)
    boxes = list(asked_boxes(asks, choice, world.store.catalogue()))
    assert [(box.name, box.source, box.ticked) for box in boxes] == [
        ("Home", "Mail", True),
        ("Work", "Mail", True),
    ]
    assert [
        (stream.label, stream.ticked, stream.fixed, stream.note) for stream in boxes[0].streams
    ] == [("labels", False, False, "optional"), ("Letters", True, True, "needed")]


def test_a_picker_begins_with_no_account(world: World) -> None:
    choice = open_choice(world.store.catalogue(), NOW)
    assert choice.connections == frozenset()
    assert choice.term is Term.MONTH
    assert choice.time == Interval(TODAY - 365 * DAY)


def test_a_ticked_account_means_its_dated_streams(world: World) -> None:
    choice = open_choice(world.store.catalogue(), NOW)
    boxes = {box.name: box for box in open_boxes(choice, world.store.catalogue(), {})}
    assert not any(box.ticked for box in boxes.values())
    labels, letters = boxes["Home"].streams
    assert (labels.label, labels.ticked) == ("labels", False)
    assert labels.note == "without dates, so always all of it"
    assert (letters.label, letters.ticked, letters.note) == ("Letters", True, "")
    assert all(field.ticked for field in (*labels.fields, *letters.fields))


def test_accounts_stand_in_the_order_of_their_names_with_their_counts(world: World) -> None:
    catalogue = world.store.catalogue()
    counts = {("home", "messages"): 1_234}
    boxes = list(open_boxes(ConsentChoice(), catalogue, counts))
    assert [box.name for box in boxes] == ["Diary", "E1", "Home", "Work"]
    assert boxes[2].streams[1].note == "1,234 in all"


# What a form means


def test_a_form_is_read_box_by_box() -> None:
    choice = read_choice(
        form(
            ("connection", "home"),
            ("connection", "work"),
            ("stream", "home/messages"),
            ("field", "home/messages/subject"),
            ("field", "home/messages/a/b"),
            ("field", "work/messages/id"),
            ("term", "7d"),
        ),
        NOW,
    )
    assert choice.connections == {"home", "work"}
    assert choice.streams == {("home", "messages")}
    assert choice.fields == {
        ("home", "messages"): {"subject", "a/b"},
        ("work", "messages"): {"id"},
    }
    assert (choice.term, choice.time) == (Term.WEEK, Interval(TODAY - 365 * DAY))


def test_an_empty_form_chooses_nothing() -> None:
    assert read_choice(PostedForm(), NOW).connections == frozenset()


@pytest.mark.parametrize("pair", [("stream", "home"), ("field", "home/messages"), ("field", "x")])
def test_what_is_on_no_page_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(InvalidRequest, match="not on the page"):
        read_choice(form(pair), NOW)


@pytest.mark.parametrize("pair", [("term", "1000d"), ("span", "2d")])
def test_what_is_not_offered_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(InvalidRequest, match="offered") as refused:
        read_choice(form(pair), NOW)
    assert refused.value.param == pair[0]


def test_everything_offered_is_taken() -> None:
    for span in SPANS:
        assert span_of(form(("span", span.value))) is span
    for term in TERMS:
        assert read_choice(form(("term", term.value)), NOW).term is term
    assert set(SPANS) == set(LookBack)
    assert set(TERMS) == set(Term)


@pytest.mark.parametrize(
    ("since", "until", "time"),
    [
        ("1970-01-02", "", Interval(DAY, None)),
        ("", "1970-01-02", Interval(None, 2 * DAY)),
        ("1970-01-02", "1970-01-02", Interval(DAY, 2 * DAY)),
    ],
)
def test_two_days_are_both_inside(since: str, until: str, time: Interval | None) -> None:
    found = read_choice(form(("span", "dates"), ("since", since), ("until", until)), NOW)
    assert found.time == time


def test_days_count_only_where_they_are_chosen() -> None:
    pairs = (("span", "all"), ("since", "2026-01-01"))
    assert read_choice(form(*pairs), NOW).time is None


@pytest.mark.parametrize(
    ("since", "until"),
    [
        ("tomorrow", ""),
        ("2026-01-01T10:00:00Z", ""),
        ("", "2026-13-01"),
        ("2026-02-01", "2026-01-01"),
    ],
)
def test_days_that_make_no_sense_are_refused(since: str, until: str) -> None:
    with pytest.raises(InvalidRequest):
        read_choice(form(("span", "dates"), ("since", since), ("until", until)), NOW)
