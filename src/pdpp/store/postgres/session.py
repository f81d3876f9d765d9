"""A session: statements that are prepared once and sent as libpq takes them.

The driver's cursors look at every value and result in Python. Here only rows are read by the
driver, in its compiled part.
"""

import re
import select
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import psycopg
from psycopg import generators, pq
from psycopg.adapt import Transformer

from pdpp.store.postgres.values import NOTHING, TEXTS, dumped, with_texts

_PREPARED = 1_024
"""How many statements a session keeps prepared; what was used least lately goes first."""
_INSERTION = re.compile(r'\s*INSERT INTO "?(\w+)')
_BINARY, _TEXT = pq.Format.BINARY, pq.Format.TEXT

_Key = tuple[str, tuple[int, ...]]
_Bound = tuple[bytes, Sequence[Any], Sequence[int]]
"""A prepared statement with its values and their formats."""


class Column(NamedTuple):
    """A column of a result: its name, and the number of its type."""

    name: str
    type: int


class Result(NamedTuple):
    """What a statement gave: its rows, and how many it gave or changed."""

    columns: Sequence[Column]
    rows: list[tuple[Any, ...]]
    size: int


class StateCheck(NamedTuple):
    """A statement that gives one value, and what takes it: that raises where it is a wrong one."""

    text: str
    values: Sequence[Any]
    take: Callable[[Any], None]


class Beginning(NamedTuple):
    """What a transaction begins with: some statements, and a question.

    With a question whose answer is right only as long as nothing is written, the first statement
    needs no transaction: it is asked before the question, and the second one begins with the same
    question.
    """

    texts: Sequence[str]
    alone: Sequence[str] = ()
    """What the first statement is asked with where it is asked without a transaction."""
    question: StateCheck | None = None
    is_asked: bool = False
    """Whether a statement was asked, and the question with it."""


class OwnerRows(NamedTuple):
    """How many rows of an owner were written on a connection, and how many when last counted."""

    written: int = 0
    counted: int = 0


class Session:
    """One connection, on which one statement is asked at a time."""

    def __init__(self, raw: "psycopg.Connection[Any]") -> None:
        self._raw = raw
        self._pg = raw.pgconn
        self._loader = Transformer(raw)
        self._names: OrderedDict[_Key, bytes] = OrderedDict()
        self._columns: dict[bytes, tuple[Sequence[Column], Sequence[int]]] = {}
        """The columns that a statement gives, and which of them are texts."""
        self._number = 0
        self._is_ending = False
        self._unheard: list[bytes] = []
        """The statements that were sent, and of which nobody has heard yet what came of them."""
        self._inserting: dict[bytes, str] = {}
        """The tables that statements add rows to."""
        self.written = 0
        """How many rows were written, as far as somebody still has to know."""
        self.grown: set[str] = set()
        """The tables that rows were added to, as far as somebody still has to know."""
        self.owner_rows: dict[int, OwnerRows] = {}
        """What was written and counted of the owners that wrote here last."""
        self.beginning: Beginning | None = None
        """What is sent with the next statement.

        Sent by itself it would be a way to the database and back of its own.
        """

    def ask_beginning(self) -> None:
        """Ask the question that a transaction was to begin with, and begin none."""
        begin, self.beginning = self.beginning, None
        if begin is not None and begin.question is not None and not begin.is_asked:
            question = begin.question
            question.take(self.ask(question.text, question.values, None).rows[0][0])

    def ask(self, text: str, values: Sequence[Any], owner: int | None) -> Result:
        """Ask a statement with its values, prepared when it is first asked."""
        self._finish()
        begin, bound = self.beginning, self._bound(text, values, owner)
        if begin is None:
            result = self._pg.exec_prepared(*bound, _BINARY)
        elif begin.question is None or begin.is_asked:
            result = self._ask_beginning_with(begin, bound)
        else:
            result = self._ask_alone(begin, begin.question, bound)
        return self._taken(bound[0], result)

    def send(self, statements: Sequence[tuple[str, Sequence[Any]]], owner: int | None) -> None:
        """Send statements inside a transaction, and do not wait for what comes of them.

        The database works on them while the caller does something else. Where one fails, the next
        statement or the end of the transaction raises it.
        """
        self._finish()
        bound = [self._bound(text, values, owner) for text, values in statements]
        self._send_all(bound)
        self._unheard = [name for name, _, _ in bound]

    def _ask_alone(self, begin: Beginning, question: StateCheck, asked: _Bound) -> pq.abc.PGresult:
        """Send a statement without a transaction, and after it the question if all is as it was.

        Whatever the statement saw, it saw before the answer: nothing had been written until then.
        """
        sent = [self._bound(text) for text in begin.alone]
        last = self._bound(question.text, question.values)
        *begun, result, answer = self._pipelined([*sent, asked, last])
        for one in begun:
            self._check(one)
        self._check(result)
        question.take(self._taken(last[0], answer).rows[0][0])
        self.beginning = begin._replace(is_asked=True)
        return result

    def _ask_beginning_with(self, begin: Beginning, asked: _Bound) -> pq.abc.PGresult:
        """Send what a transaction begins with and a statement of it in one go."""
        self.beginning = None
        sent = [self._bound(text) for text in begin.texts]
        question = begin.question
        if question is not None:
            sent.append(self._bound(question.text, question.values))
        *begun, result = self._pipelined([*sent, asked])
        for one in begun:
            self._check(one)
        if question is not None:
            # Before the other answer is looked at, which may be wrong for that reason.
            question.take(self._taken(sent[-1][0], begun[-1]).rows[0][0])
        return result

    def _bound(self, text: str, values: Sequence[Any] = (), owner: int | None = None) -> _Bound:
        data, types = dumped(values, owner)
        formats = [_TEXT if value is NOTHING else _BINARY for value in data]
        return self._prepared(text, types), data, formats

    def _pipelined(self, sent: Sequence[_Bound]) -> list[pq.abc.PGresult]:
        """Send prepared statements in one go; return the result of each."""
        self._send_all(sent)
        return self._all_received()

    def _send_all(self, sent: Sequence[_Bound]) -> None:
        pg = self._pg
        pg.enter_pipeline_mode()
        for name, data, formats in sent:
            pg.send_query_prepared(name, data, formats, _BINARY)
        pg.pipeline_sync()
        if pg.flush():
            self._raw.wait(generators.send(pg))

    def _all_received(self) -> list[pq.abc.PGresult]:
        results = []
        while (result := self._received()).status != pq.ExecStatus.PIPELINE_SYNC:
            results.append(result)
        self._pg.exit_pipeline_mode()
        return results

    def _received(self) -> pq.abc.PGresult:
        """Wait for the next result of a pipeline.

        The driver's own way to wait takes 20 µs more: as much as a short statement.
        """
        pg = self._pg
        while True:
            while pg.is_busy():
                _wait_for(pg.socket)
                pg.consume_input()
            result = pg.get_result()
            if result is not None:
                return result
            # Nothing stands between two results, and after the last one of a cut connection.
            if pg.status == pq.ConnStatus.BAD:
                raise psycopg.OperationalError(pg.get_error_message())

    def _taken(self, name: bytes, result: pq.abc.PGresult) -> Result:
        """Return what a result has."""
        if name in self._inserting:
            self.grown.add(self._inserting[name])
        if result.status != pq.ExecStatus.TUPLES_OK:
            self._check(result)
            size = result.command_tuples or 0
            self.written += size
            return Result((), [], size)
        known = self._columns.get(name)
        if known is None:
            columns = _columns_of(result)
            texts = [at for at, column in enumerate(columns) if column.type in TEXTS]
            known = self._columns[name] = columns, texts
        self._loader.set_pgresult(result, set_loaders=True, format=_BINARY)
        rows = with_texts(self._loader.load_rows(0, result.ntuples, tuple), known[1])
        return Result(known[0], rows, result.ntuples)

    def parameter_types(self, text: str) -> Sequence[int]:
        """Return the types that a statement takes its values as."""
        self._finish()
        name = self._prepared(text, ())
        # The driver's own call for both holds the interpreter until the database has answered, and
        # with it everybody whom this process serves.
        self._pg.send_describe_prepared(name)
        (described,) = self._raw.wait(generators.execute(self._pg))
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
            self._inserting.pop(old, None)
            self.control(f"DEALLOCATE {old.decode()}")
        self._number += 1
        name = b"pdpp_%d" % self._number
        self._check(self._pg.prepare(name, text.encode(), types))
        self._names[key] = name
        if (insertion := _INSERTION.match(text)) is not None:
            self._inserting[name] = insertion[1]
        return name

    def control(self, text: str) -> bytes | None:
        """Send statements without values or rows, several at once where there are several.

        Return what the database says that it did with the last of them.
        """
        self._finish()
        result = self._pg.exec_(text.encode())
        self._check(result)
        return result.command_status

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
        return self._is_ending or not self.is_in_transaction

    @property
    def is_in_transaction(self) -> bool:
        """Tell whether there is a transaction to end."""
        return self._pg.transaction_status != pq.TransactionStatus.IDLE

    def roll_back(self) -> None:
        """End a transaction that failed; a connection that was cut has ended it already."""
        with suppress(psycopg.Error):  # whatever else failed in it
            self._finish()
        if not self._raw.closed:
            self._raw.rollback()

    def _finish(self) -> None:
        """Take what came of what was sent before, or of the end of the transaction before."""
        if self._unheard:
            names, self._unheard = self._unheard, []
            for name, result in zip(names, self._all_received(), strict=True):
                self._taken(name, result)
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


def _wait_for(descriptor: int) -> None:
    """Wait until something can be read, and leave the interpreter to others meanwhile."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll()
    else:
        select.select([descriptor], [], [])


def _columns_of(result: pq.abc.PGresult) -> list[Column]:
    return [
        Column((result.fname(at) or b"").decode(), result.ftype(at)) for at in range(result.nfields)
    ]
