"""The consent page: what a client asks for, in words, and the owner's yes or no."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlsplit

from starlette.responses import Response

from pdpp.authz.choice import ConsentChoice, FeedKey, LookBack
from pdpp.authz.grant_draft import (
    GrantDraft,
    RequestedAllowance,
    from_choice,
    from_details,
    requested_allowances,
)
from pdpp.authz.principal import grant_principal
from pdpp.authz.requester import Requester, requester_of
from pdpp.authz.review import DecisionOutcome, Review
from pdpp.authz.wording import Wording, asker, destination, identity, word
from pdpp.model import instant
from pdpp.model.errors import InvalidRequest, PdppError
from pdpp.model.grant import AccessMode
from pdpp.pages.account_groups import grouped_accounts
from pdpp.pages.chooser import (
    SPANS,
    TERMS,
    AccountBox,
    asked_boxes,
    first_choice,
    open_boxes,
    open_choice,
    read_choice,
    span_of,
)
from pdpp.pages.folding import carried, carried_whole, fold, unfold
from pdpp.pages.form import PostedForm
from pdpp.pages.login import prove
from pdpp.pages.page_reader import PageReader
from pdpp.pages.page_request import PageRequest
from pdpp.pages.preset import PRESETS, preset_form
from pdpp.pages.sample import Sample, take_samples
from pdpp.pages.saved_choice import forget_choice, save_choice, saved_choices, saved_form
from pdpp.pages.site import Site
from pdpp.store.catalogue import Catalogue

CHANGED = (
    "Your choices changed, or a source did. Nothing is approved yet; check the summary, "
    "then approve."
)
NOTHING_TICKED = "Tick at least one account and what the agent may read in it, then press Continue."
NEEDS_TICK = "Nothing is approved yet. To allow AI training, tick its box too."
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*\Z")
_CHOOSING = ("open", "preset", "saved", "save", "forget")
"""Actions after which the owner goes on choosing, where the choice is a page of its own."""


@dataclass(frozen=True, slots=True)
class ConsentView:
    """Everything a consent page shows."""

    accounts: Sequence[AccountBox]
    draft: GrantDraft | None = None
    wording: Wording | None = None
    problem: str | None = None
    counted: str = ""
    in_all: str = ""
    samples: Sequence[Sample] = ()


async def show_consent(request: PageRequest) -> Response:
    """Answer ``GET /consent/{review_id}``."""
    review = _review(request)
    return await _page(request, review, _first_choice(request, review))


async def decide(request: PageRequest) -> Response:
    """Answer ``POST /consent/{review_id}``: a no, a yes, or another choice to look at."""
    review, form = _review(request), request.form
    action = form.one("action")
    if action == "deny":
        return await _conclude(request, partial(request.site.authority.deny, review.id))
    request = replace(request, form=unfold(form, _first_choice(request, review)))
    if action == "save" or action.startswith("forget:"):
        return await _save(request, review, action)
    try:
        request = _preset(request, review, action)
        choice = read_choice(request.form, review.created_at)
    except InvalidRequest as problem:
        choice = read_choice(request.form.without("span", "since", "until"), review.created_at)
        return await _page(request, review, choice, problem.message, 400, decidable=False)
    if action != "approve":
        unchosen = action == "update" and not review.details and not choice.connections
        return await _page(request, review, choice, NOTHING_TICKED if unchosen else None)
    try:
        request = await prove(request)
    except PdppError as problem:
        return await _page(request, review, choice, problem.message, problem.status)
    draft, wording = _shown(request, review, choice)
    if draft is None or wording is None or draft.digest != form.one("digest"):
        return await _page(request, review, choice, CHANGED, status=409)
    if wording.training is not None and form.one("training") != "yes":
        return await _page(request, review, choice, NEEDS_TICK, status=400)
    approve = partial(request.site.authority.approve, review.id, draft, wording.text)
    return await _conclude(request, approve)


async def _save(request: PageRequest, review: Review, action: str) -> Response:
    """Keep the ticks under a name, or forget some; nothing is approved by it."""
    vault, form = request.site.service.store.vault, request.form
    notice, status = None, 200
    try:
        choice = read_choice(form, review.created_at)
        if not request.bound:
            # Whoever has only learnt the cookie must not leave choices for the owner to approve.
            request = await prove(request)
        if action == "save":
            await request.site.write(lambda: save_choice(vault, form.one("save_as"), form))
        else:
            name = action.partition(":")[2]
            await request.site.write(lambda: forget_choice(vault, name))
    except PdppError as problem:
        choice = read_choice(form.without("span", "since", "until"), review.created_at)
        notice, status = problem.message, problem.status
    return await _page(request, review, choice, notice, status)


def _preset(request: PageRequest, review: Review, action: str) -> PageRequest:
    """Return a request whose form one press filled in: another period, an account, a preset."""
    kind, _, name = action.partition(":")
    if kind == "span":
        return replace(request, form=request.form.replaced("span", [name]))
    if kind == "open" and name:
        # Who wants to choose inside an account wants some of it.
        ticked = dict.fromkeys((*request.form.all("connection"), name.partition("/")[0]))
        return replace(request, form=request.form.replaced("connection", list(ticked)))
    if kind == "preset" and not review.details:
        catalogue = request.site.service.store.catalogue()
        return replace(request, form=preset_form(request.form, name, catalogue, review.created_at))
    if kind == "saved" and not review.details:
        store = request.site.service.store
        ticks = saved_choices(store.vault).get(name)
        if ticks is None:
            raise InvalidRequest("These saved choices no longer exist.", param="action")
        return replace(request, form=saved_form(request.form, ticks, store.catalogue()))
    return request


def _review(request: PageRequest) -> Review:
    return request.site.authority.review(request.http.path_params["review_id"])


def _first_choice(request: PageRequest, review: Review) -> ConsentChoice:
    catalogue = request.site.service.store.catalogue()
    if review.details:
        try:
            return first_choice(requested_allowances(review, catalogue))
        except InvalidRequest:
            return ConsentChoice()
    return open_choice(catalogue, review.created_at)


def _shown(
    request: PageRequest, review: Review, choice: ConsentChoice
) -> tuple[GrantDraft | None, Wording | None]:
    """Return what a posted page showed: its draft, in the words it had with the counts it had."""
    catalogue = request.site.service.store.catalogue()
    try:
        draft = _draft(review, choice, catalogue)
    except InvalidRequest:
        return None, None
    counts, totals = (_read_counts(draft, request.form, name) for name in ("counted", "in_all"))
    requester = _requester(request, review)
    return draft, word(draft, requester, review.redirect_uri, catalogue, counts, totals)


def _read_counts(draft: GrantDraft, form: PostedForm, name: str) -> Mapping[FeedKey, int] | None:
    """Return the counts that a page carried, so that what is kept is what the owner saw."""
    texts = form.one(name).split(",")
    if len(texts) != len(draft.allowances) or not all(re.fullmatch(r"\d{1,15}", t) for t in texts):
        return None
    places = [(allowance.connection_id, allowance.stream) for allowance in draft.allowances]
    return dict(zip(places, map(int, texts), strict=True))


async def _conclude(request: PageRequest, conclude: Callable[[], DecisionOutcome]) -> Response:
    outcome = await request.site.write(conclude)
    if outcome.location is not None:
        return request.go(outcome.location)
    answer = "denied" if request.form.one("action") == "deny" else "approved"
    return request.go(f"/device/{answer}")


async def _page(
    request: PageRequest,
    review: Review,
    choice: ConsentChoice,
    notice: str | None = None,
    status: int = 200,
    *,
    decidable: bool = True,
) -> Response:
    """Return the page; one whose choice makes no sense has no summary and cannot be approved."""
    store = request.site.service.store
    requester = _requester(request, review)
    view = await _view(request.site, review, choice, requester)
    lasting = view.draft is None or view.draft.access_mode is AccessMode.CONTINUOUS
    kind, opened = _pressed(request.form, decidable=decidable)
    folding = fold(view.accounts, opened)
    start = _first_choice(request, review)
    if not decidable or (folding.fields and opened) or (folding.streams and kind in _CHOOSING):
        view = ConsentView(view.accounts)
    boxes = view.wording is None or not folding.streams
    hidden = (
        carried(folding, view.accounts, choice, start)
        if boxes
        else carried_whole(view.accounts, choice, start)
    )
    return request.page(
        "consent.html",
        status=status,
        targets=form_targets(review.redirect_uri),
        requester=requester,
        asker=asker(review.redirect_uri),
        identity=identity(requester, review.redirect_uri),
        destination=destination(review.redirect_uri),
        view=view,
        accounts=grouped_accounts(view.wording.accounts) if view.wording else (),
        boxes=boxes,
        folding=folding,
        hidden=list(hidden),
        notice=notice,
        picking=not review.details,
        lasting=lasting,
        presets=PRESETS,
        saved=list(saved_choices(store.vault)),
        save_as=request.form.one("save_as") if notice else "",
        spans=SPANS,
        span=_span(request.form),
        since=request.form.one("since"),
        until=request.form.one("until"),
        today=instant.to_date_text(review.created_at),
        terms=TERMS,
        term=choice.term,
        minutes=max(1, (review.expires_at - review.created_at) // (60 * instant.SECOND)),
    )


def _pressed(form: PostedForm, *, decidable: bool) -> tuple[str, str]:
    """Return the kind of button that was pressed, and the account whose fields are open."""
    kind, _, opened = form.one("action").partition(":")
    if kind == "open":
        return kind, opened
    return kind, "" if decidable else form.one("opened")


def _span(form: PostedForm) -> LookBack:
    try:
        return span_of(form)
    except InvalidRequest:
        return LookBack.YEAR


def _requester(request: PageRequest, review: Review) -> Requester:
    return requester_of(review.client_id, request.site.authority.client(review.client_id))


async def _view(
    site: Site, review: Review, choice: ConsentChoice, requester: Requester
) -> ConsentView:
    owner = site.reader()
    catalogue, totals = owner.catalogue, await _record_counts(owner)
    boxes: tuple[AccountBox, ...] = ()
    try:
        boxes = tuple(_boxes(review, choice, catalogue, totals))
        draft = _draft(review, choice, catalogue)
    except InvalidRequest as problem:
        return ConsentView(boxes, problem=problem.message)
    # The operations answer as they would answer the client; who reads is the owner all the same.
    reader = replace(owner, principal=grant_principal(draft.as_grant(), catalogue))
    counts = await _record_counts(reader)
    places = [(allowance.connection_id, allowance.stream) for allowance in draft.allowances]
    return ConsentView(
        accounts=boxes,
        draft=draft,
        wording=word(draft, requester, review.redirect_uri, catalogue, counts, totals),
        counted=",".join(str(counts.setdefault(place, 0)) for place in places),
        in_all=",".join(str(totals.setdefault(place, 0)) for place in places),
        samples=await take_samples(reader, counts),
    )


async def _record_counts(reader: PageReader) -> dict[FeedKey, int]:
    """Return how many records of each stream a reader sees."""
    rows = (await reader.operate("listStreams"))["data"]
    return {(row["connection_id"], row["name"]): row["record_count"] for row in rows}


def _boxes(
    review: Review,
    choice: ConsentChoice,
    catalogue: Catalogue,
    totals: Mapping[FeedKey, int],
) -> Sequence[AccountBox]:
    if review.details:
        asks: tuple[RequestedAllowance, ...] = requested_allowances(review, catalogue)
        return list(asked_boxes(asks, choice, catalogue))
    return list(open_boxes(choice, catalogue, totals))


def _draft(review: Review, choice: ConsentChoice, catalogue: Catalogue) -> GrantDraft:
    if review.details:
        return from_details(review, catalogue, choice)
    return from_choice(review, choice, catalogue)


def form_targets(redirect_uri: str | None) -> str:
    """Return where a decision may lead a browser: here, and to where the client waits for it.

    Browsers hold a form to this at every redirect that follows its answer. Where a client sends
    the owner after its own address is its affair, and on the web often another host.
    """
    if redirect_uri is None:
        return "'self'"
    scheme = urlsplit(redirect_uri).scheme
    own = "" if scheme in ("http", "https") or not _SCHEME.match(scheme) else f" {scheme}:"
    return f"'self' http: https:{own}"
