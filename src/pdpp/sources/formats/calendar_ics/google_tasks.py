"""Google Tasks: the lists of tasks in a Takeout, one document of JSON."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import FileEntry, Tree

_LISTS = b'"tasks#taskLists"'
_FIRST_BYTES = 400
_ANY_TASK = b'"tasks#task'
_MORE_BYTES = 4_096
_PATHS = frozenset({"items.item.items.item.id", "items.item.id"})
_FEW = 50
_STATES = {"needsAction": "NEEDS-ACTION", "completed": "COMPLETED"}
"""What calendars call the states of a task."""


def task_files(tree: Tree) -> list[FileEntry]:
    """Return the documents of tasks; no others lie in their folder."""
    named = [entry for entry in tree.entries if entry.suffix == ".json"]
    beside = Counter(entry.name.rpartition("/")[0] for entry in named)
    return [
        entry
        for entry in named
        if beside[entry.name.rpartition("/")[0]] <= _FEW and _is_lists(entry)
    ]


def _is_lists(entry: FileEntry) -> bool:
    """Tell whether a document begins as lists of tasks do, or has them before it says so."""
    if _LISTS in entry.head(_FIRST_BYTES):
        return True
    return _ANY_TASK in entry.head(_MORE_BYTES) and json_paths(entry, _PATHS) == _PATHS


def task_owner(files: Sequence[FileEntry]) -> str:
    """Return the id of the first list: every account has one that cannot be deleted."""
    for entry in files:
        with entry.open() as stream:
            for element in elements(stream, "items.item.id"):
                if not isinstance(element, Skipped):
                    return str(element.value)
    return ""


def read_tasks(entry: FileEntry) -> Iterator[Finding]:
    """Yield the tasks of every list."""
    with entry.open() as stream:
        for element in elements(stream, "items.item"):
            if isinstance(element, Skipped):
                yield element
                continue
            for number, task in enumerate(element.value.get("items") or (), 1):
                where = f"{entry.name} list {element.number} task {number}"
                yield from account(_task(element.value, task, where), where, "task")


def _task(listed: Mapping[str, Any], task: Mapping[str, Any], where: str) -> Iterator[Finding]:
    title, notes = str(task.get("title") or "").strip(), str(task.get("notes") or "").strip()
    if task.get("deleted"):
        yield Skipped("a task that was deleted", where)
    elif not task.get("id"):
        yield Unknown("a task without an id", where)
    elif not (title or notes):
        yield Skipped("a task without words", where)
    else:
        key = safe_key(str(listed.get("id")), str(task["id"]))
        # Its time is always midnight in UTC, and stands for the day.
        due = (moment_text(task.get("due")) or "")[:10]
        due = f"{due}T00:00:00" if due else ""
        data = {
            "id": key,
            "calendar": str(listed.get("title") or "Tasks"),
            "title": title or notes.partition("\n")[0],
            "notes": notes,
            "status": _STATES.get(str(task.get("status")), str(task.get("status") or "")),
            "link": next((str(each["link"]) for each in task.get("links") or () if each), ""),
            "updated_at": moment_text(task.get("updated")),
            "starts_at": due,
            "due_at": due,
            "all_day": True if due else None,
            "floating": True if due else None,
            "completed_at": moment_text(task.get("completed")),
        }
        yield Item("tasks", key, present(data, ""))
