"""The token desk: Authlib checks a token request in the order the RFCs ask for, we issue.

A desk serves one request inside one transaction. Its grants override how tokens are made, because
Authlib's own way writes them to its debug log and knows nothing of families.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Request
from authlib.oauth2.rfc6749.errors import InvalidGrantError
from authlib.oauth2.rfc6749.grants import AuthorizationCodeGrant, RefreshTokenGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceCodeGrant

from pdpp.authz.client_metadata import GRANT_TYPES, REFRESH_TOKEN
from pdpp.authz.issuance import NOT_GOOD, IssuedTokens, Issuer
from pdpp.authz.request import ServerOrigins
from pdpp.authz.short_lived import SecretKind
from pdpp.authz.token import hash_token
from pdpp.model.errors import OAuthError
from pdpp.model.instant import SECOND
from pdpp.store.vault import RefreshToken, RegisteredClient, ShortLivedSecret, VaultTransaction

_ENDPOINT = "https://localhost/oauth/token"
"""Stands for our own endpoint: Authlib takes plain http on the loopback interface only."""

_SLOWER = 5 * SECOND
_AUTH_METHODS = ["none"]


class TokenRequest(OAuth2Request):
    """A token request as Authlib reads it, whose parameters were checked for repetition."""

    def __init__(self, parameters: Mapping[str, str]) -> None:
        super().__init__("POST", _ENDPOINT)
        self.payload = BasicOAuth2Payload(dict(parameters))

    @property
    def form(self) -> dict[str, str]:
        """Return the parameters."""
        found: dict[str, str] = self.payload.data
        return found


class TokenEndpoint(AuthorizationServer):
    """Serves one token request."""

    def __init__(
        self, transaction: VaultTransaction, issuer: Issuer, origins: ServerOrigins, now: int
    ) -> None:
        super().__init__()
        self.transaction = transaction
        self.issuer = issuer
        self.origins = origins
        self.now = now
        self.register_grant(CodeGrant, [S256Challenge(required=True)])
        self.register_grant(RefreshGrant)
        self.register_grant(DeviceGrant)

    def serve(self, parameters: Mapping[str, str]) -> IssuedTokens:
        """Return the tokens for a request, or refuse it in our own words."""
        if parameters.get("grant_type") not in GRANT_TYPES:
            offered = ", ".join(GRANT_TYPES)
            raise OAuthError(
                f"The grant types here are: {offered}.", error="unsupported_grant_type"
            )
        grant = self.get_token_grant(TokenRequest(parameters))
        try:
            grant.validate_token_request()
        except OAuth2Error as error:
            description = error.get_error_description() or _DESCRIPTIONS.get(error.error, "")
            raise OAuthError(description, error=error.error) from None
        audience = self.origins.audience(parameters.get("resource"))
        issued: IssuedTokens = grant.issue(audience)
        return issued

    def query_client(self, client_id: str) -> "KnownClient | None":
        """Return a client; Authlib asks."""
        client = self.transaction.client(client_id)
        return None if client is None else KnownClient(client)

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        """Let what Authlib announces pass."""


_DESCRIPTIONS = {
    "invalid_grant": NOT_GOOD,
    "authorization_pending": "The owner has not decided yet; ask again after the interval.",
    "slow_down": "Wait five seconds longer between two questions from now on.",
    "expired_token": "The device code has expired; start again.",
    "access_denied": "The owner has denied the request.",
    "invalid_scope": "A refresh cannot ask for more than was granted.",
}


@dataclass(frozen=True, slots=True)
class KnownClient:
    """A client as Authlib asks about it."""

    client: RegisteredClient

    def get_client_id(self) -> str:
        """Return its id."""
        return self.client.id

    def check_endpoint_auth_method(self, method: str, _endpoint: str) -> bool:
        """Tell whether it may authenticate this way: every client is public."""
        return method in _AUTH_METHODS

    def check_grant_type(self, grant_type: str) -> bool:
        """Tell whether it registered for a grant type."""
        return grant_type in self.client.grant_types


@dataclass(frozen=True, slots=True)
class KnownCode:
    """An authorization code as Authlib asks about it."""

    secret: ShortLivedSecret
    code_challenge_method: str = "S256"

    @property
    def code_challenge(self) -> str:
        """Return what the verifier must hash to."""
        return str(self.secret.body["code_challenge"])

    def get_redirect_uri(self) -> str:
        """Return where the code was sent."""
        return str(self.secret.body["redirect_uri"])


class S256Challenge(CodeChallenge):
    """Proof of possession by S256, and by nothing else."""

    SUPPORTED_CODE_CHALLENGE_METHOD = ("S256",)
    CODE_CHALLENGE_METHODS = {"S256": CodeChallenge.CODE_CHALLENGE_METHODS["S256"]}  # noqa: RUF012


class CodeGrant(AuthorizationCodeGrant):
    """Authorization codes."""

    TOKEN_ENDPOINT_AUTH_METHODS = _AUTH_METHODS

    def query_authorization_code(self, code: str, client: KnownClient) -> KnownCode | None:
        """Return a code of this client's; one that was used before ends what it gave."""
        secret = self.server.transaction.secret(SecretKind.CODE.value, hash_token(code))
        if secret is None or secret.client_id != client.get_client_id():
            return None
        self.server.issuer.refuse_replay(secret)
        return KnownCode(secret)

    def issue(self, audience: str | None) -> IssuedTokens:
        """Return the tokens for the code."""
        return _redeem(self, self.request.authorization_code.secret, audience)


@dataclass(frozen=True, slots=True)
class KnownRefresh:
    """A refresh token as Authlib asks about it."""

    refresh: RefreshToken

    def check_client(self, client: KnownClient) -> bool:
        """Tell whether it was given to a client."""
        return self.refresh.client_id == client.get_client_id()

    def get_scope(self) -> str:
        """Return the scope it was given for."""
        return self.refresh.scope


class RefreshGrant(RefreshTokenGrant):
    """RefreshToken tokens."""

    TOKEN_ENDPOINT_AUTH_METHODS = _AUTH_METHODS

    def authenticate_refresh_token(self, refresh_token: str) -> KnownRefresh | None:
        """Return a refresh token, good or not: whether it is, its rotation decides."""
        found = self.server.transaction.refresh(hash_token(refresh_token))
        return None if found is None else KnownRefresh(found)

    def issue(self, audience: str | None) -> IssuedTokens:
        """Return the tokens that replace the refresh token."""
        issued: IssuedTokens = self.server.issuer.rotate(
            self.request.refresh_token.refresh, audience
        )
        return issued


@dataclass(frozen=True, slots=True)
class KnownDevice:
    """A device that waits, as Authlib asks about it."""

    secret: ShortLivedSecret
    now: int

    def get_client_id(self) -> str | None:
        """Return the client it asks for."""
        return self.secret.client_id

    def is_expired(self) -> bool:
        """Tell whether it waited too long."""
        return self.secret.expires_at <= self.now

    def get_user_code(self) -> bool | None:
        """Return what the owner answered; Authlib passes it on to ``query_user_grant``."""
        answer: bool | None = self.secret.body["approved"]
        return answer


class DeviceGrant(DeviceCodeGrant):
    """Device codes."""

    TOKEN_ENDPOINT_AUTH_METHODS = _AUTH_METHODS

    def query_device_credential(self, device_code: str) -> KnownDevice:
        """Return a device of this client's that was not served yet."""
        desk = self.server
        secret = desk.transaction.secret(SecretKind.DEVICE.value, hash_token(device_code))
        if secret is None or secret.client_id != self.request.payload.client_id:
            raise InvalidGrantError
        if secret.used_at is not None:
            desk.issuer.refuse_replay(secret)
        return KnownDevice(secret, desk.now)

    def query_user_grant(self, answer: bool | None) -> tuple[str, bool] | None:
        """Return who answered and how, once somebody did."""
        return None if answer is None else ("owner", answer)

    def should_slow_down(self, device: KnownDevice) -> bool:
        """Tell whether a device asks too often; each time it does, the pause grows."""
        body = dict(device.secret.body)
        hurried = body["asked_at"] is not None and device.now - body["asked_at"] < body["pause"]
        body["asked_at"] = device.now
        body["pause"] += _SLOWER if hurried else 0
        self.server.transaction.change_secret(replace(device.secret, body=body))
        return bool(hurried)

    def issue(self, audience: str | None) -> IssuedTokens:
        """Return the tokens for the device."""
        return _redeem(self, self.request.credential.secret, audience)


def _redeem(grant: Any, secret: ShortLivedSecret, audience: str | None) -> IssuedTokens:
    refreshes = grant.request.client.check_grant_type(REFRESH_TOKEN)
    issued: IssuedTokens = grant.server.issuer.redeem(secret, audience, refreshes=refreshes)
    return issued
