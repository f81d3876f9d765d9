"""Citations: the address at which a person opens a record."""

from pdpp.evidence.handle import Handle, path_part


def record_address(origin: str, page: str | None, handle: Handle) -> tuple[str, bool]:
    """Return where a server has a record, and whether that is a page for people.

    ``page`` is the template that our servers send with every answer, a path or a whole address;
    other servers have only the route of the record.
    """
    connection_id, stream, record_id = (None if p is None else path_part(p) for p in handle)
    if connection_id is None:
        return f"{origin}/v1/streams/{stream}/records/{record_id}", False
    template = origin + page if page is not None and page.startswith("/") else page or ""
    if template.startswith(("https://", "http://")):
        parts = {"connection_id": connection_id, "stream": stream, "record_id": record_id}
        for name, value in parts.items():
            template = template.replace(f"{{{name}}}", value or "")
        return template, True
    route = f"{origin}/v1/streams/{stream}/records/{record_id}"
    return f"{route}?connection_id={connection_id}", False


def passage_address(address: str, field: str, start: int, end: int) -> str:
    """Return the address of a record's page at one passage of a field."""
    return f"{address}#field={path_part(field)}&chars={start}-{end}"
