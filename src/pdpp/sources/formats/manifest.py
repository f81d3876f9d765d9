"""Manifests: lists of an export's parts, which tell that a download is not whole."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from pdpp.sources.item import Finding, Skipped
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.tree import FileEntry, Tree

_LARGEST = 16 << 20
_COPY = re.compile(r" ?\(\d+\)(?=\.\w+\Z|\Z)")
"""What a browser adds to a name that was there already."""


def read_manifest(entry: FileEntry) -> dict[str, Any]:
    """Return a manifest, or nothing where it is none."""
    with suppress(NotJson), entry.open() as stream:
        document = read_json(stream.read(_LARGEST))
        return document if isinstance(document, dict) else {}
    return {}


def missing_parts(tree: Tree, names: Iterable[str]) -> Iterator[Finding]:
    """Tell the parts that a manifest names and that are not there; links stay unread.

    A part is there as a file, or as an archive that was unpacked into a folder of its name.
    """
    steps = {_COPY.sub("", step) for other in tree.entries for step in other.name.split("/")}
    for name in dict.fromkeys(names):
        if not {name, name.removesuffix(".zip")} & steps:
            yield Skipped("a part that the manifest names and that is not here", name, cut=True)
