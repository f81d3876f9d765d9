"""The agents page: who may read, what exactly, and how to take it back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import not_

from starlette.responses import PlainTextResponse, Response

from pdpp.authz.requester import Requester, agent_id, requester_of
from pdpp.authz.review import Review
from pdpp.authz.wording import AccountWords, accounts_of, asker, date
from pdpp.evidence.amount import counted
from pdpp.model.errors import InvalidRequest, NotFound
from pdpp.model.grant import ACTIVE, Grant, Package, status
from pdpp.model.instant import SECOND
from pdpp.pages.account_groups import grouped_accounts, is_endless, is_long
from pdpp.pages.login import proved
from pdpp.pages.need import waiting_reviews
from pdpp.pages.page_request import PageRequest
from pdpp.pages.reads import last_read, reads_of
from pdpp.pages.site import Site
from pdpp.service.headers import SECURITY_HEADERS
from pdpp.store.catalogue import Catalogue

_MOST_LABELS = 6
_MOST_ACCOUNTS = 8
_MOST_ACTIVE = 40
_MOST_ENDED = 20
_MOST_TEXT = 2_000
_MOST_APPROVALS = 3
_MOST_LISTED = 40
_MOST_PARTS = 100
_MOST_DIGITS = 7


@dataclass(frozen=True, slots=True)
class GrantView:
    """One grant: by itself, or as a part of a package."""

    id: str
    status: str
    accounts: Sequence[AccountWords]


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """Something the owner approved at once: a grant, or a package of grants."""

    id: str
    package: bool
    status: str
    since: str
    until: str
    purpose: str
    parts: Sequence[GrantView]
    consent_text: str | None

    @property
    def groups(self) -> Sequence[AccountWords]:
        """Return what its parts open, told once for accounts that are alike if there are many."""
        opened = [part for part in self.parts if part.status == self.status]
        return grouped_accounts([account for part in opened for account in part.accounts])

    @property
    def is_long(self) -> bool:
        """Tell whether its parts are too many to stand by themselves on a page."""
        accounts = [account for part in self.parts for account in part.accounts]
        return is_long(accounts) if len(self.parts) > 1 else is_endless(accounts)

    @property
    def has_long_text(self) -> bool:
        """Tell whether what the owner read is a page of its own."""
        return len(self.consent_text or "") > _MOST_TEXT


@dataclass(frozen=True, slots=True)
class AgentView:
    """A client and everything it was ever approved for, the newest first."""

    id: str
    client_id: str
    requester: Requester
    since: str
    last_read: str | None
    approvals: Sequence[ApprovalView]

    @property
    def active(self) -> bool:
        """Tell whether the client may read anything now."""
        return any(approval.status == ACTIVE for approval in self.approvals)

    @property
    def sentence(self) -> str:
        """Return what the client may see now, in one sentence."""
        # Two approvals may open the same stream; a person reads of it once.
        opened: dict[tuple[str, str], dict[str, None]] = {}
        for account in self._opened():
            labels = opened.setdefault((account.name, account.source), {})
            labels.update((stream.label, None) for stream in account.streams)
        parts = [f"{name}: {_listed(list(labels))}" for (name, _), labels in opened.items()]
        parts.sort(key=str.casefold)
        if len(parts) > _MOST_ACCOUNTS:
            more = counted(len(parts) - _MOST_ACCOUNTS, "more account")
            parts = [*parts[:_MOST_ACCOUNTS], more]
        return f"It may read {'; '.join(parts)}." if parts else ""

    @property
    def until(self) -> str:
        """Return how long it may read, as far as its last approval goes."""
        return next((a.until for a in self.approvals if a.status == ACTIVE), "")

    @property
    def accounts(self) -> Sequence[str]:
        """Return the names of the accounts the client may read now."""
        return sorted({account.name for account in self._opened()}, key=str.casefold)

    def _opened(self) -> Iterator[AccountWords]:
        """Yield what each approval opens now."""
        for approval in self.approvals:
            for part in approval.parts:
                if part.status == approval.status == ACTIVE:
                    yield from part.accounts


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A request that nobody has decided yet; it waits for so many minutes more."""

    id: str
    requester: Requester
    asker: str
    since: str
    minutes: int


async def show_agents(request: PageRequest) -> Response:
    """Answer ``GET /agents``."""
    site, asked = request.site, request.http.query_params
    active, ended = _agents(site)
    start = _number(asked.get("from", ""))
    start = start if start < len(active) else 0
    first_ended = min(_number(asked.get("ended", "")), len(ended))
    return request.page(
        "agents.html",
        waiting=[_waiting(request, review) for review in waiting_reviews(site)],
        active=[_agent(site, grants) for grants in active[start : start + _MOST_ACTIVE]],
        next_active=_following(start, _MOST_ACTIVE, active),
        ended=[_agent(site, grants) for grants in ended[first_ended : first_ended + _MOST_ENDED]],
        ended_count=len(ended),
        ended_open=first_ended > 0,
        next_ended=_following(first_ended, _MOST_ENDED, ended),
        mcp_url=f"{request.server_origin}/mcp",
    )


def _following(start: int, most: int, listed: Sequence[object]) -> int:
    """Return where the next page of a list begins, 0 where there is none."""
    return start + most if len(listed) > start + most else 0


def _agents(site: Site) -> tuple[list[list[Grant]], list[list[Grant]]]:
    """Return the grants of each client, by its name: of those that may read, and of the others."""

    def name(grants: list[Grant]) -> str:
        client_id = grants[0].client_id
        return requester_of(client_id, site.authority.client(client_id)).name.casefold()

    now = site.service.clock()
    known = sorted(_by_client(site).values(), key=name)
    good = [any(status(_approved(site, grant), now) == ACTIVE for grant in own) for own in known]
    return list(compress(known, good)), list(compress(known, map(not_, good)))


def _approved(site: Site, grant: Grant) -> Grant | Package:
    """Return what the owner approved at once: a grant, or the package that it is of."""
    if grant.package_id is None:
        return grant
    return site.service.store.vault.package(grant.package_id) or grant


async def show_agent(request: PageRequest) -> Response:
    """Answer ``GET /agents/{agent}``."""
    agent = _find(request)
    receipts = reads_of(request.site, agent.client_id)
    chosen = request.http.query_params.get("approval", "")
    return request.page(
        "agent.html",
        agent=agent,
        receipts=receipts,
        shown=_shown_approvals(agent, chosen),
        start=_number(request.http.query_params.get("from", "")),
        most_parts=_MOST_PARTS,
        most_listed=_MOST_LISTED,
    )


async def show_consent_text(request: PageRequest) -> Response:
    """Answer ``GET /agents/{agent}/consent/{approval}``: what the owner read before approving."""
    wanted = request.http.path_params["approval"]
    for approval in _find(request).approvals:
        if approval.id == wanted and approval.consent_text:
            return PlainTextResponse(approval.consent_text, headers=SECURITY_HEADERS)
    raise NotFound("There is no such approval here.")


def _shown_approvals(agent: AgentView, chosen: str) -> Sequence[ApprovalView]:
    """Return the approvals that a page tells in full: the chosen one, else the newest."""
    named = [approval for approval in agent.approvals if approval.id == chosen]
    if named or not agent.approvals:
        return named
    newest = agent.approvals[:_MOST_APPROVALS]
    accounts = [a for approval in newest for part in approval.parts for a in part.accounts]
    return newest[:1] if is_long(accounts) else newest


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS else 0


async def revoke(request: PageRequest) -> Response:
    """Answer ``POST /agents/{agent}``: take back a grant, a package, or all the client has."""
    return await proved(request, "Type your passphrase to revoke this.", "Revoke", _revoke)


async def _revoke(request: PageRequest) -> Response:
    site, agent = request.site, _find(request)
    kind, _, name = request.form.one("revoke").partition(":")
    packages = {approval.id for approval in agent.approvals if approval.package}
    grants = {part.id for approval in agent.approvals for part in approval.parts}
    if kind == "client":
        await site.write(lambda: site.authority.revoke_client(agent.client_id))
    elif kind == "package" and name in packages:
        await site.write(lambda: site.authority.revoke_package(name))
    elif kind == "grant" and name in grants:
        await site.write(lambda: site.authority.revoke_grant(name))
    else:
        raise InvalidRequest("There is nothing of this name to revoke here.", param="revoke")
    return request.go(f"/agents/{agent.id}")


def _listed(labels: Sequence[str]) -> str:
    """Return labels as a sentence lists them; many are counted."""
    if len(labels) > _MOST_LABELS:
        return f"{', '.join(labels[:_MOST_LABELS])} and {len(labels) - _MOST_LABELS} more"
    return labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} and {labels[-1]}"


def _waiting(request: PageRequest, review: Review) -> WaitingRequest:
    site = request.site
    requester = requester_of(review.client_id, site.authority.client(review.client_id))
    left = max(1, (review.expires_at - site.service.clock()) // (60 * SECOND))
    return WaitingRequest(
        review.id,
        requester,
        asker(review.redirect_uri),
        request.dates.moment(review.created_at),
        left,
    )


def _by_client(site: Site) -> Mapping[str, list[Grant]]:
    by_client: dict[str, list[Grant]] = {}
    for grant in site.service.store.vault.grants():
        by_client.setdefault(grant.client_id, []).append(grant)
    return by_client


def _find(request: PageRequest) -> AgentView:
    wanted = request.http.path_params["agent"]
    for client_id, grants in _by_client(request.site).items():
        if agent_id(client_id) == wanted:
            return _agent(request.site, grants)
    raise NotFound("There is no such agent here.")


def _agent(site: Site, grants: Sequence[Grant]) -> AgentView:
    client_id = grants[0].client_id
    by_approval: dict[str, list[Grant]] = {}
    for grant in grants:
        by_approval.setdefault(grant.package_id or grant.id, []).append(grant)
    consent_texts = {
        consent.package_id or consent.grant_id: consent.text
        for consent in site.service.store.vault.consents(client_id)
    }
    approvals = [
        _approval(site, own_grants, consent_texts.get(name))
        for name, own_grants in reversed(by_approval.items())
    ]
    return AgentView(
        id=agent_id(client_id),
        client_id=client_id,
        requester=requester_of(client_id, site.authority.client(client_id)),
        since=date(min(grant.created_at for grant in grants)),
        last_read=last_read(site, client_id),
        approvals=approvals,
    )


def _approval(site: Site, grants: Sequence[Grant], consent_text: str | None) -> ApprovalView:
    store, now = site.service.store, site.service.clock()
    first = grants[0]
    whole = _approved(site, first)
    catalogue = store.catalogue()
    return ApprovalView(
        id=whole.id,
        package=isinstance(whole, Package),
        status=status(whole, now),
        since=date(whole.created_at),
        until=_until(whole),
        purpose=first.purpose,
        parts=sorted((_part(grant, catalogue, now) for grant in grants), key=_first_account),
        consent_text=consent_text,
    )


def _part(grant: Grant, catalogue: Catalogue, now: int) -> GrantView:
    accounts: Iterable[AccountWords] = accounts_of(grant.allowances, catalogue, {})
    return GrantView(grant.id, status(grant, now), tuple(accounts))


def _first_account(part: GrantView) -> str:
    return part.accounts[0].name.casefold()


def _until(approval: Grant | Package) -> str:
    if approval.revoked_at is not None:
        return f"revoked on {date(approval.revoked_at)}"
    if approval.expires_at is None:
        return "until you revoke it"
    return f"until {date(approval.expires_at)}"
