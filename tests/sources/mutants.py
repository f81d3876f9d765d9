"""Mutants: an export with one value of it changed, and what comes of reading it.

A value may be gone, be of any other type, be empty, lie one level deeper, have a sibling that
nobody knows, or stand there twice.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

from pdpp.sources.importing.audit import audit
from pdpp.sources.importing.claims import FoundExport
from pdpp.sources.importing.recognition import RecognisedExport
from pdpp.sources.item import Finding, Item, ResumePoint
from pdpp.sources.reading.nested import expand
from pdpp.sources.reading.tree import Tree, TreeLimits, open_tree
from pdpp.sources.source import AnyPart, OwnerChoices, Recognition, Source

NOW = 1_800_000_000_000_000
ODD_WORDS = "odd words that nobody knows"
_SENTENCE = re.compile(r"\w.*\s.*\w", re.DOTALL)
_SCRIPT = re.compile(rb"\A\s*[\w.\[\]\"]+\s*=\s*")
_OTHERS: tuple[Any, ...] = (None, True, 7, 1.5, ODD_WORDS, [], {}, [ODD_WORDS])
Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """The JSON of one file, which may be lines of it, or stand behind the name of a variable."""

    name: str
    prefix: bytes
    value: Any
    lines: bool

    @classmethod
    def of(cls, name: str, content: bytes) -> "Document | None":
        """Return the JSON of a file; nothing where it is none."""
        lines = name.endswith((".jsonl", ".ndjson"))
        match = _SCRIPT.match(content) if name.endswith(".js") else None
        prefix = match[0] if match else b""
        try:
            if lines:
                value: Any = [json.loads(line) for line in content.splitlines()]
            else:
                value = json.loads(content.removeprefix(prefix).rstrip().rstrip(b";"))
        except ValueError:
            return None
        return cls(name, prefix, value, lines) if isinstance(value, list | dict) else None

    def write(self, value: Any) -> bytes:
        """Return the file with another value."""
        if self.lines:
            return b"".join(json.dumps(line).encode() + b"\n" for line in value)
        return self.prefix + json.dumps(value, ensure_ascii=False).encode()


class Mutant(NamedTuple):
    """A document with the value at one place changed."""

    place: Place
    change: str
    value: Any
    bare: bool
    """Whether the value lies in an object that was one before, so that only its members differ."""


def places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Yield where each value stands that is in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for name, held in inner:
        yield (*above, name)
        if isinstance(held, dict | list):
            yield from places(held, (*above, name))


def at(value: Any, place: Place) -> Any:
    """Return what stands at a place."""
    for step in place:
        value = value[step]
    return value


def mutant(document: Any, place: Place, chance: random.Random) -> Mutant:
    """Return a document with the value at a place changed in one of the ways."""
    copy = deepcopy(document)
    holder, last = at(copy, place[:-1]), place[-1]
    old = holder[last]
    others = [other for other in _OTHERS if type(other) is not type(old)]
    empty = [type(old)()] if old and isinstance(old, str | list | dict) else []
    change = chance.choice(("gone", "beside", "other", "other", "empty", "deeper", "deeper"))
    bare = False
    if change == "gone":
        del holder[last]
    elif change == "beside" and isinstance(holder, list):
        holder.insert(cast(int, last), deepcopy(old))
    elif change == "beside":
        holder["novelty"] = {"odd": [ODD_WORDS]}
    elif change == "deeper":
        holder[last] = chance.choice(([old], {"value": old}))
        bare = isinstance(old, dict) and isinstance(holder[last], dict)
    else:
        holder[last] = deepcopy(chance.choice(empty or others if change == "empty" else others))
    return Mutant(place, f"{change}: {json.dumps(old)[:80]}", copy, bare)


def sentences(value: Any) -> Iterator[str]:
    """Yield the texts in a document that are more than a word."""
    for text in strings(value):
        if _SENTENCE.search(text) and text != ODD_WORDS:
            yield text


def strings(value: Any) -> Iterator[str]:
    """Yield every text in a value."""
    if isinstance(value, Mapping):
        for held in value.values():
            yield from strings(held)
    elif isinstance(value, list | tuple):
        for held in value:
            yield from strings(held)
    elif isinstance(value, str):
        yield value


@dataclass
class Reading:
    """What came of reading an export: its texts, and what was told besides."""

    texts: list[str] = field(default_factory=list)
    told: Counter[str] = field(default_factory=Counter)
    accounted: bool = True
    cut: bool = False

    def has(self, text: str) -> bool:
        """Tell whether a text came in."""
        words = " ".join(text.split())
        return any(words in held for held in self.texts)

    def tells_more(self, than: "Reading") -> bool:
        """Tell whether something is told here that is not told there."""
        return self.cut or bool(self.told - than.told)


class _Recorded:
    """A source of which the texts of the items are kept."""

    def __init__(self, source: Source, reading: Reading) -> None:
        self._source = source
        self._reading = reading

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterator[AnyPart]:
        for part in self._source.parts(tree, recognition):
            yield replace(part, read=self._recorded(part))

    def _recorded(self, part: AnyPart) -> Any:
        def read(*start: ResumePoint) -> Iterator[Finding]:
            for finding in cast(Any, part.read)(*start):
                if isinstance(finding, Item):
                    texts = (" ".join(text.split()) for text in strings(finding.data))
                    self._reading.texts += texts
                yield finding

        return read


def read_whole(source: Source, path: Path, settings: Mapping[str, str]) -> Reading | None:
    """Read an export as an audit does; nothing where the source says that it is none of its own."""
    tree = expand(open_tree(path), TreeLimits())
    seen = source.recognise(tree, OwnerChoices(settings))
    if not isinstance(seen, Recognition):
        return None
    reading = Reading()
    recorded = cast(Source, _Recorded(source, reading))
    audited = audit(FoundExport(tree, RecognisedExport(recorded, seen)), NOW)
    report = audited.report
    for cases in (report.skipped, report.unknown, report.files.unknown, report.files.passed_over):
        for reason, case in cases.items():
            reading.told[reason] += case.count
    reading.accounted, reading.cut = audited.accounted, report.cut
    return reading
