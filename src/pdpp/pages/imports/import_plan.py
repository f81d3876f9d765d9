"""Import plans: what an upload holds, and which account each export in it would go into."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from pdpp.authz.requester import one_line
from pdpp.evidence.amount import counted
from pdpp.jobs.importing import import_order
from pdpp.model.errors import PdppError
from pdpp.pages.site import Site
from pdpp.sources.importing.by_account import by_account
from pdpp.sources.importing.claims import FoundExport
from pdpp.sources.importing.destination import Destination, find_destination
from pdpp.sources.importing.discovery import discover, usable_sources
from pdpp.sources.importing.state import ImportState
from pdpp.sources.source import OwnerChoices
from pdpp.sources.table.own import own_sources
from pdpp.store.jobs import JobOrder

_LONGEST = 300


class PlannedImport(NamedTuple):
    """One export that was recognised, and where it would go."""

    name: str
    source: str
    account: str
    detail: str
    notes: Sequence[str]
    order: JobOrder


class ImportPlan(NamedTuple):
    """What would be done, and words for what no format knows."""

    imports: Sequence[PlannedImport]
    unknown: Sequence[str]
    problem: str | None = None


def make_plan(site: Site, data: Path, root: Path) -> ImportPlan:
    """Recognise the exports in a folder and write nothing. It reads files: run it in a thread."""
    store = site.service.store
    state = ImportState(data, store.files)
    choices = OwnerChoices(recall=state.recall)
    sources, _ = usable_sources(None, own_sources(state.plans()))
    try:
        discovery = discover(root, choices, sources)
        planned = [
            _planned(
                candidate,
                root,
                find_destination(store, state, candidate.tree, candidate.export, None),
            )
            for candidate in by_account(store, state, choices, discovery.exports)
        ]
    except (PdppError, OSError) as problem:
        words = problem.message if isinstance(problem, PdppError) else str(problem)
        return ImportPlan((), (), one_line(words, 2 * _LONGEST))
    return ImportPlan(planned, [one_line(words, 2 * _LONGEST) for words in discovery.left_out])


def _planned(candidate: FoundExport, root: Path, destination: Destination) -> PlannedImport:
    recognition = candidate.export.recognition
    amount = "" if recognition.records is None else counted(recognition.records, "record")
    where = "a new account" if destination.is_new else f"an account you have, {destination.reason}"
    return PlannedImport(
        name=one_line(candidate.tree.path.name, _LONGEST),
        source=one_line(candidate.export.source.label, _LONGEST),
        account=one_line(destination.display_name, _LONGEST),
        detail=", ".join(filter(None, (where.strip(", "), amount))),
        notes=[one_line(note, _LONGEST) for note in (*recognition.notes, *destination.notes)],
        order=import_order(
            candidate.tree.path,
            candidate.export.source.connector_key,
            destination,
            within=root,
            files=candidate.files,
        ),
    )
