"""No page and no request of the authorization server holds the event loop."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
from starlette.routing import Route as HttpRoute
from tests.pages.house import CHALLENGE, PASSPHRASE, REDIRECT, settle
from tests.promises.caller import calling
from tests.serving import UNLIMITED, approve, keep
from tests.watchdog import BASE_URL, frozen_objects, long_store, must_not_hold_the_loop

from pdpp.app import make_app
from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.owner import Owner, form_token, new_login_code
from pdpp.authz.requester import agent_id
from pdpp.authz.throttle import Throttle
from pdpp.hosted import MCP_PATH
from pdpp.model import instant
from pdpp.pages.imports.upload import UploadedFile, UploadFolder
from pdpp.pages.proof import proof_key, upload_key
from pdpp.resource.routes import BASE, ROUTES
from pdpp.service.settings import Settings
from pdpp.store.port import Store
from pdpp.store.receipts import ReceiptQuery

FORM = "application/x-www-form-urlencoded"
MANY = 20_000
FILES = {"name": [f"f{n}" for n in range(MANY)], "size": ["1"] * MANY}
GRANT_TYPES = [
    "authorization_code",
    "refresh_token",
    "urn:ietf:params:oauth:grant-type:device_code",
]
MARK = "m" * 43
"""What a browser carries that has no session yet."""
RECORD = "/r/home/texts/t1"
DETAILS = [
    {
        "type": "https://pdpp.dev/data-access",
        "source": "texts",
        "purpose_code": "https://pdpp.dev/purpose/assistant",
        "purpose_description": "Read the log.",
        "access_mode": "continuous",
        "streams": [{"name": "*", "fields": ["id", "title", "body", "at"]}],
    }
]


class Visit(NamedTuple):
    """One request; names in braces are of the world it is sent to."""

    path: str
    form: dict[str, Any] | None = None
    known: bool = True
    status: int = 200
    json: dict[str, Any] | None = None
    method: str = ""
    body: bytes = b""
    """A form with files."""


def request_of(**more: str) -> dict[str, str]:
    """Return what a client sends to ask the owner."""
    return {
        "response_type": "code",
        "client_id": "{client}",
        "redirect_uri": REDIRECT,
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
        "scope": "pdpp:read",
        **more,
    }


FIELDS = b"".join(
    b'--x\r\nContent-Disposition: form-data; name="f"\r\n\r\n\r\n' for _ in range(MANY)
)
ASKED = request_of(authorization_details=json.dumps(DETAILS))
AUTHORIZE = "/oauth/authorize?" + urlencode(ASKED).replace("%7Bclient%7D", "{client}")
SEEN = "/agents/{agent}/see/{approval}"
VISITS: dict[str, list[Visit]] = {
    "/": [Visit("/"), Visit("/", known=False, status=401)],
    "/login": [
        Visit("/login", known=False, status=401),
        Visit("/login", {"passphrase": "wrong words here"}, known=False, status=401),
        Visit("/login", {"passphrase": PASSPHRASE}, known=False, status=303),
    ],
    "/setup": [Visit("/setup", known=False, status=401)],
    "/logout": [Visit("/logout", {"token": ""}, status=403)],
    "/agents": [Visit("/agents")],
    "/agents/{agent}": [Visit("/agents/{agent}"), Visit("/agents/{agent}", {}, status=403)],
    "/agents/{agent}/consent/{approval}": [
        Visit("/agents/{agent}/consent/{approval}", status=404)
    ],
    "/agents/{agent}/see/{approval}/search": [
        Visit(f"{SEEN}/search"),
        Visit(f"{SEEN}/search?q=harbour"),
    ],
    "/agents/{agent}/see/{approval}/r/{connection_id}/{stream}/{record_id}": [
        Visit(SEEN + RECORD),
        Visit(SEEN + RECORD + "?field=body&chars=4000000-4000500"),
    ],
    "/agents/{agent}/see/{approval}/file/{blob_id}/{name}": [
        Visit(SEEN + "/file/{blob}/log.txt", status=404)
    ],
    "/consent/{review_id}": [
        Visit("/consent/{review}"),
        Visit("/consent/{review}", {"action": "update", "span": "all"}),
        Visit("/consent/{review}", {"action": "approve", "confirm": "wrong"}, status=401),
    ],
    "/device": [Visit("/device"), Visit("/device", {"user_code": "AAAA-AAAA"}, status=404)],
    "/device/{answer}": [Visit("/device/approved")],
    "/accounts": [Visit("/accounts")],
    "/accounts/{connection_id}": [
        Visit("/accounts/home"),
        Visit("/accounts/home", {"action": "rename", "name": "Home"}, status=403),
    ],
    "/accounts/{connection_id}/remove": [
        Visit("/accounts/home/remove"),
        Visit("/accounts/home/remove", {"action": "remove"}, status=403),
    ],
    "/import": [
        Visit("/import"),
        Visit("/import", {"path": "/nowhere", "confirm": PASSPHRASE}, status=400),
    ],
    "/import/uploads": [
        Visit("/import/uploads", {**FILES, "confirm": PASSPHRASE}),
        Visit("/import/uploads", body=FIELDS, status=400),
    ],
    "/import/uploads/{upload_id}": [
        Visit("/import/uploads/{upload}"),
        Visit("/import/uploads/{upload}", {"action": "import"}, status=403),
    ],
    "/import/uploads/{upload_id}/{number}": [
        Visit("/import/uploads/{upload}/0?offset=0", method="PUT")
    ],
    "/import/report/{name}": [Visit("/import/report/none", status=404)],
    "/import/{job_id}": [
        Visit("/import/job_none", status=404),
        Visit("/import/job_none", {"action": "cancel", "confirm": PASSPHRASE}, status=404),
    ],
    "/activity": [Visit("/activity")],
    "/activity/export": [Visit("/activity/export")],
    "/activity/{number}": [Visit("/activity/{number}")],
    "/settings": [
        Visit("/settings"),
        Visit("/settings", {f"field_{n}": "x" * 30 for n in range(MANY)}, status=400),
    ],
    "/search": [
        Visit("/search"),
        Visit("/search?q=harbour"),
        Visit("/search?q=when+did+the+lights+go+out"),
        Visit("/search?account=home&kind=texts"),
        Visit("/search?month=2026-01"),
    ],
    "/file/{blob_id}/{name}": [Visit("/file/{blob}/log.txt")],
    "/r/{connection_id}/{stream}/{record_id}": [
        Visit(RECORD),
        Visit(RECORD + "?field=body&chars=4000000-4000500"),
        Visit(RECORD, known=False, status=401),
    ],
    # For programs
    "/oauth/authorize": [
        Visit(AUTHORIZE, status=303),
        Visit("/oauth/authorize?client_id=nobody", status=400),
    ],
    "/oauth/par": [Visit("/oauth/par", ASKED, status=201)],
    "/oauth/token": [Visit("/oauth/token", {"grant_type": "refresh_token"}, status=400)],
    "/oauth/device_authorization": [Visit("/oauth/device_authorization", ASKED)],
    "/oauth/register": [
        Visit("/oauth/register", json={"redirect_uris": [REDIRECT] * 10}, status=201)
    ],
    "/oauth/revoke": [Visit("/oauth/revoke", {"token": "x" * 500, "client_id": "{client}"})],
    "/oauth/introspect": [Visit("/oauth/introspect", {"token": "x" * 500}, status=401)],
    **{
        path: [Visit(path)]
        for path in (
            "/.well-known/oauth-authorization-server",
            "/.well-known/oauth-authorization-server/mcp",
            "/.well-known/oauth-protected-resource",
            "/.well-known/oauth-protected-resource/mcp",
            "/v1/openapi.json",
            "/healthz",
            "/icon.svg",
            "/assets/style.css",
            "/readyz",
        )
    },
    "/metrics": [Visit("/metrics", status=401)],
}  # fmt: skip


class Place(NamedTuple):
    """A server's store and folder, the owner's session, and what names stand for."""

    store: Store
    folder: Path
    session: str
    names: dict[str, str]


@pytest.fixture(scope="module", autouse=True)
def frozen() -> Iterator[None]:
    with frozen_objects():
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("loop")
    store = long_store(folder)
    settle(store)
    lifetimes, clock = Lifetimes(), instant.now
    limits = Settings()
    owner = Owner(store.vault, clock, lifetimes, Throttle(clock, limits.login, limits.all_logins))
    session = owner.log_in_with_code(new_login_code(store.vault, clock(), lifetimes), bound=False)
    approval = approve(store)
    blob = keep(store, b"a line of the log\n" * 200_000, "text/plain")
    with calling(make_app(store, UNLIMITED, data=folder), approval.token) as client:
        client.get("/v1/search", q="harbour")
        metadata = {"redirect_uris": [REDIRECT], "grant_types": GRANT_TYPES}
        registered = client.send(
            "/oauth/register",
            method="POST",
            content=json.dumps(metadata).encode(),
            headers={"Content-Type": "application/json"},
        ).json()["client_id"]
        asked = {**request_of(), "client_id": registered}
        review = client.send("/oauth/authorize", asked).headers["location"].rpartition("/")[2]
    (receipt,) = store.receipts.receipts(ReceiptQuery(client_id="test-client"), 1)
    upload = UploadFolder(folder).begin([UploadedFile("a.txt", 9)], clock()).id
    names = {
        "agent": agent_id("test-client"),
        "approval": approval.grant_id,
        "blob": blob["blob_id"],
        "client": registered,
        "review": review,
        "number": str(receipt.number),
        "upload": upload,
        "key": upload_key(proof_key(store.secret()), upload),
    }
    yield Place(store, folder, session, names)
    store.close()


def test_every_route_of_the_application_is_tried(place: Place) -> None:
    app = make_app(place.store, UNLIMITED, data=place.folder)
    routes = {route.path for route in app.routes if isinstance(route, HttpRoute)}
    assert routes == {BASE + route.path for route in ROUTES} | VISITS.keys() | {MCP_PATH}


def cases() -> Iterator[Any]:
    for visits in VISITS.values():
        for number, visit in enumerate(visits):
            sends = visit.form is not None or visit.json is not None or visit.body
            method = visit.method or ("POST" if sends else "GET")
            yield pytest.param(visit, id=f"{method} {visit.path[:60]} {number}")


@pytest.mark.parametrize("visit", list(cases()))
def test_no_page_holds_the_loop(place: Place, visit: Visit) -> None:
    path = visit.path
    for name, text in place.names.items():
        path = path.replace(f"{{{name}}}", text)
    holder = place.session if visit.known else MARK
    headers, body = sent(visit, place, form_token(holder))
    cookie = "session" if visit.known else "mark"
    if not path.startswith("/oauth/"):
        headers |= {"Cookie": f"pdpp_{cookie}_7377={holder}", "Origin": BASE_URL}
    method = visit.method or ("POST" if body else "GET")
    answer = must_not_hold_the_loop(place.store, method, path, body, headers, place.folder)
    assert answer.status_code == visit.status, answer.text[:2_000]


def sent(visit: Visit, place: Place, token: str) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body that a browser or a program sends."""
    if visit.json is not None:
        return {"Content-Type": "application/json"}, json.dumps(visit.json).encode()
    if visit.body:
        return {"Content-Type": "multipart/form-data; boundary=x"}, visit.body
    scripted = {}
    if visit.path.startswith("/import/uploads"):
        scripted = {"X-Form-Token": token, "X-Upload-Key": place.names["key"]}
    if visit.form is None:
        return scripted, b""
    values = {
        name: place.names["client"] if text == "{client}" else text
        for name, text in {"token": token, **visit.form}.items()
    }
    return {"Content-Type": FORM, **scripted}, urlencode(values, doseq=True).encode()
