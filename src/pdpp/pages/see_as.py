"""See as an agent: the search and the records as they are under what the owner approved.

The page asks the same operations under the same grant. Nothing of it is a read of the agent, so the
receipts are the owner's, and what has ended or was taken back shows nothing.
"""

from dataclasses import dataclass, replace

from starlette.responses import Response

from pdpp.authz.principal import Principal, grant_principal, package_principal
from pdpp.authz.requester import agent_id, requester_of
from pdpp.authz.wording import date
from pdpp.model.errors import NotFound
from pdpp.model.grant import ACTIVE, Grant, Package, status
from pdpp.pages.page_reader import PageReader
from pdpp.pages.page_request import PageRequest
from pdpp.pages.records.record_file import file_response
from pdpp.pages.records.record_page import record_response
from pdpp.pages.records.search_page import search_response


@dataclass(frozen=True, slots=True)
class SeenAs:
    """Whose view a page shows."""

    agent: str
    name: str
    since: str


async def show_search_as(request: PageRequest) -> Response:
    """Answer ``GET /agents/{agent}/see/{approval}/search``."""
    reader, seen_as = _reader(request)
    return await search_response(request, reader, seen_as=seen_as)


async def show_record_as(request: PageRequest) -> Response:
    """Answer ``GET /agents/{agent}/see/{approval}/r/{connection_id}/{stream}/{record_id}``."""
    reader, seen_as = _reader(request)
    return await record_response(request, reader, seen_as=seen_as)


async def show_file_as(request: PageRequest) -> Response:
    """Answer ``GET /agents/{agent}/see/{approval}/file/{blob_id}/{name}``."""
    return await file_response(request, _reader(request)[0])


def _reader(request: PageRequest) -> tuple[PageReader, SeenAs]:
    """Return what reads under an approval that is good now."""
    site, path = request.site, request.http.path_params
    approval, principal = _approved(request, path["approval"])
    if agent_id(approval.client_id) != path["agent"]:
        raise NotFound("This agent has no such approval.")
    name = requester_of(approval.client_id, site.authority.client(approval.client_id)).name
    base = f"/agents/{path['agent']}/see/{path['approval']}"
    reader = replace(site.reader(), principal=principal, base=base)
    return reader, SeenAs(path["agent"], name, date(approval.created_at))


def _approved(request: PageRequest, approval_id: str) -> tuple[Grant | Package, Principal]:
    store, now = request.site.service.store, request.site.service.clock()
    vault, catalogue = store.vault, store.catalogue()
    package = vault.package(approval_id)
    if package is not None and status(package, now) == ACTIVE:
        grants = [
            grant for grant in vault.package_grants(package.id) if status(grant, now) == ACTIVE
        ]
        return package, package_principal(package, grants, catalogue)
    grant = vault.grant(approval_id)
    if grant is not None and grant.package_id is None and status(grant, now) == ACTIVE:
        return grant, grant_principal(grant, catalogue)
    raise NotFound("This approval has ended, or there is none of this name.")
