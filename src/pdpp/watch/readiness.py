"""Readiness: whether a server can do its work now, told to anyone who asks and without detail."""

import logging
from http import HTTPStatus

import orjson
from starlette.types import Scope

from pdpp.model.errors import PdppError
from pdpp.service.service import Service
from pdpp.watch.endpoint import WatchAnswer, WatchEndpoint

log = logging.getLogger("pdpp.readiness")

READY_PATH = "/readyz"


class Readiness(WatchEndpoint):
    """Answers 200 where every part does its work, and 503 with the names of those that do not."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._checks = {"store": self._reads, "receipts": self._records}

    async def answer(self, scope: Scope) -> WatchAnswer:  # noqa: ARG002 - all are answered alike
        """Answer whether the server is ready."""
        failing = [name for name, check in self._checks.items() if not await check()]
        if failing:
            body = {"status": "not ready", "failing": failing}
            return WatchAnswer(HTTPStatus.SERVICE_UNAVAILABLE, orjson.dumps(body), {})
        return WatchAnswer(HTTPStatus.OK, orjson.dumps({"status": "ready"}), {})

    async def _reads(self) -> bool:
        """Tell whether the store answers a read."""
        service = self._service
        try:
            await service.runner.read("readyz", self._read)
        except Exception as problem:
            known = isinstance(problem, PdppError) or service.store.explain(problem) is not None
            log.error("the store cannot be read", exc_info=not known)
            return False
        return True

    def _read(self) -> None:
        store = self._service.store
        store.state()
        store.vault.token("")

    async def _records(self) -> bool:
        """Tell whether what clients read can be written down, without which they may not read."""
        return not self._service.recorder.failing
