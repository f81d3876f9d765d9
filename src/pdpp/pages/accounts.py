"""The accounts pages: what each account holds and came from, to rename, merge or remove."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from starlette.responses import Response

from pdpp.authz.requester import agent_id, one_line, requester_of
from pdpp.model import instant
from pdpp.model.errors import Conflict, InvalidRequest, NotFound
from pdpp.pages.account_summary import AccountSummary, account_summaries
from pdpp.pages.import_job import import_jobs
from pdpp.pages.login import proved
from pdpp.pages.page_request import PageRequest
from pdpp.pages.site import Site
from pdpp.service.accounts import clients_of
from pdpp.sources.importing.state import ImportState
from pdpp.store.jobs import JobStatus

_LONGEST_NAME = 120
_ON_A_PAGE = 40
_MOST_REPORTS = 500
_MOST_LISTED = 20
_MOST_JOBS = 100
"""A long import may run while many that were ordered after it have ended."""
_RUNNING = "An import is running. Wait until it ends, or cancel it first."


@dataclass(frozen=True, slots=True)
class PastImport:
    """One import into an account, by what its report says."""

    name: str
    at: str
    counts: Mapping[str, int]
    status: str
    skipped: int


@dataclass(frozen=True, slots=True)
class AccountReader:
    """An agent that may read an account now."""

    name: str
    agent: str


async def show_accounts(request: PageRequest) -> Response:
    """Answer ``GET /accounts``."""
    accounts = await account_summaries(request.site.reader(), request.dates)
    text = request.http.query_params.get("from", "")
    start = int(text) if text.isdecimal() and text.isascii() and len(text) < 6 else 0
    store = request.site.service.store
    occupied = await request.site.read("sizes", store.occupied)
    return request.page(
        "accounts.html",
        accounts=accounts[start : start + _ON_A_PAGE],
        following=start + _ON_A_PAGE if start + _ON_A_PAGE < len(accounts) else None,
        sizes=await request.site.read("sizes", store.connection_sizes),
        occupied=occupied,
    )


async def show_account(request: PageRequest) -> Response:
    """Answer ``GET /accounts/{connection_id}``."""
    return await _page(request)


async def _page(
    request: PageRequest, problem: str | None = None, status_code: int = 200
) -> Response:
    site = request.site
    accounts = await account_summaries(site.reader(), request.dates)
    account = _find(request, accounts)
    preview = await site.operate("previewRemoval", _path(account))
    history = list(_history(request, account.id))
    return request.page(
        "account.html",
        status=status_code,
        account=account,
        contents=preview["connections"][0],
        history=history,
        readers=_readers(site, account.id),
        others=[
            other
            for other in accounts
            if other.source_key == account.source_key and other.id != account.id
        ],
        problem=problem,
        typed=request.form.one("name"),
    )


def _find(request: PageRequest, accounts: Sequence[AccountSummary]) -> AccountSummary:
    wanted = request.http.path_params["connection_id"]
    for account in accounts:
        if account.id == wanted:
            return account
    raise NotFound("This account does not exist, or it was removed.")


def _history(request: PageRequest, connection_id: str) -> Iterator[PastImport]:
    """Yield the last imports into an account, the newest first."""
    if request.site.data is None:
        return
    state = ImportState(request.site.data, request.site.service.store.files)
    reports = islice(state.reports(), _MOST_REPORTS)
    own = (row for row in reports if _connection(row[1]).get("connection_id") == connection_id)
    for name, report in islice(own, _MOST_LISTED):
        moment = instant.parse(str(report.get("started_at") or ""))
        yield PastImport(
            name=name,
            at="" if moment is None else request.dates.moment(moment),
            counts=report["counts"],
            status=one_line(str(report["status"]), _LONGEST_NAME),
            skipped=sum(case["count"] for case in report.get("skipped", ())),
        )


def _connection(report: Mapping[str, Any]) -> Mapping[str, Any]:
    connection = report.get("connection")
    return connection if isinstance(connection, Mapping) else {}


def _readers(site: Site, connection_id: str) -> list[AccountReader]:
    clients = clients_of(site.service.store, connection_id, site.service.clock())
    readers = (
        AccountReader(requester_of(client, site.authority.client(client)).name, agent_id(client))
        for client in clients
    )
    return sorted(readers, key=lambda reader: reader.name.casefold())


async def change_account(request: PageRequest) -> Response:
    """Answer ``POST /accounts/{connection_id}``: another name, a merge, or a removal."""
    action = request.form.one("action")
    acts = {"rename": _rename, "merge": _merge, "remove": _remove}
    if action not in acts:
        raise InvalidRequest(
            "This page can only rename, merge or remove an account.", param="action"
        )
    question = f"Type your passphrase to {action} this account."

    async def act(proved_request: PageRequest) -> Response:
        try:
            return await acts[action](proved_request)
        except (InvalidRequest, Conflict) as problem:
            return await _page(proved_request, problem.message, problem.status)

    return await proved(request, question, action.capitalize(), act)


async def _rename(request: PageRequest) -> Response:
    name = " ".join(request.form.one("name").split())
    if not name or len(name) > _LONGEST_NAME:
        raise InvalidRequest(f"Write a name of 1 to {_LONGEST_NAME} characters.", param="name")
    account = await _account(request)
    await request.site.operate("renameConnection", _path(account), {"display_name": name})
    return request.go(account.address)


async def _merge(request: PageRequest) -> Response:
    account, into = await _account(request), request.form.one("into")
    if into not in request.site.service.store.catalogue().connections:
        raise InvalidRequest("Choose the account to merge it into.", param="into")
    await _refuse_during_import(request.site)
    await request.site.operate("mergeConnections", _path(account), {"into": into})
    return request.go("/accounts")


async def _remove(request: PageRequest) -> Response:
    account = await _account(request)
    if request.form.one("typed").strip() != account.name:
        raise InvalidRequest(
            "Nothing was removed. Type the name of the account as it is shown here."
        )
    await _refuse_during_import(request.site)
    await request.site.operate("removeConnection", _path(account))
    return request.go("/accounts")


def _path(account: AccountSummary) -> Mapping[str, str]:
    return {"connection_id": account.id}


async def _refuse_during_import(site: Site) -> None:
    """Refuse while an import runs: it would write into an account that goes away."""
    if any(job.status == JobStatus.RUNNING for job in await import_jobs(site, _MOST_JOBS)):
        raise Conflict(_RUNNING)


async def _account(request: PageRequest) -> AccountSummary:
    return _find(request, await account_summaries(request.site.reader(), request.dates))


async def show_removal(request: PageRequest) -> Response:
    """Answer ``GET /accounts/{connection_id}/remove``: what would be lost."""
    site, account = request.site, await _account(request)
    preview = await site.operate("previewRemoval", _path(account))
    agents = {
        requester_of(change["client_id"], site.authority.client(change["client_id"])).name: (
            change["effect"] == "revoked"
        )
        for change in preview["grants"]
    }
    (contents,) = preview["connections"]
    return request.page("removal.html", account=account, contents=contents, agents=agents)
