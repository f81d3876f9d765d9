"""Resources: the same reads for hosts that follow addresses; never the only way to anything."""

from collections.abc import Sequence

from pdpp.evidence.budget import cut
from pdpp.evidence.handle import (
    BLOB_URI,
    RECORD_URI,
    STREAM_URI,
    WINDOW_URI,
    parse_blob_uri,
    parse_handle,
    parse_stream_uri,
    parse_window_uri,
    stream_uri,
)
from pdpp.mcp.kernel import Context, UnknownResource
from pdpp.mcp.kernel.rpc import INTERNAL_ERROR, JsonObject, RpcError
from pdpp.mcp.tools.registry import ReaderOf, operation
from pdpp.model.errors import PdppError
from pdpp.wire.answer import is_about_token, is_temporary

_LONGEST = 400
_TEMPLATES = (
    (f"{STREAM_URI}{{name}}", "stream", "What may be asked of a stream", "text/plain"),
    (f"{RECORD_URI}{{handle}}", "record", "One record as a document", "application/json"),
    (f"{WINDOW_URI}{{handle}}", "field window", "A piece of one field", "text/plain"),
    (f"{BLOB_URI}{{blob_id}}", "blob", "The facts about a blob", "application/json"),
)


class Resources:
    """Serves ``pdpp://`` addresses through the tools' own operations."""

    def __init__(self, reader_of: ReaderOf) -> None:
        self._reader_of = reader_of

    async def list(self, context: Context, /) -> Sequence[JsonObject]:
        """Return one resource for each stream the caller may read."""
        names = {name.stream for name in await self._reader_of(context).stream_names()}
        return [
            {"uri": stream_uri(name), "name": name, "mimeType": "text/plain"}
            for name in sorted(names)
        ]

    def templates(self) -> Sequence[JsonObject]:
        """Return the forms of addresses there are."""
        return [
            {"uriTemplate": uri, "name": name, "description": about, "mimeType": kind}
            for uri, name, about, kind in _TEMPLATES
        ]

    async def read(self, uri: str, context: Context, /) -> Sequence[JsonObject]:
        """Read one address with the tool that it belongs to."""
        # Imported here, as the tools are: few hosts read resources, and all wait for the start.
        from pdpp.mcp.drawing.result import text_half

        try:
            tool, arguments, kind = _operation(uri)
            answer = await operation(tool)(self._reader_of(context), arguments)
        except PdppError as problem:
            raise _refusal(uri, problem) from None
        return [{"uri": uri, "mimeType": kind, "text": text_half(answer)}]


def _refusal(uri: str, problem: PdppError) -> Exception:
    """Return what is told of an address; that nothing can be read now is not that it is none."""
    if is_temporary(problem) or is_about_token(problem):
        from pdpp.mcp.drawing.escaping import plain

        return RpcError(INTERNAL_ERROR, plain(cut(problem.message, _LONGEST)[0]))
    return UnknownResource(uri)


def _operation(uri: str) -> tuple[str, JsonObject, str]:
    if uri.startswith(STREAM_URI):
        return "schema", {"stream": parse_stream_uri(uri)}, "text/plain"
    if uri.startswith(RECORD_URI):
        return "fetch", {"id": parse_handle(uri).id}, "application/json"
    if uri.startswith(WINDOW_URI):
        parse_window_uri(uri)
        return "read_record_field", {"id": uri}, "text/plain"
    if uri.startswith(BLOB_URI):
        parse_blob_uri(uri)
        return "fetch", {"id": uri}, "application/json"
    raise UnknownResource(uri)
