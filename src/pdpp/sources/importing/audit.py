"""Audits: read an export as an import would, write nothing, and compare with the census."""

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.model.validation import parse_declaration
from pdpp.sources.importing.census import take_census
from pdpp.sources.importing.claims import FoundExport
from pdpp.sources.importing.files import count_files
from pdpp.sources.importing.report import FileCounts, ImportReport, ImportSubject
from pdpp.sources.importing.run import DAMAGE, SURPRISE
from pdpp.sources.importing.title import found_name
from pdpp.sources.importing.unreadable import still_readable
from pdpp.sources.item import START, Attachment, Finding, Item, ResumePoint, Seen, Skipped
from pdpp.sources.reading.guard import SURPRISES, surprise
from pdpp.sources.reading.holes import hole_in
from pdpp.sources.reading.jsontext import scrub
from pdpp.sources.source import Source
from pdpp.store.batch import canonical
from pdpp.store.intake import Checker
from pdpp.store.numbers import read_data

_CHUNK = 1 << 20


@dataclass(slots=True)
class Audit:
    """What reading an export would come to."""

    report: ImportReport
    checkers: Mapping[str, Checker] = field(default_factory=dict)
    """What a store would refuse, by stream."""
    items: Counter[str] = field(default_factory=Counter)
    census: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the audit as JSON data."""
        document = self.report.document()
        names = ("source", "path", "found", "units", "skipped", "unknown", "files")
        return {
            **{name: document[name] for name in names},
            "records": dict(self.items),
            "census": self.census,
            "accounted": self.accounted,
            "complete": self.complete,
        }

    @property
    def accounted(self) -> bool:
        """Tell whether everything that was met is a record, skipped or unknown."""
        said = sum(self.items.values()) + self.report.counts["skipped"]
        said += self.report.counts["unknown"]
        return self.report.counts["read"] == said and not self.report.files.unaccounted()

    @property
    def complete(self) -> bool:
        """Tell whether an import of it would be complete, as far as reading it can tell."""
        return self.accounted and not self.report.cut

    def lines(self) -> list[str]:
        """Return the audit for a person."""
        records = ", ".join(f"{count:,} {name}" for name, count in self.items.items())
        units = ", ".join(f"{count:,} × {name}" for name, count in self.report.units.items())
        subject = self.report.subject
        lines = [f"{subject.found}: {subject.label}: {records or 'no records'}"]
        lines += [f"  read in its format: {units}"] if units else []
        lines += ["  counted again, without its format:", *self._census_lines()]
        for kind, cases in (("skipped", self.report.skipped), ("unknown", self.report.unknown)):
            lines += [f"  {kind}: {case.count:,} × {reason}" for reason, case in cases.items()]
        for reason, case in self.report.files.unknown.items():
            lines.append(f"  files not known: {case.count:,} × {reason}: {case.examples[0]}")
        end = "everything is accounted for" if self.accounted else "NOT ACCOUNTED FOR"
        lacking = ", and not all of it can be read: an import is incomplete"
        return [*lines, f"  {end}{lacking if self.report.cut else ''}"]

    def _census_lines(self) -> list[str]:
        counts = {name: count for name, count in self.census.get("units", {}).items() if count}
        return [f"    {count:,} {name}" for name, count in counts.items()] or ["    nothing"]


def audit(
    source: FoundExport,
    now: int,
    stop: Callable[[], bool] = lambda: False,
    within: Path | None = None,
) -> Audit:
    """Read an export whole and count; nothing is written anywhere."""
    export = source.export
    tree = still_readable(source.tree, export)
    recognition = export.recognition
    subject = ImportSubject(
        path=str(tree.path),
        connector_key=export.source.connector_key,
        label=export.source.label,
        version=recognition.version,
        confidence=str(recognition.confidence),
        identity="",
        connection_id="",
        display_name=recognition.account,
        found=found_name(tree, export, within),
    )
    report = ImportReport(subject, now, files=FileCounts())
    audited = Audit(report, _checkers(export.source, now))
    for refused in tree.refused:
        _take(audited, refused)
    parts = list(export.source.parts(tree, recognition))
    tree.meter.reset()
    for part in parts:
        whole = True
        try:
            for finding in part.findings(START):
                whole &= part.grows or not (isinstance(finding, Skipped) and finding.cut)
                _take(audited, finding, growing=part.grows)
                if stop():
                    return audited
            if whole and (hole := hole_in(part.entry)):
                _take(audited, hole, growing=part.grows)
        except DamagedFile as problem:
            _take(audited, Skipped(DAMAGE, f"{part.entry.name}: {problem.message}", cut=True))
        except SURPRISES as problem:
            _take(audited, surprise(problem, part.entry.name))
            _take(audited, Skipped(SURPRISE, part.entry.name, cut=True))
    count_files(audited.report, tree, export, parts)
    audited.census = take_census(tree).document()
    return audited


def _checkers(source: Source, now: int) -> dict[str, Checker]:
    streams = parse_declaration(source.declaration()).streams
    return {name: Checker(stream, now, sys.maxsize) for name, stream in streams.items()}


def _refusal(checker: Checker | None, item: Item) -> str | None:
    """Return why a store would not take an item, in the words of an import; mostly nothing."""
    if checker is None:
        return f"refused as unknown_stream: {item.stream} is not declared"
    text = _json(item.data)
    if text is None:
        return "a value that JSON cannot say"
    problem = checker.record_problem(item.key, checker.now, read_data(text))
    return None if problem is None else f"refused as {problem.code}: {problem.message}"


def _json(data: Any) -> bytes | None:
    with suppress(TypeError, RecursionError):
        return canonical(data)
    with suppress(TypeError, RecursionError):
        return canonical(scrub(data))
    return None


def _take(audited: Audit, finding: Finding, *, growing: bool = False) -> None:
    report = audited.report
    if isinstance(finding, Seen):
        report.units[finding.kind] += 1
        return
    if isinstance(finding, ResumePoint):
        return
    report.counts["read"] += 1
    if isinstance(finding, Item):
        if refusal := _refusal(audited.checkers.get(finding.stream), finding):
            report.lose(refusal, f"{finding.stream} {finding.key}")
            return
        audited.items[finding.stream] += 1
        for attachment in finding.attachments:
            try:
                _read_through(attachment)
            except DamagedFile as problem:
                report.counts["read"] += 1
                report.lose("a file that cannot be kept", f"{finding.key}: {problem.message}")
    elif isinstance(finding, Skipped):
        report.skip(finding.reason, finding.example)
        report.cut |= finding.lost or (finding.cut and not growing)
    else:
        report.wonder(finding.reason, finding.example)


def _read_through(attachment: Attachment) -> None:
    """Read a file to its end, because only there an archive tells that it is damaged."""
    with attachment.open() as content:
        while content.read(_CHUNK):
            pass
