"""Import runs: read an export part by part and write it batch by batch, however large it is."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from pdpp.model.errors import DamagedFile
from pdpp.sources.importing.positions import PartPosition, PositionLog, position_of, resume_point
from pdpp.sources.importing.report import ImportReport
from pdpp.sources.importing.writer import RecordWriter
from pdpp.sources.item import START, Item, ResumePoint, Seen, Skipped, Unknown
from pdpp.sources.reading.guard import SURPRISES, surprise
from pdpp.sources.reading.holes import hole_in
from pdpp.sources.source import AnyPart

DAMAGE = "the rest of a file that is damaged"
SURPRISE = "the rest of a file that is not understood"
_TELL_EVERY = 64


class ImportRun:
    """One import in progress: it can stop after any item and continue later.

    ``stop`` is asked after every item, and in a part that grows at every resume point; ``tell`` is
    called now and then to show progress. A ``patient`` run says nothing of a last line that is
    still being written. Where ``parts_depend`` on each other, those that were read earlier are read
    again, and nothing of them is written.
    """

    def __init__(
        self,
        writer: RecordWriter,
        report: ImportReport,
        journal: PositionLog,
        *,
        stop: Callable[[], bool] = lambda: False,
        tell: Callable[[], None] = lambda: None,
        patient: bool = False,
        parts_depend: bool = False,
    ) -> None:
        self.writer = writer
        self._report = report
        self._journal = journal
        self.stopped = stop
        self._tell = tell
        self._patient = patient
        self._rereads = parts_depend and not patient
        self.units = report.units
        self._reached: dict[str, PartPosition] = {}

    def run(self, parts: Iterable[AnyPart]) -> bool:
        """Read every part; return whether the end was reached, with everything read written."""
        reached = all(map(self._read, parts))
        self.flush()
        self.writer.settle()
        return reached

    def _read(self, part: AnyPart) -> bool:
        earlier = self._journal.positions.get(part.entry.name)
        if earlier is not None and earlier.done and earlier.stamp == part.entry.stamp:
            self._report.counts["parts_read_earlier"] += not self._patient
            return not self._rereads or self._read_again(part)
        self._report.counts["parts"] += 1
        return _Reader(self, part, earlier).run()

    def _read_again(self, part: AnyPart) -> bool:
        """Read a part for those after it; return whether nobody stopped it."""
        with suppress(DamagedFile, *SURPRISES):
            return not any(self.stopped() for _ in part.findings(START))
        return True

    def take(self, finding: Skipped | Unknown, *, growing: bool) -> None:
        """Count one thing that is no item.

        The end of a part that is ``growing`` may be cut off without anything being wrong.
        """
        if isinstance(finding, Unknown):
            self._report.wonder(finding.reason, finding.example)
        elif finding.cut and growing and self._patient:
            return
        else:
            self._report.skip(finding.reason, finding.example)
            self._report.cut |= finding.lost or (finding.cut and not growing)
            self._report.torn |= finding.lost and growing
        self.count()

    def lacks(self, *, whole: bool) -> None:
        """Take in what an earlier run told of a part that it did not read whole."""
        self._report.cut |= not whole

    def count(self) -> None:
        """Count one thing that was read."""
        counts = self._report.counts
        counts["read"] = read = counts["read"] + 1
        if not read % _TELL_EVERY:
            self._tell()

    def reach(self, name: str, position: PartPosition) -> None:
        """Remember how far a part is, to be noted when everything before it is written."""
        self._reached[name] = position

    def flush(self) -> None:
        """Send what is gathered to be written; how far that came is noted once it is stored."""
        reached, self._reached = self._reached, {}
        self.writer.send(partial(self._journal.note, reached))
        self._tell()


class _Reader:
    """The reading of one part."""

    def __init__(self, run: ImportRun, part: AnyPart, earlier: PartPosition | None) -> None:
        self._run = run
        self._part = part
        self._point, self._passed_over = resume_point(earlier, part)
        self._items = 0
        self._whole = self._ends = True

    def run(self) -> bool:
        grows, stopped, passed_over = self._part.grows, self._run.stopped, self._passed_over
        units, writer, count = self._run.units, self._run.writer, self._run.count
        try:
            for finding in self._part.findings(self._point):
                # Items first: there are a million of them for each other thing.
                if isinstance(finding, Item):
                    self._items += 1
                    if self._items > passed_over:
                        writer.add(finding)
                        count()
                        if writer.full:
                            self._reach(done=False)
                            self._run.flush()
                    may_stop = not grows
                elif isinstance(finding, Seen):
                    if self._items >= passed_over:
                        units[finding.kind] += 1
                    continue
                elif isinstance(finding, ResumePoint):
                    self._point = finding
                    may_stop = grows
                else:
                    self._take(finding)
                    may_stop = not grows
                if may_stop and stopped():
                    self._reach(done=False)
                    return False
            self._tell_hole()
        except DamagedFile as problem:
            self._tear(Skipped(DAMAGE, f"{self._part.entry.name}: {problem.message}", cut=True))
        except SURPRISES as problem:
            self._take(surprise(problem, self._part.entry.name))
            self._tear(Skipped(SURPRISE, self._part.entry.name, cut=True))
        self._reach(done=self._whole)
        return True

    def _tell_hole(self) -> None:
        """Tell of zeros that the reader passed over without a word."""
        if self._ends and (hole := hole_in(self._part.entry)):
            self._whole = self._part.grows
            self._run.take(hole, growing=self._part.grows)

    def _tear(self, skipped: Skipped) -> None:
        self._whole = False
        self._run.take(skipped, growing=False)

    def _take(self, finding: Skipped | Unknown) -> None:
        self._items += 1
        if isinstance(finding, Skipped) and not self._part.grows:
            self._ends &= not finding.cut
            self._whole &= not (finding.cut or finding.lost)
        if self._items <= self._passed_over:
            self._run.lacks(whole=self._whole)
            return
        self._run.take(finding, growing=self._part.grows)

    def _reach(self, *, done: bool) -> None:
        position = position_of(self._part, self._items, self._point, done=done)
        self._run.reach(self._part.entry.name, position)
