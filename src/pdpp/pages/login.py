"""Logging in: setting the passphrase up, logging in and out."""

from starlette.responses import Response

from pdpp.authz.owner import LEAST_CHARS
from pdpp.model.errors import InvalidRequest, PdppError
from pdpp.pages.page_request import PageRequest


def show_login_form(request: PageRequest, problem: PdppError | None = None) -> Response:
    """Return what a stranger sees at any address: the login, or the set-up before there is one.

    The form goes to the page's own address. So there is no address to come back to that somebody
    else could have written, and the part after ``#``, which a server never sees, is kept.
    """
    settled = request.site.owner.settled
    response = request.page(
        "login.html" if settled else "setup.html",
        status=401 if problem is None else problem.status,
        problem=None if problem is None else problem.message,
        least=LEAST_CHARS,
        possible=request.site.owner.awaited,
    )
    response.headers.update(problem.headers if problem is not None else {})
    return response


async def log_in(request: PageRequest) -> Response:
    """Let the owner in, or say in the form what was wrong."""
    owner, form = request.site.owner, request.form
    passphrase = form.one("passphrase")
    try:
        if owner.settled:
            secret = await request.site.hash(lambda: owner.log_in(passphrase, request.address))
        else:
            if passphrase != form.one("again"):
                raise InvalidRequest("The two passphrases differ; type the same one twice.")
            code = form.one("code")
            secret = await request.site.hash(
                lambda: owner.set_up(code, passphrase, request.address)
            )
    except PdppError as problem:
        return show_login_form(request, problem)
    return request.begin(secret)


async def show_login(request: PageRequest) -> Response:
    """Answer ``GET /login`` and ``GET /setup``."""
    return request.go("/agents") if request.session is not None else show_login_form(request)


async def log_out(request: PageRequest) -> Response:
    """Answer ``POST /logout``."""
    secret = request.session or ""
    await request.site.write(lambda: request.site.owner.log_out(secret))
    return request.end()
