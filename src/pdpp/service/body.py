"""Bodies: what a request carries, read within bounds."""

from collections.abc import AsyncIterator

from starlette.types import Receive

from pdpp.model.errors import PayloadTooLarge


class ClientGone(Exception):
    """The client went away before its request was complete."""


async def body_chunks(receive: Receive, most_bytes: int, refusal: str) -> AsyncIterator[bytes]:
    """Yield the pieces of a body as they come; refuse one that is too long while it comes."""
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        chunk: bytes = message.get("body", b"")
        size += len(chunk)
        if size > most_bytes:
            raise PayloadTooLarge(refusal)
        yield chunk
        if not message.get("more_body", False):
            return


async def read_body(receive: Receive, most_bytes: int, refusal: str) -> bytes:
    """Return a whole body."""
    return b"".join([chunk async for chunk in body_chunks(receive, most_bytes, refusal)])
