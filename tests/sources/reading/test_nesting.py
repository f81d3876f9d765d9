"""How deep a JSON text goes, and that no parser is given one that goes too deep."""

import json
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import ijson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.sources.importing.census import object_paths
from pdpp.sources.reading import nesting
from pdpp.sources.reading.jsonstream import entry_elements
from pdpp.sources.reading.nesting import Nesting
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.tree import FileEntry, open_tree

DEEP = 8_000
VALUES = st.recursive(
    st.sampled_from(["", "[[[", 'a"]', "\\", 'x\\"{', "\\\\", 1, None]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(['"', "k\\", "[", "}"]), inner, max_size=2)
    ),
    max_leaves=40,
)


def depth(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth, inside), default=0) if isinstance(value, dict | list) else 0


def is_too_deep(text: bytes, size: int) -> bool:
    counted = Nesting()
    told = [counted.is_too_deep(text[at : at + size]) for at in range(0, len(text), size)]
    return any(told)


@given(VALUES, st.sampled_from([1, 2, 3, 7, 1_000]))
def test_what_stands_in_strings_is_no_level_wherever_the_text_is_cut(value: Any, size: int) -> None:
    levels, text = depth(value), json.dumps(value).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nesting, "DEEPEST", levels)
        assert not is_too_deep(text, size)
        patch.setattr(nesting, "DEEPEST", (levels - 1) // 2)
        assert is_too_deep(text, size) or levels < 2


def _elements(entry: FileEntry) -> object:
    return list(map(type, entry_elements(entry, "item")))


def _census(entry: FileEntry) -> object:
    with suppress(ijson.JSONError):
        return list(object_paths(BytesIO(entry.head())))
    return []


@pytest.mark.parametrize(
    "read", [_elements, _census, lambda entry: json_paths(entry, ["item.mapping"])]
)
def test_brackets_without_end_take_no_memory(
    read: Callable[[FileEntry], object], tmp_path: Path
) -> None:
    path = tmp_path / "deep.json"
    path.write_bytes(b"[" * DEEP + b"]" * DEEP)
    [entry] = open_tree(path).entries
    tracemalloc.start()
    read(entry)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 << 20
