"""A server that answers with metadata of a test's choice, as another company's might."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def imposing(
    resource: Mapping[str, Any],
    server: Mapping[str, Any] | None,
    posted: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """Serve the two metadata documents, and one answer to whatever is posted.

    ``SELF`` in them stands for the server's own address.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            documents = {
                "/.well-known/oauth-protected-resource": resource,
                "/.well-known/oauth-authorization-server": server,
            }
            self._answer(documents.get(self.path))

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._answer(posted)

        def _answer(self, found: Mapping[str, Any] | None) -> None:
            body = json.dumps({"x": 1, **(found or {})}).replace("SELF", url).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    url = f"http://127.0.0.1:{http.server_address[1]}"
    thread = threading.Thread(target=http.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield url
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
