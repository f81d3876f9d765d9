"""The application: a store, the resource server over it, as one ASGI app."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import orjson
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Router
from starlette.routing import Route as Path
from starlette.types import ASGIApp

from pdpp.authz.principal import Gate
from pdpp.hosted import ICON_PATH, MCP_PATH, hosted_endpoint, metadata
from pdpp.model import instant
from pdpp.pages import ICON, PAGE_HEADERS, RECORD_DOOR
from pdpp.resource.bucket import Buckets
from pdpp.resource.cursor import Signer
from pdpp.resource.endpoint import RECORD_PAGE, Document, Endpoint, NoSuchRoute, Service
from pdpp.resource.housekeeping import Housekeeper
from pdpp.resource.openapi import openapi_document
from pdpp.resource.routes import BASE, ROUTES, Route
from pdpp.resource.runner import Runner
from pdpp.resource.settings import Settings
from pdpp.store.port import Store


class Application(Starlette):
    """The routes alone: each answers its own errors, so that nothing has to stand around them."""

    def build_middleware_stack(self) -> ASGIApp:
        """Return what requests go to."""
        return self.router


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

    keeper = Housekeeper(store, service.runner, chosen, clock)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        care = asyncio.create_task(keeper.keep())
        yield
        care.cancel()
        service.runner.close()

    resource = Router([*_resource_paths(service)], default=NoSuchRoute(service))
    resource.redirect_slashes = False
    mcp = hosted_endpoint(resource, service)
    app = Application(
        routes=[
            Path(MCP_PATH, mcp),
            *resource.routes,
            *_documents(service),
            *_pages(service),
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.router.default = NoSuchRoute(service)
    return app


def _resource_paths(service: Service) -> Iterable[BaseRoute]:
    by_path: dict[str, list[Route]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, []).append(route)
    for path, routes in sorted(by_path.items(), key=lambda item: "/records" not in item[0]):
        yield Path(BASE + path, Endpoint(service, routes))


def _documents(service: Service) -> Iterable[BaseRoute]:
    """Yield what anyone may read: how the server is used and where it guards what it holds."""
    origin = service.settings.origin
    documents: dict[str, Any] = {
        f"{BASE}/openapi.json": openapi_document(origin),
        "/healthz": {"status": "ok"},
        **metadata(origin),
    }
    for path, document in documents.items():
        yield _fixed(service, path, orjson.dumps(document), "application/json")


def _pages(service: Service) -> Iterable[BaseRoute]:
    """Yield what a person may open in a browser."""
    yield _fixed(service, ICON_PATH, ICON.encode(), "image/svg+xml")
    yield _fixed(service, RECORD_PAGE, RECORD_DOOR.encode(), "text/html", status=401)


def _fixed(
    service: Service, path: str, body: bytes, media_type: str, status: int = 200
) -> BaseRoute:
    headers = PAGE_HEADERS if media_type == "text/html" else {"X-Content-Type-Options": "nosniff"}
    return Path(path, Document(service, body, status, {"Content-Type": media_type, **headers}))
