"""Reading a data folder as its owner: ``/v1`` in this process, with receipts and without a grant.

Whoever can open the folder owns what is in it, so no token is asked for or made. The reads run
through the same operations as over the network.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

from pdpp.app import make_local_api
from pdpp.authz.principal import Gate, Principal
from pdpp.authz.token import TokenKind
from pdpp.client.client import Client
from pdpp.encryption.files import DataFiles
from pdpp.model import instant
from pdpp.serving.data_folder import open_store
from pdpp.store.port import Store
from pdpp.store.scope import owner_reaches
from pdpp.store.vault import Token
from pdpp.wire.http import Download, HttpReply

ORIGIN = "http://localhost"
_SPOOL_BYTES = 8 << 20
_CHUNK = 1 << 16


class LocalOwnerGate(Gate):
    """Takes every caller for the owner: only this process can call."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, instant.now)
        self._store = store
        # One name for all runs, so that the cursor that one prints is good in the next.
        self._token = Token("local-owner", TokenKind.OWNER.value, "pdpp read --data", 0)

    def admit(self, *_: Any, **__: Any) -> Principal:
        """Return the owner."""
        return Principal(self._token, owner_reaches(self._store.catalogue()))


class LocalDownload(Download):
    """An answer that is already here, in a file."""

    def __init__(self, status: int, headers: Mapping[str, str], content: IO[bytes]) -> None:
        self.status = status
        self.headers = dict(headers)
        self._content = content

    def chunks(self) -> Iterator[bytes]:
        """Yield the answer piece by piece."""
        while chunk := self._content.read(_CHUNK):
            yield chunk

    def rest(self) -> HttpReply:
        """Return the answer with its whole body."""
        return HttpReply(self.status, self.headers, b"".join(self.chunks()))

    def close(self) -> None:
        """Let the file go."""
        self._content.close()


class LocalHttp:
    """Sends requests to an application in this process."""

    def __init__(self, app: Any, files: DataFiles) -> None:
        self._app = app
        self._files = files
        self._loop = asyncio.Runner()

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,  # noqa: ARG002 - reads have none
    ) -> HttpReply:
        """Send one request and return its whole answer."""
        answer = self._loop.run(self._call(method, url, headers or {}))
        try:
            return answer.rest()
        finally:
            answer.close()

    def download(self, url: str, headers: Mapping[str, str]) -> Download:
        """Send one GET and return its answer to be read piece by piece."""
        return self._loop.run(self._call("GET", url, headers))

    async def _call(self, method: str, url: str, headers: Mapping[str, str]) -> LocalDownload:
        parts = urlsplit(url)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(parts.path),
            "raw_path": parts.path.encode("ascii"),
            "query_string": parts.query.encode("ascii"),
            "root_path": "",
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in headers.items()],
            "client": None,
            "server": None,
        }
        status, received = 500, {}
        content = self._files.spool(_SPOOL_BYTES)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Mapping[str, Any]) -> None:
            nonlocal status, received
            if message["type"] == "http.response.start":
                status = message["status"]
                received = {k.decode("latin-1"): v.decode("latin-1") for k, v in message["headers"]}
            elif message["type"] == "http.response.pathsend":
                content.write(Path(message["path"]).read_bytes())
            else:
                content.write(message.get("body", b""))

        await self._app(scope, receive, send)
        content.seek(0)
        return LocalDownload(status, received, content)

    def close(self) -> None:
        """End the event loop."""
        self._loop.close()


@contextmanager
def local_client(data: Path) -> Iterator[Client]:
    """Open a data folder for reads by its owner; what is read is written down as receipts."""
    with open_store(data) as store:
        api, service = make_local_api(store, LocalOwnerGate(store), data)
        service.recorder.start()
        http = LocalHttp(api, store.files)
        try:
            yield Client.over(http, ORIGIN)
        finally:
            http.close()
            service.runner.close()
            service.recorder.close()
