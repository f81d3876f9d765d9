import json
from pathlib import Path

import pytest

from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.tree import open_tree

WANTED = ("item.mapping", "item.current_node")
DOCUMENT = json.dumps([{"mapping": {"a": "x" * 300_000}, "current_node": "a"}]).encode()


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n ", b"\n"])
def test_members_are_found_wherever_they_stand_and_whatever_stands_before(
    before: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "conversations (1).json"
    path.write_bytes(before + DOCUMENT)
    [entry] = open_tree(path).entries
    assert json_paths(entry, WANTED) == set(WANTED)
    path.write_bytes(before + DOCUMENT[:-100_000])
    [entry] = open_tree(path).entries
    assert json_paths(entry, WANTED) == {"item.mapping"}
