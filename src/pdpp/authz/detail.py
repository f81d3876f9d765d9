"""Details: what a client asks for in ``authorization_details``, read strictly."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

import orjson

from pdpp.evidence.handle import key_problem, part_problem
from pdpp.model import instant
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import AccessMode, Interval
from pdpp.model.node import Node

DETAIL_TYPE = "https://pdpp.dev/data-access"
EVERY_STREAM = "*"

C = TypeVar("C", bound=StrEnum)

_LARGEST = 65_536
_MOST_DETAILS = 16
_MOST_STREAMS = 200
_MOST_FIELDS = 500
_MOST_RECORDS = 1_000
_MOST_CONNECTIONS = 100
_MOST_CLAIMS = 20
_LONGEST_CODE = 200
_LONGEST_PURPOSE = 500
_LONGEST_CLAIM = 500
_LONGEST_URI = 2_048
_DETAIL_KEYS = ("type", "source", "streams")
_OPTIONAL_DETAIL_KEYS = (
    "purpose_code",
    "purpose_description",
    "access_mode",
    "retention",
    "client_claims",
)
_OPTIONAL_STREAM_KEYS = (
    "necessity",
    "fields",
    "view",
    "time_range",
    "resources",
    "connection_ids",
)


class Necessity(StrEnum):
    """Whether a client can do without a stream."""

    REQUIRED = "required"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class StreamRequest:
    """One entry of ``streams``: a stream, or all of them, and how far; empty is all of it."""

    pointer: str
    name: str
    necessity: Necessity = Necessity.REQUIRED
    fields: tuple[str, ...] = ()
    view: str | None = None
    time: Interval | None = None
    keys: tuple[str, ...] = ()
    connections: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Detail:
    """One object of ``authorization_details``: what is asked of one source, and what for."""

    pointer: str
    source: str
    source_kind: str | None
    access_mode: AccessMode
    stream_requests: tuple[StreamRequest, ...]
    purpose_code: str | None = None
    purpose: str = ""
    claims: Mapping[str, Any] = field(default_factory=dict)


def parse_details(document: object) -> tuple[Detail, ...]:
    """Return the typed form of ``authorization_details``, or refuse with a JSON pointer."""
    root = Node(_plain(document))
    nodes = root.items(least=1)
    if len(nodes) > _MOST_DETAILS:
        root.refuse(f"Ask with at most {_MOST_DETAILS} objects.")
    details = tuple(_parse_detail(node) for node in nodes[:_MOST_DETAILS])
    _require_one_purpose(nodes, details)
    if root.problems.first is not None:
        problem = root.problems.first.as_error()
        raise InvalidRequest(problem.message, param=problem.param)
    return details


def _plain(document: object) -> Any:
    """Return a copy that holds nothing but JSON data of a bounded size."""
    try:
        # Written and read once more: what is kept and shown later is then exactly what was checked,
        # and none of it is an object that somebody still changes.
        encoded = orjson.dumps(document)
    except TypeError:
        raise InvalidRequest("authorization_details must be a JSON list.", param="") from None
    if len(encoded) > _LARGEST:
        raise InvalidRequest(f"authorization_details has at most {_LARGEST} bytes.", param="")
    return orjson.loads(encoded)


def _parse_detail(node: Node) -> Detail:
    _admit(node, _DETAIL_KEYS, _OPTIONAL_DETAIL_KEYS)
    if node.member("type").value != DETAIL_TYPE:
        node.member("type").refuse(f'Write "{DETAIL_TYPE}" here.')
    source, kind = _parse_source(node.member("source"))
    return Detail(
        pointer=node.pointer,
        source=source,
        source_kind=kind,
        access_mode=_choice(node.member("access_mode"), AccessMode, AccessMode.CONTINUOUS),
        stream_requests=tuple(_parse_stream_requests(node.member("streams"))),
        purpose_code=node.member("purpose_code").text(_LONGEST_CODE) or None,
        purpose=node.member("purpose_description").text(_LONGEST_PURPOSE).strip(),
        claims=_parse_claims(node),
    )


def _parse_source(node: Node) -> tuple[str, str | None]:
    """Return what names a source, its id or its short name, and its kind where that is told."""
    if not isinstance(node.value, dict):
        return node.text(_LONGEST_URI, least=1), None
    _admit(node, ("id",), ("kind",))
    kind = node.member("kind").text(_LONGEST_CODE)
    return node.member("id").text(_LONGEST_URI, least=1), kind or None


def _parse_stream_requests(node: Node) -> Iterable[StreamRequest]:
    stream_requests = node.items(least=1)
    if len(stream_requests) > _MOST_STREAMS:
        node.refuse(f"Name at most {_MOST_STREAMS} streams.")
    return [_parse_stream_request(item) for item in stream_requests[:_MOST_STREAMS]]


def _parse_stream_request(node: Node) -> StreamRequest:
    _admit(node, ("name",), _OPTIONAL_STREAM_KEYS)
    view = node.member("view")
    if not view.absent and not node.member("fields").absent:
        view.refuse("Ask for fields or for a view, not for both.")
    return StreamRequest(
        pointer=node.pointer,
        name=node.member("name").text(_LONGEST_CODE, least=1),
        necessity=_choice(node.member("necessity"), Necessity, Necessity.REQUIRED),
        fields=_names(node.member("fields"), _MOST_FIELDS),
        view=None if view.absent else view.text(_LONGEST_CODE, least=1),
        time=_parse_time(node.member("time_range")),
        keys=_names(node.member("resources"), _MOST_RECORDS, key_problem),
        connections=_names(node.member("connection_ids"), _MOST_CONNECTIONS, part_problem),
    )


def _parse_time(node: Node) -> Interval | None:
    if node.absent:
        return None
    _admit(node, (), ("since", "until"))
    since, until = (_parse_moment(node.member(name)) for name in ("since", "until"))
    interval = Interval(since, until)
    if interval.empty:
        node.refuse("Write a range whose since is before its until.")
    bounds = [member for member in node.members().values() if not member.absent]
    if isinstance(node.value, dict) and not bounds:
        node.refuse("Write since, until or both here.")
    return interval


def _parse_moment(node: Node) -> int | None:
    if node.absent:
        return None
    moment = instant.parse(node.text(64))
    if moment is None:
        node.refuse("Write a time such as 2026-01-31T08:00:00Z here.")
    return moment


def _parse_claims(node: Node) -> Mapping[str, Any]:
    """Return what the client promises, in the shapes that can be shown as plain sentences."""
    claims: dict[str, Any] = {}
    for name in ("retention", "client_claims"):
        claim = node.member(name)
        if claim.absent:
            continue
        if isinstance(claim.value, dict):
            claims[name] = _parse_statements(claim)
        else:
            claims[name] = claim.text(_LONGEST_CLAIM, least=1)
    return claims


def _parse_statements(node: Node) -> Mapping[str, Any]:
    members = node.members()
    if len(members) > _MOST_CLAIMS:
        node.refuse(f"Write at most {_MOST_CLAIMS} members here.")
    for name, member in list(members.items())[:_MOST_CLAIMS]:
        if len(name) > _LONGEST_CODE:
            member.refuse(f"Write a name of at most {_LONGEST_CODE} characters.")
        elif isinstance(member.value, str):
            member.text(_LONGEST_CLAIM)
        elif not isinstance(member.value, bool | int | float | None):
            member.refuse("Write a string, a number, true or false here.")
    return node.mapping()


def _require_one_purpose(nodes: Sequence[Node], details: tuple[Detail, ...]) -> None:
    """Refuse a request for several things at once: the owner gives one answer."""
    for node, detail in zip(nodes, details, strict=False):
        for name, value in _purpose(detail).items():
            if value != _purpose(details[0])[name]:
                node.member(name).refuse(f"Write the same {name} in every object of a request.")


def _purpose(detail: Detail) -> Mapping[str, object]:
    return {
        "purpose_code": detail.purpose_code,
        "purpose_description": detail.purpose,
        "access_mode": detail.access_mode,
        "retention": detail.claims.get("retention"),
        "client_claims": detail.claims.get("client_claims"),
    }


def _admit(node: Node, required: Sequence[str], optional: Sequence[str]) -> None:
    """Refuse members that are not named here, those that a declaration leaves free too."""
    if not node.admit(required, optional):
        return
    for key, child in node.members().items():
        if key not in required and key not in optional:
            child.refuse(f"There is no key {key[:_LONGEST_CODE]!r} here.")


def _choice(node: Node, choices: type[C], default: C) -> C:
    return default if node.absent else node.choice(choices) or default


def _names(
    node: Node, most: int, problem_of: Callable[[object], str | None] = lambda _: None
) -> tuple[str, ...]:
    """Return a list of distinct names that holds at least one where it is there at all."""
    if node.absent:
        return ()

    def read(item: Node) -> str | None:
        text = item.text(_LONGEST_URI, least=1)
        problem = problem_of(text) if text else None
        if problem is not None:
            item.refuse(f"This {problem}.")
        return text

    names = node.distinct(read, least=1)
    if len(names) > most:
        node.refuse(f"Write at most {most} items here.")
    return names
