import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.world import MESSAGE, World, allow, condition, declare, stream

from pdpp.model.errors import FieldNotGranted, UnknownField
from pdpp.model.grant import AccessMode, Allowance, Grant, Interval
from pdpp.store.scope import (
    Reach,
    cut_all,
    digest_of,
    grant_reaches,
    in_order,
    owner_reaches,
    pick,
    roles_of,
)


def grant(*allowances: Allowance) -> Grant:
    return Grant("g", "client", "purpose", AccessMode.CONTINUOUS, allowances, 0)


def opened(world: World, *allowances: Allowance) -> tuple[Reach, ...]:
    return grant_reaches(grant(*allowances), world.store.catalogue())


def test_the_owner_reaches_every_field_of_every_stream_in_one_order(world: World) -> None:
    world.settle(declare(stream("b"), stream("a"), key="chat"), "c2", "c0")
    reaches = owner_reaches(world.store.catalogue())
    assert [(reach.connection_id, reach.stream.name) for reach in reaches] == [
        ("c0", "a"),
        ("c0", "b"),
        ("c2", "a"),
        ("c2", "b"),
        ("c1", "messages"),
    ]
    assert all(reach.fields is None and not reach.restricted for reach in reaches)
    assert in_order(reversed(reaches)) == reaches


def test_a_grant_reaches_what_it_allows_of_what_there_is(world: World) -> None:
    allowance = allow(world, fields=("id", "at"), whole=False, keys=frozenset({"a"}))
    (reach,) = opened(world, allowance)
    assert reach.names() == ["id", "at"]
    assert reach.restricted
    assert not reach.whole
    assert reach.keys == frozenset({"a"})


def test_a_grant_reaches_nothing_of_what_is_gone(world: World) -> None:
    known = allow(world)
    lost = Allowance("c9", "messages", known.revision, known.fields)
    unknown = Allowance("c1", "messages", "no such revision", known.fields)
    other = Allowance("c1", "threads", known.revision, known.fields)
    assert opened(world, lost, unknown, other) == ()


def test_a_stream_of_another_revision_than_the_grants_is_not_opened(world: World) -> None:
    revision = allow(world).revision
    world.settle(declare(stream("threads"), version="2"))
    assert opened(world, Allowance("c1", "threads", revision, ("id",))) == ()


def test_a_time_limit_ends_with_the_field_it_was_by(world: World) -> None:
    limited, free = allow(world, time=Interval(0, None)), allow(world)
    world.settle(declare(stream(consent_time_field="day"), version="2"))
    assert opened(world, limited) == ()
    assert len(opened(world, free)) == 1


def test_a_hidden_and_an_unknown_field_are_refused_in_the_same_words(world: World) -> None:
    partial = opened(world, allow(world, fields=("id", "at"), whole=False))[0]
    assert partial.field("at", "sort").name == "at"
    messages = []
    for name in ("note", "nope"):
        with pytest.raises(FieldNotGranted) as refused:
            partial.field(name, "sort")
        assert refused.value.param == "sort"
        messages.append(refused.value.message.replace(name, "…"))
    assert messages[0] == messages[1]


def test_who_sees_every_field_is_told_which_there_are(world: World) -> None:
    whole = opened(world, allow(world))[0]
    with pytest.raises(UnknownField, match="Its fields: id, subject") as refused:
        whole.field("nope", "fields")
    assert refused.value.param == "fields"


def test_a_field_has_a_cell_only_where_it_is_shown_and_of_the_kind_known(world: World) -> None:
    assert world.reach().compares("size")
    assert not world.reach().compares("note")
    assert not world.reach().compares("nope")
    assert not world.reach(fields=["at"]).compares("size")
    before = world.reach().stream
    numbers = {**MESSAGE, "size": {"type": "number"}}
    world.settle(declare(stream(properties=numbers), version="2"))
    assert not Reach(world.feed(), before, None, True).compares("size")
    assert Reach(world.feed(), before, None, True).compares("weight")


def test_search_goes_over_the_searchable_fields_shown(world: World) -> None:
    assert set(world.reach().searched_fields()) == {"subject", "body"}
    assert set(world.reach(fields=["body", "note"]).searched_fields()) == {"body"}


def test_roles_are_those_of_the_visible_fields(world: World) -> None:
    assert roles_of(world.reach(fields=["subject", "note"])) == {"subject": "primary-title"}
    assert roles_of(world.reach()) == {
        "subject": "primary-title",
        "body": "body",
        "at": "event-time",
    }


def test_narrowing_adds_conditions_and_keeps_the_rest(world: World) -> None:
    reach = world.reach(keys=["a"])
    first, second = condition(reach, "size", "gt", 1), condition(reach, "size", "lt", 9)
    assert reach.narrowed([first]).narrowed([second]).conditions == (first, second)
    assert reach.narrowed([first]).keys == frozenset({"a"})


@given(
    st.dictionaries(st.text(max_size=3), st.integers(-(2**63), 2**63) | st.text()),
    st.sets(st.text()),
)
def test_picking_keeps_exactly_the_named_members(data: dict[str, object], names: set[str]) -> None:
    picked = orjson.loads(pick(orjson.dumps(data), frozenset(names)))
    assert picked == {key: value for key, value in data.items() if key in names}


def cut(
    data: bytes, cuts: tuple[frozenset[str] | None, frozenset[str] | None]
) -> tuple[bytes, str]:
    (text,), (digest,) = cut_all((data,), ("d",), *cuts)
    return text, digest


def test_what_is_wholly_visible_is_passed_on_unparsed(world: World) -> None:
    odd = b'{ "id" : 1 }'
    some = world.reach(fields=["id"])
    only_id, only_at = frozenset({"id"}), frozenset({"at"})
    assert cut(odd, world.reach().cuts(None, None)) == (odd, "d")
    assert cut(odd, some.cuts(only_id, None)) == (odd, "d")
    assert cut(odd, some.cuts(None, None)) == (b'{"id":1}', digest_of(b'{"id":1}'))
    assert cut(odd, some.cuts(only_id, only_id)) == (odd, "d")
    assert cut(odd, some.cuts(only_id, only_at)) == (b"{}", "d")


def test_the_version_of_a_record_is_that_of_what_is_shown_not_of_what_is_asked_for(
    world: World,
) -> None:
    data, hidden = b'{"at":1,"id":1}', world.reach(fields=["id"])
    shape = frozenset({"at", "id"})
    version = cut(data, hidden.cuts(shape, None))[1]
    assert version == digest_of(b'{"id":1}')
    assert cut(data, hidden.cuts(shape, frozenset({"at"}))) == (b"{}", version)


def test_the_time_is_shown_where_it_is_the_one_records_are_kept_by(world: World) -> None:
    assert world.reach().shows_time
    assert not world.reach(fields=["subject"]).shows_time
    before = world.reach().stream
    world.settle(declare(stream(consent_time_field="day"), version="2"))
    assert not Reach(world.feed(), before, None, True).shows_time
    world.settle(declare(stream(consent_time_field=None), version="3"))
    assert not world.reach().shows_time


def test_only_a_visible_field_declared_as_a_blob_opens_one(world: World) -> None:
    assert world.reach().opens_blob("file")
    assert not world.reach(fields=["id"]).opens_blob("file")
    assert not world.reach().opens_blob("note")
    assert not world.reach().opens_blob("nope")
