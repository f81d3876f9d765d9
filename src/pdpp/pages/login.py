"""Logging in: setting the passphrase up, logging in and out, and typing the passphrase again."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from starlette.responses import Response

from pdpp.authz.owner import LEAST_CHARS
from pdpp.authz.passkey import request_options
from pdpp.model.errors import Forbidden, InvalidRequest, PdppError
from pdpp.pages.form import PostedForm
from pdpp.pages.page_request import PageRequest

_OF_LOGIN = frozenset(
    {
        "token",
        "proof",
        "confirm",
        "passphrase",
        "login_code",
        "passkey",
        "new_passkey",
        "code",
        "again",
        "new_passphrase",
        "new_again",
    }
)
PASSKEY_SCRIPT = "passkey.js"
TYPE_IT_AGAIN = "Nothing has changed yet. Type your passphrase again to show that it is you."


def show_login_form(request: PageRequest, problem: PdppError | None = None) -> Response:
    """Return what a stranger sees at any address: the login, or the set-up before there is one.

    The form goes to the page's own address. So there is no address to come back to that somebody
    else could have written, and the part after ``#``, which a server never sees, is kept.
    """
    site = request.site
    settled = site.owner.settled
    passkey = request_options(site.owner.vault, request.passkey_context, site.service.clock())
    response = request.page(
        "login.html" if settled else "setup.html",
        status=401 if problem is None else problem.status,
        problem=None if problem is None else problem.message,
        least=LEAST_CHARS,
        possible=site.owner.awaited,
        passkey=passkey,
        scripts=() if passkey is None else (PASSKEY_SCRIPT,),
        kept=typed_fields(request.form),
    )
    response.headers.update(problem.headers if problem is not None else {})
    return response


def typed_fields(form: PostedForm) -> list[tuple[str, str]]:
    """Return what a form holds beside the login: it was typed before the session ended."""
    return [pair for pair in form.pairs() if pair[0] not in _OF_LOGIN]


def is_login(request: PageRequest) -> bool:
    """Tell whether a request carries the form of the login."""
    return any(name in request.form for name in ("passphrase", "login_code", "passkey"))


async def log_in(request: PageRequest) -> tuple[str, bool]:
    """Return the secret of a new session, and whether the owner proved to be there for it.

    A passkey checks its user itself, so it proves as much as the passphrase.
    """
    owner, form = request.site.owner, request.form
    bound = request.bound
    if "login_code" in form:
        code = form.one("login_code")
        # Strangers send these too: only what is good waits for its turn among the writers.
        owner.check_code(code)
        return await request.site.write(lambda: owner.log_in_with_code(code, bound=bound)), False
    if "passkey" in form:
        answer, context = form.one("passkey"), request.passkey_context
        owner.check_passkey(answer, context)
        return await request.site.write(
            lambda: owner.log_in_with_passkey(answer, context, bound=bound)
        ), True
    passphrase, address, browser = form.one("passphrase"), request.address, request.browser
    if owner.settled:
        secret = await request.site.hash(
            lambda: owner.log_in(passphrase, address, browser, bound=bound)
        )
        return secret, True
    if passphrase != form.one("again"):
        raise InvalidRequest("The two passphrases differ. Type the same one twice.")
    code = form.one("code")
    return await request.site.hash(
        lambda: owner.set_up(code, passphrase, address, bound=bound)
    ), True


async def prove(request: PageRequest) -> PageRequest:
    """Return a request that proves who sends it; refuse one without a proof or the passphrase."""
    if request.proved_at is not None:
        return request
    owner, confirm = request.site.owner, request.form.one("confirm")
    if not confirm:
        raise Forbidden(TYPE_IT_AGAIN)
    address, browser = request.address, request.browser
    await request.site.hash(lambda: owner.check_passphrase(confirm, address, browser))
    return replace(request, proved_at=request.site.service.clock())


def ask_passphrase(
    request: PageRequest, problem: PdppError, question: str, button: str
) -> Response:
    """Return a page that asks for the passphrase and then sends the same form again."""
    left_out = ("token", "confirm", "proof")
    response = request.page(
        "confirm.html",
        status=problem.status,
        problem=None if problem.message == TYPE_IT_AGAIN else problem.message,
        question=question,
        button=button,
        kept=[pair for pair in request.form.pairs() if pair[0] not in left_out],
    )
    response.headers.update(problem.headers)
    return response


async def proved(
    request: PageRequest,
    question: str,
    button: str,
    act: Callable[[PageRequest], Awaitable[Response]],
) -> Response:
    """Do something that changes what there is; ask for the passphrase before, where that is needed.

    It is needed where another port of this machine may have learnt the cookie of the session.
    """
    if not request.bound:
        try:
            request = await prove(request)
        except PdppError as problem:
            return ask_passphrase(request, problem, question, button)
    return await act(request)


async def show_login(request: PageRequest) -> Response:
    """Answer ``GET /login`` and ``GET /setup``."""
    return request.go("/") if request.session is not None else show_login_form(request)


async def log_out(request: PageRequest) -> Response:
    """Answer ``POST /logout``."""
    secret = request.session or ""
    await request.site.write(lambda: request.site.owner.log_out(secret))
    return request.end()
