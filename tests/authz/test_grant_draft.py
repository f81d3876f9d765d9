from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.authz.asking import NAMES, NEXT_MONTH, asked_world, detail, review
from tests.store.world import NOW, World, declare, stream

from pdpp.authz.choice import ConsentChoice, Term
from pdpp.authz.detail import Necessity
from pdpp.authz.grant_draft import (
    NO_PURPOSE,
    GrantDraft,
    from_choice,
    from_details,
    requested_allowances,
)
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import AccessMode, Interval
from pdpp.model.instant import DAY
from pdpp.store.scope import grant_reaches


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with asked_world(Path(tmp_path_factory.mktemp("data"))) as made:
        yield made


def draft(
    world: World, *details: dict[str, Any], choice: ConsentChoice | None = None
) -> GrantDraft:
    return from_details(review(*details), world.store.catalogue(), choice)


def opened(made: GrantDraft) -> list[tuple[str, str]]:
    return [(allowance.connection_id, allowance.stream) for allowance in made.allowances]


def refusal(world: World, *details: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(InvalidRequest) as refused:
        draft(world, *details)
    return refused.value.param or "", refused.value.message


# Details


def test_a_wish_opens_a_stream_on_every_connection_of_its_source(world: World) -> None:
    made = draft(world, detail())
    assert opened(made) == [("home", "messages"), ("work", "messages")]
    source = world.store.catalogue().sources["mail"]
    for allowance in made.allowances:
        assert allowance.revision == source.revision
        assert allowance.whole
        assert allowance.fields == tuple(source.streams["messages"].fields)


def test_a_wish_names_connections_fields_times_and_records(world: World) -> None:
    wish = {
        "name": "messages",
        "fields": ["subject", "id"],
        "time_range": {"since": "2026-01-01"},
        "resources": ["b", "a"],
        "connection_ids": ["work"],
    }
    (allowance,) = draft(world, detail(wish)).allowances
    assert (allowance.connection_id, allowance.fields) == ("work", ("id", "subject"))
    assert allowance.time == Interval(1_767_225_600_000_000, None)
    assert (allowance.keys, allowance.whole) == (frozenset({"a", "b"}), False)


def test_a_view_opens_the_fields_it_names(world: World) -> None:
    made = draft(world, detail({"name": "messages", "view": "brief"}))
    assert {allowance.fields for allowance in made.allowances} == {("id", "subject")}


def test_a_star_is_for_every_stream_that_is_not_named_beside_it(world: World) -> None:
    made = draft(world, detail({"name": "*"}, {"name": "messages", "view": "brief"}))
    assert opened(made) == [
        ("home", "labels"),
        ("home", "messages"),
        ("work", "labels"),
        ("work", "messages"),
    ]
    assert [allowance.whole for allowance in made.allowances] == [True, False, True, False]


@pytest.mark.parametrize(
    "source", ["mail", "https://example.org/mail", {"kind": "connector", "id": "mail"}]
)
def test_a_source_is_named_by_its_id_or_its_key(world: World, source: Any) -> None:
    assert len(draft(world, detail(source=source)).allowances) == 2


def test_what_the_client_says_stands_in_the_draft(world: World) -> None:
    made = draft(
        world,
        detail(purpose_code="help", purpose_description="To help", retention="a day"),
    )
    assert (made.client_id, made.purpose_code, made.purpose) == ("cli_1", "help", "To help")
    assert made.access_mode is AccessMode.CONTINUOUS
    assert made.claims == {"retention": "a day"}
    assert (made.expires_at, made.package) == (NEXT_MONTH, False)
    assert draft(world, detail()).purpose == NO_PURPOSE


def test_a_single_use_is_over_within_a_day(world: World) -> None:
    made = draft(world, detail(access_mode="single_use"), choice=None)
    assert (made.access_mode, made.expires_at) == (AccessMode.SINGLE_USE, NOW + DAY)


def test_several_objects_make_a_package(world: World) -> None:
    made = draft(world, detail(), detail({"name": "notes"}, source="notes"))
    assert made.package
    assert opened(made) == [("diary", "notes"), ("home", "messages"), ("work", "messages")]


@pytest.mark.parametrize(
    ("asked_for", "pointer", "told"),
    [
        (detail(source="nope"), "/0/source", "imported nothing of that kind"),
        (detail(source={"id": "mail", "kind": "provider_native"}), "/0/source/kind", "kind"),
        (detail({"name": "nope"}), "/0/streams/0/name", "'nope'"),
        (detail({"name": "notes"}), "/0/streams/0/name", "'notes'"),
        (detail({"name": "messages", "fields": ["nope"]}), "/0/streams/0/fields", "'nope'"),
        (detail({"name": "messages", "view": "nope"}), "/0/streams/0/view", "'nope'"),
        (
            detail({"name": "messages", "connection_ids": ["diary"]}),
            "/0/streams/0/connection_ids",
            "'diary'",
        ),
        (
            detail({"name": "labels", "time_range": {"since": "2026-01-01"}}),
            "/0/streams/0",
            "open nothing",
        ),
        (detail({"name": "messages"}, {"name": "messages"}), "/0/streams/1", "twice"),
    ],
)
def test_what_there_is_not_is_refused_by_its_place(
    world: World, asked_for: dict[str, Any], pointer: str, told: str
) -> None:
    found, message = refusal(world, asked_for)
    assert found == pointer
    assert told in message


def test_an_optional_wish_for_what_there_is_not_is_refused_too(world: World) -> None:
    optional = {"name": "nope", "necessity": "optional"}
    assert refusal(world, detail({"name": "messages"}, optional))[0] == "/0/streams/1/name"


# What the owner keeps of it


OPTIONAL = {"name": "labels", "necessity": "optional"}


def test_asks_tell_what_a_client_can_do_without(world: World) -> None:
    found = requested_allowances(
        review(detail({"name": "messages"}, OPTIONAL)), world.store.catalogue()
    )
    assert [(ask.place, ask.necessity) for ask in found] == [
        (("home", "labels"), Necessity.OPTIONAL),
        (("home", "messages"), Necessity.REQUIRED),
        (("work", "labels"), Necessity.OPTIONAL),
        (("work", "messages"), Necessity.REQUIRED),
    ]


def test_an_owner_leaves_out_what_is_optional_and_accounts(world: World) -> None:
    wishes = detail({"name": "messages"}, OPTIONAL)
    one = ConsentChoice(connections=frozenset({"home"}))
    assert opened(draft(world, wishes, choice=one)) == [("home", "messages")]
    more = replace(one, streams=frozenset({("home", "labels"), ("work", "labels")}))
    assert opened(draft(world, wishes, choice=more)) == [("home", "labels"), ("home", "messages")]


def test_an_owner_cannot_add_to_what_is_asked(world: World) -> None:
    choice = ConsentChoice(
        connections=frozenset({"home", "work", "diary"}),
        streams=frozenset({("home", "labels"), ("diary", "notes")}),
    )
    made = draft(world, detail(), choice=choice)
    assert opened(made) == [("home", "messages"), ("work", "messages")]


def test_what_is_needed_must_stay_on_some_account(world: World) -> None:
    with pytest.raises(InvalidRequest, match="messages of at least one account"):
        draft(world, detail(), choice=ConsentChoice())


def test_a_choice_of_nothing_opens_nothing(world: World) -> None:
    with pytest.raises(InvalidRequest, match="Nothing is chosen"):
        draft(world, detail(OPTIONAL), choice=ConsentChoice(connections=frozenset({"home"})))


def test_the_owner_says_how_long(world: World) -> None:
    everything = ConsentChoice(connections=frozenset({"home", "work"}), term=Term.WEEK)
    assert draft(world, detail(), choice=everything).expires_at == NOW + 7 * DAY
    always = replace(everything, term=Term.ALWAYS)
    assert draft(world, detail(), choice=always).expires_at is None


# The picker


HOME = ("home", "messages")


def pick(world: World, **chosen: Any) -> GrantDraft:
    return from_choice(review(), ConsentChoice(**chosen), world.store.catalogue())


def test_a_ticked_stream_of_a_ticked_account_is_opened(world: World) -> None:
    made = pick(
        world,
        connections=frozenset({"home"}),
        streams=frozenset({HOME, ("work", "messages")}),
        fields={HOME: frozenset({"subject", "id"}), ("work", "messages"): frozenset({"id"})},
        time=Interval(NOW),
        term=Term.WEEK,
    )
    (allowance,) = made.allowances
    assert (allowance.connection_id, allowance.stream) == HOME
    assert (allowance.fields, allowance.whole) == (("id", "subject"), False)
    assert allowance.time == Interval(NOW)
    assert (made.package, made.purpose, made.purpose_code) == (True, NO_PURPOSE, None)
    assert (made.expires_at, made.claims) == (NOW + 7 * DAY, {})


def test_every_field_ticked_is_the_whole_stream(world: World) -> None:
    fields = frozenset(world.store.catalogue().feeds[HOME].stream.fields)
    made = pick(
        world, connections=frozenset({"home"}), streams=frozenset({HOME}), fields={HOME: fields}
    )
    assert made.allowances[0].whole


def test_what_has_no_dates_is_not_limited_in_time(world: World) -> None:
    place = ("home", "labels")
    made = pick(
        world,
        connections=frozenset({"home"}),
        streams=frozenset({place}),
        fields={place: frozenset({"id"})},
        time=Interval(NOW),
    )
    assert made.allowances[0].time is None


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"streams": frozenset({HOME}), "fields": {HOME: frozenset({"id"})}},
        {"connections": frozenset({"home"}), "fields": {HOME: frozenset({"id"})}},
        {"connections": frozenset({"home"}), "streams": frozenset({HOME})},
    ],
)
def test_a_picker_without_account_stream_or_field_opens_nothing(
    world: World, chosen: dict[str, Any]
) -> None:
    with pytest.raises(InvalidRequest, match="Nothing is chosen"):
        pick(world, **chosen)


@pytest.mark.parametrize("place", [("home", "nope"), ("nope", "messages")])
def test_a_picker_cannot_open_what_there_is_not(world: World, place: tuple[str, str]) -> None:
    with pytest.raises(InvalidRequest, match="There is no"):
        pick(
            world,
            connections=frozenset({place[0]}),
            streams=frozenset({place}),
            fields={place: frozenset({"id"})},
        )


def test_a_picker_cannot_open_a_field_there_is_not(world: World) -> None:
    with pytest.raises(InvalidRequest, match="nope"):
        pick(
            world,
            connections=frozenset({"home"}),
            streams=frozenset({HOME}),
            fields={HOME: frozenset({"nope"})},
        )


# The digest


def test_one_digest_means_one_draft(world: World) -> None:
    made = draft(world, detail(purpose_description="a"))
    assert made.digest == draft(world, detail(purpose_description="a")).digest
    others = [
        replace(made, client_id="other"),
        replace(made, purpose_code="other"),
        replace(made, purpose="other"),
        replace(made, access_mode=AccessMode.SINGLE_USE),
        replace(made, allowances=made.allowances[:1]),
        replace(made, allowances=(replace(made.allowances[0], time=Interval(1)),)),
        replace(made, expires_at=None),
        replace(made, package=True),
        replace(made, claims={"retention": "a"}),
    ]
    assert len({made.digest, *(other.digest for other in others)}) == len(others) + 1


def test_another_declaration_is_another_draft(tmp_path: Path) -> None:
    with asked_world(tmp_path) as world:
        before = draft(world, detail({"name": "messages", "view": "brief"}))
        labels = stream("labels", NAMES, {}, consent_time_field=None)
        views = [{"id": "brief", "label": "Brief", "fields": ["id", "subject"]}]
        world.store.register(declare(stream(views=views), labels, version="2"))
        after = draft(world, detail({"name": "messages", "view": "brief"}))
        assert before.allowances[0].fields == after.allowances[0].fields
        assert before.digest != after.digest


def test_a_draft_shows_what_its_grant_would_show(world: World) -> None:
    made = draft(world, detail({"name": "messages", "fields": ["id"], "connection_ids": ["work"]}))
    (reach,) = grant_reaches(made.as_grant(), world.store.catalogue())
    assert (reach.feed.address, reach.fields, reach.whole) == (
        ("work", "messages"),
        frozenset({"id"}),
        False,
    )
