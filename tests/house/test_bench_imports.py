"""The exports that imports are measured with."""

import sys
from pathlib import Path

import pytest
from bench.imports import every_maker

from pdpp.sources.importing.recognition import recognise_export
from pdpp.sources.item import START, Finding, Item, ResumePoint, Seen, Skipped
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.registry import BUILT_IN
from pdpp.sources.source import OwnerChoices

MAKERS = every_maker()

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the benchmark reads /proc")


def test_every_source_is_measured() -> None:
    assert MAKERS.keys() == BUILT_IN.keys()


def _matters(finding: Finding) -> bool:
    """Tell whether a finding is no remark on what only helps to read the rest."""
    helps = ("a node of the tree without", "a time zone", "a line about", "the date of")
    return not (isinstance(finding, Skipped) and finding.reason.startswith(helps))


@pytest.mark.parametrize("key", MAKERS)
def test_an_export_is_what_its_source_takes_without_a_remark(key: str, tmp_path: Path) -> None:
    tree = open_tree(MAKERS[key](tmp_path, 50))
    export = recognise_export(tree, OwnerChoices())
    assert export.source.connector_key == key
    found = [
        item
        for part in export.source.parts(tree, export.recognition)
        for item in part.findings(START)
        if not isinstance(item, ResumePoint | Seen) and _matters(item)
    ]
    assert all(isinstance(item, Item) for item in found)
    assert len(found) >= 50
