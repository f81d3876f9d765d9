"""The exports that imports are measured with."""

import sys
from pathlib import Path

import pytest
from bench.exports import MAKERS

from pdpp.sources.item import START, Item, Place
from pdpp.sources.registry import BUILT_IN
from pdpp.sources.source import Wishes
from pdpp.sources.tree import open_tree
from pdpp.sources.verdict import judge

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the benchmark reads /proc")


def test_every_source_is_measured() -> None:
    assert MAKERS.keys() == BUILT_IN.keys()


@pytest.mark.parametrize("key", MAKERS)
def test_an_export_is_what_its_source_takes_without_a_remark(key: str, tmp_path: Path) -> None:
    tree = open_tree(MAKERS[key](tmp_path, 50))
    verdict = judge(tree, Wishes())
    assert verdict.source.connector_key == key
    found = [
        item
        for part in verdict.source.parts(tree, verdict.found)
        for item in part.read(START)
        if not isinstance(item, Place)
    ]
    assert all(isinstance(item, Item) for item in found)
    assert len(found) >= 50
