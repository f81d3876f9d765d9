"""The entrance: setting the passphrase up, logging in and out."""

from starlette.responses import Response

from pdpp.authz.owner import LEAST_CHARS
from pdpp.model.errors import InvalidRequest, PdppError
from pdpp.pages.visit import Visit


def show_door(visit: Visit, problem: PdppError | None = None) -> Response:
    """Return what a stranger sees at any address: the login, or the set-up before there is one.

    The form goes to the page's own address. So there is no address to come back to that somebody
    else could have written, and the part after ``#``, which a server never sees, is kept.
    """
    settled = visit.site.owner.settled
    response = visit.page(
        "login.html" if settled else "setup.html",
        status=401 if problem is None else problem.status,
        problem=None if problem is None else problem.message,
        least=LEAST_CHARS,
        possible=visit.site.owner.awaited,
    )
    response.headers.update(problem.headers if problem is not None else {})
    return response


async def enter(visit: Visit) -> Response:
    """Let the owner in, or tell at the door what was wrong."""
    owner, form = visit.site.owner, visit.form
    passphrase = form.one("passphrase")
    try:
        if owner.settled:
            secret = await visit.site.hash(lambda: owner.log_in(passphrase, visit.address))
        else:
            if passphrase != form.one("again"):
                raise InvalidRequest("The two passphrases differ; type the same one twice.")
            code = form.one("code")
            secret = await visit.site.hash(lambda: owner.set_up(code, passphrase, visit.address))
    except PdppError as problem:
        return show_door(visit, problem)
    return visit.begin(secret)


async def show_login(visit: Visit) -> Response:
    """Answer ``GET /login`` and ``GET /setup``."""
    return visit.go("/agents") if visit.session is not None else show_door(visit)


async def leave(visit: Visit) -> Response:
    """Answer ``POST /logout``."""
    secret = visit.session or ""
    await visit.site.write(lambda: visit.site.owner.log_out(secret))
    return visit.end()
