"""Housekeeping: the jobs that a server does for its store again and again."""

import time
from collections.abc import Sequence

from pdpp.authz.authority import Authority
from pdpp.jobs.anchoring import ANCHOR
from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.model import instant
from pdpp.service.settings import Settings
from pdpp.store.jobs import Json
from pdpp.store.port import Store
from pdpp.store.scope import owner_reaches

PRUNE, SWEEP, COLLECT, TEND = "prune", "sweep", "collect", "tend"
_LOOK_SECONDS = 2.0
_PAUSE_SECONDS = 0.02
"""Between two pieces of work, so that requests that write get their turn."""
_MOST_PUT_OFF = 12
"""At how many looks in a row the index waits for the writers to pause. Searches remember what they
read of it meanwhile. Put together while records come in, it takes as much processor time as writing
them, and the writers wait for it."""

_HOUR_SECONDS = 3_600.0
_DAY_SECONDS = 86_400.0
_KEPT_JOBS = 1_000
_KEPT_OF_A_KIND = 10
_KEPT_DAYS = 90
_REPEATING = (PRUNE, SWEEP, COLLECT, TEND, ANCHOR)


class Housekeeping:
    """Puts the index together after writes, and drops what nobody can ask for any more."""

    def __init__(self, store: Store, settings: Settings, clock: instant.Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._authority = Authority(store, clock, settings.lifetimes)
        self._tended: object = None
        self._seen: object = None
        self._looked_at: object = None
        self._put_off = 0

    def kinds(self) -> Sequence[JobKind]:
        """Return the kinds of jobs that keep a store in order."""
        return (
            JobKind(PRUNE, self.prune, every=_DAY_SECONDS),
            JobKind(SWEEP, self.sweep, every=_HOUR_SECONDS),
            JobKind(COLLECT, self.collect, every=_HOUR_SECONDS),
            JobKind(TEND, self.tend, every=_LOOK_SECONDS, wanted=self.wants_tending),
        )

    def prune(self, _context: JobContext) -> Json:
        """Delete the traces of records that went away before the oldest valid bookmark."""
        before = self._clock() - self._settings.bookmark_life
        return {"traces_dropped": self._store.prune(before)}

    def sweep(self, context: JobContext) -> Json:
        """Forget codes, tokens, clients, uploads and jobs that have ended or came to nothing."""
        now = self._clock()
        files = self._store.sweep_blobs(now - instant.DAY)
        before = now - _KEPT_DAYS * instant.DAY
        jobs = self._store.jobs.prune(before, _KEPT_JOBS, _REPEATING, _KEPT_OF_A_KIND)
        entries = 0
        while dropped := self._authority.sweep():
            entries += dropped
            context.progress(entries, note="ended codes, tokens and clients")
            context.check()
            time.sleep(_PAUSE_SECONDS)
        return {"files_removed": files, "jobs_forgotten": jobs, "entries_dropped": entries}

    def collect(self, context: JobContext) -> Json:
        """Delete what removed connections held, and then files that no record refers to.

        A file is left alone for a day after it was last kept: its record may still be on the way.
        """
        pieces = 0
        while self._store.delete_removed():
            pieces += 1
            context.progress(pieces, note="pieces of removed connections deleted")
            context.check()
            time.sleep(_PAUSE_SECONDS)
        before = self._clock() - instant.DAY
        after = str((context.state or {}).get("after", ""))
        while (last := self._store.collect_blobs(before, after)) is not None:
            after = last
            context.save({"after": after})
            context.check()
            time.sleep(_PAUSE_SECONDS)
        return {"pieces_deleted": pieces}

    def wants_tending(self) -> bool:
        """Tell whether records were written, and nothing since the last look.

        While somebody writes on and on, it is put off a few times only: searches would be slow.
        Where somebody who read kept what was deleted from being removed, it is wanted again.
        """
        state, before = self._store.recent_state(), self._seen
        self._seen = state
        if state == self._looked_at:
            return self._store.holds_deleted()
        # Putting the index together while an import writes would do the same work again after each
        # batch.
        if state != before and self._put_off < _MOST_PUT_OFF:
            self._put_off += 1
            return False
        self._put_off = 0
        # Jobs are written too: only the versions of feeds say that records were.
        self._looked_at = state
        tended, self._tended = self._tended, self._versions()
        return self._tended != tended or self._store.holds_deleted()

    def _versions(self) -> tuple[int, ...]:
        reaches = owner_reaches(self._store.catalogue())
        return tuple(self._store.latest_version(reach) for reach in reaches)

    def tend(self, context: JobContext) -> Json:
        """Put the index together, a bounded piece at a time.

        While somebody writes, only what there is now: the last blocks of those who write on and on
        would be put together again after each batch.
        """
        pieces, versions = 0, self._versions()
        newest: int | None = self._store.newest_block()
        while True:
            if self._store.tend(newest):
                pieces += 1
                context.progress(pieces, note="pieces of the index put together")
                context.check()
                time.sleep(_PAUSE_SECONDS)
            elif newest is None or self._versions() != versions:
                return {"pieces": pieces}
            else:
                newest = None
