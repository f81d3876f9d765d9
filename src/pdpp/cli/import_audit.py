"""Audits of exports: what is there, counted with and without a source; nothing is written."""

from collections.abc import Sequence
from pathlib import Path

import click

from pdpp.cli.import_preparation import Choice
from pdpp.cli.output import show
from pdpp.evidence.fence import visible
from pdpp.model import instant
from pdpp.sources.importing.audit import audit
from pdpp.sources.importing.discovery import discover, usable_sources
from pdpp.sources.importing.pieces import places
from pdpp.sources.importing.state import ImportState
from pdpp.sources.source import OwnerChoices
from pdpp.sources.table.own import own_sources


def show_audit(paths: Sequence[Path], state: ImportState, choice: Choice, *, as_json: bool) -> None:
    """Read every export that paths hold, and print what an import would come to."""
    choices = OwnerChoices(choice.settings, state.recall, chosen=choice.source is not None)
    sources, _ = usable_sources(choice.source, own_sources(state.plans()))
    audits, unknown, empty = [], [], False
    for path, only in places(paths):
        discovery = discover(path, choices, sources, loose=choice.takes_loose, only=only)
        unknown += discovery.left_out
        empty |= not discovery.exports
        audits += [audit(export, instant.now(), within=path) for export in discovery.exports]
    lines = [line for audit in audits for line in audit.lines()]
    lines += [f"Not known: {words}" for words in unknown]
    document = {"audits": [audit.document() for audit in audits], "not_known": unknown}
    show(document, [visible(line, lines=False) for line in lines], as_json=as_json)
    if empty or not all(audit.complete for audit in audits):
        click.get_current_context().exit(1)
