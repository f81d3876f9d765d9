"""Breaks of what is trusted: secrets that show, writes for readers, codes that work twice."""

# ruff: noqa: ARG005 - a stand-in takes whatever the real thing takes

from dataclasses import replace
from typing import Any

from tests.promises.mutants.mutant import Mutant

SECRET = "No secret leaks."
READ_ONLY = "Read-only means read-only."
ONCE = "A secret works once, for one client."
OWNER = "No stolen cookie approves, no stranger locks the owner out."
PROTOCOL = "Any request is answered in the protocol"

_COUNTER = "tests/oauth/test_countermeasures.py"


def _trusting(real: Any) -> Any:
    """Take whoever bears an unknown token for the owner."""

    def look_up(gate: Any, secret: str) -> Any:
        from pdpp.authz.principal import Principal
        from pdpp.model.errors import AuthenticationError
        from pdpp.store.port import Token
        from pdpp.store.scope import owner_reaches

        try:
            return real(gate, secret)
        except AuthenticationError:
            return Principal(Token("", "owner", "", 0), owner_reaches(gate._store.catalogue()))

    return look_up


def _with_secrets(real: Any) -> Any:
    """Log what a request carries beside its outcome."""

    def log(endpoint: Any, inquiry: Any, outcome: str) -> None:
        real(endpoint, inquiry, f"{outcome} {dict(inquiry.parameters)}")

    return log


def _unproven(real: Any) -> Any:
    """Ask nobody for the passphrase."""

    async def prove(request: Any) -> Any:
        return request

    return prove


def _posted(real: Any) -> Any:
    async def send(client: Any, method: str, *more: Any) -> Any:
        return await real(client, "POST", *more)

    return send


def _failing(real: Any) -> Any:
    """Answer what cannot be meant as if the server had failed."""

    async def send(to: Any, error: Any, *more: Any) -> None:
        error.status = 500
        await real(to, error, *more)

    return send


MUTANTS = (
    Mutant(
        SECRET,
        "keeps tokens as they are",
        (("pdpp.authz.token:hash_token", lambda real: lambda secret: secret),),
        ("tests/resource/test_grants.py::test_a_token_is_kept_only_as_its_hash",),
    ),
    Mutant(
        SECRET,
        "logs what a request carries",
        (("pdpp.oauth.endpoint:OAuthEndpoint._log", _with_secrets),),
        (f"{_COUNTER}::test_no_secret_stands_in_a_log",),
    ),
    Mutant(
        READ_ONLY,
        "lets a grant write",
        (("pdpp.app:ROUTES", lambda real: [replace(route, owner_only=False) for route in real]),),
        ("tests/resource/test_ingest.py::test_only_the_owner_writes",),
    ),
    Mutant(
        READ_ONLY,
        "sends what is no read",
        (("pdpp.mcp.reading.resource_client:ResourceClient._send", _posted),),
        ("tests/mcp/test_client.py::test_a_read_carries_its_bearer_and_the_grant_it_goes_through",),
    ),
    Mutant(
        ONCE,
        "takes a code twice",
        (("pdpp.authz.issuance:Issuer.refuse_replay", lambda real: lambda issuer, secret: None),),
        (f"{_COUNTER}::test_rfc6749_4_1_2_a_code_that_comes_twice_ends_what_it_gave",),
    ),
    Mutant(
        ONCE,
        "takes a refresh token twice",
        (("pdpp.authz.issuance:Issuer._answer_was_lost", lambda real: lambda *_: True),),
        (f"{_COUNTER}::test_rfc9700_4_14_a_refresh_token_that_comes_twice_ends_its_family",),
    ),
    Mutant(
        OWNER,
        "approves without a proof of the passphrase",
        (("pdpp.pages.consent:prove", _unproven),),
        ("tests/pages/test_proof.py::test_who_has_only_the_cookie_can_look_and_cannot_approve",),
    ),
    Mutant(
        OWNER,
        "takes posts from every site",
        (("pdpp.oauth.endpoint:check_browser", lambda real: lambda *_: None),),
        (
            "tests/oauth/test_strangers.py::"
            "test_a_page_of_another_site_posts_nothing_to_a_server_on_this_machine",
        ),
    ),
    Mutant(
        PROTOCOL,
        "fails where a question cannot be meant",
        (("pdpp.resource.endpoint:send_error", _failing),),
        ("tests/openapi/test_queries.py::test_a_query_that_cannot_be_meant_is_refused",),
    ),
    Mutant(
        PROTOCOL,
        "takes a stranger for the owner",
        (("pdpp.authz.principal:Gate._look_up", _trusting),),
        ("tests/authz/test_principal.py::test_a_header_without_a_known_token_is_refused",),
    ),
)
