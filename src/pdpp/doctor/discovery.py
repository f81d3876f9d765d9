"""Discovery: what a stranger learns from an address before asking for anything."""

import re
import ssl
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from pdpp.credentials import is_loopback
from pdpp.doctor.finding import StepBroken, StepUntried
from pdpp.doctor.state import ExaminationState
from pdpp.doctor.wire import NoAnswer, json_of, short_line
from pdpp.evidence.amount import time_in_words

RESOURCE_PATH = "/.well-known/oauth-protected-resource"
SERVER_PATH = "/.well-known/oauth-authorization-server"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "pdpp-doctor", "version": "1"},
    },
}
ENDPOINTS = (
    "authorization_endpoint",
    "token_endpoint",
    "registration_endpoint",
    "revocation_endpoint",
)

_MOST_SKEW = 60.0
_FEW_DAYS = 14
_SPOOF = "pdpp-doctor.invalid"
_METADATA = re.compile(r'resource_metadata="([^"]*)"')
_PUBLIC = (
    "Start the server with --public-url and the very address that agents are given; behind a "
    "proxy that names it, --trusted-proxy does the same."
)


def reach(state: ExaminationState) -> str:
    """Open a connection."""
    try:
        state.wire.connect(state.origin).close()
    except NoAnswer as problem:
        raise StepBroken(
            f"{state.origin}: {problem}",
            "Check the address and that the server runs; from elsewhere, also the name's record, "
            "the port that is passed on, and the firewall.",
        ) from None
    return f"{urlsplit(state.origin).netloc} takes connections"


def tls(state: ExaminationState) -> str:
    """Check the certificate; a server on this machine needs none."""
    if not state.secure:
        if is_loopback(state.origin):
            return "plain http, which never leaves this machine"
        raise StepBroken(
            "plain http over a network: anyone on the way reads the tokens",
            "Put https in front, with a proxy or a tunnel; hosted agents connect to nothing else.",
        )
    host = urlsplit(state.origin).hostname or ""
    try:
        with (
            state.wire.connect(state.origin) as plain,
            state.wire.context.wrap_socket(plain, server_hostname=host) as secured,
        ):
            certificate: dict[str, Any] = secured.getpeercert() or {}
    except ssl.SSLCertVerificationError as problem:
        raise StepBroken(
            f"the certificate is not good: {short_line(problem.verify_message)}",
            f"Get a certificate for {host} from an authority that everybody trusts, with the whole "
            "chain in the file.",
        ) from None
    except (OSError, NoAnswer):
        raise StepBroken(
            "it takes connections but does not speak TLS",
            "Let the proxy serve https on this port, or ask at the http address.",
        ) from None
    return _fresh(certificate, state.now())


def _fresh(certificate: dict[str, Any], now: float) -> str:
    days = (ssl.cert_time_to_seconds(certificate["notAfter"]) - now) / 86_400
    if days < _FEW_DAYS:
        raise StepBroken(
            f"the certificate ends in {days:.0f} days",
            "Renew it now, and see why that did not happen by itself.",
        )
    return f"the certificate is good for {days:.0f} more days"


def answer(state: ExaminationState) -> str:
    """Ask over HTTP for the first time."""
    try:
        reply = state.wire.get(_resource_url(state))
    except NoAnswer as problem:
        raise StepBroken(
            f"{state.origin}: {problem}",
            "Something else than this server listens there; check the port and the proxy.",
        ) from None
    if reply.status in (502, 503, 504):
        raise StepBroken(
            f"a proxy answers {reply.status}: it does not reach the server",
            "Start the server, and let the proxy point at the address it prints.",
        )
    state.first = reply
    return f"in {1e3 * reply.took:.0f} ms"


def clock(state: ExaminationState) -> str:
    """Compare the server's clock with this machine's."""
    first = state.first
    text = None if first is None else first.headers.get("date")
    if first is None or text is None:
        raise StepUntried("the answer has no Date")
    try:
        skew = parsedate_to_datetime(text).timestamp() - first.sent_at
    except ValueError:
        raise StepUntried(f"the Date cannot be read: {short_line(text)}") from None
    if abs(skew) > _MOST_SKEW:
        way = "ahead of" if skew > 0 else "behind"
        raise StepBroken(
            f"the server's clock is {time_in_words(abs(skew))} {way} this machine's",
            "Set both clocks by the network; tokens and codes live for minutes.",
        )
    return "within a minute"


def resource(state: ExaminationState) -> str:
    """Read what is guarded at the address agents are given."""
    document = json_of(state.wire.get(_resource_url(state)), RESOURCE_PATH + _path(state))
    _same("the resource", document.get("resource"), state.mcp_url)
    servers = document.get("authorization_servers")
    if not isinstance(servers, list) or not servers:
        raise StepBroken(
            "it names no authorization_servers, so no agent learns where to ask",
            "Let the proxy pass the server's own document on, as it is.",
        )
    # The owner's passphrase goes to this address, so it may be none but the one that was typed.
    _same("the authorization server", servers[0], state.address)
    state.issuer = state.address
    return f"resource is {state.mcp_url}"


def root(state: ExaminationState) -> str:
    """Read what is guarded at the root, where some agents look instead."""
    place = state.well_known(RESOURCE_PATH, state.address)
    document = json_of(state.wire.get(place), urlsplit(place).path)
    _same("the resource at the root", document.get("resource"), state.address)
    return f"resource is {state.address}"


def server(state: ExaminationState) -> str:
    """Read how the authorization server is used."""
    place = state.well_known(SERVER_PATH, state.issuer)
    document = json_of(state.wire.get(place), urlsplit(place).path)
    _same("the issuer", document.get("issuer"), state.issuer)
    for name in ENDPOINTS:
        place = str(document.get(name, ""))
        if not place.startswith(f"{state.issuer}/"):
            raise StepBroken(
                f"{name} is {short_line(place) or 'missing'}, not under {state.issuer}", _PUBLIC
            )
    for name, wanted in (
        ("response_types_supported", "code"),
        ("code_challenge_methods_supported", "S256"),
        ("token_endpoint_auth_methods_supported", "none"),
        ("grant_types_supported", "refresh_token"),
    ):
        if wanted not in (document.get(name) or ()):
            raise StepBroken(
                f"{name} lacks {wanted}",
                "Let the proxy pass the server's own document on, as it is.",
            )
    state.server = document
    return f"issuer is {state.issuer}"


def challenge(state: ExaminationState) -> str:
    """See that a stranger is told where to get a token."""
    reply = state.wire.post_json(state.mcp_url, HELLO)
    if reply.status == 200 and not reply.is_html:
        raise StepBroken("it answers without a token", "Take it off the network: anyone can read.")
    if reply.is_html or reply.status != 401:
        json_of(reply, _path(state), 401)
    said = reply.headers.get("www-authenticate", "")
    if not said:
        raise StepBroken(
            "the 401 has no WWW-Authenticate header, so no agent learns where to ask",
            "Let the proxy pass the headers of a 401 on.",
        )
    match = _METADATA.search(said)
    _same("resource_metadata in the challenge", match and match[1], _resource_url(state))
    if "scope=" not in said:
        raise StepBroken(
            "the challenge names no scope", "Let the proxy pass the header on as it is."
        )
    return "401 with resource_metadata and scope"


def redirect(state: ExaminationState) -> str:
    """See that requests are answered where they are sent."""
    for url in (state.mcp_url, f"{state.mcp_url}/"):
        reply = state.wire.post_json(url, HELLO)
        if 300 <= reply.status < 400:
            where = short_line(reply.headers.get("location", "elsewhere"))
            raise StepBroken(
                f"{urlsplit(url).path} is redirected to {where}",
                "Do not redirect: many agents drop their token or their message on the way. Turn "
                "off what adds or removes slashes, or http to https for this path.",
            )
    return f"neither {_path(state)} nor {_path(state)}/ redirects"


def forwarded(state: ExaminationState) -> str:
    """Try to talk the server into another name."""
    forwarded_headers = {
        "X-Forwarded-Host": _SPOOF,
        "X-Forwarded-Proto": "https",
        "Forwarded": f"host={_SPOOF};proto=https",
    }
    for headers in (forwarded_headers, {"Host": _SPOOF}):
        reply = state.wire.ask("GET", _resource_url(state), headers)
        if _SPOOF.encode() in reply.body:
            raise StepBroken(
                f"a request that says it is for {_SPOOF} is believed ({', '.join(headers)})",
                "Let the proxy overwrite these headers, and trust with --trusted-proxy only the "
                "proxy's own address; better, say the name once with --public-url.",
            )
    return "headers from a stranger are not believed"


def _resource_url(state: ExaminationState) -> str:
    return state.well_known(RESOURCE_PATH, state.mcp_url)


def _path(state: ExaminationState) -> str:
    return urlsplit(state.mcp_url).path


def _same(what: str, actual: object, wanted: str) -> None:
    if not isinstance(actual, str) or actual.rstrip("/") != wanted:
        raise StepBroken(f"{what} is {short_line(str(actual))} where {wanted} is typed", _PUBLIC)
