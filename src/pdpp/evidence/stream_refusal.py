"""Stream refusal: what is said of a stream that a token does not open, whoever notices it."""

from pdpp.model.errors import StreamNotAllowed


def refused_stream(
    stream: str | None, connection_id: str | None = None, param: str = "stream"
) -> StreamNotAllowed:
    """Return the refusal of a stream, or of any, that is outside the grant or does not exist.

    ``param`` is where the stream was named.
    """
    wanted = "no stream" if stream is None else f"no stream {stream!r}"
    place = f" of connection {connection_id!r}" if connection_id is not None else ""
    return StreamNotAllowed(
        f"This token opens {wanted}{place}; GET /v1/streams lists what it opens.",
        param=param if connection_id is None else "connection_id",
    )
