"""The application: a store, the resource server over it, as one ASGI app."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from itertools import groupby

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.routing import Route as Path

from pdpp.authz.principal import Gate
from pdpp.model import instant
from pdpp.resource.bucket import Buckets
from pdpp.resource.cursor import Signer
from pdpp.resource.endpoint import VERSION, Endpoint, NoSuchRoute, Service
from pdpp.resource.openapi import openapi_document
from pdpp.resource.routes import BASE, ROUTES
from pdpp.resource.runner import Runner
from pdpp.resource.settings import Settings
from pdpp.store.port import Store


def make_app(
    store: Store, settings: Settings | None = None, clock: instant.Clock = instant.now
) -> Starlette:
    """Put the ASGI application together over an open store."""
    chosen = settings or Settings()
    service = Service(
        store=store,
        gate=Gate(store, clock),
        runner=Runner(store, chosen),
        signer=Signer(store.secret()),
        buckets=Buckets(chosen.requests_per_second, chosen.request_burst, time.monotonic),
        settings=chosen,
        clock=clock,
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        service.runner.close()

    app = Starlette(routes=[*_resource_paths(service), *_public_paths(chosen)], lifespan=lifespan)
    app.router.redirect_slashes = False
    app.router.default = NoSuchRoute(service)
    return app


def _resource_paths(service: Service) -> Iterable[BaseRoute]:
    ordered = sorted(ROUTES, key=lambda route: route.path)
    for path, routes in groupby(ordered, key=lambda route: route.path):
        yield Path(BASE + path, Endpoint(service, list(routes)))


def _public_paths(settings: Settings) -> Iterable[BaseRoute]:
    """Yield what anyone may read: how the server is used and where it guards what it holds."""
    documents = {
        f"{BASE}/openapi.json": openapi_document(settings.origin),
        "/.well-known/oauth-protected-resource": {
            "resource": settings.origin,
            "bearer_methods_supported": ["header"],
            "pdpp_core_query_base": f"{settings.origin}{BASE}",
            "pdpp_version": VERSION,
        },
        "/healthz": {"status": "ok"},
    }
    for path, document in documents.items():
        yield Path(path, _serving(orjson.dumps(document)), methods=["GET"])


def _serving(body: bytes) -> Callable[[Request], Awaitable[Response]]:
    async def serve(_: Request) -> Response:
        return Response(body, media_type="application/json")

    return serve
