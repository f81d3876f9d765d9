"""Token requests: the checks of the token endpoint, in the order that the RFCs ask for.

A request is served inside one transaction. What is wrong with a request is found before anything
is used up, with one exception: a code that comes a second time ends what it gave, whatever else
the request says, because one of the two who sent it is a thief.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pdpp.authz.client_metadata import (
    AUTHORIZATION_CODE,
    DEVICE_CODE,
    REFRESH_TOKEN,
)
from pdpp.authz.issuance import IssuedTokens, Issuer, invalid_grant
from pdpp.authz.request import ServerOrigins
from pdpp.authz.short_lived import SecretKind
from pdpp.authz.token import hash_token
from pdpp.model.errors import OAuthError
from pdpp.model.instant import SECOND
from pdpp.oauth.request import required
from pdpp.store.vault import RegisteredClient, ShortLivedSecret, VaultTransaction

_VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}\Z")
_SLOWER = 5 * SECOND


@dataclass(frozen=True, slots=True)
class TokenEndpoint:
    """Serves one token request inside one transaction, at one moment."""

    transaction: VaultTransaction
    issuer: Issuer
    origins: ServerOrigins
    now: int

    def serve(self, parameters: Mapping[str, str]) -> IssuedTokens:
        """Return the tokens for a request, or refuse it."""
        serve = self._by_grant_type(parameters.get("grant_type"))
        client = self._client(parameters)
        return serve(parameters, client)

    def _by_grant_type(
        self, grant_type: str | None
    ) -> Callable[[Mapping[str, str], RegisteredClient], IssuedTokens]:
        offered = {
            AUTHORIZATION_CODE: self._serve_code,
            REFRESH_TOKEN: self._serve_refresh,
            DEVICE_CODE: self._serve_device,
        }
        serve = offered.get(grant_type or "")
        if serve is None:
            names = ", ".join(offered)
            raise OAuthError(
                f"This server accepts these grant types: {names}.", error="unsupported_grant_type"
            )
        return serve

    def _client(self, parameters: Mapping[str, str]) -> RegisteredClient:
        """Return the client that asks; every client is public, so one with a secret is not ours."""
        client = self.transaction.client(parameters.get("client_id", ""))
        if client is None or "client_secret" in parameters:
            raise OAuthError(
                "This server does not know this client. Register first; clients have no secret.",
                error="invalid_client",
            )
        if parameters["grant_type"] not in client.grant_types:
            raise OAuthError(
                "This client did not register for this grant type.", error="unauthorized_client"
            )
        return client

    # Codes

    def _serve_code(self, parameters: Mapping[str, str], client: RegisteredClient) -> IssuedTokens:
        code = self._secret_of(SecretKind.CODE, required(parameters, "code"), client)
        self.issuer.refuse_replay(code)
        # Compared exactly, and needed even where a client has registered only one (RFC 6749 4.1.3).
        if parameters.get("redirect_uri") != code.body["redirect_uri"]:
            raise invalid_grant()
        _check_verifier(required(parameters, "code_verifier"), str(code.body["code_challenge"]))
        return self._redeem(code, parameters, client)

    # Devices

    def _serve_device(
        self, parameters: Mapping[str, str], client: RegisteredClient
    ) -> IssuedTokens:
        device = self._secret_of(SecretKind.DEVICE, required(parameters, "device_code"), client)
        if device.used_at is not None:
            self.issuer.refuse_replay(device)
        if device.expires_at <= self.now:
            raise OAuthError("The device code has expired; start again.", error="expired_token")
        match device.body["approved"]:
            case True:
                return self._redeem(device, parameters, client)
            case False:
                raise OAuthError("The owner has denied the request.", error="access_denied")
        raise self._not_yet(device)

    def _not_yet(self, device: ShortLivedSecret) -> OAuthError:
        """Return the answer to a device that waits; one that asks too often waits ever longer."""
        asked_at, pause = device.body["asked_at"], device.body["pause"]
        hurried = asked_at is not None and self.now - asked_at < pause
        body = {
            **device.body,
            "asked_at": self.now,
            "pause": pause + _SLOWER if hurried else pause,
        }
        self.transaction.change_secret(replace(device, body=body))
        if hurried:
            return OAuthError(
                "You ask too often. From now on wait five seconds longer between two requests.",
                error="slow_down",
            )
        return OAuthError(
            "The owner has not decided yet; ask again after the interval.",
            error="authorization_pending",
        )

    # Refresh tokens

    def _serve_refresh(
        self, parameters: Mapping[str, str], client: RegisteredClient
    ) -> IssuedTokens:
        secret = required(parameters, "refresh_token")
        refresh = self.transaction.refresh(hash_token(secret))
        if refresh is None or refresh.client_id != client.id:
            raise invalid_grant()
        if not set(parameters.get("scope", "").split()) <= set(refresh.scope.split()):
            raise OAuthError(
                "A refresh cannot ask for more than was granted.", error="invalid_scope"
            )
        # Whether it is still good, its rotation decides: one that is not ends its family.
        return self.issuer.rotate(refresh, self._audience(parameters))

    # What they share

    def _secret_of(self, kind: SecretKind, text: str, client: RegisteredClient) -> ShortLivedSecret:
        """Return a code of this client's, good or not; another's is as unknown as none."""
        secret = self.transaction.secret(kind.value, hash_token(text))
        if secret is None or secret.client_id != client.id:
            raise invalid_grant()
        return secret

    def _redeem(
        self, secret: ShortLivedSecret, parameters: Mapping[str, str], client: RegisteredClient
    ) -> IssuedTokens:
        refreshes = REFRESH_TOKEN in client.grant_types
        return self.issuer.redeem(secret, self._audience(parameters), refreshes=refreshes)

    def _audience(self, parameters: Mapping[str, str]) -> str | None:
        return self.origins.audience(parameters.get("resource"))


def _check_verifier(verifier: str, challenge: str) -> None:
    """Refuse a verifier that does not hash to the challenge by S256, the only method here."""
    if not _VERIFIER.match(verifier):
        raise OAuthError(
            "The code_verifier has 43 to 128 letters, digits and -._~.", error="invalid_request"
        )
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    hashed = base64.urlsafe_b64encode(digest).rstrip(b"=")
    if not hmac.compare_digest(hashed, challenge.encode()):
        raise invalid_grant()
