"""Which lists of activities may name files that lie beside them."""

from pathlib import Path

import pytest

from pdpp.sources.formats.google_activity.files import may_name_files
from pdpp.sources.reading.tree import open_tree

_PIECE = 1 << 20
_LOCAL = b'[{"subtitles": [{"name": "a", "url": "picture.png"}]}]'
_LINKED = b'[{"subtitles": [{"name": "a", "url": "https://example.org"}]}]'


@pytest.mark.parametrize("at", range(len(_LINKED)))
@pytest.mark.parametrize(("content", "named"), [(_LOCAL, True), (_LINKED, False)])
def test_a_name_that_is_cut_between_two_pieces_is_seen(
    tmp_path: Path, content: bytes, named: bool, at: int
) -> None:
    path = tmp_path / "MyActivity.json"
    path.write_bytes(b" " * (_PIECE - at) + content)
    (entry,) = open_tree(path).entries
    assert may_name_files(entry) is named
