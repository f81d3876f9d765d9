"""Registration: how a provider comes to know this program."""

import platform

from pdpp.enrolment.provider import EnrolmentError, Provider, reaching
from pdpp.evidence.fence import visible
from pdpp.wire.http import FORM_LIMITS, HttpClient

SCOPE = "pdpp:read offline_access"
REDIRECT_PATH = "/callback"
_LONGEST = 300
_BAD_REQUEST = 400
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def register(provider: Provider) -> str:
    """Register this program and return its client id."""
    if provider.registration_endpoint is None:
        raise EnrolmentError(
            f"{provider.issuer} registers no programs; ask its owner for a token and run: "
            f"{provider.connect_command} --token-file FILE"
        )
    strict = {
        "client_name": f"pdpp on {platform.node() or 'this machine'}"[:80],
        "redirect_uris": [f"http://127.0.0.1{REDIRECT_PATH}"],
        "grant_types": ["authorization_code", "refresh_token", DEVICE_GRANT],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
    metadata = {**strict, "application_type": "native", "scope": SCOPE}
    with reaching():
        reply = HttpClient(FORM_LIMITS).post_json(provider.registration_endpoint, metadata)
        if reply.status == _BAD_REQUEST:
            # Some servers refuse members that they do not know; these are known to all.
            reply = HttpClient(FORM_LIMITS).post_json(provider.registration_endpoint, strict)
    answer = reply.document
    client_id = answer.get("client_id")
    if not isinstance(client_id, str) or not client_id:
        why = complaint(reply.status, answer)
        raise EnrolmentError(f"{provider.issuer} did not register this program: {why}")
    return client_id


def complaint(status: int, answer: object) -> str:
    """Return what an OAuth error says, in one line."""
    if isinstance(answer, dict) and isinstance(answer.get("error"), str):
        words = (answer["error"], answer.get("error_description"))
        line = ": ".join(word for word in words if isinstance(word, str))
        return visible(line[:_LONGEST], lines=False)
    return f"it answered {status}"
