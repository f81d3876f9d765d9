"""Ingest: lines of NDJSON become checked records; a bad line is told and never loses the others."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema_rs
import orjson

from pdpp.evidence.handle import key_problem
from pdpp.model import instant
from pdpp.resource.call import Call, no_record
from pdpp.store.catalogue import Feed
from pdpp.store.port import Line, Store, Written

_MEMBERS = frozenset({"key", "data", "emitted_at", "op"})
_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why one line was not taken."""

    input_index: int
    code: str
    message: str

    def as_json(self) -> dict[str, Any]:
        """Return the rejection as it is answered."""
        return {"input_index": self.input_index, "code": self.code, "message": self.message}


class Checker:
    """Checks lines for one feed, and counts them."""

    def __init__(self, feed: Feed, now: int, line_bytes: int) -> None:
        self._validator = _validator(orjson.dumps(feed.stream.schema))
        self._now = now
        self._line_bytes = line_bytes
        self.accepted = 0
        self.rejections: list[Rejection] = []

    def good(self, lines: Iterable[bytes]) -> Iterator[Line]:
        """Yield the lines that can be written; why not the others is kept."""
        for index, text in enumerate(lines):
            checked = self.check(index, text)
            if isinstance(checked, Line):
                self.accepted += 1
                yield checked
            else:
                self.rejections.append(checked)

    def check(self, index: int, text: bytes) -> Line | Rejection:
        """Return the line as a record to write, or why not."""
        if len(text) > self._line_bytes:
            return Rejection(
                index, "line_too_long", f"A line has at most {self._line_bytes} bytes."
            )
        try:
            line = orjson.loads(text)
        except orjson.JSONDecodeError as problem:
            return Rejection(index, "invalid_json", f"Not JSON: {problem}."[:_LONGEST_MESSAGE])
        if not isinstance(line, dict) or not line.keys() <= _MEMBERS:
            message = "A line is an object with key, data, emitted_at and, if need be, op."
            return Rejection(index, "invalid_line", message)
        return self._check_members(index, line)

    def _check_members(self, index: int, line: Mapping[str, Any]) -> Line | Rejection:
        key, op, data = line.get("key"), line.get("op", "upsert"), line.get("data")
        problem = key_problem(key)
        if problem is not None or not isinstance(key, str):
            return Rejection(index, "invalid_key", f"The key {problem}.")
        emitted = self._emitted(line.get("emitted_at"))
        if emitted is None:
            return Rejection(
                index, "invalid_time", "emitted_at is a time such as 2026-01-31T08:00:00Z."
            )
        if op == "delete":
            return Line(index, key, emitted, None)
        if op != "upsert":
            return Rejection(index, "invalid_op", "op is upsert or delete.")
        if not isinstance(data, dict):
            return Rejection(index, "invalid_data", "data is an object.")
        if not self._validator.is_valid(data):
            return Rejection(index, "schema_violation", self._violation(data))
        return Line(index, key, emitted, data)

    def _emitted(self, text: Any) -> int | None:
        if text is None:
            return self._now
        return instant.parse(text) if isinstance(text, str) else None

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
    raise ValueError(f"schemas do not refer to {uri}")


def write_lines(
    store: Store, feed: Feed, lines: Iterable[bytes], *, now: int, line_bytes: int
) -> dict[str, Any]:
    """Check and write one batch; return the answer of the contract."""
    return ready_lines(store, feed, lines, now=now, line_bytes=line_bytes)()


def ready_lines(
    store: Store, feed: Feed, lines: Iterable[bytes], *, now: int, line_bytes: int
) -> Callable[[], dict[str, Any]]:
    """Check one batch and make it ready; what is returned writes it and answers."""
    checker = Checker(feed, now, line_bytes)
    write = store.draft(feed, checker.good(lines))
    return lambda: _answer(feed, checker, write())


def _answer(feed: Feed, checker: Checker, written: Written) -> dict[str, Any]:
    accepted, rejected = checker.accepted, len(checker.rejections)
    return {
        "object": "ingest_result",
        "stream": feed.stream.name,
        "connection_id": feed.connection.connection_id,
        "records_attempted": accepted + rejected,
        "records_accepted": accepted,
        "records_rejected": rejected,
        "records_new": written.new,
        "records_changed": written.changed,
        "records_unchanged": accepted - written.new - written.changed - written.deleted,
        "records_deleted": written.deleted,
        "rejections": [rejection.as_json() for rejection in checker.rejections],
    }


def split_lines(body: bytes) -> Iterator[bytes]:
    """Yield the lines of NDJSON that hold anything."""
    for line in body.split(b"\n"):
        if line.strip():
            yield line


def ingest(call: Call) -> dict[str, Any]:
    """Answer ``POST /v1/ingest/{stream}``."""
    reach = call.one_reach(f"{call.stream!r} is")
    return write_lines(
        call.store,
        reach.feed,
        split_lines(call.body),
        now=call.now,
        line_bytes=call.settings.line_bytes,
    )


def delete_record(call: Call) -> None:
    """Answer ``DELETE …/records/{record_id}``."""
    key = call.path["record_id"]
    reach = call.reach_holding(key)
    written = call.store.write(reach.feed, [Line(0, key, call.now, None)])
    if not written.deleted:
        raise no_record(call.stream, key)
