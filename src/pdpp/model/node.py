"""Nodes: the values of a JSON document, each with its place, read with every problem noted."""

import difflib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, TypeVar

from pdpp.model.errors import InvalidDeclaration

NAME_LIMIT = 128
FREE_PREFIX = "x_"

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SUGGESTED = 12
_MOST_WARNINGS = 100

Choice = TypeVar("Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class DeclarationProblem:
    """What is wrong at one place, and the names that would have been right there."""

    place: tuple[int, ...]
    pointer: str
    message: str
    given: str = ""
    known: Collection[str] = ()

    @property
    def advice(self) -> str:
        """Return what is wrong and what to write instead."""
        return self.message + _suggestion(self.given, self.known)

    def as_error(self) -> InvalidDeclaration:
        """Return the problem as the error the caller sees."""
        return InvalidDeclaration(self.advice, param=self.pointer)


def _suggestion(given: str, known: Collection[str]) -> str:
    """Return what to write instead; a name that is too long itself is none to suggest."""
    good = [name for name in known if len(name) <= NAME_LIMIT]
    close = difflib.get_close_matches(given[:NAME_LIMIT], good, 1, 0.5)
    if close:
        return f" Write {close[0]!r}."
    if good:
        return f" Write one of: {', '.join(good[:_SUGGESTED])}."
    return ""


@dataclass(slots=True)
class Problems:
    """The problem that stands first in the document, and what is only worth a warning."""

    first: DeclarationProblem | None = None
    warnings: list[DeclarationProblem] = field(default_factory=list)

    def note(self, problem: DeclarationProblem) -> None:
        """Keep a problem when it stands before the one known so far."""
        if self.first is None or problem.place < self.first.place:
            self.first = problem

    def warn(self, problem: DeclarationProblem) -> None:
        """Keep what a person should know of; past some dozens nobody reads on."""
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(problem)

    def raise_first(self) -> None:
        """Raise the first problem, if there was any."""
        if self.first is not None:
            raise self.first.as_error()


@dataclass(slots=True)
class Node:
    """One value of a document; a wrong one is noted, and read as an empty one of the right type.

    It is not frozen: a declaration has thousands of them, and each would take thrice as long.
    """

    value: object
    problems: Problems = field(default_factory=Problems)
    parent: "Node | None" = None
    step: str | int = ""
    index: int = 0

    @property
    def lineage(self) -> Sequence["Node"]:
        """Return the nodes from the first one below the root down to this one."""
        nodes = []
        node = self
        while node.parent is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    @property
    def pointer(self) -> str:
        """Return the JSON pointer of this node."""
        steps = (str(node.step).replace("~", "~0").replace("/", "~1") for node in self.lineage)
        return "".join(f"/{step}" for step in steps)

    @property
    def place(self) -> tuple[int, ...]:
        """Return what orders nodes as the document does: a parent first, then its children.

        A missing member stands after the members that are there.
        """
        return tuple(node.index for node in self.lineage)

    @property
    def absent(self) -> bool:
        """Tell whether there is nothing here; null counts as nothing."""
        return self.value is None

    def refuse(self, message: str, given: str = "", known: Collection[str] = ()) -> None:
        """Note that this node is wrong; the message says what to write instead."""
        self.problems.note(DeclarationProblem(self.place, self.pointer, message, given, known))

    def warn(self, message: str, given: str = "", known: Collection[str] = ()) -> None:
        """Note that this node is kept and means nothing here."""
        self.problems.warn(DeclarationProblem(self.place, self.pointer, message, given, known))

    def member(self, key: str) -> "Node":
        """Return the member of an object, absent where there is none."""
        members = self.value if isinstance(self.value, dict) else {}
        index = list(members).index(key) if key in members else len(members)
        return Node(members.get(key), self.problems, self, key, index)

    def mapping(self) -> Mapping[str, Any]:
        """Return an object as it is."""
        if isinstance(self.value, dict):
            return self.value
        if not self.absent:
            self.refuse("Write an object here.")
        return {}

    def members(self) -> Mapping[str, "Node"]:
        """Return the members of an object in the document's order."""
        return {
            key: Node(value, self.problems, self, key, index)
            for index, (key, value) in enumerate(self.mapping().items())
        }

    def items(self, least: int = 0) -> Sequence["Node"]:
        """Return the items of a list that holds at least so many."""
        if self.absent and not least:
            return ()
        if not isinstance(self.value, list):
            self.refuse("Write a list here.")
            return ()
        if len(self.value) < least:
            self.refuse("Write at least one item here.")
        return [
            Node(value, self.problems, self, index, index) for index, value in enumerate(self.value)
        ]

    def children(self) -> Iterable["Node"]:
        """Return what an object or a list holds, and nothing for any other value."""
        if isinstance(self.value, dict):
            return self.members().values()
        if isinstance(self.value, list):
            return self.items()
        return ()

    def at(self, path: Sequence[str | int]) -> "Node":
        """Return the node a path of keys and indexes leads to, as far as it leads."""
        node = self
        for step in path:
            node = next((child for child in node.children() if child.step == step), node)
        return node

    def walk(self) -> Iterator["Node"]:
        """Yield this node and every node below it, in no particular order."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(node.children())

    def admit(self, required: Sequence[str], optional: Sequence[str] = ()) -> bool:
        """Tell whether this is an object with the required keys.

        Only an object is read further, so only what is not one answers False. A key that is
        neither required nor optional is kept with a warning: other implementations have their own.
        """
        if not isinstance(self.value, dict):
            self.refuse(f"Write an object with {', '.join(required or optional)} here.")
            return False
        known = (*required, *optional)
        strange = [k for k in self.value if k not in known and not k.startswith(FREE_PREFIX)]
        members = self.members() if strange else {}
        for key in strange:
            members[key].warn(f"{key[:NAME_LIMIT]!r} means nothing here.", key, known)
        for key in required:
            if key not in self.value:
                self.member(key).refuse(f"{key!r} is required here.")
        return True

    def text(self, limit: int | None = None, *, least: int = 0) -> str:
        """Return a string of a bounded length."""
        if not isinstance(self.value, str):
            if least or not self.absent:
                self.refuse("Write a string here.")
            return ""
        if len(self.value) < least:
            self.refuse("Write a string that is not empty here.")
        if limit is not None and len(self.value) > limit:
            self.refuse(f"Write at most {limit} characters here.")
        return self.value

    def name(self, forbidden: str) -> str:
        """Return a string that is fit to be a name in handles, lists and selectors."""
        name = self.text(NAME_LIMIT, least=1)
        self.refuse_name(name, forbidden)
        return name

    def refuse_name(self, name: str, forbidden: str) -> None:
        """Note what keeps a string from being a name, if anything does."""
        if any(char in forbidden or unicodedata.category(char) in _UNSEEN for char in name):
            self.refuse(f"Write a name without control characters and none of {forbidden} in it.")
        elif name != name.strip() or name in {".", ".."}:
            self.refuse("Write a name that is not '.' or '..' and has no space at its ends.")

    def boolean(self, default: bool) -> bool:
        """Return true or false, or the default where there is nothing."""
        if self.absent:
            return default
        if not isinstance(self.value, bool):
            self.refuse("Write true or false here.")
            return default
        return self.value

    def integer(self, low: int, high: int, default: int) -> int:
        """Return a whole number within bounds, or the default where there is nothing."""
        if self.absent:
            return default
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self.refuse(f"Write a whole number from {low} to {high} here.")
            return default
        if not low <= self.value <= high:
            self.refuse(f"Write a whole number from {low} to {high} here.")
        return self.value

    def choice(self, choices: type[Choice]) -> Choice | None:
        """Return the member of an enumeration that is named here."""
        known = [member.value for member in choices]
        if isinstance(self.value, str) and self.value in known:
            return choices(self.value)
        given = self.value if isinstance(self.value, str) else ""
        self.refuse("This is not one of the values allowed here.", given, known)
        return None

    def distinct(self, read: Callable[["Node"], str | None], least: int = 0) -> tuple[str, ...]:
        """Return the strings of a list in which none stands twice."""
        texts: dict[str, None] = {}
        for item in self.items(least):
            text = read(item)
            if text in texts:
                item.refuse("This stands in the list twice; write it once.")
            elif text is not None:
                texts[text] = None
        return tuple(texts)
