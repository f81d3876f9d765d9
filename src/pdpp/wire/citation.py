"""Citations: the address at which a person opens a record."""

from pdpp.evidence.handle import Handle, path_part


def record_address(origin: str, page: str | None, handle: Handle) -> tuple[str, bool]:
    """Return where a server has a record, and whether that is a page for people.

    ``page`` is the template that our servers send with every answer, a path or a whole address;
    other servers have only the route of the record.
    """
    connection_id, stream, record_id = handle
    template = origin + page if page is not None and page.startswith("/") else page or ""
    if connection_id is not None and template.startswith(("https://", "http://")):
        address = template.replace("{connection_id}", path_part(connection_id))
        address = address.replace("{stream}", path_part(stream))
        return address.replace("{record_id}", path_part(record_id)), True
    route = f"{origin}/v1/streams/{path_part(stream)}/records/{path_part(record_id)}"
    if connection_id is None:
        return route, False
    return f"{route}?connection_id={path_part(connection_id)}", False


def passage_address(address: str, field: str, start: int, end: int) -> str:
    """Return the address of a record's page at one passage of a field."""
    return f"{address}#field={path_part(field)}&chars={start}-{end}"
