"""Error answers: what an error tells, of this program or of a server, as far as there is room."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pdpp.evidence.binary import Binary
from pdpp.evidence.budget import cut
from pdpp.evidence.fence import visible
from pdpp.evidence.text import field_text
from pdpp.mcp.reading.choices import ConnectionChoice, choices_in
from pdpp.model.errors import PdppError
from pdpp.wire.answer import ServerError
from pdpp.wire.members import Json, text_in, whole_in
from pdpp.wire.verbatim import Verbatim

_ALWAYS = ("type", "code", "message", "param", "request_id", "retry_with", "total", "truncated")
_TOLD_OTHERWISE = frozenset(
    {"type", "code", "message", "param", "request_id", "example"}
    | {"available_connections", "unavailable_connections"}
)
_DEEPEST = 4


class ErrorFacts(NamedTuple):
    """An error: its code and words, what else it tells as text, and the whole to be sent on."""

    code: str
    message: str
    request_id: str | None
    details: Mapping[str, str]
    unavailable: Sequence[ConnectionChoice]
    document: Verbatim
    has_example: bool


def read_error(error: PdppError, chars: int, items: int) -> ErrorFacts:
    """Read an error; texts and lists in it are as long as there is room for."""
    members = _bounded_members(_members(error), chars, items)
    message = field_text(members.get("message"))
    texts = {
        name: field_text(v)
        for name, v in members.items()
        if name not in _TOLD_OTHERWISE and v is not None
    }
    return ErrorFacts(
        code=field_text(members.get("code")),
        message=message,
        request_id=text_in(members, "request_id"),
        # The command that connects again ends the message: the text says it once.
        details={
            name: text for name, text in texts.items() if " " not in text or text not in message
        },
        unavailable=choices_in(error.detail.get("unavailable_connections"))[:items],
        document=Verbatim(members),
        has_example="example" in members,
    )


def choices_of(error: PdppError) -> Sequence[ConnectionChoice]:
    """Return the connections that an error offers."""
    return choices_in(error.detail.get("available_connections"))


def offers_more(error: PdppError) -> bool:
    """Tell whether an error could offer more connections than it does."""
    return bool(error.detail.get("truncated"))


def example_in(error: PdppError) -> tuple[str, Mapping[str, object]] | None:
    """Return the call that a refusal of ours shows; a server's words about calls are not shown."""
    example = error.detail.get("example")
    if isinstance(error, ServerError) or not isinstance(example, Mapping):
        return None
    return str(example["tool"]), example["arguments"]


def binary_in(error: PdppError) -> Binary | None:
    """Return what an error tells of content that is not text, where it tells its kind."""
    media_type = text_in(error.detail, "media_type")
    if media_type is None:
        return None
    size = whole_in(error.detail, "size_bytes")
    return Binary(
        media_type, size, text_in(error.detail, "sha256"), text_in(error.detail, "blob_id")
    )


def _members(error: PdppError) -> Json:
    members: dict[str, object] = dict(error.body("")["error"])
    if not members["request_id"]:
        del members["request_id"]
    members.pop("example", None)
    return members if example_in(error) is None else {**members, "example": True}


def _bounded_members(members: Json, chars: int, items: int) -> dict[str, object]:
    first = list(members)[: len(_ALWAYS) + items] if items else ()
    kept = {name: members[name] for name in members if name in first or name in _ALWAYS}
    bounded = {cut(name, 60)[0]: _bounded(kept[name], chars, items) for name in kept}
    offered = members.get("available_connections")
    if isinstance(offered, list) and len(offered) > items:
        bounded["truncated"] = True
    return bounded


def _bounded(value: object, chars: int, items: int, depth: int = 0) -> object:
    """Return a value no longer, wider or deeper than there is room for."""
    if isinstance(value, str):
        return visible(cut(value, chars)[0])
    if depth == min(_DEEPEST, items) or not isinstance(value, list | Mapping):
        return value if isinstance(value, bool | int | float) else None
    if isinstance(value, list):
        return [_bounded(item, chars, items, depth + 1) for item in value[:items]]
    members = list(value.items())[: items + 8]
    return {cut(str(k), 60)[0]: _bounded(v, chars, items, depth + 1) for k, v in members}
