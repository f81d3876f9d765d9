"""Source declarations: what a source offers, as typed values derived once when it is registered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from pdpp.model.vocabulary import RANGE_OPERATORS as RANGE_OPERATORS
from pdpp.model.vocabulary import Kind as Kind
from pdpp.model.vocabulary import Role as Role


class Semantics(StrEnum):
    APPEND_ONLY = "append_only"
    MUTABLE_STATE = "mutable_state"


class Cardinality(StrEnum):
    """Where the foreign key is: on the related stream, or, for ``belongs_to``, on this one."""

    HAS_MANY = "has_many"
    HAS_ONE = "has_one"
    BELONGS_TO = "belongs_to"


SCALARS = frozenset({Kind.TEXT, Kind.INTEGER, Kind.NUMBER, Kind.BOOLEAN, Kind.DATE_TIME, Kind.DATE})
TIMES = frozenset({Kind.DATE_TIME, Kind.DATE})


@dataclass(frozen=True, slots=True)
class Field:
    """One declared property and everything that may be done with it."""

    name: str
    kind: Kind
    schema: Mapping[str, Any]
    role: Role | None = None
    description: str = ""
    exact: bool = False
    ranges: tuple[str, ...] = ()
    lexical: bool = False
    semantic: bool = False
    aggregations: tuple[str, ...] = ()
    indexed: bool = False

    @property
    def searched(self) -> bool:
        """Tell whether its words are indexed: those of searchable fields, and actors' names."""
        return self.lexical or (self.role is Role.ACTOR and self.kind is Kind.TEXT)


@dataclass(frozen=True, slots=True)
class Relationship:
    """A named way from a record to records of another stream of the same connection."""

    name: str
    stream: str
    foreign_key: str
    cardinality: Cardinality
    default_limit: int
    max_limit: int
    expandable: bool


@dataclass(frozen=True, slots=True)
class View:
    """A named choice of fields."""

    id: str
    label: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stream:
    """A named set of records of one shape."""

    name: str
    description: str
    label: str
    detail: str
    semantics: Semantics
    schema: Mapping[str, Any]
    primary_key: tuple[str, ...]
    cursor_field: str | None
    consent_time_field: str | None
    fields: Mapping[str, Field]
    views: Mapping[str, View]
    relationships: Mapping[str, Relationship]
    countable: bool = True
    thread_field: str | None = None
    thread_order: str | None = None


class DeclarationWarning(NamedTuple):
    """Something in a declaration that is kept and means nothing to this server."""

    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """A validated source declaration; ``revision`` names its exact content."""

    revision: str
    source_kind: str
    source_id: str
    connector_key: str
    declaration_version: str
    publisher_id: str
    display_name: str
    streams: Mapping[str, Stream]
    document: Mapping[str, Any]
    warnings: tuple[DeclarationWarning, ...] = field(default=(), compare=False)
