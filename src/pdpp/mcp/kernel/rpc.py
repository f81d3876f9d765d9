"""JSON-RPC 2.0 messages: bytes to a checked request, and answers as plain dicts."""

import json
from collections.abc import Callable
from typing import NamedTuple, NoReturn, TypeGuard

JsonObject = dict[str, object]
RequestId = str | int
Parse = Callable[[bytes], object]
Encode = Callable[[JsonObject], bytes]
Id = RequestId | None

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class RpcError(Exception):
    """A protocol error: a code, words, data, and the id of the message where it had one."""

    def __init__(self, code: int, message: str, data: object = None, id: Id = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data, self.id = code, message, data, id

    def answer(self, id: Id = None) -> JsonObject:
        """Return the error as the answer to a request."""
        return failure(self.id if id is None else id, self.code, self.message, self.data)


class RpcRequest(NamedTuple):
    """A checked request."""

    id: RequestId
    method: str
    params: JsonObject


def success(id: RequestId, result: JsonObject) -> JsonObject:
    """Return the answer that carries a result."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def failure(id: object, code: int, message: str, data: object = None) -> JsonObject:
    """Return the answer that carries an error."""
    more = {} if data is None else {"data": data}
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, **more}}


def refuse_constant(constant: str) -> NoReturn:
    """Refuse what JSON has no word for, such as NaN."""
    raise ValueError(constant)


DECODER = json.JSONDecoder(parse_constant=refuse_constant)
"""Made once: that takes longer than to read a message."""


def parse(text: bytes, decoder: json.JSONDecoder = DECODER) -> object:
    """Return the JSON value that UTF-8 text holds."""
    try:
        read = text.decode("utf-8")
        if read[:1] != "{" or read[-1] != "}":
            return decoder.decode(read)
        # Nothing stands around it, which the decoder would look for twice.
        value, end = decoder.raw_decode(read)
        if end < len(read):
            raise ValueError(read[end:])
        return value
    except (ValueError, RecursionError):
        raise RpcError(PARSE_ERROR, "Parse error: a message is one UTF-8 JSON object") from None


def is_id(value: object) -> TypeGuard[RequestId]:
    """Tell whether a value can name a request."""
    # ``bool`` is a subclass of ``int`` in Python, but ``true`` is no id in JSON-RPC.
    return isinstance(value, str | int) and not isinstance(value, bool)


def read(message: object) -> RpcRequest | None:
    """Check a message; None stands for one that is owed no answer.

    That is a notification, and a response, since this server never asks.
    """
    if isinstance(message, list):
        raise RpcError(INVALID_REQUEST, "Batches are not supported: send one message at a time")
    if not isinstance(message, dict):
        raise RpcError(INVALID_REQUEST, "A message must be a JSON object")
    id = message.get("id")
    if "id" in message and not is_id(id):
        raise RpcError(INVALID_REQUEST, "A request id must be a string or an integer")
    if message.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'A message carries "jsonrpc": "2.0"', id=id)
    if "method" not in message and ("result" in message or "error" in message):
        return None
    method = message.get("method")
    if not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, "A request names its method with a string", id=id)
    if id is None:
        return None
    params = message.get("params")
    if params is not None and not isinstance(params, dict):
        raise RpcError(INVALID_PARAMS, "params must be an object", id=id)
    return RpcRequest(id, method, params or {})


def encode(answer: JsonObject, encoder: type[json.JSONEncoder] = json.JSONEncoder) -> bytes:
    """Return an answer as one line of UTF-8 JSON; one that is no JSON becomes an internal error."""
    plain = encoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return plain.encode(answer).encode("utf-8")
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form. Escaped it is ASCII, and the client gets what was
        # stored.
        return encoder(allow_nan=False, separators=(",", ":")).encode(answer).encode("ascii")
    except (TypeError, ValueError, RecursionError):
        log_fault("the answer to request %r is no JSON", answer.get("id"))
        return plain.encode(internal(answer.get("id"))).encode("utf-8")


def log_fault(what: str, *about: object) -> None:
    """Log the fault of ours that is being handled."""
    import logging  # Takes long to import, and is seldom needed.

    logging.getLogger("pdpp.mcp").exception(what, *about)


def internal(id: object) -> JsonObject:
    """Return the answer for a fault of ours; what went wrong is in the log under the request id."""
    return failure(id, INTERNAL_ERROR, "Internal error: the server's log has the detail")
