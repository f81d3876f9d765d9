"""Cell walks: the records of a reach along the values of one field, as statements."""

from typing import NamedTuple

from pdpp.store.scope import Reach
from pdpp.store.tables.records.order import RecordOrder
from pdpp.store.tables.records.predicate import Sql


class CellWalk(NamedTuple):
    """The records that have a value to be sorted by, in its order, and those that have none.

    ``place`` is that of the field. Where no record fills it there are no cells to walk along.
    """

    place: int
    present: Sql | None
    absent: Sql | None
    order: RecordOrder
    version: int | None = None
    """For which version of the feed this is the way to walk, None where it is for every one."""
    state: object = None
    """A state of the store in which the feed was of that version, None where none is known."""

    def is_good_in(self, state: object) -> bool:
        """Tell whether this is the way to walk in a state, without a look at the feed.

        In the same state nothing has been written since.
        """
        return self.version is None or (state is not None and state == self.state)


def no_walks(_: Reach) -> dict[tuple[str | None, bool], CellWalk]:
    """Return where the walks of a reach are kept, by their field and direction."""
    return {}
