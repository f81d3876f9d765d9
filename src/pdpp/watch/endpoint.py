"""Pages for machines that watch the server: asked with GET, answered in one piece or refused."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from starlette.types import Receive, Scope, Send

from pdpp.model.errors import MethodNotAllowed, PdppError
from pdpp.service.failure import explained
from pdpp.service.response import send_answer, send_error
from pdpp.service.service import Service

log = logging.getLogger("pdpp.watch")

_METHODS = "GET, HEAD"


class WatchAnswer(NamedTuple):
    """What is sent: a status, a body, and headers that say what it is."""

    status: HTTPStatus
    body: bytes
    headers: Mapping[str, str]


class WatchEndpoint(ABC):
    """One such page; what it answers is up to those that derive from it."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer one request."""
        request_id = self._service.new_request_id()
        try:
            if scope["method"] not in _METHODS.split(", "):
                raise MethodNotAllowed(
                    f"This path accepts only: {_METHODS}.", headers={"Allow": _METHODS}
                )
            answer = await self.answer(scope)
        except PdppError as error:
            await self._refuse(send, error, request_id)
        except Exception as problem:  # noqa: BLE001 - whatever it is becomes an answer
            failure = explained(problem, self._service.store, log, f"request {request_id}")
            await self._refuse(send, failure, request_id)
        else:
            await send_answer(send, answer.status, answer.body, request_id, answer.headers)

    async def _refuse(self, send: Send, error: PdppError, request_id: str) -> None:
        await send_error(send, error, request_id, self._service.settings.origin)

    @abstractmethod
    async def answer(self, scope: Scope) -> WatchAnswer:
        """Return what is to be sent."""
        ...
