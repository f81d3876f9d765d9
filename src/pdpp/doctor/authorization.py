"""Getting authorized: registering, asking the owner, and using what the owner approved."""

import base64
import hashlib
from collections.abc import Mapping
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

from pdpp.doctor.finding import StepBroken, StepUntried
from pdpp.doctor.html import PageKind, page_kind
from pdpp.doctor.state import CALLBACK, ExaminationState
from pdpp.doctor.wire import TimedReply, json_of, said, short_line

_LOG = "The log of the server (pdpp.oauth) tells each step and why it was refused."
_SCOPE = "pdpp:read offline_access"
KNOWN_DOCUMENT = "https://claude.ai/oauth/claude-code-client-metadata"
"""The document of an agent, which a server that offers documents must be able to fetch."""


def register(state: ExaminationState) -> str:
    """Register as a client that has nothing to prove itself with."""
    wanted = {
        "client_name": "pdpp doctor",
        "redirect_uris": [CALLBACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    reply = state.wire.post_json(state.endpoint("registration_endpoint"), wanted)
    document = json_of(reply, "registration", 201)
    client_id = document.get("client_id")
    if not isinstance(client_id, str) or not client_id:
        raise StepBroken("the registration was answered without a client_id", _LOG)
    state.client_id = client_id
    return "201, with a client_id"


def client_document(state: ExaminationState) -> str:
    """Ask as a client whose id is the address of its own document."""
    offered = state.server.get("client_id_metadata_document_supported")
    if offered is False and state.client_document is None:
        raise StepUntried("client_documents is false; agents register instead")
    if offered is not True:
        raise StepBroken(
            "client-id metadata documents are not offered",
            "Let the proxy pass the server's own metadata on, as it is; or set "
            "client_documents = true.",
        )
    if state.client_document is None:
        return _known_document(state)
    document = json_of(state.wire.get(state.client_document), "the client's document")
    callbacks = document.get("redirect_uris")
    if not isinstance(callbacks, list) or not callbacks:
        raise StepBroken("the client's document names no redirect_uris", "Name another document.")
    json_of(
        _push_by_document(state, state.client_document, str(callbacks[0])),
        "a request of that client",
        201,
    )
    return "a request of that client is taken"


def _known_document(state: ExaminationState) -> str:
    """See that the server fetches the document of an agent that many have.

    Where that agent is sent back to is its own affair: a refusal of the doctor's callback comes
    after the document was read, and is as good as a yes.
    """
    pushed = _push_by_document(state, KNOWN_DOCUMENT, CALLBACK)
    if pushed.status != 201 and "redirect_uri" not in str(pushed.document):
        json_of(pushed, "a request of that client", 201)
    return f"the server fetches {KNOWN_DOCUMENT}"


def _push_by_document(state: ExaminationState, client_id: str, callback: str) -> TimedReply:
    pushed = _push(state, client_id, callback)
    if pushed.status != 201 and "cannot be fetched" in str(pushed.document):
        raise StepBroken(
            f"the server could not fetch the document{said(pushed)}",
            "Let the server reach that host over https; or set client_documents = false, and "
            "agents register with the server instead.",
        )
    return pushed


def authorize(state: ExaminationState) -> str:
    """Ask for access; the owner's browser must meet a login, not an error."""
    pushed = json_of(_push(state, state.client_id, CALLBACK), "the pushed request", 201)
    parameters = {"client_id": state.client_id, "request_uri": str(pushed.get("request_uri"))}
    url = f"{state.endpoint('authorization_endpoint')}?{urlencode(parameters)}"
    reply = state.wire.get(url)
    if reply.status not in (302, 303):
        raise StepBroken(
            f"the owner is not led on: status {reply.status} {reply.title}".rstrip(), _LOG
        )
    where = urljoin(url, reply.headers.get("location", ""))
    if not where.startswith(f"{state.issuer}/"):
        raise StepBroken(
            f"the owner is led to {short_line(where)}, away from {state.issuer}",
            "Start the server with --public-url and the address that people open.",
        )
    state.consent_url = where
    return _login_page(state.wire.get(where))


def _login_page(reply: TimedReply) -> str:
    match page_kind(reply):
        case PageKind.LOGIN:
            return "the owner meets a login"
        case PageKind.SETUP:
            raise StepBroken(
                "the server has no owner yet, so nobody can say yes",
                "Choose a passphrase: pdpp owner init, with the server's --data.",
            )
        case _:
            title = f" with the title “{reply.title}”" if reply.title else ""
            raise StepBroken(
                f"no login, but a page of status {reply.status}{title}",
                "Let the proxy pass the server's pages on, and log in with nothing before it.",
            )


def approve(state: ExaminationState) -> str:
    """Let the owner say yes, and see that the answer comes back whole."""
    if state.approver is None:
        raise StepUntried(
            "needs the owner: give --data with the server's folder, or --passphrase-file"
        )
    where = state.approver.approve(state.consent_url)
    if not where.startswith(CALLBACK):
        raise StepBroken(f"the yes leads to {short_line(where)}, not back to the client", _LOG)
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(where).query).items()}
    if "error" in parameters:
        raise StepBroken(f"the client was told: {short_line(parameters['error'])}", _LOG)
    if not parameters.get("code") or parameters.get("state") != state.oauth_state:
        raise StepBroken("the answer lacks its code, or the state that was sent", _LOG)
    if parameters.get("iss") != state.issuer:
        raise StepBroken(
            f"the answer says it is from {short_line(str(parameters.get('iss')))},"
            f" not from {state.issuer}",
            "Start the server with --public-url and the address that agents are given.",
        )
    state.code = parameters["code"]
    return "a code came back, with state and iss"


def token(state: ExaminationState) -> str:
    """Exchange the code for tokens."""
    reply = _ask_token(
        state,
        grant_type="authorization_code",
        code=state.code,
        redirect_uri=CALLBACK,
        code_verifier=state.verifier,
        resource=state.mcp_url,
    )
    _take_tokens(state, reply, "the code")
    if "no-store" not in reply.headers.get("cache-control", ""):
        raise StepBroken(
            "the answer with the tokens may be kept by caches",
            "Let the proxy pass Cache-Control: no-store on.",
        )
    return "an access token and a refresh token"


def refresh(state: ExaminationState) -> str:
    """Renew the tokens; the old refresh token is used up by it."""
    before = state.refresh
    reply = _ask_token(state, grant_type="refresh_token", refresh_token=before)
    _take_tokens(state, reply, "the refresh token")
    if state.refresh == before:
        raise StepBroken("the refresh token stayed the same", _LOG)
    return "renewed, with a new refresh token"


def audience(state: ExaminationState) -> str:
    """See that a token for /mcp is good for nothing else."""
    reply = state.wire.get(f"{state.address}/v1/streams", **bearer(state.access))
    if reply.status != 401:
        raise StepBroken(
            f"a token for {state.mcp_url} is answered with {reply.status} at /v1",
            "Let the proxy pass the resource parameter of token requests on.",
        )
    return "refused at /v1"


def clean_up(state: ExaminationState) -> str:
    """Take back what was made here."""
    if not state.access:
        _revoke_all(state)
        return "the registration was never used, and is forgotten by itself"
    form = {"token": state.refresh, "client_id": state.client_id}
    state.wire.post_form(state.endpoint("revocation_endpoint"), form)
    reply = state.wire.post_json(state.mcp_url, {}, bearer(state.access))
    _revoke_all(state)
    if reply.status not in (401, 403):
        raise StepBroken(
            f"a revoked token is answered with {reply.status}",
            "Let no cache or proxy answer in the server's place.",
        )
    return "revoked, and refused at once"


def _revoke_all(state: ExaminationState) -> None:
    if state.approver is not None:
        state.approver.revoke(state.client_id)


def bearer(secret: str) -> dict[str, str]:
    """Return the header that carries a token."""
    return {"Authorization": f"Bearer {secret}"}


def _push(state: ExaminationState, client_id: str, callback: str) -> TimedReply:
    challenge = base64.urlsafe_b64encode(hashlib.sha256(state.verifier.encode()).digest())
    form = {
        "client_id": client_id,
        "redirect_uri": callback,
        "response_type": "code",
        "scope": _SCOPE,
        "state": state.oauth_state,
        "resource": state.mcp_url,
        "code_challenge": challenge.rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    return state.wire.post_form(state.endpoint("pushed_authorization_request_endpoint"), form)


def _ask_token(state: ExaminationState, **form: str) -> TimedReply:
    fields: Mapping[str, str] = {"client_id": state.client_id, **form}
    return state.wire.post_form(state.endpoint("token_endpoint"), fields)


def _take_tokens(state: ExaminationState, reply: TimedReply, what: str) -> None:
    document = json_of(reply, what)
    access, renewed = document.get("access_token"), document.get("refresh_token")
    if not isinstance(access, str) or not isinstance(renewed, str):
        raise StepBroken(f"{what} gave no access token with a refresh token", _LOG)
    state.access, state.refresh = access, renewed
