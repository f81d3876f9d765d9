"""Reports: what an import read and what became of it, for a person, a program and the history."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pdpp.evidence.fence import visible
from pdpp.model import instant

MOST_EXAMPLES = 3
_MOST_REASONS = 100
_LONGEST_EXAMPLE = 160
_OTHER = "other reasons"
_WRITTEN = ("new", "changed", "unchanged", "deleted")
COUNTS = ("read", *_WRITTEN, "skipped", "unknown")

COMPLETE, INTERRUPTED, DAMAGED = "complete", "interrupted", "incomplete"
WATCHING = "watching"
BEGUN = "begun"
"""An import that runs, or that was killed: no end of it is known."""


@dataclass(slots=True)
class CaseCount:
    """How often something happened, with the first examples of it."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, example: str) -> None:
        """Count one more."""
        self.count += 1
        if len(self.examples) < MOST_EXAMPLES:
            self.examples.append(visible(example, lines=False)[:_LONGEST_EXAMPLE])


@dataclass(slots=True)
class FileCounts:
    """What became of the files of an export."""

    total: int = 0
    read: int = 0
    attached: int = 0
    passed_over: dict[str, CaseCount] = field(default_factory=dict)
    unknown: dict[str, CaseCount] = field(default_factory=dict)

    def pass_over(self, reason: str, name: str) -> None:
        """Count a file that the source knows and leaves out."""
        _case(self.passed_over, reason).add(name)

    def wonder(self, kind: str, name: str) -> None:
        """Count a file that the source does not know."""
        _case(self.unknown, kind).add(name)

    def unaccounted(self) -> int:
        """Return how many files are in none of the groups."""
        left_out = [*self.passed_over.values(), *self.unknown.values()]
        return self.total - self.read - self.attached - sum(cases.count for cases in left_out)


@dataclass(frozen=True, slots=True)
class ImportSubject:
    """What is imported, from where and to where."""

    path: str
    connector_key: str
    label: str
    version: str
    confidence: str
    identity: str
    connection_id: str
    display_name: str
    found: str
    """What a person calls the files of it."""


@dataclass(slots=True)
class ImportReport:
    """The counts of one import as it goes on."""

    subject: ImportSubject
    started_at: int
    ended_at: int | None = None
    status: str = BEGUN
    counts: Counter[str] = field(default_factory=Counter)
    streams: dict[str, Counter[str]] = field(default_factory=dict)
    skipped: dict[str, CaseCount] = field(default_factory=dict)
    unknown: dict[str, CaseCount] = field(default_factory=dict)
    units: Counter[str] = field(default_factory=Counter)
    files: FileCounts = field(default_factory=FileCounts)
    cut: bool = False
    """Whether something of the export is missing that is meant to be imported."""
    torn: bool = False
    """Whether a log lost something that is never read again, because a watch goes on behind it."""

    def unaccounted(self) -> int:
        """Return how much more or less was read than is accounted for; 0 when nothing is lost.

        Everything that was read is written, unchanged, skipped for a reason or of an unknown kind,
        and every file of the export is read, attached, passed over for a reason or unknown.
        """
        outcomes = ("new", "changed", "unchanged", "skipped", "unknown")
        things = self.counts["read"] - sum(self.counts[name] for name in outcomes)
        return abs(things) + abs(self.files.unaccounted())

    def skip(self, reason: str, example: str) -> None:
        """Count an item that was understood and not imported."""
        self.counts["skipped"] += 1
        _case(self.skipped, reason).add(example)

    def lose(self, reason: str, example: str) -> None:
        """Count an item that was to be imported and could not be: the import is not complete."""
        self.skip(reason, example)
        self.cut = True

    def wonder(self, reason: str, example: str) -> None:
        """Count an item that the source does not know."""
        self.counts["unknown"] += 1
        _case(self.unknown, reason).add(example)

    def write(self, stream: str, answer: Mapping[str, Any], keys: list[str]) -> None:
        """Count one batch of a stream, as ingest answered it; its lines have these keys."""
        counts = self.streams.setdefault(stream, Counter())
        for name in _WRITTEN:
            counts[name] += answer[f"records_{name}"]
            self.counts[name] += answer[f"records_{name}"]
        for rejection in answer["rejections"]:
            self.lose(
                f"refused as {rejection['code']}: {rejection['message']}",
                f"{stream} {keys[rejection['input_index']]}",
            )

    def end(self, status: str, now: int) -> None:
        """Close the report."""
        self.status, self.ended_at = status, now

    def document(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "status": self.status,
            "source": {
                "connector_key": self.subject.connector_key,
                "name": self.subject.label,
                "version": self.subject.version,
                "confidence": self.subject.confidence,
            },
            "connection": {
                "connection_id": self.subject.connection_id,
                "display_name": self.subject.display_name,
                "identity": self.subject.identity,
            },
            "path": self.subject.path,
            "found": self.subject.found,
            "started_at": instant.to_text(self.started_at),
            "ended_at": None if self.ended_at is None else instant.to_text(self.ended_at),
            "counts": {name: self.counts[name] for name in COUNTS},
            "units": dict(self.units),
            "unaccounted": self.unaccounted(),
            "files": {
                "found": self.files.total,
                "read": self.counts["parts"],
                "read_earlier": self.counts["parts_read_earlier"],
                "attached": self.files.attached,
                "kept": self.counts["blobs"],
                "passed_over": _cases(self.files.passed_over),
                "unknown": _cases(self.files.unknown),
            },
            "streams": {
                name: {kind: counts[kind] for kind in _WRITTEN}
                for name, counts in self.streams.items()
            },
            "skipped": _cases(self.skipped),
            "unknown": _cases(self.unknown),
        }


def _case(cases: dict[str, CaseCount], reason: str) -> CaseCount:
    if reason not in cases and len(cases) >= _MOST_REASONS:
        reason = _OTHER
    return cases.setdefault(reason, CaseCount())


def _cases(by_reason: Mapping[str, CaseCount]) -> list[dict[str, Any]]:
    return [
        {"reason": reason, "count": cases.count, "examples": cases.examples}
        for reason, cases in sorted(by_reason.items(), key=lambda pair: (-pair[1].count, pair[0]))
    ]


def tell(document: Mapping[str, Any]) -> list[str]:
    """Return a report, new or from the history, as lines for a person."""
    source, connection = document["source"], document["connection"]
    counts = document["counts"]
    numbers = ", ".join(f"{counts[name]:,} {name}" for name in COUNTS[1:])
    lines = [
        f"{source['name']} into {connection['display_name']} ({connection['connection_id']}):"
        f" {document['status']}",
        f"  {counts['read']:,} read: {numbers}",
    ]
    lines += [
        f"  {_stream_line(name, stream_counts)}"
        for name, stream_counts in document["streams"].items()
    ]
    for kind in ("skipped", "unknown"):
        lines += [f"  {kind}, {_case_line(case)}" for case in document[kind]]
    files = document["files"]
    lines += [f"  files passed over, {_case_line(case)}" for case in files["passed_over"]]
    lines += [f"  files not known, {_case_line(case)}" for case in files["unknown"]]
    if document["unaccounted"]:
        lines.append(f"  {document['unaccounted']:,} not accounted for: please report this")
    return [visible(line, lines=False) for line in lines]


def _stream_line(name: str, counts: Mapping[str, int]) -> str:
    parts = [f"{count:,} {kind}" for kind, count in counts.items() if count]
    return f"{name}: {', '.join(parts) or 'nothing'}"


def _case_line(case: Mapping[str, Any]) -> str:
    return f"{case['count']:,} × {case['reason']}: {_examples(case['examples'], case['count'])}"


def _examples(examples: Iterable[str], count: int) -> str:
    texts = list(examples)
    return "; ".join(texts) + ("; …" if count > len(texts) else "")
