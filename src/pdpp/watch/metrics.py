"""Metrics: what the owner's own monitoring reads of a server."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from starlette.types import Scope

import pdpp
from pdpp.authz.principal import Principal
from pdpp.model.errors import InsufficientScope
from pdpp.model.instant import SECOND
from pdpp.service.headers import headers_of
from pdpp.service.service import Service
from pdpp.watch.endpoint import WatchAnswer, WatchEndpoint
from pdpp.watch.exposition import (
    MEDIA_TYPE,
    family,
    ingest_lines,
    replica_lines,
    request_lines,
    single,
)
from pdpp.watch.meter import Meter

METRICS_PATH = "/metrics"


@dataclass(frozen=True, slots=True)
class Holdings:
    """How much the store holds, without the names of anything in it."""

    connections: int
    streams: int
    records: int
    occupied: Mapping[str, int]


class Metrics(WatchEndpoint):
    """Answers the owner with numbers; grants and strangers are refused."""

    def __init__(self, service: Service, meter: Meter, started: int | None = None) -> None:
        super().__init__(service)
        self._meter = meter
        self._started = service.clock() if started is None else started

    async def answer(self, scope: Scope) -> WatchAnswer:
        """Answer with every metric."""
        service = self._service
        bearer = headers_of(scope).get("authorization")
        principal = service.gate.admit(bearer, resources={service.settings.origin})
        service.rate_limiter.take(principal.approval_id)
        if not principal.is_owner:
            raise InsufficientScope("Only the owner may read the metrics; a grant reads records.")
        holdings = await service.runner.read("metrics", lambda: self._holdings(principal))
        body = "\n".join([*self._lines(holdings), ""]).encode()
        return WatchAnswer(HTTPStatus.OK, body, {"Content-Type": MEDIA_TYPE})

    def _holdings(self, principal: Principal) -> Holdings:
        store, reaches = self._service.store, principal.reaches
        return Holdings(
            connections=len({reach.feed.connection.connection_id for reach in reaches}),
            streams=len(reaches),
            records=sum(store.counts(reaches).values()),
            occupied=store.occupied(),
        )

    def _lines(self, holdings: Holdings) -> Iterator[str]:
        yield from family(
            "pdpp_info", "gauge", "The version.", [("", {"version": pdpp.__version__}, 1)]
        )
        started, now = self._started / SECOND, self._service.clock() / SECOND
        yield from single("pdpp_start_seconds", "gauge", "When it started, as Unix time.", started)
        yield from single("pdpp_uptime_seconds", "gauge", "How long it runs.", now - started)
        yield from single("pdpp_connections", "gauge", "Connections.", holdings.connections)
        yield from single("pdpp_streams", "gauge", "Streams of all connections.", holdings.streams)
        yield from single("pdpp_records", "gauge", "Records of all streams.", holdings.records)
        yield from family(
            "pdpp_store_bytes",
            "gauge",
            "Bytes the store takes, by part.",
            (("", {"part": part}, size) for part, size in holdings.occupied.items()),
        )
        yield from replica_lines(self._service.store.replica_use())
        yield from ingest_lines(self._meter)
        yield from request_lines(self._meter)
