"""The challenge: where a caller without a valid bearer token learns how to get one."""

from urllib.parse import urlsplit

from pdpp.authz.client_metadata import READ_SCOPE
from pdpp.model.errors import PdppError

METADATA_PATH = "/.well-known/oauth-protected-resource"


def add_challenge(error: PdppError, origin: str, resource_path: str = "") -> None:
    """Name the metadata of the protected resource in a 401, in its header and in its body.

    It is between the host and the path of a server (RFC 9728).
    """
    parts = urlsplit(origin)
    metadata = f"{parts.scheme}://{parts.netloc}{METADATA_PATH}{parts.path}{resource_path}"
    error.detail["resource_metadata"] = metadata
    error.headers["WWW-Authenticate"] = (
        f'Bearer resource_metadata="{metadata}", scope="{READ_SCOPE}"'
    )
