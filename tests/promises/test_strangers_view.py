"""A stranger learns nothing of what a server holds: an empty store and a full one answer alike."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from urllib.parse import urlencode

import orjson
import pytest
from tests.engine import copy_store, open_store
from tests.promises.caller import Caller, Reply, calling
from tests.promises.letters import declaration
from tests.promises.observer import seen
from tests.serving import UNLIMITED, SetClock, approve, plant

from pdpp.app import make_app

_MADE_UP = re.compile(
    rb'"(?:request_uri|device_code|user_code|client_id|verification_uri_complete)":"[^"]*"'
    rb'|"client_id_issued_at":\d+|name="[a-z_]+" value="[\w.:-]{16,}"|[\w-]{40,}'
)
"""What an answer makes up anew each time: codes, ids, the secrets of forms."""

_DETAIL = {
    "type": "https://pdpp.dev/data-access",
    "source": {"kind": "connector", "id": "https://letters.example/connector"},
    "purpose_code": "https://pdpp.dev/purpose/assistant",
    "access_mode": "continuous",
    "streams": [{"name": "messages", "fields": ["subject"], "connection_ids": ["home"]}],
}
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_TOKENS = ("", "Bearer nonsense", "Bearer pdpp_client_" + "A" * 43)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Caller, Caller]]:
    """An empty store, and one of the same secret that holds two accounts and their letters."""
    folder = tmp_path_factory.mktemp("strangers")
    clock = SetClock()
    store = open_store(folder / "empty", clock)
    store.secret()
    store.close()
    copy_store(folder / "empty", folder / "full")
    with ExitStack() as stack:
        callers = []
        for name in ("empty", "full"):
            store = open_store(folder / name, clock)
            stack.callback(store.close)
            if name == "full":
                rows = [{"id": f"v{at}", "subject": "alpha"} for at in range(30)]
                accounts = {"home": "Home", "work": "Work"}
                plant(store, declaration(), accounts, {("home", "messages"): rows})
                approve(store)
            app = make_app(store, UNLIMITED, clock)
            callers.append(stack.enter_context(calling(app, "")))
        yield callers[0], callers[1]


def _paths(caller: Caller) -> list[str]:
    """Return every address there is, with names that only the full store knows."""
    named = {"stream": "messages", "record_id": "v1", "key": "v1", "connection_id": "home"}
    paths = {getattr(route, "path", "/") for route in caller.app.routes}
    filled = {re.sub(r"\{(\w+)[^}]*\}", lambda m: named.get(m[1], "f" * 64), p) for p in paths}
    return sorted({*filled, "/", "/mcp", "/metrics", "/nonsense"})


def _plain(reply: Reply) -> Reply:
    reply = seen(reply)
    headers = tuple(
        (name, _MADE_UP.sub(b"made up", value))
        for name, value in reply.headers
        if name not in (b"set-cookie", b"content-length")
    )
    return Reply(reply.status, headers, _MADE_UP.sub(b"made up", reply.body))


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_stranger_sees_the_same_at_every_address(
    servers: tuple[Caller, Caller], method: str
) -> None:
    paths = _paths(servers[1])
    assert len(paths) > 40
    for path in paths:
        for token in _TOKENS:
            empty, full = (
                _plain(caller.exchange(method, path, (), {"Authorization": token}))
                for caller in servers
            )
            assert empty == full, (path, token)


def test_a_request_for_access_is_taken_alike_whatever_there_is(
    servers: tuple[Caller, Caller],
) -> None:
    client = {"redirect_uris": ["https://client.example/callback"], "client_name": "A client"}
    for detail in (_DETAIL, {**_DETAIL, "streams": [{"name": "nonsense", "fields": ["x"]}]}):
        replies = []
        for caller in servers:
            body = orjson.dumps(client)
            made = caller.exchange(
                "POST", "/oauth/register", (), {"Content-Type": "application/json"}, body
            )
            client_id = orjson.loads(made.body)["client_id"]
            asked = {
                "client_id": client_id,
                "response_type": "code",
                "redirect_uri": client["redirect_uris"][0],
                "code_challenge": "A" * 43,
                "code_challenge_method": "S256",
                "authorization_details": orjson.dumps([detail]).decode(),
            }
            form = urlencode(asked).encode()
            replies.append(
                [
                    _plain(made),
                    _plain(caller.exchange("POST", "/oauth/par", (), _FORM, form)),
                    _plain(caller.exchange("POST", "/oauth/device_authorization", (), _FORM, form)),
                    _plain(caller.exchange("GET", "/oauth/authorize", list(asked.items()))),
                ]
            )
        assert replies[0] == replies[1]
