"""Metadata: what a client reads to learn how this authorization server is used."""

from typing import Any

from pdpp.authz.client_metadata import GRANT_TYPES, SCOPES
from pdpp.authz.detail import DETAIL_TYPE

METADATA_PATH = "/.well-known/oauth-authorization-server"
AUTHORIZE = "/oauth/authorize"
PUSH = "/oauth/par"
TOKEN = "/oauth/token"  # noqa: S105 - a path
DEVICE = "/oauth/device_authorization"
REGISTER = "/oauth/register"
REVOKE = "/oauth/revoke"
INTROSPECT = "/oauth/introspect"


def server_metadata(issuer: str, *, client_documents: bool = False) -> dict[str, Any]:
    """Return the document of RFC 8414; hosts take scopes from it in order, so narrow ones lead."""
    return {
        "issuer": issuer,
        "authorization_endpoint": issuer + AUTHORIZE,
        "token_endpoint": issuer + TOKEN,
        "registration_endpoint": issuer + REGISTER,
        "pushed_authorization_request_endpoint": issuer + PUSH,
        "device_authorization_endpoint": issuer + DEVICE,
        "revocation_endpoint": issuer + REVOKE,
        "introspection_endpoint": issuer + INTROSPECT,
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANT_TYPES),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": client_documents,
        "require_pushed_authorization_requests": False,
        "authorization_details_types_supported": [DETAIL_TYPE],
    }
