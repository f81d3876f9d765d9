"""Handle closure: whatever a result shows can be called under its grant, and under no other."""

import json
import re
from typing import Any

import pytest
from tests.mcp.client import Client, Estate, Failure, Result
from tests.mcp.sight import SIGHTS, Call, see
from tests.serving import grant

from pdpp.evidence.handle import Handle, parse_handle, record_uri

URI = re.compile(r"pdpp://[a-z-]+/[A-Za-z0-9_.~%=?&-]+")
_STRANGERS = (
    {"connections": ("cin_shop",), "streams": ("items",)},
    {"connections": ("cin_photos",), "streams": ("albums",)},
)
EXAMPLE = "example"
_FORM = {"invalid_request", "invalid_filter", "invalid_expand"}


class Closure:
    """Calls once whatever was shown, under its own grant and under a stranger's."""

    def __init__(self, estate: Estate) -> None:
        self._estate = estate
        self._strangers = [grant(estate.store, **chosen) for chosen in _STRANGERS]
        self._known: set[tuple[str, str]] = set()

    def check(self, client: Client) -> None:
        """Check what a client has seen since the last time."""
        seen, client.seen = client.seen, []
        for result in seen:
            self.check_result(client.token, result)

    def check_result(self, token: str, result: Result) -> None:
        """Check everything that one result shows in either half, and beside them."""
        illustrated = result.is_error and "example" in result.structured["error"]
        check = self._check_form if illustrated else self._check_call
        for sight in SIGHTS:
            shown = see(result, sight)
            for call in shown.calls:
                check(token, call)
            for id in shown.ids:
                self._check_call(token, Call("id", "fetch", {"id": id}))
        for uri in _uris(result):
            self._check_uri(token, uri)

    def _check_call(self, token: str, call: Call) -> None:
        if (token, call.key) in self._known:
            return
        self._known.add((token, call.key))
        mine = self._call(token, call)
        assert not mine.is_error, (call, mine.text)
        if is_bound(call):
            theirs = self._stranger(call.key).call(call.tool, call.arguments)
            assert theirs.code in REFUSALS, (call, theirs.text)

    def _check_form(self, token: str, call: Call) -> None:
        """Check a call that only shows how one is written."""
        if (EXAMPLE, call.key) in self._known:
            return
        self._known.add((EXAMPLE, call.key))
        mine = self._call(token, call)
        assert mine.code not in _FORM, (call, mine.text)

    def _call(self, token: str, call: Call) -> Result:
        return self._estate.client("http-legacy", token).call(call.tool, call.arguments)

    def _check_uri(self, token: str, uri: str) -> None:
        if (token, uri) in self._known:
            return
        self._known.add((token, uri))
        assert self._estate.client("http-modern", token).read(uri)
        with pytest.raises(Failure) as refusal:
            self._stranger(uri).read(uri)
        assert refusal.value.data is None or refusal.value.data == {"uri": uri}

    def _stranger(self, about: str) -> Client:
        """Return a client under a grant that opens nothing of what a call is about."""
        other = self._strangers[1 if "cin_shop" in about or '"items"' in about else 0]
        return self._estate.client("http-legacy", other)


REFUSALS = {
    "ambiguous_connection",
    "blob_not_found",
    "grant_stream_not_allowed",
    "invalid_cursor",
    "not_found",
}


def is_bound(call: Call) -> bool:
    """Tell whether a call names something that only some grants open."""
    return bool(call.arguments.keys() & {"id", "cursor", "connection_id", "stream"})


def _uris(result: Result) -> set[str]:
    visible = json.dumps([result.raw["content"], result.structured], ensure_ascii=False)
    beside: dict[str, Any] = result.raw.get("_meta", {})
    found = {uri for uri in beside.values() if isinstance(uri, str) and uri.startswith("pdpp://")}
    return found | set(URI.findall(visible))


def uri_of(id: str) -> str:
    """Return the resource address of a record by its id."""
    return record_uri(parse_handle(id))


def legacy(id: str) -> str:
    """Return an id without its connection."""
    handle = parse_handle(id)
    return Handle(None, handle.stream, handle.record_id).id
