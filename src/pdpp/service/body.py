"""Bodies: what a request carries, read within bounds."""

from collections.abc import AsyncIterator

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from pdpp.model.errors import PayloadTooLarge


async def body_chunks(receive: Receive, most_bytes: int, refusal: str) -> AsyncIterator[bytes]:
    """Yield the pieces of a body as they come; refuse one that is too long while it comes.

    Starlette's own error says that the client went away before the body was complete.
    """
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > most_bytes:
            raise PayloadTooLarge(refusal)
        yield chunk
        if not message.get("more_body", False):
            return
