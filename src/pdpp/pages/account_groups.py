"""Account groups: what a choice opens, told once for all accounts that it opens in the same way."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import starmap

from pdpp.authz.wording import AccountWords, StreamWords

_ROOM = 4_000
_PAGE = 40_000
_STREAM = 230
"""About how many bytes the HTML of a stream takes beside the names of its fields."""


def grouped_accounts(accounts: Sequence[AccountWords]) -> Sequence[AccountWords]:
    """Return accounts as a light page lists them: each by itself, or those alike as one.

    Where all of them would take too much room, the names of their fields are left to the page of
    the choice, and accounts of one source with the same streams, fields and times are one entry.
    """
    if not is_long(accounts):
        return accounts
    groups: dict[object, list[AccountWords]] = {}
    for account in accounts:
        groups.setdefault(_likeness(account), []).append(account)
    return [_group(members) for members in groups.values()]


def is_long(accounts: Iterable[AccountWords]) -> bool:
    """Tell whether accounts, each by itself with its fields, take too much room of a page."""
    return sum(map(_size, accounts)) > _ROOM


def is_endless(accounts: Iterable[AccountWords]) -> bool:
    """Tell whether accounts take more room than a whole page has."""
    return sum(map(_size, accounts)) > _PAGE


def _size(account: AccountWords) -> int:
    return len(account.name) + sum(_STREAM + len(stream.names) for stream in account.streams)


def _likeness(account: AccountWords) -> object:
    streams = (
        (each.label, each.fields, each.names, each.time, each.keys) for each in account.streams
    )
    return account.source, tuple(streams)


def _group(members: Sequence[AccountWords]) -> AccountWords:
    name = ", ".join(member.name for member in members)
    alike = zip(*(member.streams for member in members), strict=True)
    return AccountWords(name, members[0].source, tuple(starmap(_added, alike)))


def _added(*streams: StreamWords) -> StreamWords:
    """Return one stream of several accounts, with what all of them hold together."""
    return replace(
        streams[0],
        names="",
        count=_sum(stream.count for stream in streams),
        in_all=_sum(stream.in_all for stream in streams),
    )


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)
