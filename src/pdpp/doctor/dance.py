"""The dance: registering, asking the owner, and what comes of the owner's yes."""

import base64
import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from pdpp.doctor.chart import CALLBACK, Chart
from pdpp.doctor.finding import Broken, Untried
from pdpp.doctor.page import Door, door_of
from pdpp.doctor.wire import Reply, json_of, shown

_LOG = "The log of the server (pdpp.oauth) tells each step and why it was refused."
_SCOPE = "pdpp:read offline_access"


def register(chart: Chart) -> str:
    """Register as a client that has nothing to prove itself with."""
    wanted = {
        "client_name": "pdpp doctor",
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    reply = chart.wire.post_json(chart.endpoint("registration_endpoint"), wanted)
    document = json_of(reply, "registration", 201)
    client_id = document.get("client_id")
    if not isinstance(client_id, str) or not client_id:
        raise Broken("the registration was answered without a client_id", _LOG)
    chart.client_id = client_id
    return "201, with a client_id"


def client_document(chart: Chart) -> str:
    """Ask as a client whose id is the address of its own document."""
    if chart.server.get("client_id_metadata_document_supported") is not True:
        raise Broken(
            "client-id metadata documents are not offered",
            "Let the proxy pass the server's own metadata on, as it is.",
        )
    if chart.client_document is None:
        raise Untried("offered; give --client-document URL to try it with a client's own")
    found = json_of(chart.wire.get(chart.client_document), "the client's document")
    callbacks = found.get("redirect_uris")
    if not isinstance(callbacks, list) or not callbacks:
        raise Broken("the client's document names no redirect_uris", "Name another document.")
    pushed = _push(chart, chart.client_document, str(callbacks[0]))
    json_of(pushed, "a request of that client", 201)
    return "a request of that client is taken"


def authorize(chart: Chart) -> str:
    """Ask for access; the owner's browser must meet a login, not an error."""
    pushed = json_of(_push(chart, chart.client_id, CALLBACK), "the pushed request", 201)
    told = {"client_id": chart.client_id, "request_uri": str(pushed.get("request_uri"))}
    url = f"{chart.endpoint('authorization_endpoint')}?{urlencode(told)}"
    reply = chart.wire.get(url)
    if reply.status not in (302, 303):
        raise Broken(f"the owner is not led on: status {reply.status} {reply.title}".rstrip(), _LOG)
    where = urljoin(url, reply.headers.get("location", ""))
    if not where.startswith(f"{chart.issuer}/"):
        raise Broken(
            f"the owner is led to {shown(where)}, away from {chart.issuer}",
            "Start the server with --public-url and the address that people open.",
        )
    chart.consent_url = where
    return _door(chart.wire.get(where))


def _door(reply: Reply) -> str:
    match door_of(reply):
        case Door.LOGIN:
            return "the owner meets a login"
        case Door.SETUP:
            raise Broken(
                "the server has no owner yet, so nobody can say yes",
                "Choose a passphrase: pdpp owner init, with the server's --data.",
            )
        case _:
            title = f" with the title “{reply.title}”" if reply.title else ""
            raise Broken(
                f"no login, but a page of status {reply.status}{title}",
                "Let the proxy pass the server's pages on, and log in with nothing before it.",
            )


def approve(chart: Chart) -> str:
    """Let the owner say yes, and see that the answer comes back whole."""
    if chart.approver is None:
        raise Untried("needs the owner: give --data with the server's folder, or --passphrase-file")
    where = chart.approver.approve(chart.consent_url)
    if not where.startswith(CALLBACK):
        raise Broken(f"the yes leads to {shown(where)}, not back to the client", _LOG)
    found = {name: values[0] for name, values in parse_qs(urlsplit(where).query).items()}
    if "error" in found:
        raise Broken(f"the client was told: {shown(found['error'])}", _LOG)
    if not found.get("code") or found.get("state") != chart.state:
        raise Broken("the answer lacks its code, or the state that was sent", _LOG)
    if found.get("iss") != chart.issuer:
        raise Broken(
            f"the answer says it is from {shown(str(found.get('iss')))}, not from {chart.issuer}",
            "Start the server with --public-url and the address that agents are given.",
        )
    chart.code = found["code"]
    return "a code came back, with state and iss"


def token(chart: Chart) -> str:
    """Exchange the code for tokens."""
    reply = _ask_token(
        chart,
        grant_type="authorization_code",
        code=chart.code,
        redirect_uri=CALLBACK,
        code_verifier=chart.verifier,
        resource=chart.mcp_url,
    )
    _take_tokens(chart, reply, "the code")
    if "no-store" not in reply.headers.get("cache-control", ""):
        raise Broken(
            "the answer with the tokens may be kept by caches",
            "Let the proxy pass Cache-Control: no-store on.",
        )
    return "an access token and a refresh token"


def refresh(chart: Chart) -> str:
    """Renew the tokens; the old refresh token is used up by it."""
    before = chart.refresh
    reply = _ask_token(chart, grant_type="refresh_token", refresh_token=before)
    _take_tokens(chart, reply, "the refresh token")
    if chart.refresh == before:
        raise Broken("the refresh token stayed the same", _LOG)
    return "renewed, with a new refresh token"


def audience(chart: Chart) -> str:
    """See that a token for /mcp is good for nothing else."""
    reply = chart.wire.get(f"{chart.origin}/v1/streams", **bearer(chart.access))
    if reply.status != 401:
        raise Broken(
            f"a token for {chart.mcp_url} is answered with {reply.status} at /v1",
            "Let the proxy pass the resource parameter of token requests on.",
        )
    return "refused at /v1"


def clean_up(chart: Chart) -> str:
    """Take back what was made here."""
    if not chart.access:
        _revoke_all(chart)
        return "the registration was never used, and is forgotten by itself"
    told = {"token": chart.refresh, "client_id": chart.client_id}
    chart.wire.post_form(chart.endpoint("revocation_endpoint"), told)
    reply = chart.wire.post_json(chart.mcp_url, {}, bearer(chart.access))
    _revoke_all(chart)
    if reply.status not in (401, 403):
        raise Broken(
            f"a revoked token is answered with {reply.status}",
            "Let no cache or proxy answer in the server's place.",
        )
    return "revoked, and refused at once"


def _revoke_all(chart: Chart) -> None:
    if chart.approver is not None:
        chart.approver.revoke(chart.client_id)


def bearer(secret: str) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {secret}"}


def _push(chart: Chart, client_id: str, callback: str) -> Reply:
    challenge = base64.urlsafe_b64encode(hashlib.sha256(chart.verifier.encode()).digest())
    form = {
        "client_id": client_id,
        "redirect_uri": callback,
        "response_type": "code",
        "scope": _SCOPE,
        "state": chart.state,
        "resource": chart.mcp_url,
        "code_challenge": challenge.rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    return chart.wire.post_form(chart.endpoint("pushed_authorization_request_endpoint"), form)


def _ask_token(chart: Chart, **form: str) -> Reply:
    told: Mapping[str, str] = {"client_id": chart.client_id, **form}
    return chart.wire.post_form(chart.endpoint("token_endpoint"), told)


def _take_tokens(chart: Chart, reply: Reply, what: str) -> None:
    document: dict[str, Any] = json_of(reply, what)
    access, renewed = document.get("access_token"), document.get("refresh_token")
    if not isinstance(access, str) or not isinstance(renewed, str):
        raise Broken(f"{what} gave no access token with a refresh token", _LOG)
    chart.access, chart.refresh = access, renewed
