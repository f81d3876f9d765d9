"""Answers: how a read is written for the resource server, and what its answer means."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from pdpp.evidence.handle import path_part
from pdpp.model.decimals import read_json
from pdpp.model.errors import PdppError
from pdpp.wire.http import HttpReply, Unreachable
from pdpp.wire.members import Json

Params = Mapping[str, object]
Decode = Callable[[bytes], object]
GRANT_HEADER = "PDPP-Grant"


class ServerError(PdppError):
    """An error the resource server answered with, as it stood."""

    def __init__(self, status: int, error: Json, request_id: str | None) -> None:
        detail = {k: v for k, v in error.items() if k not in ("type", "code", "message", "param")}
        param = error.get("param")
        super().__init__(
            str(error.get("message") or f"The server answered {status} and said no more."),
            param=param if isinstance(param, str) else None,
        )
        self.status = status
        self.type = str(error.get("type") or "api_error")
        self.code = str(error.get("code") or "api_error")
        if request_id is not None:
            detail["request_id"] = request_id
        self.detail = detail


class ServerUnreachable(PdppError):
    """No answer."""

    type = "api_connection_error"
    code = "server_unreachable"
    status = 502


class UnexpectedAnswer(PdppError):
    """An answer that is not of this protocol: no JSON, or not what was asked for."""

    type = "api_error"
    code = "unexpected_answer"
    status = 502


def target(path: Sequence[str], params: Params) -> str:
    """Return the address of a read: filters and expand limits in brackets, lists repeated."""
    query = "&".join(f"{path_part(k)}={path_part(v)}" for k, v in _pairs(params))
    where = "/v1/" + "/".join(path_part(part) for part in path)
    return f"{where}?{query}" if query else where


def _pairs(params: Params) -> Iterator[tuple[str, str]]:
    for name, value in params.items():
        if isinstance(value, Mapping):
            yield from _bracketed(name, value)
        elif isinstance(value, list | tuple):
            for item in value:
                yield ("streams[]" if name == "streams" else name), str(item)
        else:
            yield name, _text(value)


def _bracketed(name: str, value: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield an object with its names in brackets: filters, and within them ranges."""
    for inner, condition in value.items():
        if isinstance(condition, Mapping):
            yield from _bracketed(f"{name}[{inner}]", condition)
        else:
            yield f"{name}[{inner}]", _text(condition)


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool | float) else str(value)


def body_of(reply: HttpReply, origin: str, decode: Decode = read_json) -> Json:
    """Return the JSON object of an answer, or raise the error it tells."""
    body = _object(reply, decode)
    if reply.status >= 400:
        raise _error(reply, body, origin)
    if body is None:
        raise _strange(reply, origin)
    return body


def error_of(reply: HttpReply, origin: str, decode: Decode = read_json) -> PdppError:
    """Return the error that an answer tells."""
    return _error(reply, _object(reply, decode), origin)


def _object(reply: HttpReply, decode: Decode) -> Json | None:
    try:
        body = decode(reply.body)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _error(reply: HttpReply, body: Json | None, origin: str) -> PdppError:
    error = body.get("error") if body is not None else None
    if isinstance(error, str):
        error = _plain_error(reply.status, error, body or {})
    if not isinstance(error, dict):
        return _strange(reply, origin)
    return ServerError(reply.status, error, reply.headers.get("request-id"))


def _plain_error(status: int, error: str, body: Json) -> dict[str, object]:
    """Return an error that is a word of OAuth, or the words of a web framework for a status."""
    message = body.get("error_description") or body.get("message") or error
    if "statusCode" in body:
        error = "not_found" if status == 404 else "api_error"
    return {"code": error, "message": str(message)}


def _strange(reply: HttpReply, origin: str) -> UnexpectedAnswer:
    """Return what is told of an answer that is not of this protocol."""
    kind = reply.headers.get("content-type") or "no content type"
    return UnexpectedAnswer(
        f"{origin} answered {reply.status} with {kind[:60]}, not with JSON of this protocol; "
        "a proxy or firewall may stand between. Nothing was read."
    )


def answer_without(what: str) -> UnexpectedAnswer:
    """Return what is told of an answer in which the very thing that was asked for is not."""
    return UnexpectedAnswer(f"The server's answer holds no {what}. Nothing was read.")


def no_answer(problem: Unreachable) -> ServerUnreachable | UnexpectedAnswer:
    """Return what is told where no answer came, or one that cannot be taken in."""
    kind = UnexpectedAnswer if problem.answered else ServerUnreachable
    return kind(f"{problem}. Nothing was read.")


_UNAUTHORIZED, _TOO_MANY, _FAILED = 401, 429, 500
_ENDED = frozenset({"grant_revoked", "grant_expired", "grant_invalid"})
_ABOUT_STREAMS = "not_allowed"
"""How the reference server's code ends where it answers 401 for a stream, not for the token."""


def is_temporary(error: PdppError) -> bool:
    """Tell whether an error says that a server is busy or failed: the same may succeed later."""
    return error.status == _TOO_MANY or error.status >= _FAILED


def is_about_token(error: PdppError) -> bool:
    """Tell whether an error says that the grant or its token is good no more."""
    if error.code in _ENDED:
        return True
    return error.status == _UNAUTHORIZED and not error.code.endswith(_ABOUT_STREAMS)
