"""Archives of a folder are read without keeping more than a few files open."""

import os
import zipfile
from pathlib import Path

from pdpp.sources.reading.nested import expand
from pdpp.sources.reading.reopened import MOST_OPEN
from pdpp.sources.reading.tree import TreeLimits, open_tree


def open_files() -> int:
    return len(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"))


def test_hundreds_of_archives_need_few_open_files(tmp_path: Path) -> None:
    for number in range(3 * MOST_OPEN):
        with zipfile.ZipFile(tmp_path / f"{number}.zip", "w") as archive:
            archive.writestr("a.txt", f"first {number}")
            archive.writestr("b.txt", f"second {number}")
    before = open_files()
    tree = expand(open_tree(tmp_path), TreeLimits())
    texts = {e.name: e for e in tree.entries if e.name.endswith(".txt")}
    assert len(texts) == 6 * MOST_OPEN
    for _ in range(2):
        for number in range(3 * MOST_OPEN):
            with texts[f"{number}.zip/b.txt"].open() as stream:
                assert stream.read() == f"second {number}".encode()
    assert open_files() - before <= MOST_OPEN + 1
