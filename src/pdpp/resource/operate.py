"""Operating: one operation for one principal, whoever asks for it and over what.

The routes of ``/v1`` run operations for the bearer of a token, the pages run the same operations
for the owner's session. There is one way through: who may, the limits, the parameters, the read
under one snapshot, and the receipt.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

from pdpp.authz.principal import Principal
from pdpp.evidence.handle import path_part
from pdpp.model.errors import InsufficientScope, NotFound, RangeNotSatisfiable
from pdpp.model.instant_json import write_answer
from pdpp.receipts.recorder import AnsweredRead
from pdpp.resource.blob import BlobRange
from pdpp.resource.call import Call, Unwritten
from pdpp.resource.parameter import parse_parameters
from pdpp.resource.routes import BASE, ROUTES, Route
from pdpp.service.runner import LATER
from pdpp.service.service import Service
from pdpp.store.numbers import read_answer

Parameters = Mapping[str, str | int | Sequence[str]]

OPERATIONS: Mapping[str, Route] = MappingProxyType({route.name: route for route in ROUTES})
"""Every operation by its name."""

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})

_USING = ("sort", "field", "group_by", "group_by_time")
"""Parameters that name a field which an answer depends on."""


def make_call(
    service: Service,
    principal: Principal,
    route: Route,
    path: Mapping[str, str],
    query: bytes,
    *,
    url: str,
    headers: Mapping[str, str] = _NO_HEADERS,
    lag: float | None = None,
    is_counted: bool = False,
) -> Call:
    """Return the call of an operation, if the principal may make it and the parameters are good."""
    # Before the parameters are read, so that requests which are refused count as well.
    if not is_counted:
        service.rate_limiter.take(principal.approval_id)
    if route.owner_only and not principal.is_owner:
        raise InsufficientScope("Only the owner may do this; a grant reads.")
    return Call(
        store=service.store,
        principal=principal,
        query=parse_parameters(query, route.parameters),
        path=path,
        url=url,
        now=service.clock(),
        signer=service.signer,
        settings=service.settings,
        headers=headers,
        encoder=service.encoder,
        data=service.data,
        lag=lag,
    )


async def run_call(
    service: Service, route: Route, call: Call, reader: Principal | None = None
) -> Any:
    """Run an operation; a read answers JSON as bytes or a range of a blob, and has its receipt.

    ``reader`` is who reads where that is not the caller: the owner may look through a grant.
    """
    if route.writes:
        return await service.runner.write(lambda: route.operation(call))
    try:
        answer = await service.runner.read(
            _kind(route, call),
            partial(_read, route, call),
            heavy=route.heavy,
            lag=call.lag,
            assumed=call.assumed,
            caller=call.principal.approval_id,
        )
    except (NotFound, RangeNotSatisfiable):
        _record_refusal(service, route, call, reader)
        raise
    _record(service, route, call, reader)
    return answer


def run_now(service: Service, route: Route, call: Call) -> Any:
    """Run a read on the event loop as ``run_call`` does, if it is short; else return ``LATER``.

    Most reads are short, and what waits for nothing needs no coroutines.
    """
    try:
        answer = service.runner.read_now(
            _kind(route, call),
            partial(_read, route, call),
            heavy=route.heavy,
            lag=call.lag,
            assumed=call.assumed,
        )
    except (NotFound, RangeNotSatisfiable):
        _record_refusal(service, route, call, None)
        raise
    if answer is not LATER:
        _record(service, route, call, None)
    return answer


def _record_refusal(service: Service, route: Route, call: Call, reader: Principal | None) -> None:
    """Take the receipt of a refusal that tells something: that a text does not hold some words."""
    if call.served:
        _record(service, route, call, reader)


def _record(service: Service, route: Route, call: Call, reader: Principal | None) -> None:
    """Take the receipt of a read that is answered."""
    who, stream = reader or call.principal, call.path.get("stream")
    read = AnsweredRead(call.now, who, route.name, stream, call.served, _asked(call))
    service.recorder.take(read)


def _asked(call: Call) -> tuple[str, ...]:
    """Return the fields that a question uses to filter, sort, group or add up."""
    values, filters = call.query.values, call.query.filters
    if not call.used and not filters and values.keys().isdisjoint(_USING):
        return ()
    named = [*call.used, *[raw.field for raw in filters]]
    if "stream" in call.path:  # A search is sorted by score or time, which are no fields.
        named += [values[name].lstrip("-") for name in _USING if name in values]
    return tuple(sorted(set(named) - {""}))


async def operate(
    service: Service,
    principal: Principal,
    operation: str,
    path: Mapping[str, str] | None = None,
    query: Parameters | None = None,
    reader: Principal | None = None,
    headers: Mapping[str, str] = _NO_HEADERS,
) -> Any:
    """Run an operation by its name and return its answer as data; raise an error if it is refused.

    Bytes are not read here: a blob is served by its own route.
    """
    route = OPERATIONS[operation]
    encoded = urlencode(query or {}, doseq=True)
    named = {name: path_part(value) for name, value in (path or {}).items()}
    url = BASE + route.path.format(**named) + (f"?{encoded}" if encoded else "")
    call = make_call(
        service, principal, route, path or {}, encoded.encode(), url=url, headers=headers
    )
    answer = await run_call(service, route, call, reader)
    return read_answer(answer) if isinstance(answer, bytes) else answer


def _kind(route: Route, call: Call) -> str:
    """Return what reads are alike in how long they take: those of one caller on one route.

    Where they are of one connection they are apart: that is far less than all of them.
    """
    return f"{route.name} {call.principal.binding} {call.query.text('connection_id')}"


def _read(route: Route, call: Call) -> Any:
    """Read and turn the answer into bytes while the snapshot it was read under is still held."""
    call.served.clear()  # what a first try put aside that ran out of time
    answer = route.operation(call)
    return answer if isinstance(answer, BlobRange | Unwritten) else write_answer(answer)
