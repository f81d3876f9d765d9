"""Records of the demo world that tests and benchmarks look for by their place.

Those in ``awkward.json``, which says why each is hard, were put in on purpose.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from pdpp.demo.files import FOLDER

RecordPlace = tuple[str, str, str]

AWKWARD_FILE = Path(__file__).with_name("awkward.json")
_ENTRIES: dict[str, Any] = orjson.loads(AWKWARD_FILE.read_bytes())

AWKWARD: Mapping[str, RecordPlace] = MappingProxyType(
    {name: tuple(entry["place"]) for name, entry in _ENTRIES.items()}
)
DIARY_KEY = AWKWARD["long_document"][2]
TRANSCRIPT_KEY = AWKWARD["one_line_document"][2]

LETTER = (FOLDER / "invoice-4471.txt").read_bytes().decode()
LEDGER = (FOLDER / "invoice-4471.csv").read_bytes().decode()
