"""Watching: look at a growing folder again and again, and read only what is new."""

from collections.abc import Callable
from contextlib import closing

from pdpp.model.declaration import Declaration
from pdpp.model.errors import ImportRefused
from pdpp.sources.importing.recognition import RecognisedExport, ask_source
from pdpp.sources.importing.report import WATCHING
from pdpp.sources.importing.task import ImportCallbacks, ImportTask
from pdpp.sources.importing.unreadable import still_readable, without_unreadable
from pdpp.sources.reading.tree import Tree, open_tree
from pdpp.sources.source import ExportRefusal, OwnerChoices, Recognition

Sight = tuple[tuple[str, str], ...]


def watch(
    task: ImportTask,
    declaration: Declaration,
    choices: OwnerChoices,
    callbacks: ImportCallbacks,
    wait: Callable[[], bool],
) -> None:
    """Read what is new, then wait, until ``wait`` or the callbacks say that it is enough.

    Offsets that earlier imports remembered are believed, unless the connection is new.
    """
    with closing(task.journal(declaration)) as journal:
        journal.begin(anew=task.destination.is_new)
        task.report_refused()
        task.report.status = WATCHING
        seen: Sight = ()
        looked_at = _sight(task.tree)
        reached = True
        while True:
            now = _sight(task.tree)
            if now != seen:
                # What was cut off is read anew each time, and may be whole by now.
                task.report.cut = task.report.torn or bool(task.tree.missing)
                reached = task.read_parts(journal, callbacks, patient=True)
                task.keep()
                seen = now
            if callbacks.stop() or wait():
                break
            looked_at = _look_again(task, choices, looked_at)
            task.report_refused()
        journal.end(complete=reached)
    task.end_reading(reached=reached)


def _sight(tree: Tree) -> Sight:
    return tuple((entry.name, entry.stamp) for entry in tree.entries)


def _look_again(task: ImportTask, choices: OwnerChoices, looked_at: Sight) -> Sight:
    """See what the path holds now, and return it; while it is gone or not understood, go by that.

    Files that cannot be read stay out, and are tried again when anything has changed.
    """
    try:
        tree = open_tree(task.tree.path)
    except (OSError, ImportRefused):
        return looked_at
    sight = _sight(tree)
    if sight == looked_at:
        return looked_at
    source = task.export.source
    recognition = ask_source(source, tree, choices)
    if isinstance(recognition, ExportRefusal) and recognition.damaged:
        tree = without_unreadable(tree)
        recognition = ask_source(source, tree, choices)
    if not isinstance(recognition, Recognition):
        return looked_at
    export = RecognisedExport(source, recognition)
    task.replace_export(still_readable(tree, export), export)
    return sight
