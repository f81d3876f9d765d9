"""JSON text from strangers: parsed strictly first, and leniently where a writer was careless."""

import codecs
import json
import re
from typing import Any

import orjson

_SURROGATES = re.compile("[\ud800-\udfff]")
_HEX = re.compile(r"\\\\|\\x([0-9A-Fa-f]{2})")
_REPLACEMENT = "\ufffd"


class NotJson(ValueError):
    """Text that is not JSON, with words that say why and never repeat it."""


def read_json(text: bytes) -> Any:
    """Return the value of JSON text; halves of characters and bad bytes become U+FFFD."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _lenient(text.removeprefix(codecs.BOM_UTF8))


def _lenient(text: bytes) -> Any:
    try:
        written = _HEX.sub(_escaped, text.decode("utf-8", "replace"))
        value = json.loads(written, parse_constant=_no_constant, strict=False)
    except RecursionError:
        raise NotJson("JSON too deep") from None
    except ValueError:
        raise NotJson("not JSON") from None
    return scrub(value)


def _escaped(match: re.Match[str]) -> str:
    r"""Return ``\\x0B``, which Telegram writes and JSON does not have, as JSON writes it."""
    return match.group() if match.group(1) is None else f"\\u00{match.group(1)}"


def _no_constant(name: str) -> None:
    """Read NaN and the infinities, which JSON does not have, as null."""


def scrub(value: Any) -> Any:
    """Return a value in which every text can be written as UTF-8."""
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATES.sub(_REPLACEMENT, value)
    if isinstance(value, list):
        return [scrub(item) for item in value]
    if isinstance(value, dict):
        return {scrub(name): scrub(item) for name, item in value.items()}
    return value
