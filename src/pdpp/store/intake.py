"""Intake: the one way for records into a store, from ingest, imports, restores and the demo.

Lines of NDJSON or parsed items become checked records; a bad one is reported and never loses the
others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict

import jsonschema_rs
import orjson

from pdpp.evidence.handle import are_plain_keys, is_plain_key, key_problem
from pdpp.model import instant
from pdpp.model.declaration import Stream
from pdpp.model.json_types import Keyword, Moment, Size
from pdpp.store.batch import CheckedRecords
from pdpp.store.catalogue import Feed
from pdpp.store.numbers import Inexact, TooDeep, is_doubtful, read_exactly
from pdpp.store.port import Store

_MEMBERS = frozenset({"key", "data", "emitted_at", "op"})
_LONGEST_MESSAGE = 300
_GROUP = 128
"""So many records are checked before they are made ready: the processor stays with one piece of
code, and the first ones are still at hand."""


class IngestLine(TypedDict):
    """One line of an ingest."""

    key: str
    data: NotRequired[dict[str, Any]]
    emitted_at: NotRequired[Moment]
    op: NotRequired[Annotated[str, ("upsert", "delete"), Keyword("default", "upsert")]]


class RejectionJson(TypedDict):
    """A line that was not taken, as it is answered."""

    input_index: Size
    code: str
    message: str


class IngestResultJson(TypedDict):
    """What an ingest did, as it is answered."""

    object: Literal["ingest_result"]
    stream: str
    connection_id: str
    records_attempted: Size
    records_accepted: Size
    records_rejected: Size
    records_new: Size
    records_changed: Size
    records_unchanged: Size
    records_deleted: Size
    rejections: list[RejectionJson]


class Rejection(NamedTuple):
    """Why one line is not taken."""

    code: str
    message: str


class Checker:
    """Tells what is wrong with what is to be written to one stream."""

    def __init__(self, stream: Stream, now: int, line_bytes: int) -> None:
        self._validator = _validator(orjson.dumps(stream.schema))
        self.is_valid = self._validator.is_valid
        self.now = now
        self.line_bytes = line_bytes

    def size_problem(self, size: int) -> Rejection | None:
        """Return what is wrong with the size of a line in bytes."""
        if size > self.line_bytes:
            return Rejection("line_too_long", f"A line has at most {self.line_bytes} bytes.")
        return None

    def emitted(self, text: Any) -> int | None:
        """Return when a record was emitted: now if it does not say, None if it says no time."""
        if text is None:
            return self.now
        return instant.parse(text) if isinstance(text, str) else None

    def record_problem(self, key: Any, emitted: int | None, data: Any) -> Rejection | None:
        """Return what is wrong with a record: mostly nothing, which takes few steps to tell."""
        # The cheap tests first; of a million records hardly one gets past this line.
        plain = emitted is not None and type(data) is dict and is_plain_key(key)
        if plain and self.is_valid(data):
            return None
        return self.name_problem(key, emitted) or self.data_problem(data)

    def name_problem(self, key: Any, emitted: int | None) -> Rejection | None:
        """Return what is wrong with a key or the moment it was emitted at."""
        problem = key_problem(key)
        if problem is not None:
            return Rejection("invalid_key", f"The key {problem}.")
        if emitted is None:
            return Rejection("invalid_time", "emitted_at is a time such as 2026-01-31T08:00:00Z.")
        return None

    def data_problem(self, data: Any) -> Rejection | None:
        """Return what is wrong with the data of a record."""
        if not isinstance(data, dict):
            return Rejection("invalid_data", "data is an object.")
        if not self.is_valid(data):
            return Rejection("schema_violation", self._violation(data))
        return None

    def _violation(self, data: Mapping[str, Any]) -> str:
        """Say where a record departs from its schema, without repeating its content."""
        error = next(iter(self._validator.iter_errors(data)))
        pointer = "".join(f"/{part}" for part in error.instance_path) or "/"
        rule = "/".join(str(part) for part in error.schema_path)
        return f"data{pointer} does not keep to the schema's {rule}."[:_LONGEST_MESSAGE]


@lru_cache(maxsize=512)
def _validator(schema: bytes) -> Any:
    return jsonschema_rs.validator_for(orjson.loads(schema), retriever=_refuse_remote)


def _refuse_remote(uri: str) -> Any:
    # A declaration comes from elsewhere: without this its schema could make the server fetch any
    # address (SSRF).
    raise ValueError(f"schemas do not refer to {uri}")


class Intake:
    """Takes lines for one feed, each checked and made ready at once; a batch of them is written."""

    def __init__(
        self, store: Store, feed: Feed, *, now: int, line_bytes: int, keep_newer: bool = False
    ) -> None:
        self._feed = feed
        self._checker = Checker(feed.stream, now, line_bytes)
        self._batch = store.batch(feed, keep_newer=keep_newer)
        self._checked: list[tuple[str, int, Mapping[str, Any], bytes | None]] = []
        self._taken = 0
        self._rejections: list[RejectionJson] = []

    def replace_newer(self) -> None:
        """Let records replace states that say of themselves that they are later ones."""
        self._batch.keep_newer = False

    def take(self, text: bytes) -> None:
        """Take one line of NDJSON."""
        problem = self._checker.size_problem(len(text)) or self._take_line(text)
        if problem is not None:
            self._reject(problem)
        self._taken += 1

    def take_records(
        self, keys: Sequence[str], data: Sequence[Any], texts: Sequence[bytes]
    ) -> None:
        """Take JSON data by keys together with its canonical text, as emitted now."""
        # Every check of a line, of all records at once: imports come this way by the million, and
        # hardly one of them is refused.
        checker = self._checker
        emitted, is_valid, most = checker.now, checker.is_valid, checker.line_bytes
        if (
            max(map(len, texts)) <= most
            and set(map(type, data)) == {dict}
            and are_plain_keys(keys)
            and all(map(is_valid, data))
        ):
            self._prepare()
            self._batch.keep_all(CheckedRecords(keys, (emitted,) * len(keys), data, texts))
            self._taken += len(keys)
            return
        for key, record, text in zip(keys, data, texts, strict=True):
            if not self._is_refused(key, emitted, record, len(text)):
                self._checked.append((key, emitted, record, text))
            self._taken += 1
        self._prepare()

    def _is_refused(self, key: Any, emitted: int, data: Any, size: int) -> bool:
        """Tell whether a record cannot be taken, and report why."""
        problem = self._checker.size_problem(size)
        problem = problem or self._checker.record_problem(key, emitted, data)
        if problem is not None:
            self._reject(problem)
        return problem is not None

    def _take_line(self, text: bytes) -> Rejection | None:
        try:
            line = orjson.loads(text)
        except orjson.JSONDecodeError as problem:
            return Rejection("invalid_json", f"Not JSON: {problem}."[:_LONGEST_MESSAGE])
        # Unknown members are refused and not dropped: a misspelt ``op`` would otherwise write a
        # record that should have been deleted.
        if not isinstance(line, dict) or not line.keys() <= _MEMBERS:
            message = "A line is an object with key, data, emitted_at and, if need be, op."
            return Rejection("invalid_line", message)
        # Parsing twice would halve the speed of every ingest, so the slow and exact parser is only
        # asked where the quick one may have lost digits or a repeated member.
        try:
            if is_doubtful(text, line):
                line = read_exactly(text)
        except TooDeep as problem:
            return Rejection("invalid_data", str(problem))
        except Inexact as problem:
            return Rejection("inexact_json", str(problem))
        op, key, emitted_at = line.get("op", "upsert"), line.get("key"), line.get("emitted_at")
        if op == "upsert":
            return self._keep(key, emitted_at, line.get("data"))
        if op == "delete":
            return self._drop(key, emitted_at)
        return Rejection("invalid_op", "op is upsert or delete.")

    def _keep(self, key: Any, emitted_at: Any, data: Any) -> Rejection | None:
        """Prepare a record, or return why it cannot be kept."""
        emitted = self._checker.emitted(emitted_at)
        problem = self._checker.record_problem(key, emitted, data)
        if problem is None and emitted is not None:
            self._checked.append((key, emitted, data, None))
            if len(self._checked) >= _GROUP:
                self._prepare()
        return problem

    def _prepare(self) -> None:
        """Have the checked records made ready, some at once."""
        if self._checked:
            columns = CheckedRecords(*zip(*self._checked, strict=True))
            self._checked = []
            self._batch.keep_all(columns)

    def _drop(self, key: Any, emitted_at: Any) -> Rejection | None:
        """Mark a record to be deleted, or return why it cannot be."""
        emitted = self._checker.emitted(emitted_at)
        problem = self._checker.name_problem(key, emitted)
        if problem is None and emitted is not None:
            self._prepare()
            self._batch.drop(key, emitted)
        return problem

    def _reject(self, problem: Rejection) -> None:
        code, message = problem
        self._rejections.append({"input_index": self._taken, "code": code, "message": message})

    def work_ahead(self, *, waiting: bool = True) -> None:
        """Do in this thread what else would be done while the batch is written.

        One that is not ``waiting`` for others leaves them what they do as quickly.
        """
        self._prepare()
        self._batch.work_ahead(waiting=waiting)

    def write(self, *, lasting: bool = True) -> IngestResultJson:
        """Write all good lines in one transaction; return the answer of the contract.

        What need not be ``lasting`` at once is on the disk when ``Store.settle`` returns.
        """
        self._prepare()
        written = self._batch.write(lasting=lasting)
        rejected = len(self._rejections)
        accepted = self._taken - rejected
        return {
            "object": "ingest_result",
            "stream": self._feed.stream.name,
            "connection_id": self._feed.connection.connection_id,
            "records_attempted": self._taken,
            "records_accepted": accepted,
            "records_rejected": rejected,
            "records_new": written.new,
            "records_changed": written.changed,
            "records_unchanged": accepted - written.new - written.changed - written.deleted,
            "records_deleted": written.deleted,
            "rejections": self._rejections,
        }


def write_lines(
    store: Store, feed: Feed, lines: Iterable[bytes], *, now: int, line_bytes: int
) -> IngestResultJson:
    """Check and write one batch; return the answer of the contract."""
    intake = Intake(store, feed, now=now, line_bytes=line_bytes)
    for text in lines:
        intake.take(text)
    return intake.write()


def split_lines(body: bytes) -> Iterator[bytes]:
    """Yield the lines of NDJSON that hold anything."""
    for line in body.split(b"\n"):
        if line.strip():
            yield line
