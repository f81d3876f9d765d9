"""Forms: the body of a request and the pairs in it, read within bounds."""

from urllib.parse import parse_qsl

from starlette.requests import Request

from pdpp.model.errors import InvalidRequest, PayloadTooLarge, UnsupportedMediaType

FORM = "application/x-www-form-urlencoded"


async def read_typed_body(request: Request, media_type: str, most_bytes: int) -> bytes:
    """Return a body of one media type; one that is too long is refused while it comes."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != media_type:
        raise UnsupportedMediaType(f"Send the body as {media_type}.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most_bytes:
            raise PayloadTooLarge(f"The body has more than {most_bytes:,} bytes.")
    return bytes(body)


def read_pairs(encoded: bytes, most_pairs: int) -> list[tuple[str, str]]:
    """Return the names and values of a form or a query string, in their order."""
    try:
        return parse_qsl(
            encoded.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=most_pairs,
        )
    except ValueError:
        raise InvalidRequest("The form cannot be read, or it has too many fields.") from None
