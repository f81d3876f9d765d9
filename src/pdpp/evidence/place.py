"""Places: every form in which a caller may name a record, turned into one, strictly."""

from pdpp.evidence.handle import Handle, parse_handle, part_problem
from pdpp.model.errors import InvalidRequest


def place_of(id: str | Handle, connection_id: str | None = None) -> Handle:
    """Return the record an id names, with the connection given beside it taken in."""
    handle = parse_handle(id) if isinstance(id, str) else id
    if connection_id is None or connection_id == handle.connection_id:
        return handle
    if handle.connection_id is not None:
        raise InvalidRequest(
            f"The id names connection {handle.connection_id!r} and connection_id "
            f"{connection_id!r}; give one, or the same.",
            param="connection_id",
        )
    problem = part_problem(connection_id)
    if problem is not None:
        raise InvalidRequest(f"The connection id {problem}.", param="connection_id")
    return Handle(connection_id, handle.stream, handle.record_id)
