"""Messages to ``/mcp`` that try to see past a grant: every tool, both eras, good and bad."""

import random
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from tests.mcp.launch import META, VERSION
from tests.promises.probes import CONNECTIONS, FIELDS, QUERIES, STREAMS, VALUES
from tests.promises.sights import STRAY_KEYS, VISIBLE_KEYS

from pdpp.evidence.handle import BLOB_URI, RECORD_URI, STREAM_URI, Handle, record_uri

ERAS = ("legacy", "modern")
_LEGACY_VERSION = "2025-06-18"
_KEYS = VISIBLE_KEYS + STRAY_KEYS


@dataclass(frozen=True, slots=True)
class Message:
    """One request of the protocol; ``bare`` leaves out what its era asks for beside it."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    era: str = "legacy"
    bare: bool = False

    def headers(self) -> dict[str, str]:
        """Return what goes beside the message."""
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.era == "legacy":
            return sent if self.bare else {**sent, "MCP-Protocol-Version": _LEGACY_VERSION}
        sent["MCP-Protocol-Version"] = VERSION
        name = self.params.get("name", self.params.get("uri"))
        if not self.bare:
            sent["Mcp-Method"] = self.method
            if isinstance(name, str):
                sent["Mcp-Name"] = f"=?base64?{b64encode(name.encode()).decode()}?="
        return sent

    def body(self) -> bytes:
        """Return the message itself."""
        params = dict(self.params)
        if self.era == "modern":
            params["_meta"] = META
        return orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": self.method, "params": params})


def tool_call(tool: str, arguments: Mapping[str, Any], era: str) -> Message:
    """Return a call of a tool."""
    return Message("tools/call", {"name": tool, "arguments": dict(arguments)}, era)


class Talker:
    """Makes up messages from a seed."""

    def __init__(self, seed: int, blob_ids: tuple[str, ...]) -> None:
        self._chance = random.Random(f"talk {seed}")
        self._blob_ids = blob_ids
        self._makers = {
            "search": self._search,
            "query_records": self._query,
            "aggregate": self._aggregate,
            "fetch": self._fetch,
            "read_record_field": self._field,
            "schema": self._schema,
        }

    def messages(self, many: int) -> Iterator[Message]:
        """Yield calls of several tools, then as many messages of any kind."""
        for tool in self._chance.sample(list(self._makers), 4):
            yield tool_call(tool, self._makers[tool](), self._chance.choice(ERAS))
        for _ in range(many):
            yield self._chance.choice((self._call, self._call, self._call, self._beside))()

    def _call(self) -> Message:
        tool = self._chance.choice(list(self._makers))
        arguments = self._makers[tool]()
        if self._chance.random() < 0.1:
            arguments[self._chance.choice(("nonsense", "cursor", "field"))] = "nonsense"
        return tool_call(tool, arguments, self._chance.choice(ERAS))

    def _beside(self) -> Message:
        era, bare = self._chance.choice(ERAS), self._chance.random() < 0.1
        method, params = self._chance.choice(
            (
                ("resources/list", {}),
                ("resources/read", {"uri": self._uri()}),
                ("resources/read", {"uri": self._uri()}),
                ("tools/list", {}),
                ("tools/call", {"name": "nonsense"}),
                ("server/discover" if era == "modern" else "ping", {}),
                ("nonsense/list", {"cursor": "nonsense"}),
            )
        )
        return Message(method, params, era, bare)

    def _uri(self) -> str:
        pick = self._chance.choice
        handle = Handle(pick(CONNECTIONS), pick(STREAMS), pick(_KEYS))
        blob = pick((*self._blob_ids, "f" * 64))
        return pick(
            (
                record_uri(handle),
                f"{STREAM_URI}{pick(STREAMS)}",
                f"{BLOB_URI}{blob}",
                f"{RECORD_URI}nonsense",
            )
        )

    def _maybe(self, odds: float = 0.3, **pools: tuple[Any, ...]) -> dict[str, Any]:
        chance = self._chance
        return {name: chance.choice(pool) for name, pool in pools.items() if chance.random() < odds}

    def _filter(self) -> dict[str, Any]:
        if self._chance.random() < 0.6:
            return {}
        value: Any = self._chance.choice(VALUES)
        if self._chance.random() < 0.5:
            value = {self._chance.choice(("gte", "gt", "lte", "lt")): value}
        return {"filter": {self._chance.choice(FIELDS): value}}

    def _search(self) -> dict[str, Any]:
        return {
            "query": self._chance.choice(QUERIES),
            **self._maybe(0.6, limit=(1, 2, 3)),
            **self._maybe(0.2, connection_id=CONNECTIONS, streams=tuple([s] for s in STREAMS)),
            **self._filter(),
        }

    def _query(self) -> dict[str, Any]:
        signed = (*FIELDS, *(f"-{name}" for name in FIELDS))
        return {
            "stream": self._chance.choice(STREAMS),
            **self._maybe(0.6, limit=(1, 2, 100)),
            **self._maybe(0.4, sort=signed, count=("exact", "estimated")),
            **self._maybe(0.2, connection_id=CONNECTIONS, expand=(["thread"], ["messages"])),
            **self._maybe(0.1, changes_since=("beginning", "nonsense"), view=("short", "secret")),
            **self._maybe(0.1, fields=tuple([name] for name in FIELDS)),
            **self._filter(),
        }

    def _aggregate(self) -> dict[str, Any]:
        metric = self._chance.choice(("count", "sum", "min", "max", "count_distinct"))
        grouping: dict[str, Any] = self._maybe(0.4, group_by=FIELDS)
        if not grouping and (timed := self._maybe(0.4, group_by_time=FIELDS)):
            grouping = {**timed, "granularity": "month"}
        return {
            "stream": self._chance.choice(STREAMS),
            "metric": metric,
            **({} if metric == "count" else {"field": self._chance.choice(FIELDS)}),
            **grouping,
            **self._maybe(0.2, limit=(1, 2), connection_id=CONNECTIONS),
            **self._filter(),
        }

    def _id(self) -> str:
        pick = self._chance.choice
        return Handle(pick(CONNECTIONS), pick(STREAMS), pick(_KEYS)).id

    def _fetch(self) -> dict[str, Any]:
        blob = f"{BLOB_URI}{self._chance.choice((*self._blob_ids, 'f' * 64))}"
        return {
            "id": self._id() if self._chance.random() < 0.8 else blob,
            **self._maybe(0.2, expand=(["thread"], ["messages"]), fields=(["id"], ["body"])),
        }

    def _field(self) -> dict[str, Any]:
        way = self._maybe(1.0, query=QUERIES) if self._chance.random() < 0.5 else {}
        return {
            "id": self._id(),
            "field_path": self._chance.choice(FIELDS),
            **(way or self._maybe(0.5, offset_chars=(0, 3, 900))),
            **self._maybe(0.3, limit_chars=(1, 7, 4096)),
        }

    def _schema(self) -> dict[str, Any]:
        return self._maybe(0.5, stream=STREAMS, connection_id=CONNECTIONS, detail=("full",))
