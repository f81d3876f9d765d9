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
_OUTSIDER = "tests/pages/test_outsider.py"


def _trusting(real: Any) -> Any:
    """Take whoever bears an unknown token for the owner."""

    def look_up(gate: Any, secret: str) -> Any:
        from pdpp.authz.principal import Principal
        from pdpp.model.errors import AuthenticationError
        from pdpp.store.scope import owner_reaches
        from pdpp.store.vault import Token

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


def _as_the_owner(_: Any) -> Any:
    """Look at records as the owner wherever a grant should be looked through."""

    def grant_principal(_grant: Any, catalogue: Any) -> Any:
        from pdpp.authz.principal import owner_principal

        return owner_principal(catalogue)

    return grant_principal


def _wherever_it_began(real: Any) -> Any:
    def knows(owner: Any, secret: str | None, *, bound: bool = True) -> bool:
        return bool(real(owner, secret, bound=bound) or real(owner, secret, bound=not bound))

    return knows


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
        OWNER,
        "takes uploads without the token of a page",
        (("pdpp.pages.imports.upload_endpoint:_check_token", lambda real: lambda *_: None),),
        (
            f"{_OUTSIDER}::test_another_site_and_another_session_cannot_write_into_an_upload",
            f"{_OUTSIDER}::test_a_form_whose_token_comes_late_or_not_at_all_writes_nothing",
        ),
    ),
    Mutant(
        OWNER,
        "takes uploads from whoever has the cookie",
        (("pdpp.pages.imports.upload_endpoint:_require_proof", _unproven),),
        ("tests/pages/test_proof.py::test_who_has_only_the_cookie_uploads_nothing",),
    ),
    Mutant(
        OWNER,
        "writes an upload wherever its name says",
        (("pdpp.pages.imports.upload_endpoint:safe_name", lambda real: lambda name: name),),
        (f"{_OUTSIDER}::test_no_name_leads_out_of_the_folder_of_its_upload",),
    ),
    Mutant(
        OWNER,
        "shows all of the owner's records in an agent's place",
        (("pdpp.pages.see_as:grant_principal", _as_the_owner),),
        (f"{_OUTSIDER}::test_what_is_beyond_a_grant_looks_like_what_is_nowhere",),
    ),
    Mutant(
        OWNER,
        "takes the answer of a passkey twice",
        (("pdpp.authz.passkey:_use_up", lambda real: lambda *_: None),),
        ("tests/authz/test_passkey.py::test_an_answer_is_good_once",),
    ),
    Mutant(
        OWNER,
        "takes a passkey of another address",
        (("pdpp.authz.webauthn:_origin", lambda real: lambda text: ""),),
        ("tests/authz/test_passkey.py::test_a_passkey_used_elsewhere_does_not_log_in_here",),
    ),
    Mutant(
        OWNER,
        "takes a cookie that every port gets at the owner's own address",
        (("pdpp.authz.owner:Owner.knows", _wherever_it_began),),
        (
            "tests/pages/test_proof.py"
            "::test_a_cookie_of_the_shared_address_is_worth_nothing_at_the_owners_own",
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
