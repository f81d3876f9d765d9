"""Vigils: a folder that grows is looked at again and again, and only what is new is read."""

from collections.abc import Callable
from contextlib import closing

from pdpp.model.declaration import Declaration
from pdpp.model.errors import ImportRefused
from pdpp.sources.arrival import Arrival, Escort
from pdpp.sources.report import COMPLETE, WATCHING
from pdpp.sources.source import Recognition, Wishes
from pdpp.sources.tree import Tree, open_tree
from pdpp.sources.verdict import Verdict

Sight = tuple[tuple[str, str], ...]


def keep_watch(
    arrival: Arrival,
    declaration: Declaration,
    wishes: Wishes,
    escort: Escort,
    wait: Callable[[], bool],
) -> None:
    """Read what is new, then wait, until ``wait`` or the escort says that it is enough.

    Offsets that earlier imports remembered are believed, unless the connection is new.
    """
    with closing(arrival.journal(declaration)) as journal:
        journal.begin(anew=arrival.goal.is_new)
        arrival.tell_refused()
        arrival.report.status = WATCHING
        seen: Sight = ()
        while True:
            now = _sight(arrival.tree)
            if now != seen:
                arrival.travel(journal, escort, patient=True)
                arrival.keep()
                seen = now
            if escort.stop() or wait():
                break
            _look_again(arrival, wishes)
        journal.end(complete=True)
    arrival.end(COMPLETE)


def _sight(tree: Tree) -> Sight:
    return tuple((entry.name, entry.stamp) for entry in tree.entries)


def _look_again(arrival: Arrival, wishes: Wishes) -> None:
    """See what the path holds now; while it is gone or not understood, go by what it held."""
    try:
        tree = open_tree(arrival.tree.path)
        if _sight(tree) == _sight(arrival.tree):
            return
        found = arrival.verdict.source.recognise(tree, wishes)
    except (OSError, ImportRefused):
        return
    if isinstance(found, Recognition):
        arrival.see_again(tree, Verdict(arrival.verdict.source, found))
