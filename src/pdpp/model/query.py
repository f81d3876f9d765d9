"""Query capabilities: what a stream declares may be filtered, searched, aggregated and expanded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from pdpp.model.declaration import RANGE_OPERATORS, SCALARS, TIMES, Kind
from pdpp.model.node import Node
from pdpp.model.property import NUMBERS, Property

LEXICAL_LIMIT = 100
DEFAULT_LIMIT = 10
MAX_LIMIT = 50
HIGHEST_LIMIT = 100
AGGREGATIONS: Mapping[str, frozenset[Kind]] = {
    "sum": NUMBERS,
    "min": NUMBERS | TIMES,
    "max": NUMBERS | TIMES,
    "count_distinct": SCALARS,
    "group_by": SCALARS,
    "group_by_time": TIMES,
}

_RANGED = SCALARS - {Kind.BOOLEAN}
_TEXT = frozenset({Kind.TEXT})


@dataclass(frozen=True, slots=True)
class Expansion:
    """How many related records come along, when nothing is asked and at most."""

    default_limit: int = DEFAULT_LIMIT
    max_limit: int = MAX_LIMIT


@dataclass(frozen=True, slots=True)
class QueryCapabilities:
    """The query block of a stream, by field and by relationship."""

    ranges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lexical: tuple[str, ...] = ()
    semantic: tuple[str, ...] = ()
    aggregations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    countable: bool = True
    expansions: Mapping[str, Expansion] = field(default_factory=dict)

    def aggregations_of(self, name: str) -> tuple[str, ...]:
        """Return what may be computed over a field, in one fixed order."""
        return tuple(metric for metric, names in self.aggregations.items() if name in names)


def parse_query(node: Node, properties: Mapping[str, Property]) -> QueryCapabilities:
    """Read the query block of a stream."""
    if node.absent or not node.admit((), ("range_filters", "search", "aggregations", "expand")):
        return QueryCapabilities()
    lexical, semantic = _parse_search(node.member("search"), properties)
    aggregations = node.member("aggregations")
    return QueryCapabilities(
        ranges=_parse_ranges(node.member("range_filters"), properties),
        lexical=lexical,
        semantic=semantic,
        aggregations=_parse_aggregations(aggregations, properties),
        countable=aggregations.member("count").boolean(True),
        expansions=_parse_expansions(node.member("expand")),
    )


def declared(
    node: Node, properties: Mapping[str, Property], kinds: frozenset[Kind] | None = None
) -> str | None:
    """Return the declared property that is named here, if it is of one of the kinds."""
    if not isinstance(node.value, str):
        node.refuse("Write the name of a declared property here.")
        return None
    return node.value if _fits(node, node.value, properties, kinds) else None


def naming(
    properties: Mapping[str, Property], kinds: frozenset[Kind] | None = None
) -> Callable[[Node], str | None]:
    """Return the reader of a name of a declared property, for the items of a list."""
    return partial(declared, properties=properties, kinds=kinds)


def _fits(
    node: Node, name: str, properties: Mapping[str, Property], kinds: frozenset[Kind] | None
) -> bool:
    candidate = properties.get(name)
    if candidate is None:
        node.refuse("This names no property of the schema.", name, tuple(properties))
        return False
    if kinds is not None and candidate.kind not in kinds:
        wanted = ", ".join(sorted(kinds))
        node.refuse(f"Write a property of kind {wanted} here; this one is {candidate.kind}.")
        return False
    return True


def _parse_ranges(node: Node, properties: Mapping[str, Property]) -> Mapping[str, tuple[str, ...]]:
    ranges = {}
    for name, operators in node.members().items():
        _fits(operators, name, properties, _RANGED)
        given = operators.distinct(_operator, least=1)
        ranges[name] = tuple(known for known in RANGE_OPERATORS if known in given)
    return ranges


def _operator(node: Node) -> str | None:
    operator = node.text(least=1)
    if operator in RANGE_OPERATORS:
        return operator
    node.refuse("This is not a range operator.", operator, RANGE_OPERATORS)
    return None


def _parse_search(
    node: Node, properties: Mapping[str, Property]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if node.absent or not node.admit((), ("lexical_fields", "semantic_fields")):
        return (), ()
    lexical = node.member("lexical_fields").distinct(naming(properties, _TEXT))
    semantic = node.member("semantic_fields").distinct(naming(properties, _TEXT))
    if len(lexical) > LEXICAL_LIMIT:
        node.member("lexical_fields").refuse(f"Write at most {LEXICAL_LIMIT} fields here.")
    return lexical, semantic


def _parse_aggregations(
    node: Node, properties: Mapping[str, Property]
) -> Mapping[str, tuple[str, ...]]:
    if node.absent or not node.admit((), ("count", *AGGREGATIONS)):
        return {}
    return {
        metric: node.member(metric).distinct(naming(properties, kinds))
        for metric, kinds in AGGREGATIONS.items()
    }


def _parse_expansions(node: Node) -> Mapping[str, Expansion]:
    expansions: dict[str, Expansion] = {}
    for item in node.items():
        if not item.admit(("name",), ("default_limit", "max_limit")):
            continue
        name = item.member("name").text(least=1)
        if name in expansions:
            item.member("name").refuse("This is expanded twice; write it once.")
        expansions[name] = _parse_expansion(item)
    return expansions


def _parse_expansion(item: Node) -> Expansion:
    highest = item.member("max_limit").integer(1, HIGHEST_LIMIT, MAX_LIMIT)
    usual = item.member("default_limit").integer(1, highest, min(DEFAULT_LIMIT, highest))
    return Expansion(usual, highest)
