"""Awkward records, put in on purpose: ``data/awkward.json`` says where and why they are hard."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import orjson

from pdpp.demo.files import FOLDER

RecordPlace = tuple[str, str, str]

_ENTRIES: dict[str, Any] = orjson.loads((FOLDER / "awkward.json").read_bytes())

AWKWARD: Mapping[str, RecordPlace] = MappingProxyType(
    {name: tuple(entry["place"]) for name, entry in _ENTRIES.items()}
)
DIARY_KEY = AWKWARD["long_document"][2]
TRANSCRIPT_KEY = AWKWARD["one_line_document"][2]
