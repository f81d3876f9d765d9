"""Parameters: what a route takes in its query, declared once, parsed and documented from there."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from pdpp.model.errors import InvalidExpand, InvalidFilter, InvalidRequest
from pdpp.resource.answers import WarningJson

_MOST_PAIRS = 200
_LONGEST_QUERY = 16_384
_MOST_FILTERS = 32
_UNBOUND = frozenset({"cursor", "limit", "count", "changes_since"})
_BRACKETS = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)\Z")
_INTEGER = re.compile(r"-?\d{1,18}\Z", re.ASCII)


class Shape(StrEnum):
    """How a parameter is written."""

    TEXT = "text"
    INTEGER = "integer"
    CHOICE = "choice"
    LIST = "list"
    FILTER = "filter"
    LIMITS = "limits"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One query parameter of a route."""

    name: str
    shape: Shape
    description: str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    default: int | str | None = None
    clamp: bool = False
    required: bool = False
    longest: int = 1_024
    refusal: type[InvalidRequest] = InvalidRequest


class Parameters(dict[str, Parameter]):
    """The parameters of a route by their names."""

    def __init__(self, *parameters: Parameter) -> None:
        super().__init__({parameter.name: parameter for parameter in parameters})
        self.expected = tuple(p for p in parameters if p.required or p.default is not None)
        """Those that mean something where they are not given."""


@dataclass(frozen=True, slots=True)
class RawFilter:
    """One comparison as it was written: field, operator, text."""

    field: str
    operator: str
    text: str


class Query(NamedTuple):
    """The parsed parameters of one request."""

    values: Mapping[str, Any]
    warnings: list[WarningJson]

    def text(self, name: str) -> str | None:
        """Return a text or choice."""
        value: str | None = self.values.get(name)
        return value

    def integer(self, name: str) -> int | None:
        """Return a whole number."""
        value: int | None = self.values.get(name)
        return value

    def items(self, name: str) -> tuple[str, ...]:
        """Return a list."""
        value: tuple[str, ...] = self.values.get(name, ())
        return value

    @property
    def filters(self) -> tuple[RawFilter, ...]:
        """Return the filters."""
        value: tuple[RawFilter, ...] = self.values.get("filter", ())
        return value

    @property
    def limits(self) -> Mapping[str, int]:
        """Return the expand limits by relation."""
        value: Mapping[str, int] = self.values.get("expand_limit", {})
        return value

    def binding(self) -> str:
        """Return what of a request a cursor is bound to: everything but its page size."""
        return repr(sorted([item for item in self.values.items() if item[0] not in _UNBOUND]))


def parse_parameters(query: bytes, known: Parameters) -> Query:
    """Read a query string against the parameters a route takes; refuse everything else."""
    values: dict[str, Any] = {}
    parsed = Query(values, [])
    for key, text in _pairs(query):
        name, brackets = _split(key)
        parameter = known.get(name)
        if parameter is None:
            raise _unknown(name, known)
        _take(parsed, values, parameter, key, brackets, text)
    for parameter in known.expected:
        name = parameter.name
        if name not in values:
            if parameter.required:
                raise InvalidRequest(f"{name} is required: {parameter.description}", param=name)
            values[name] = parameter.default
    return parsed


def _pairs(query: bytes) -> Sequence[tuple[str, str]]:
    if not query:
        return ()
    if len(query) > _LONGEST_QUERY:
        raise InvalidRequest(f"The query is longer than {_LONGEST_QUERY} bytes.")
    try:
        return _split_pairs(query.decode("ascii"))
    except ValueError:
        raise InvalidRequest(
            "The query string is malformed; write name=value pairs, percent-encoded as UTF-8."
        ) from None


def _split_pairs(query: str) -> Sequence[tuple[str, str]]:
    """Return the pairs of a query string; where nothing is encoded they are only split."""
    # Most queries have nothing encoded; splitting them takes a third of the time of the full
    # parser.
    if "%" not in query and "+" not in query and query.count("&") < _MOST_PAIRS:
        return [(name, text) for part in query.split("&") for name, text in [part.split("=", 1)]]
    return parse_qsl(
        query,
        keep_blank_values=True,
        strict_parsing=True,
        errors="strict",
        max_num_fields=_MOST_PAIRS,
    )


def _split(key: str) -> tuple[str, list[str]]:
    if "[" not in key:
        return key, []
    match = _BRACKETS.match(key)
    if match is None:
        return key, []
    name, rest = match.groups()
    return name, re.findall(r"\[([^\[\]]*)\]", rest)


def _unknown(name: str, known: Mapping[str, Parameter]) -> InvalidRequest:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    offered = ", ".join(known) if known else "none"
    return InvalidRequest(
        f"Unknown parameter {name[:80]!r}.{hint} This route accepts: {offered}.", param=name[:80]
    )


def _take(
    parsed: Query,
    values: dict[str, Any],
    parameter: Parameter,
    key: str,
    brackets: list[str],
    text: str,
) -> None:
    name = parameter.name
    # No stored text holds one, and some engines end a text there.
    if "\x00" in text:
        raise InvalidRequest(f"{name} holds a NUL character.", param=name)
    if parameter.shape is Shape.FILTER:
        values[name] = (*values.get(name, ()), _filter(values.get(name, ()), brackets, text))
    elif parameter.shape is Shape.LIMITS:
        values[name] = {**values.get(name, {}), **_limit(values.get(name, {}), brackets, text)}
    elif parameter.shape is Shape.LIST and brackets in ([], [""]):
        items = [item for item in text.split(",") if item]
        given = values.get(name, ())
        values[name] = (*given, *(item for item in dict.fromkeys(items) if item not in given))
    elif brackets:
        raise InvalidRequest(f"{name} has no brackets; write {name}=…", param=key[:80])
    elif name in values:
        raise InvalidRequest(f"{name} is given twice.", param=name)
    else:
        values[name] = _scalar(parsed, parameter, text)


def _scalar(parsed: Query, parameter: Parameter, text: str) -> str | int:
    name = parameter.name
    if parameter.shape is Shape.INTEGER:
        return _integer(parsed, parameter, text)
    if parameter.shape is Shape.CHOICE and text not in parameter.choices:
        raise InvalidRequest(f"{name} must be one of: {', '.join(parameter.choices)}.", param=name)
    if not text:
        raise InvalidRequest(f"{name} is empty.", param=name)
    if len(text) > parameter.longest:
        raise InvalidRequest(f"{name} may have at most {parameter.longest} characters.", param=name)
    return text


def _integer(parsed: Query, parameter: Parameter, text: str) -> int:
    name, least, most = parameter.name, parameter.minimum, parameter.maximum
    if not _INTEGER.match(text):
        raise parameter.refusal(f"{name} is a whole number.", param=name)
    number = int(text)
    if least is not None and number < least:
        raise parameter.refusal(f"{name} is at least {least}.", param=name)
    if most is not None and number > most:
        if not parameter.clamp:
            raise parameter.refusal(f"{name} is at most {most}.", param=name)
        parsed.warnings.append(
            {
                "code": f"{name}_clamped",
                "message": f"{name} is at most {most}; {most} was used.",
                "param": name,
            }
        )
        return most
    return number


def _filter(given: tuple[RawFilter, ...], brackets: list[str], text: str) -> RawFilter:
    example = "write filter[field]=value or filter[field][gte]=value"
    if not 1 <= len(brackets) <= 2 or not all(brackets):
        raise InvalidFilter(f"The filter is malformed; {example}.", param="filter")
    if len(given) >= _MOST_FILTERS:
        raise InvalidFilter(f"At most {_MOST_FILTERS} filters.", param="filter")
    field_name, operator = brackets[0], brackets[1] if len(brackets) == 2 else "eq"
    if any(f.field == field_name and f.operator == operator for f in given):
        raise InvalidFilter(f"filter[{field_name}] is given twice.", param=f"filter[{field_name}]")
    return RawFilter(field_name, operator, text)


def _limit(given: Mapping[str, int], brackets: list[str], text: str) -> dict[str, int]:
    if len(brackets) != 1 or not brackets[0] or brackets[0] in given:
        raise InvalidExpand("Write expand_limit[relation]=number.", param="expand_limit")
    if not _INTEGER.match(text) or int(text) < 1:
        raise InvalidExpand(
            "An expand limit is a whole number from 1.", param=f"expand_limit[{brackets[0]}]"
        )
    return {brackets[0]: int(text)}
