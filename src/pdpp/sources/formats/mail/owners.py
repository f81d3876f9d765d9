"""Owners: the mail of several people in one folder, where Takeouts are unpacked among it."""

from collections.abc import Collection, Iterable, Mapping, Set
from itertools import chain

from pdpp.sources.formats.mail.layout import boxes_of, singles_of
from pdpp.sources.formats.mail.owner import owner_of
from pdpp.sources.formats.takeout import takeout_folder
from pdpp.sources.reading.tree import FileEntry, Tree


def owners_apart(tree: Tree) -> list[Tree]:
    """Return the Takeouts of each person by themselves, and the mail beside them.

    Nothing where they are of one person, as far as they tell, or where there is no Takeout. Who
    sorts mail into boxes may have several addresses, but a Takeout holds all boxes of its own.
    """
    places: dict[str, set[str]] = {}
    for entry in tree.entries:
        places.setdefault(takeout_folder(entry.name), set()).add(entry.name)
    if places.keys() == {""}:
        return []
    mail = {place: found for place, names in places.items() if (found := _mail(tree, names))}
    # To read for whom mail is costs time: mostly there is one Takeout, or none.
    owners = {place: owner_of(found) for place, found in mail.items()} if len(mail) > 1 else {}
    if len({*owners.values()} - {""}) < 2:
        return []
    takeouts: dict[str, list[str]] = {}
    for place, owner in owners.items():
        if place and owner:
            takeouts.setdefault(owner, []).append(place)
    parts = [
        # One has a path of its own, by which whoever goes on with an import finds it again.
        tree.under(own[0]) if len(own) == 1 else tree.these_only(_files(places, own))
        for own in takeouts.values()
    ]
    rest = tree.without(_files(places, chain.from_iterable(takeouts.values())))
    return [*parts, rest] if rest.entries else parts


def _files(names_in: Mapping[str, Set[str]], places: Iterable[str]) -> Set[str]:
    """Return the files in some places."""
    return frozenset().union(*map(names_in.__getitem__, places))


def _mail(tree: Tree, names: Collection[str]) -> list[FileEntry]:
    """Return the mailboxes and messages among some files."""
    part = tree.these_only(names)
    return [*boxes_of(part), *singles_of(part)]
