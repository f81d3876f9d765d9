"""Tokens: what it costs to know a bearer, among a few stored tokens and among very many."""

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.estate import letters_estate
from bench.report import Row
from pdpp.authz.principal import Gate
from pdpp.authz.token import TokenKind, mint
from pdpp.model import instant
from pdpp.store.sqlite.store import SqliteStore

_CHECKS = 5_000
_LOOK_UPS = 200
_FAMILY = 20
"""How many tokens came from one approval."""
_BATCH = 10_000
_MOST_TOKENS = 1_000_000


class Counter:
    """A gate over a store, and the bearer it is asked about."""

    def __init__(self, folder: Path) -> None:
        estate = letters_estate(folder)
        self.store = SqliteStore(estate.folder)
        self._gate = Gate(self.store, instant.now)
        self._header = f"Bearer {estate.token}"

    def check(self) -> None:
        """Check a bearer that is known since its last use."""
        self._gate.admit(self._header)

    def look_up(self) -> None:
        """Check a bearer after something was written."""
        self._gate.forget()
        self._gate.admit(self._header)


def token_rows(records: int, rounds: int) -> Iterator[Row]:
    """Yield the time of a check with a bearer that is known, and of one after a write."""
    count = min(_MOST_TOKENS, records)
    with TemporaryDirectory() as folder:
        few, many = Counter(Path(folder) / "few"), Counter(Path(folder) / "many")
        add_tokens(many.store, count)
        known = _compare(few.check, many.check, _CHECKS, rounds)
        unknown = _compare(few.look_up, many.look_up, _LOOK_UPS, rounds)
        revoking = _milliseconds(many.store, count, rounds)
        for counter in (few, many):
            counter.store.close()
    among = f"{count:,} stored tokens"
    yield Row("token check", known[0], "µs", 30, "CPU; the bearer is known since its last use")
    yield Row(f"token check, {among} against few", known[1] / known[0], "×", 1.5, _note(known))
    name = f"token check after a write, {among} against few"
    yield Row(name, unknown[1] / unknown[0], "×", 1.5, _note(unknown))
    note = "by the clock, until it is on the disk"
    yield Row(f"revoking a family among {among}", revoking, "ms", 50, note)


def add_tokens(store: SqliteStore, count: int) -> None:
    """Store tokens of families, as a server that ran for years would hold them."""
    now = instant.now()
    _, token = mint(TokenKind.CLIENT, "bench", now, expires_at=now)
    for first in range(0, count, _BATCH):
        with store.vault.transaction() as transaction:
            for number in range(first, min(count, first + _BATCH)):
                digest = hashlib.sha256(number.to_bytes(8, "big")).hexdigest()
                own = number // _FAMILY
                transaction.add_token(
                    replace(token, hash=digest, grant_id=f"grt_{own}", family=f"fam_{own}")
                )


def _compare(
    few: Callable[[], None], many: Callable[[], None], times: int, rounds: int
) -> tuple[float, float]:
    """Return the microseconds of two pieces of work that take turns."""
    pairs = [(_time(few, times), _time(many, times)) for _ in range(rounds + 1)][1:]
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def _time(work: Callable[[], None], times: int) -> float:
    begun = time.process_time()
    for _ in range(times):
        work()
    return 1e6 * (time.process_time() - begun) / times


def _milliseconds(store: SqliteStore, count: int, rounds: int) -> float:
    taken = []
    for turn in range(rounds):
        begun = time.perf_counter()
        with store.vault.transaction() as transaction:
            transaction.revoke_family(f"fam_{turn * (count // _FAMILY) // rounds}", instant.now())
        taken.append(1e3 * (time.perf_counter() - begun))
    return median(taken)


def _note(found: tuple[float, float]) -> str:
    return f"{found[1]:.1f} µs CPU against {found[0]:.1f} µs"
