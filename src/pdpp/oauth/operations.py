"""Operations: what each endpoint of the authorization server does."""

from starlette.responses import Response

from pdpp.authz.authority import Authority
from pdpp.authz.client_metadata import as_document, read_metadata
from pdpp.authz.decision import answer_location
from pdpp.authz.granted import granted_details
from pdpp.authz.introspection import introspect, may_introspect
from pdpp.authz.issuance import IssuedTokens
from pdpp.authz.request import check_target
from pdpp.authz.throttle import network
from pdpp.authz.token import TokenKind
from pdpp.model.errors import OAuthError
from pdpp.model.instant import SECOND
from pdpp.oauth.endpoint import AuthorizationContext, json_answer, redirect
from pdpp.oauth.request import OAuthRequest
from pdpp.oauth.token_request import TokenEndpoint
from pdpp.store.vault import VaultTransaction

CONSENT_PAGE = "/consent"
DEVICE_PAGE = "/device"


async def authorize(context: AuthorizationContext, request: OAuthRequest) -> Response:
    """Take a request and send the browser to where the owner decides.

    What is wrong goes back to a client the owner approved before. To any other it does not: who
    registers a client could otherwise use this server to send people wherever they like.
    """
    authority, parameters = context.authority, request.parameters
    address = network(request.sender)
    client = await context.client(request)
    pushed = parameters.get("request_uri")
    if pushed is not None:
        review_id = await context.write(lambda: authority.begin_pushed(pushed, client.id, address))
        return redirect(f"{CONSENT_PAGE}/{review_id}")
    uri = check_target(parameters, client)
    try:
        review_id = await context.write(
            lambda: authority.begin(parameters, client, request.origins, address)
        )
    except OAuthError as error:
        if client.approved_at is None:
            raise
        state, issuer = parameters.get("state"), request.origins.issuer
        return redirect(answer_location(uri, state, issuer, **error.members()))
    return redirect(f"{CONSENT_PAGE}/{review_id}")


async def push(context: AuthorizationContext, request: OAuthRequest) -> Response:
    """Take a request that is begun later, by its address."""
    if "request_uri" in request.parameters:
        raise OAuthError("A pushed request cannot have a request_uri.", error="invalid_request")
    client = await context.client(request)
    authority = context.authority
    request_uri = await context.write(
        lambda: authority.push(request.parameters, client, request.origins, network(request.sender))
    )
    life = authority.lifetimes.pushed // SECOND
    return json_answer({"request_uri": request_uri, "expires_in": life}, 201)


async def begin_device(context: AuthorizationContext, request: OAuthRequest) -> Response:
    """Give a device its two codes."""
    client = await context.client(request)
    authority = context.authority
    waiting = await context.write(
        lambda: authority.begin_device(
            request.parameters, client, request.origins, network(request.sender)
        )
    )
    page = request.origins.issuer + DEVICE_PAGE
    return json_answer(
        {
            "device_code": waiting.device_code,
            "user_code": waiting.user_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?user_code={waiting.user_code}",
            "expires_in": authority.lifetimes.device // SECOND,
            "interval": authority.lifetimes.poll // SECOND,
        }
    )


async def issue(context: AuthorizationContext, request: OAuthRequest) -> Response:
    """Give tokens for a code, a device code or a refresh token."""
    request.required("grant_type")
    issued = await context.write(lambda: _issue(context.authority, request))
    return json_answer(_token_answer(context, issued))


def _issue(authority: Authority, request: OAuthRequest) -> IssuedTokens:
    def work(transaction: VaultTransaction, now: int) -> IssuedTokens:
        issuer = authority.issuer(transaction, now)
        return TokenEndpoint(transaction, issuer, request.origins, now).serve(request.parameters)

    return authority.decide(work)


def _token_answer(context: AuthorizationContext, issued: IssuedTokens) -> dict[str, object]:
    basis, store = issued.basis, context.service.store
    answer: dict[str, object] = {
        "access_token": issued.access,
        "token_type": "Bearer",
        "expires_in": max(0, issued.expires_at - issued.issued_at) // SECOND,
        "scope": basis.scope,
    }
    if issued.refresh is not None:
        answer["refresh_token"] = issued.refresh
    if basis.package_id is not None:
        answer |= {
            "pdpp_token_kind": TokenKind.PACKAGE.value,
            "grant_package_id": basis.package_id,
        }
        grants = tuple(store.vault.package_grants(basis.package_id))
    else:
        answer |= {"pdpp_token_kind": TokenKind.CLIENT.value, "grant_id": basis.grant_id}
        grant = store.vault.grant(basis.grant_id or "")
        grants = () if grant is None else (grant,)
    if basis.detailed:
        answer["authorization_details"] = granted_details(grants, store.catalogue())
    return answer


async def register(context: AuthorizationContext, request: OAuthRequest) -> Response:
    """Keep what a client says of itself, and give it an id."""
    context.newcomers.take(network(request.sender))
    described = read_metadata(request.document)
    client = await context.write(lambda: context.authority.register(described))
    return json_answer(as_document(client), 201)


async def revoke(context: AuthorizationContext, request: OAuthRequest) -> Response:
    """Revoke a token of the client that asks; any other is answered the same and stays."""
    client = context.authority.client(request.required("client_id"))
    if client is None:
        raise OAuthError("This server does not know this client.", error="invalid_client")
    secret = request.required("token")
    await context.write(lambda: context.authority.revoke(secret, client))
    return json_answer({})


async def look_into(context: AuthorizationContext, request: OAuthRequest) -> Response:
    """Tell a resource server what a token opens."""
    service = context.service
    if not may_introspect(service.store, request.authorization, service.clock()):
        raise OAuthError(
            "Only a resource server of the owner may ask about tokens.",
            error="invalid_client",
            status=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
    token = request.required("token")
    return json_answer(introspect(service.gate, service.store, token, request.origins))
