"""History: what earlier imports did, newest first, and the whole report of one."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import click

from pdpp.cli.output import show, table
from pdpp.evidence.fence import visible
from pdpp.model.errors import NotFound
from pdpp.sources.importing.place import place_name
from pdpp.sources.importing.report import tell
from pdpp.sources.importing.state import ImportState

_MOST_LISTED = 50
_HEADER = ("IMPORT", "FOUND", "SOURCE", "CONNECTION", "READ", "NEW", "CHANGED", "STATUS")


def show_history(state: ImportState, wanted: Sequence[str], *, as_json: bool) -> None:
    """Print the last imports, or the one that is named."""
    if len(wanted) > 1:
        raise click.UsageError("Name one import; pdpp import history lists them.")
    reports = state.reports()
    if wanted:
        document = next((report for name, report in reports if name == wanted[0]), None)
        if document is None:
            raise NotFound(f"there is no import {wanted[0]!r}; see pdpp import history")
        show(document, tell(document), as_json=as_json)
        return
    listed = [document for (_, document), _ in zip(reports, range(_MOST_LISTED), strict=False)]
    rows = [_row(document) for document in listed]
    lines = table([_HEADER, *rows]) if rows else ["Nothing was imported yet."]
    show({"imports": listed}, lines, as_json=as_json)


def _row(document: Mapping[str, Any]) -> list[str]:
    counts = document["counts"]
    outcome = (
        document["import_id"],
        document.get("found") or place_name(PurePath(document["path"])),
        document["source"]["name"],
        document["connection"]["display_name"],
        f"{counts['read']:,}",
        f"{counts['new']:,}",
        f"{counts['changed']:,}",
        document["status"],
    )
    return [visible(str(text), lines=False) for text in outcome]
