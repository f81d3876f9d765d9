"""What is searched is found out once for the reaches of a caller, and anew for others."""

from tests.store.world import World

from pdpp.store.scope import Condition
from pdpp.store.tables.search.searched import searched


def test_reaches_are_looked_at_once(world: World) -> None:
    reaches = world.reach(), world.reach(fields=["note"])
    first = searched(reaches)
    assert first.worded == reaches[:1]
    assert searched(reaches) is first
    other = reaches[:1]
    assert searched(other).reaches is other
    assert searched(reaches).worded == reaches[:1]
    assert searched(()).worded == ()


def test_filtered_reaches_are_not_remembered(world: World) -> None:
    whole = (world.reach(),)
    known = searched(whole)
    narrow = (whole[0].narrowed([Condition("size", whole[0].stream.fields["size"].kind, "lt", 9)]),)
    assert searched(narrow).by_feed[narrow[0].feed.id] is narrow[0]
    assert searched(whole) is known
