"""Manifests are read as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.cli.exporting.manifest import (
    RECORDS,
    Manifest,
    ManifestEntry,
    UnfinishedFile,
    read_manifest,
    write_manifest,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(TEXT, TEXT, st.booleans())
def test_a_manifest_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, name: str, cursor: str, complete: bool
) -> None:
    path = tmp_path_factory.mktemp("m") / "manifest.json"
    facts = {"connection_id": "c", "stream": name, "records": 1}
    made = Manifest(
        "owner",
        {"stream": name},
        "2026-01-01T00:00:00Z",
        connections=[{"connection_id": name, "connector_key": name, "display_name": name}],
        files=[ManifestEntry("records/a.ndjson", RECORDS, 5, "ab", facts)],
        missing_blobs=[name],
        begun=None if complete else UnfinishedFile(name, name, 1, 2, cursor),
        replaced=[] if complete else ["records/b.ndjson"],
        complete=complete,
    )
    write_manifest(path, made)
    assert read_manifest(path) == made
    assert made.find(RECORDS, stream=name) is made.files[0]
    assert made.find(RECORDS, stream=f"{name}x") is None
