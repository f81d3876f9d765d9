"""A session: statements that are prepared once and sent as libpq takes them.

The driver's cursors look at every value and result in Python. Here only rows are read by the
driver, in its compiled part.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg import pq
from psycopg.adapt import Transformer

from pdpp.store.postgres.values import NOTHING, dumped

_PREPARED = 1_024
"""How many statements a session keeps prepared; what was used least lately goes first."""
_BINARY, _TEXT = pq.Format.BINARY, pq.Format.TEXT

_Key = tuple[str, tuple[int, ...]]


class Column(NamedTuple):
    """A column of a result: its name, and the number of its type."""

    name: str
    type: int


class Result(NamedTuple):
    """What a statement gave: its rows, and how many it gave or changed."""

    columns: Sequence[Column]
    rows: list[tuple[Any, ...]]
    size: int


class Session:
    """One connection, on which one statement is asked at a time."""

    def __init__(self, raw: "psycopg.Connection[Any]") -> None:
        self._raw = raw
        self._pg = raw.pgconn
        self._loader = Transformer(raw)
        self._names: OrderedDict[_Key, bytes] = OrderedDict()
        self._columns: dict[bytes, Sequence[Column]] = {}
        self._number = 0
        self._is_ending = False

    def ask(self, text: str, values: Sequence[Any], owner: int | None) -> Result:
        """Ask a statement with its values, prepared when it is first asked."""
        self._finish()
        data, types = dumped(values, owner)
        name = self._prepared(text, types)
        formats = [_TEXT if value is NOTHING else _BINARY for value in data]
        result = self._pg.exec_prepared(name, data, formats, _BINARY)
        if result.status != pq.ExecStatus.TUPLES_OK:
            self._check(result)
            return Result((), [], result.command_tuples or 0)
        columns = self._columns.get(name)
        if columns is None:
            columns = self._columns[name] = _columns_of(result)
        self._loader.set_pgresult(result, set_loaders=True, format=_BINARY)
        rows = self._loader.load_rows(0, result.ntuples, tuple)
        return Result(columns, rows, result.ntuples)

    def parameter_types(self, text: str) -> Sequence[int]:
        """Return the types that a statement takes its values as."""
        self._finish()
        name = self._prepared(text, ())
        described = self._pg.describe_prepared(name)
        self._check(described)
        return [described.param_type(at) for at in range(described.nparams)]

    def _prepared(self, text: str, types: tuple[int, ...]) -> bytes:
        key = text, types
        name = self._names.get(key)
        if name is not None:
            self._names.move_to_end(key)
            return name
        while len(self._names) >= _PREPARED:
            _, old = self._names.popitem(last=False)
            self._columns.pop(old, None)
            self.control(f"DEALLOCATE {old.decode()}")
        self._number += 1
        name = b"pdpp_%d" % self._number
        self._check(self._pg.prepare(name, text.encode(), types))
        self._names[key] = name
        return name

    def control(self, text: str) -> None:
        """Send statements without values or rows, several at once where there are several."""
        self._finish()
        self._check(self._pg.exec_(text.encode()))

    def end(self, text: str) -> None:
        """Send what nobody waits for: the end of a read, or a notice to others."""
        self._finish()
        self._pg.send_query(text.encode())
        self._is_ending = True

    def notices(self) -> list[str]:
        """Return what others announced since the last look, without waiting for anything."""
        self._finish()
        self._pg.consume_input()
        texts = []
        while (notice := self._pg.notifies()) is not None:
            texts.append(notice.extra.decode())
        return texts

    @property
    def is_idle(self) -> bool:
        """Tell whether the session is outside of any transaction, or about to be."""
        return self._is_ending or self._pg.transaction_status == pq.TransactionStatus.IDLE

    def _finish(self) -> None:
        """Take what came of the end of the transaction before."""
        if self._is_ending:
            self._is_ending = False
            self._raw.wait(psycopg.generators.fetch_many(self._pg))
            if self._pg.transaction_status == pq.TransactionStatus.INERROR:
                # Its time was so short that even its end was cancelled. What was set for it alone
                # is gone with the failure, so that this has time enough.
                self._check(self._pg.exec_(b"ROLLBACK"))

    def _check(self, result: pq.abc.PGresult) -> None:
        """Raise what a result says went wrong."""
        if result.status in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK):
            return
        if self._pg.status == pq.ConnStatus.BAD:
            raise psycopg.OperationalError(self._pg.get_error_message())
        raise psycopg.errors.error_from_result(result)


def _columns_of(result: pq.abc.PGresult) -> list[Column]:
    return [
        Column((result.fname(at) or b"").decode(), result.ftype(at)) for at in range(result.nfields)
    ]
