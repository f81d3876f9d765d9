"""Metrics: what the owner's own monitoring reads of a server."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from starlette.types import Scope

import pdpp
from pdpp.authz.principal import Principal
from pdpp.model.errors import InsufficientScope
from pdpp.model.instant import SECOND
from pdpp.resource.endpoint import Service
from pdpp.resource.routes import Route
from pdpp.service.header import headers_of
from pdpp.watch.exposition import MEDIA_TYPE, family, ingest_lines, request_lines, single
from pdpp.watch.meter import Meter
from pdpp.watch.page import Answer, Page

METRICS_PATH = "/metrics"


@dataclass(frozen=True, slots=True)
class Holdings:
    """How much the store holds, without the names of anything in it."""

    connections: int
    streams: int
    records: int
    occupied: Mapping[str, int]


class Metrics(Page):
    """Answers the owner with numbers; grants and strangers are refused."""

    def __init__(self, service: Service, meter: Meter, started: int | None = None) -> None:
        super().__init__(service)
        self._meter = meter
        self._started = service.clock() if started is None else started

    async def answer(self, scope: Scope) -> Answer:
        """Answer with every metric."""
        service = self._service
        bearer = headers_of(scope).get("authorization")
        principal = service.gate.admit(bearer, resources={service.settings.origin})
        service.buckets.take(principal.token.hash)
        if not principal.is_owner:
            raise InsufficientScope("Only the owner may read the metrics; a grant reads records.")
        held = await service.runner.read("metrics", lambda: self._holdings(principal))
        body = "\n".join([*self._lines(held), ""]).encode()
        return Answer(HTTPStatus.OK, body, {"Content-Type": MEDIA_TYPE})

    def _holdings(self, principal: Principal) -> Holdings:
        store, reaches = self._service.store, principal.reaches
        return Holdings(
            connections=len({reach.feed.connection.connection_id for reach in reaches}),
            streams=len(reaches),
            records=sum(store.counts(reaches).values()),
            occupied=store.occupied(),
        )

    def _lines(self, held: Holdings) -> Iterator[str]:
        yield from family(
            "pdpp_info", "gauge", "The version.", [("", {"version": pdpp.__version__}, 1)]
        )
        started, now = self._started / SECOND, self._service.clock() / SECOND
        yield from single("pdpp_start_seconds", "gauge", "When it started, as Unix time.", started)
        yield from single("pdpp_uptime_seconds", "gauge", "How long it runs.", now - started)
        yield from single("pdpp_connections", "gauge", "Connections.", held.connections)
        yield from single("pdpp_streams", "gauge", "Streams of all connections.", held.streams)
        yield from single("pdpp_records", "gauge", "Records of all streams.", held.records)
        yield from family(
            "pdpp_store_bytes",
            "gauge",
            "Bytes the store takes, by part.",
            (("", {"part": part}, size) for part, size in held.occupied.items()),
        )
        yield from ingest_lines(self._meter)
        yield from request_lines(self._meter)


def counting(route: Route, meter: Meter) -> Route:
    """Return a route that also counts the lines it takes in, where it takes in any."""
    if route.answer != "IngestResult":
        return route
    operation: Callable[[Any], Any] = route.operation

    def counted(call: Any) -> Any:
        answer = operation(call)
        meter.ingested(answer["records_accepted"], answer["records_rejected"])
        return answer

    return replace(route, operation=counted)
