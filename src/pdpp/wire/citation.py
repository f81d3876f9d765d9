"""Citations: the address at which a person opens a record."""

from functools import lru_cache

from pdpp.evidence.handle import Handle, path_part

_MOST_FEEDS = 4_096
_RECORD = "{record_id}"


def record_address(origin: str, page: str | None, handle: Handle) -> tuple[str, bool]:
    """Return where a server has a record, and whether that is a page for people.

    ``page`` is the template that our servers send with every answer, a path or a whole address;
    other servers have only the route of the record.
    """
    template, is_page = _feed_template(origin, page, handle.connection_id, handle.stream)
    return template.replace(_RECORD, path_part(handle.record_id)), is_page


@lru_cache(_MOST_FEEDS)
def _feed_template(
    origin: str, page: str | None, connection_id: str | None, stream: str
) -> tuple[str, bool]:
    """Return the address of the records of a feed with a place for their keys.

    A page of hits has many records of few feeds, and the next page has the same ones.
    """
    stream = path_part(stream)
    route = f"{origin}/v1/streams/{stream}/records/{_RECORD}"
    if connection_id is None:
        return route, False
    connection_id = path_part(connection_id)
    template = origin + page if page is not None and page.startswith("/") else page or ""
    if template.startswith(("https://", "http://")):
        named = template.replace("{connection_id}", connection_id).replace("{stream}", stream)
        return named, True
    return f"{route}?connection_id={connection_id}", False


def passage_address(address: str, field: str, start: int, end: int) -> str:
    """Return the address of a record's page at one passage of a field."""
    return f"{address}#field={path_part(field)}&chars={start}-{end}"
