"""Members: what an answer's JSON object holds under a name, if it is of the kind that belongs."""

from collections.abc import Mapping, Sequence

from pdpp.model.decimals import is_number

Json = Mapping[str, object]
"""An object of a server's answer, which only what reads answers may look into."""

Scalar = str | int | float | bool | None


def text_in(body: Json, name: str) -> str | None:
    """Return a text, or None where there is none."""
    value = body.get(name)
    return value if isinstance(value, str) and value else None


def whole_in(body: Json, name: str) -> int | None:
    """Return a whole number, or None where there is none."""
    value = body.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def flag_in(body: Json, name: str) -> bool | None:
    """Return a boolean, or None where there is none."""
    value = body.get(name)
    return value if isinstance(value, bool) else None


def scalar_in(body: Json, name: str) -> Scalar:
    """Return a text, a number or a boolean, or None where there is none."""
    value = body.get(name)
    return value if isinstance(value, str) or is_number(value) else None


def object_in(body: Json, name: str) -> Json:
    """Return an object, an empty one where there is none."""
    value = body.get(name)
    # Nearly all are dicts, which is told in a quarter of the time that the abstract class takes.
    return value if isinstance(value, (dict, Mapping)) else {}


def objects_in(body: Json, name: str) -> list[Json]:
    """Return the objects of a list."""
    value = body.get(name)
    if not value or not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, (dict, Mapping))]


def id_in(body: Json, name: str) -> str | None:
    """Return what names a thing: a text, or a whole number as one; None where there is neither."""
    number = whole_in(body, name)
    return text_in(body, name) if number is None else str(number)


def name_in(body: Json, name: str) -> str:
    """Return a text without which the answer makes no sense."""
    value = text_in(body, name)
    if value is None:
        raise ValueError(f"{name} is missing")
    return value


def texts_in(body: Json, name: str) -> Sequence[str]:
    """Return the texts of a list."""
    value = body.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
