"""The application: everything that a server answers, over one store, as one ASGI app."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute
from starlette.routing import Route as HttpRoute
from starlette.types import ASGIApp, Lifespan

from pdpp.authz.authority import Authority
from pdpp.authz.client_document import DocumentFetcher
from pdpp.authz.principal import Gate
from pdpp.hosted import ICON_PATH, MCP_PATH, hosted_endpoint, metadata
from pdpp.jobs.anchoring import anchor_kind
from pdpp.jobs.backup import backup_kind, copies_itself
from pdpp.jobs.embedding import embedding_kind
from pdpp.jobs.housekeeping import Housekeeping
from pdpp.jobs.importing import import_kind
from pdpp.jobs.merging import merge_kind
from pdpp.jobs.reindexing import reindex_kind
from pdpp.jobs.runner import JobRunner
from pdpp.meaning.encoder import LazyEncoder
from pdpp.model import instant
from pdpp.oauth.routes import make_authorization, oauth_routes
from pdpp.pages.icon import ICON
from pdpp.pages.imports.upload_sweep import uploads_kind
from pdpp.pages.owner_page import error_page
from pdpp.pages.routes import make_site, page_routes
from pdpp.pages.template import assets
from pdpp.pages.unknown_page import UnknownPage
from pdpp.receipts.recorder import Recorder
from pdpp.resource.call import Call
from pdpp.resource.endpoint import FixedDocument, NoSuchRoute, ResourceEndpoint
from pdpp.resource.openapi import openapi_document
from pdpp.resource.routes import BASE, ROUTES, Route
from pdpp.service.cursor import Signer
from pdpp.service.rate_limit import RateLimiter
from pdpp.service.routing import TreeRouter
from pdpp.service.runner import Runner
from pdpp.service.service import Service
from pdpp.service.settings import Settings
from pdpp.store.port import Store
from pdpp.watch.meter import Meter, Share
from pdpp.watch.metrics import METRICS_PATH, Metrics
from pdpp.watch.observer import Observer
from pdpp.watch.readiness import READY_PATH, Readiness

_WARM_SECONDS = 0.3
"""After the start, so that the server listens first."""

_KEPT = {"Cache-Control": "public, max-age=31536000, immutable"}


class Application(Starlette):
    """The routes and our own middleware: each route answers its own errors."""

    def __init__(
        self, router: TreeRouter, middleware: Sequence[Middleware], service: Service, meter: Meter
    ) -> None:
        super().__init__(middleware=middleware)
        self.router = router
        self.service = service
        self.meter = meter

    def build_middleware_stack(self) -> ASGIApp:
        """Return what requests go to, without what the framework would put around it."""
        app: ASGIApp = self.router
        for middleware, arguments, options in reversed(self.user_middleware):
            app = middleware(app, *arguments, **options)
        return app


def make_app(
    store: Store,
    settings: Settings | None = None,
    clock: instant.Clock = instant.now,
    share: Share | None = None,
    fetcher: DocumentFetcher | None = None,
    data: Path | None = None,
    encoder: LazyEncoder | None = None,
) -> Application:
    """Put the ASGI application together over an open store."""
    service = _service(store, settings or Settings(), clock)
    if encoder is None and data is not None:
        encoder = LazyEncoder(data)
    service = replace(service, encoder=encoder, data=data)
    authority = Authority(store, clock, service.settings.lifetimes)
    site = make_site(service, authority, data)
    meter = Meter(share)
    resource = _resource(service, meter)
    show_error = partial(error_page, origin=service.settings.origin)
    routes = [
        HttpRoute(MCP_PATH, hosted_endpoint(resource, service)),
        *resource.routes,
        *oauth_routes(make_authorization(service, authority, show_error, fetcher), metadata),
        *_documents(service),
        *_fixtures(service),
        *page_routes(site),
        HttpRoute(READY_PATH, Readiness(service)),
        HttpRoute(METRICS_PATH, Metrics(service, meter, share.started if share else None)),
    ]
    meter.expect(route.path for route in routes if isinstance(route, HttpRoute))
    router = TreeRouter(routes, UnknownPage(site, NoSuchRoute(service)), _lifespan(service, data))
    return Application(router, [Middleware(Observer, meter=meter)], service, meter)


def make_local_api(store: Store, gate: Gate, data: Path) -> tuple[ASGIApp, Service]:
    """Return ``/v1`` alone for callers in this process, whom ``gate`` knows, and its service."""
    service_without_model = _service(store, Settings(), instant.now)
    service = replace(service_without_model, gate=gate, encoder=LazyEncoder(data), data=data)
    return _resource(service, Meter(None)), service


def _resource(service: Service, meter: Meter) -> TreeRouter:
    return TreeRouter([*_resource_paths(service, meter)], NoSuchRoute(service))


def _service(store: Store, settings: Settings, clock: instant.Clock) -> Service:
    return Service(
        store=store,
        gate=Gate(store, clock),
        runner=Runner(store, settings),
        signer=Signer(store.secret()),
        rate_limiter=RateLimiter(
            settings.requests_per_second,
            settings.request_burst,
            time.monotonic,
            shared=store.limits,
        ),
        settings=settings,
        clock=clock,
        recorder=Recorder(store.receipts, clock, settings.receipts),
    )


def _job_runner(service: Service, data: Path | None) -> JobRunner:
    """Return what works in the background; without a data folder there are no imports."""
    store, settings = service.store, service.settings
    kinds = [*Housekeeping(store, settings, service.clock).kinds()]
    kinds.append(merge_kind(store, service.clock))
    kinds.append(reindex_kind(store))
    kinds.append(anchor_kind(service.recorder, settings.receipts.anchor_seconds))
    if data is not None:
        kinds.append(import_kind(store, data, settings))
        kinds.append(uploads_kind(store, data, service.clock))
        if copies_itself(store):
            kinds.append(backup_kind(store, data, service.clock))
    if service.encoder is not None:
        kinds.append(embedding_kind(store, service.encoder))
    return JobRunner(store, kinds, service.clock, lease_seconds=settings.job_lease_seconds)


def _lifespan(service: Service, data: Path | None) -> Lifespan[Starlette]:
    job_runner = _job_runner(service, data)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        service.recorder.start()
        job_runner.start()
        # The server listens only after this has run; a thread that loads modules would hold it up.
        warming = asyncio.get_running_loop().call_later(_WARM_SECONDS, _warm, service.store)
        yield
        warming.cancel()
        await asyncio.to_thread(job_runner.stop)
        service.runner.close()
        service.recorder.close()

    return lifespan


def _warm(store: Store) -> None:
    """Load in a thread what the first search needs, so that it does not wait for it."""
    threading.Thread(target=store.prepare_search, name="pdpp-warm", daemon=True).start()


def _resource_paths(service: Service, meter: Meter) -> Iterable[BaseRoute]:
    by_path: dict[str, list[Route]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, []).append(_counting(route, meter))
    for path, routes in by_path.items():
        yield HttpRoute(BASE + path, ResourceEndpoint(service, routes))


def _counting(route: Route, meter: Meter) -> Route:
    """Return a route that also counts the lines it takes in, where it takes in any."""
    if route.answer != "IngestResult":
        return route

    def counted(call: Call) -> Any:
        answer = route.operation(call)
        meter.ingested(answer["records_accepted"], answer["records_rejected"])
        return answer

    return replace(route, operation=counted)


def _documents(service: Service) -> Iterable[BaseRoute]:
    """Yield what anyone may read: how the server is used and where it guards what it holds."""
    origin = service.settings.origin
    documents: dict[str, Any] = {
        f"{BASE}/openapi.json": openapi_document(origin),
        "/healthz": {"status": "ok"},
    }
    for path, document in documents.items():
        yield _fixed(service, path, orjson.dumps(document), "application/json")


def _fixtures(service: Service) -> Iterable[BaseRoute]:
    """Yield what pages load; its address changes with its content."""
    yield _fixed(service, ICON_PATH, ICON.encode(), "image/svg+xml")
    for name, (media_type, content) in assets().items():
        yield _fixed(service, f"/assets/{name}", content, media_type, _KEPT)


def _fixed(
    service: Service,
    path: str,
    body: bytes,
    media_type: str,
    headers: Mapping[str, str] | None = None,
) -> BaseRoute:
    sent = {"Content-Type": media_type, "X-Content-Type-Options": "nosniff", **(headers or {})}
    return HttpRoute(path, FixedDocument(service, body, 200, sent))
