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
from pdpp.sources.importing.destination import Destination, but_for, find_destination, in_turn
from pdpp.sources.importing.discovery import discover, usable_sources
from pdpp.sources.importing.place import UPLOADED_FOLDER
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.title import found_name, import_title
from pdpp.sources.source import OwnerChoices
from pdpp.sources.table.own import own_sources
from pdpp.store.jobs import JobOrder

_LONGEST = 300
_LONGEST_WORDS = 1_200


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

    @property
    def names_options(self) -> bool:
        """Whether words tell of something that one can say only to the program, such as --set."""
        notes = [note for planned in self.imports for note in planned.notes]
        return any("--" in words for words in (*notes, *self.unknown, self.problem or ""))


def make_plan(site: Site, data: Path, root: Path) -> ImportPlan:
    """Recognise the exports in a folder and write nothing. It reads files: run it in a thread."""
    store = site.service.store
    state = ImportState(data, store.files)
    choices = OwnerChoices(recall=state.recall)
    sources, _ = usable_sources(None, own_sources(state.plans()))
    try:
        discovery = discover(root, choices, sources)
        every = by_account(store, state, choices, discovery.exports)
        planned: list[PlannedImport] = []
        above: list[str] = []
        for candidate in in_turn(every, lambda found: found.export):
            export = candidate.export
            destination = find_destination(store, state, candidate.tree, export, None)
            planned.append(_planned(candidate, root, destination, above))
            above.append(export.source.connector_key)
    except (PdppError, OSError) as problem:
        words = problem.message if isinstance(problem, PdppError) else str(problem)
        return ImportPlan((), (), _shown(words, root))
    return ImportPlan(planned, [_shown(words, root) for words in discovery.left_out])


def _shown(words: str, root: Path) -> str:
    """Return words on what is left out; the folder of an upload has no name for anybody."""
    if root.name == UPLOADED_FOLDER:
        words = words.replace(f"{UPLOADED_FOLDER} also holds", "The upload also holds", 1)
        words = words.removeprefix(f"in {UPLOADED_FOLDER}: ")
        words = words.replace(f"{UPLOADED_FOLDER} is not known", "The upload is not known", 1)
        words = words.replace(f"{UPLOADED_FOLDER} holds no", "The upload holds no", 1)
    return one_line(words, _LONGEST_WORDS)


def _planned(
    candidate: FoundExport, root: Path, destination: Destination, above: Sequence[str]
) -> PlannedImport:
    recognition = candidate.export.recognition
    amount = "" if recognition.records is None else counted(recognition.records, "record")
    found = found_name(candidate.tree, candidate.export, root)
    new = f"a new account{but_for(destination, candidate.export, above)}"
    where = new if destination.is_new else f"an account you have, {destination.reason}"
    return PlannedImport(
        name=one_line(found, _LONGEST),
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
            title=import_title(candidate.export, found),
        ),
    )
