"""Operations: what each endpoint of the authorization server does."""

from starlette.responses import Response

from pdpp.authz.authority import Authority
from pdpp.authz.client import as_document, read_metadata
from pdpp.authz.decision import answer_location
from pdpp.authz.granted import granted_details
from pdpp.authz.introspection import introspect, may_introspect
from pdpp.authz.issuance import Issued
from pdpp.authz.request import check_target
from pdpp.authz.throttle import network
from pdpp.authz.token import TokenKind
from pdpp.model.errors import OAuthError
from pdpp.model.instant import SECOND
from pdpp.oauth.endpoint import Office, json_answer, redirect
from pdpp.oauth.inquiry import Inquiry
from pdpp.store.vault import Ledger

CONSENT_PAGE = "/consent"
DEVICE_PAGE = "/device"


async def authorize(office: Office, inquiry: Inquiry) -> Response:
    """Take a request and send the browser to where the owner decides.

    What is wrong goes back to a client the owner approved before. To any other it does not: who
    registers a client could otherwise use this server to send people wherever they like.
    """
    authority, parameters = office.authority, inquiry.parameters
    client = await office.client(inquiry)
    pushed = parameters.get("request_uri")
    if pushed is not None:
        review_id = await office.write(lambda: authority.begin_pushed(pushed, client.id))
        return redirect(f"{CONSENT_PAGE}/{review_id}")
    uri = check_target(parameters, client)
    try:
        review_id = await office.write(lambda: authority.begin(parameters, client, inquiry.place))
    except OAuthError as error:
        if client.approved_at is None:
            raise
        state, issuer = parameters.get("state"), inquiry.place.issuer
        return redirect(answer_location(uri, state, issuer, **error.members()))
    return redirect(f"{CONSENT_PAGE}/{review_id}")


async def push(office: Office, inquiry: Inquiry) -> Response:
    """Take a request that is begun later, by its address."""
    if "request_uri" in inquiry.parameters:
        raise OAuthError("A pushed request cannot name another.", error="invalid_request")
    client = await office.client(inquiry)
    authority = office.authority
    request_uri = await office.write(
        lambda: authority.push(inquiry.parameters, client, inquiry.place)
    )
    life = authority.lifetimes.pushed // SECOND
    return json_answer({"request_uri": request_uri, "expires_in": life}, 201)


async def begin_device(office: Office, inquiry: Inquiry) -> Response:
    """Give a device its two codes."""
    client = await office.client(inquiry)
    authority = office.authority
    waiting = await office.write(
        lambda: authority.begin_device(inquiry.parameters, client, inquiry.place)
    )
    page = inquiry.place.issuer + DEVICE_PAGE
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


async def issue(office: Office, inquiry: Inquiry) -> Response:
    """Give tokens for a code, a device code or a refresh token."""
    inquiry.required("grant_type")
    issued = await office.write(lambda: _serve_at_desk(office.authority, inquiry))
    return json_answer(_token_answer(office, issued))


def _serve_at_desk(authority: Authority, inquiry: Inquiry) -> Issued:
    # Imported with the first request, so that starting the server does not wait for it.
    from pdpp.oauth.desk import Desk

    def work(ledger: Ledger, now: int) -> Issued:
        desk = Desk(ledger, authority.issuer(ledger, now), inquiry.place, now)
        return desk.serve(inquiry.parameters)

    return authority.decide(work)


def _token_answer(office: Office, issued: Issued) -> dict[str, object]:
    warrant, store = issued.warrant, office.service.store
    answer: dict[str, object] = {
        "access_token": issued.access,
        "token_type": "Bearer",
        "expires_in": max(0, issued.expires_at - issued.issued_at) // SECOND,
        "scope": warrant.scope,
    }
    if issued.refresh is not None:
        answer["refresh_token"] = issued.refresh
    if warrant.package_id is not None:
        answer |= {
            "pdpp_token_kind": TokenKind.PACKAGE.value,
            "grant_package_id": warrant.package_id,
        }
        grants = tuple(store.package_grants(warrant.package_id))
    else:
        answer |= {"pdpp_token_kind": TokenKind.CLIENT.value, "grant_id": warrant.grant_id}
        found = store.grant(warrant.grant_id or "")
        grants = () if found is None else (found,)
    if warrant.detailed:
        answer["authorization_details"] = granted_details(grants, store.catalogue())
    return answer


async def register(office: Office, inquiry: Inquiry) -> Response:
    """Keep what a client says of itself, and give it an id."""
    office.newcomers.take(network(inquiry.sender))
    described = read_metadata(inquiry.document)
    client = await office.write(lambda: office.authority.register(described))
    return json_answer(as_document(client), 201)


async def revoke(office: Office, inquiry: Inquiry) -> Response:
    """Revoke a token of the client that asks; any other is answered the same and stays."""
    client = office.authority.client(inquiry.required("client_id"))
    if client is None:
        raise OAuthError("There is no such client here.", error="invalid_client")
    secret = inquiry.required("token")
    await office.write(lambda: office.authority.revoke(secret, client))
    return json_answer({})


async def look_into(office: Office, inquiry: Inquiry) -> Response:
    """Tell a resource server what a token opens."""
    service = office.service
    if not may_introspect(service.store, inquiry.authorization, service.clock()):
        raise OAuthError(
            "Only a resource server of the owner may ask about tokens.",
            error="invalid_client",
            status=401,
            headers={"WWW-Authenticate": "Bearer"},
        )
    token = inquiry.required("token")
    return json_answer(introspect(service.gate, service.store, token, inquiry.place))
