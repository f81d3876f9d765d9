"""Relations: which related records a caller may have along, and the records themselves."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pdpp.model.declaration import Cardinality, Kind, Relationship
from pdpp.model.errors import InvalidExpand
from pdpp.receipts.served import of_records
from pdpp.resource.answers import Expanded, RecordJson, RelatedList, WarningJson
from pdpp.resource.call import Call
from pdpp.resource.envelope import record_envelope, record_envelopes
from pdpp.store.numbers import read_data
from pdpp.store.query import Record, RelatedByValue
from pdpp.store.scope import Reach

_NUMBER = re.compile(r"-?\d{1,19}\Z", re.ASCII)
_TOO_LARGE = 2**63

_Related = tuple[RelatedList | RecordJson | None, int]
"""What a record is related to by one relation, and how many bytes its data has."""


def chosen_relations(call: Call, reaches: Sequence[Reach]) -> dict[str, int]:
    """Return the relations to expand, each with how many records at most."""
    limits = call.query.limits
    names = call.query.items("expand")
    for name in limits:
        if name not in names:
            raise InvalidExpand(
                f"expand_limit[{name[:80]}] needs expand={name[:80]}.",
                param=f"expand_limit[{name[:80]}]",
            )
    chosen: dict[str, int] = {}
    for name in names:
        offered = [offer for reach in reaches if (offer := expandable(call, reach).get(name))]
        if not offered:
            listed = ", ".join(sorted({n for r in reaches for n in expandable(call, r)})) or "none"
            raise InvalidExpand(
                f"{reaches[0].stream.name} cannot expand {name[:80]!r}; it can: {listed}.",
                param="expand",
            )
        most = min(relation.max_limit for relation in offered)
        wanted = limits.get(name, offered[0].default_limit)
        if wanted > most:
            _warn_once(
                call,
                {
                    "code": "limit_clamped",
                    "message": f"expand_limit[{name}] is at most {most}; {most} was used.",
                    "param": f"expand_limit[{name}]",
                },
            )
        chosen[name] = min(wanted, most)
    return chosen


def _warn_once(call: Call, warning: WarningJson) -> None:
    """Add a warning, also when a read that took too long is run again."""
    if warning not in call.query.warnings:
        call.query.warnings.append(warning)


def expandable(call: Call, reach: Reach) -> dict[str, Relationship]:
    """Return the relations of a reach whose other side and whose key the caller also sees."""
    return {
        name: relation
        for name, relation in reach.stream.relationships.items()
        if relation.expandable and _linked(call, reach, relation) is not None
    }


def _linked(call: Call, reach: Reach, relation: Relationship) -> Reach | None:
    for other in call.principal.reaches:
        if other.connection_id == reach.connection_id and other.stream.name == relation.stream:
            belongs = relation.cardinality is Cardinality.BELONGS_TO
            holder, named = (reach, other) if belongs else (other, reach)
            # Which records are related follows from the key, so both ends of the link are needed.
            return other if holder.compares(relation.foreign_key) and named.shows_key else None
    return None


class RelationExpander:
    """Adds related records to the records of one page."""

    def __init__(self, call: Call, relations: Mapping[str, int]) -> None:
        self._call = call
        self._relations = relations
        self._links: dict[Reach, list[_Link]] = {}

    def expand(self, record: Record, most_bytes: int) -> Expanded:
        """Return the related records of one, by relation.

        Its lists share so many bytes, less what single records take; where nothing is left, a list
        is empty and has more.
        """
        links = self._links.get(record.reach)
        if links is None:
            links = self._links[record.reach] = list(self._links_of(record.reach))
        expanded: Expanded = dict.fromkeys(link.name for link in links)
        for link in sorted(links, key=lambda link: link.is_list):
            expanded[link.name], size = link.expand(self._call, record, most_bytes)
            most_bytes -= size
        return expanded

    def _links_of(self, reach: Reach) -> Iterator["_Link"]:
        offered = expandable(self._call, reach)
        for name, limit in self._relations.items():
            relation = offered.get(name)
            other = _linked(self._call, reach, relation) if relation is not None else None
            if relation is not None and other is not None:
                related = self._call.store.related(other, relation.foreign_key)
                yield _Link(name, relation, other, limit, related)


class _Link(NamedTuple):
    """A relation of the records of one reach, with the records at its other end."""

    name: str
    relation: Relationship
    other: Reach
    limit: int
    related: RelatedByValue

    @property
    def is_list(self) -> bool:
        """Tell whether a record may have several related ones."""
        return self.relation.cardinality is Cardinality.HAS_MANY

    def expand(self, call: Call, record: Record, most_bytes: int) -> _Related:
        """Return what a record is related to, and how many bytes its data has."""
        if self.relation.cardinality is Cardinality.BELONGS_TO:
            return self._belonging(call, record)
        return self._having(call, record, most_bytes)

    def _belonging(self, call: Call, record: Record) -> _Related:
        value = read_data(record.data).get(self.relation.foreign_key)
        if isinstance(value, bool) or not isinstance(value, str | int):
            return None, 0
        return _single(call, call.store.record(self.other, str(value)))

    def _having(self, call: Call, record: Record, most_bytes: int) -> _Related:
        numbered = self.other.stream.fields[self.relation.foreign_key].kind is Kind.INTEGER
        value = _as_number(record.id) if numbered else record.id
        if value is None:
            return None, 0
        if not self.is_list:
            return _single(call, next(iter(self.related.first(value, 1).records), None))
        shown = self.limit if most_bytes > 0 else 0
        related, more = self.related.first(value, shown, most_bytes)
        call.served.append(partial(of_records, related))
        listed: RelatedList = {
            "object": "list",
            "data": record_envelopes(related),
            "has_more": more,
            "limit": self.limit,
        }
        return listed, sum(len(one.data) for one in related)


def _single(call: Call, related: Record | None) -> _Related:
    if related is None:
        return None, 0
    call.served.append(partial(of_records, (related,)))
    return record_envelope(related), len(related.data)


def _as_number(key: str) -> int | None:
    """Return the whole number that is written as this key, where a record can hold it."""
    if not _NUMBER.match(key):
        return None
    number = int(key)
    # "007" is another key than 7, and a number past 64 bits is kept in no cell.
    return number if str(number) == key and -_TOO_LARGE <= number < _TOO_LARGE else None
