"""The settings page: how the owner logs in, tokens, address, backup, dates, health, version."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.responses import Response

import pdpp
from pdpp.authz.owner import LEAST_CHARS
from pdpp.authz.passkey import creation_options, read_passkeys, remove_passkey
from pdpp.authz.requester import one_line
from pdpp.authz.token import TokenKind, hash_token, token_id
from pdpp.jobs.backup import BACKUP, backup_order, copies_itself
from pdpp.jobs.backup_note import last_backup
from pdpp.model.errors import AuthenticationError, InvalidRequest, PdppError
from pdpp.pages.dates import LANGUAGES
from pdpp.pages.health import health
from pdpp.pages.login import PASSKEY_SCRIPT, proved
from pdpp.pages.page_request import PageRequest
from pdpp.pages.preferences import Preferences, keep_preferences, read_preferences
from pdpp.pages.site import Site
from pdpp.pages.update_notes import update_notes
from pdpp.store.vault import Token

_LONGEST = 120


@dataclass(frozen=True, slots=True)
class SessionLine:
    """One session of the owner in some browser."""

    id: str
    since: str
    until: str
    current: bool


@dataclass(frozen=True, slots=True)
class TokenLine:
    """One token of the owner's own."""

    id: str
    label: str
    since: str


@dataclass(frozen=True, slots=True)
class PasskeyLine:
    """One passkey of the owner's."""

    id: str
    name: str
    rp_id: str
    since: str
    used: str


async def show_settings(request: PageRequest) -> Response:
    """Answer ``GET /settings``."""
    return await _page(request)


async def _page(request: PageRequest, problem: str | None = None, status: int = 200) -> Response:
    site, dates = request.site, request.dates
    vault = site.service.store.vault
    backup = last_backup(vault)
    backups = await site.operate("listJobs", None, {"kind": BACKUP, "limit": 1})
    can_copy = copies_itself(site.service.store)
    context, now = request.passkey_context, site.service.clock()
    return request.page(
        "settings.html",
        status=status,
        scripts=(PASSKEY_SCRIPT,),
        problem=problem,
        least=LEAST_CHARS,
        sessions=_sessions(request),
        passkeys=_passkeys(request),
        passkey=creation_options(vault, context, now),
        tokens=[_token_line(request, token) for token in _tokens(site)],
        address=site.service.settings.origin,
        public=site.service.settings.public,
        own_address=_own_address(request),
        backup=None if backup is None else (dates.moment(backup.at), backup.folder),
        backup_job=_backup_job(backups["data"]),
        backup_folder=request.form.one("folder") or str(_next_backup(request)),
        can_back_up=site.data is not None and can_copy,
        copies_itself=can_copy,
        preferences=read_preferences(vault),
        languages=LANGUAGES,
        now=dates.moment(now),
        health=health(site),
        version=pdpp.__version__,
        notes=update_notes(),
    )


def _sessions(request: PageRequest) -> list[SessionLine]:
    own, dates = hash_token(request.session or ""), request.dates
    return [
        SessionLine(
            session.hash,
            dates.moment(session.created_at),
            dates.moment(session.expires_at),
            session.hash == own,
        )
        for session in request.site.owner.sessions()
    ]


def _passkeys(request: PageRequest) -> list[PasskeyLine]:
    dates = request.dates
    return [
        PasskeyLine(
            key.id,
            key.name,
            # The owner's own name is told to nobody at another address.
            key.rp_id if request.bound or key.rp_id != request.site.private_host else "your own",
            dates.day(key.created_at),
            "" if key.used_at is None else dates.day(key.used_at),
        )
        for key in read_passkeys(request.site.service.store.vault)
    ]


def _tokens(site: Site) -> Sequence[Token]:
    now = site.service.clock()
    return [
        token
        for token in site.service.store.vault.tokens(TokenKind.OWNER.value)
        if token.revoked_at is None and (token.expires_at is None or token.expires_at > now)
    ]


def _token_line(request: PageRequest, token: Token) -> TokenLine:
    return TokenLine(
        token_id(token), one_line(token.label, _LONGEST), request.dates.day(token.created_at)
    )


def _own_address(request: PageRequest) -> str | None:
    """Return the owner's own address, where one is of use: on this computer, without https.

    Whoever has only learnt the cookie of another address must not learn it.
    """
    site = request.site
    if site.service.settings.public or request.cookies.secure or not request.bound:
        return None
    port = site.service.settings.origin.rpartition(":")[2]
    return f"http://{site.private_host}:{port}" if port.isdecimal() else None


def _next_backup(request: PageRequest) -> Path | str:
    """Return a new folder for a backup: beside the last one, or beside the data folder."""
    site = request.site
    if site.data is None:
        return ""
    last = last_backup(site.service.store.vault)
    data = site.data.resolve()
    parent = data.parent / f"{data.name}-backups" if last is None else Path(last.folder).parent
    at = request.dates.local(site.service.clock())
    return parent / f"{at:%Y-%m-%d-%H%M%S}"


def _backup_job(jobs: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """Return the last backup that was ordered here, where it runs or failed."""
    return next((job for job in jobs if job["status"] != "succeeded"), None)


async def change_settings(request: PageRequest) -> Response:
    """Answer ``POST /settings``."""
    action = request.form.one("action").partition(":")[0]
    if action not in _ACTIONS:
        raise InvalidRequest("This page has no such setting.", param="action")

    async def act(known: PageRequest) -> Response:
        try:
            return await _ACTIONS[action](known)
        except (InvalidRequest, AuthenticationError) as problem:
            return await _page(known, problem.message, problem.status)

    if action in _TAKE_PASSPHRASE:
        return await act(request)
    return await proved(request, "Type your passphrase to change this.", "Change it", act)


async def _change_passphrase(request: PageRequest) -> Response:
    """Take the passphrase that holds now, at any address, and then another."""
    form, owner, bound = request.form, request.site.owner, request.bound
    stored = await _take_passphrase(request)
    if form.one("new_passphrase") != form.one("new_again"):
        raise InvalidRequest("The two new passphrases differ. Type the same one twice.")
    secret = await request.site.hash(
        lambda: owner.change_passphrase(form.one("new_passphrase"), stored, bound=bound)
    )
    return request.begin(request.go("/settings"), secret, None)


async def _take_passphrase(request: PageRequest) -> bytes:
    """Take the passphrase that holds now, whatever was proved before; return its stored hash."""
    confirm = request.form.one("confirm")
    if not confirm:
        raise AuthenticationError("Type your current passphrase too.")
    owner, address, browser = request.site.owner, request.address, request.browser
    try:
        return await request.site.hash(lambda: owner.check_passphrase(confirm, address, browser))
    except PdppError as problem:
        raise AuthenticationError(problem.message) from problem


async def _add_passkey(request: PageRequest) -> Response:
    """Keep a passkey that the browser made; who has only the session cannot add one."""
    stored = await _take_passphrase(request)
    owner, form, context = request.site.owner, request.form, request.passkey_context
    answer, name = form.one("new_passkey"), form.one("passkey_name")
    await request.site.write(lambda: owner.add_passkey(answer, name, context, stored))
    return request.go("/settings#passkeys")


async def _remove_passkey(request: PageRequest) -> Response:
    vault, wanted = request.site.service.store.vault, request.form.one("action").partition(":")[2]
    await request.site.write(lambda: remove_passkey(vault, wanted))
    return request.go("/settings#passkeys")


async def _end_sessions(request: PageRequest) -> Response:
    """End one session, or every other one."""
    owner, wanted = request.site.owner, request.form.one("action").partition(":")[2]
    own = hash_token(request.session or "")
    hashes = {session.hash for session in owner.sessions()} - {own} if not wanted else {wanted}
    await request.site.write(lambda: owner.end_sessions(hashes))
    return request.go("/settings")


async def _revoke_token(request: PageRequest) -> Response:
    site, wanted = request.site, request.form.one("action").partition(":")[2]
    chosen = next((token for token in _tokens(site) if token_id(token) == wanted), None)
    if chosen is None:
        raise InvalidRequest("This token no longer exists.")
    await site.write(lambda: site.authority.revoke_token(chosen.hash))
    return request.go("/settings")


async def _change_dates(request: PageRequest) -> Response:
    form, vault = request.form, request.site.service.store.vault
    chosen = Preferences(form.one("time_zone").strip(), form.one("language"))
    await request.site.write(lambda: keep_preferences(vault, chosen))
    return request.go("/settings")


async def _back_up(request: PageRequest) -> Response:
    folder = Path(request.form.one("folder").strip()).expanduser()
    data = request.site.data
    can_copy = copies_itself(request.site.service.store)
    if not can_copy:
        raise InvalidRequest("This server cannot copy its database; its own tools do.")
    if data is None or not folder.is_absolute():
        raise InvalidRequest("Write the whole path of a new folder.", param="folder")
    if folder.resolve().is_relative_to(data.resolve()):
        raise InvalidRequest(
            "A backup inside the data folder would be lost with it. Choose another place."
        )
    jobs = request.site.service.store.jobs
    await request.site.write(lambda: jobs.add(backup_order(folder)))
    return request.go("/settings#backup")


_ACTIONS: Mapping[str, Callable[[PageRequest], Awaitable[Response]]] = {
    "passphrase": _change_passphrase,
    "add-passkey": _add_passkey,
    "remove-passkey": _remove_passkey,
    "end": _end_sessions,
    "revoke-token": _revoke_token,
    "dates": _change_dates,
    "backup": _back_up,
}
_TAKE_PASSPHRASE = ("passphrase", "add-passkey")
"""What asks for the passphrase in its own form, at every address."""
