"""Approving with the owner's passphrase, over the pages that a browser would show."""

from contextlib import AbstractContextManager, nullcontext
from itertools import takewhile
from urllib.parse import urlencode

from pdpp.authz.requester import agent_id
from pdpp.doctor.finding import StepBroken, StepUntried
from pdpp.doctor.html import Input, PageKind, inputs, page_kind, value_of
from pdpp.doctor.wire import TimedReply, Wire

_FORM = "Let the proxy pass cookies and forms on as they are."


class ByPassphrase:
    """Logs in as the owner and says yes to as little as the page lets choose."""

    def __init__(self, wire: Wire, passphrase: str) -> None:
        self._wire = wire
        self._passphrase = passphrase
        self._cookies: dict[str, str] = {}
        self._address = ""

    def approve(self, consent_url: str) -> str:
        """Approve one field of one stream for a day; return where the browser would be sent."""
        self._address = consent_url.rpartition("/consent/")[0]
        fields = inputs(self._log_in(consent_url))
        chosen = _least(self._opened(consent_url, fields))
        drawn = self._post(consent_url, fields, [*chosen, Input("action", "update")])
        again = inputs(drawn)
        digest = [Input(name, value_of(again, name)) for name in ("digest", "counted")]
        yes = self._post(consent_url, again, [*chosen, *digest, Input("action", "approve")])
        if yes.status != 303:
            raise StepBroken(f"the owner's yes was answered with {yes.status}", _FORM)
        return yes.headers.get("location", "")

    def _opened(self, url: str, page: list[Input]) -> list[Input]:
        """Return the boxes of the first stream; a page with many opens it only when asked to."""
        for name, inside in (("connection", "stream"), ("stream", "field")):
            value = value_of(page, name)
            if value and not value_of(page, inside):
                page = inputs(self._post(url, page, [Input("action", f"open:{value}")]))
        return page

    def _log_in(self, url: str) -> TimedReply:
        login_page = self._get(url)
        let_in = self._post(url, inputs(login_page), [Input("passphrase", self._passphrase)])
        if let_in.status == 429:
            raise StepBroken("too many logins were tried", "Wait for a while, then ask again.")
        if let_in.status not in (200, 303):
            raise StepBroken("that is not the owner's passphrase", "Give the one of this server.")
        if page_kind(self._get(url)) is not PageKind.OTHER:
            raise StepBroken("the login does not last: its cookie did not come back", _FORM)
        return let_in

    def owner_token(self) -> AbstractContextManager[None]:
        """Hold nothing: tokens of the owner's are made beside the store."""
        return nullcontext()

    def revoke(self, client_id: str) -> None:
        """Take back everything that a client holds, on the page of the agent, and log out."""
        if not self._cookies:
            return
        url = f"{self._address}/agents/{agent_id(client_id)}"
        fields = inputs(self._get(url))
        yes = Input("confirm", self._passphrase)
        self._post(url, fields, [Input("revoke", "client:"), yes])
        self._post(f"{self._address}/logout", fields, [])

    def _get(self, url: str) -> TimedReply:
        return self._kept(self._wire.ask("GET", url, self._headers()))

    def _post(self, url: str, page: list[Input], fields: list[Input]) -> TimedReply:
        own = [Input(name, value_of(page, name)) for name in ("token", "proof")]
        sent = [*(field for field in own if field.value), *fields]
        headers = {"Content-Type": "application/x-www-form-urlencoded", **self._headers()}
        return self._kept(self._wire.ask("POST", url, headers, urlencode(sent).encode()))

    def _headers(self) -> dict[str, str]:
        kept = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        return {"Accept": "text/html", **({"Cookie": kept} if kept else {})}

    def _kept(self, reply: TimedReply) -> TimedReply:
        """Keep the cookies of an answer."""
        for text in reply.cookies:
            name, _, value = text.partition(";")[0].partition("=")
            self._cookies[name.strip()] = value.strip().strip('"')
        return reply


def _least(fields: list[Input]) -> list[Input]:
    """Return the boxes to tick: the first field of the first stream of the first account."""
    names = [field.name for field in fields]
    for place, own_field in enumerate(fields):
        if own_field.name != "stream":
            continue
        account = next(f for f in reversed(fields[:place]) if f.name == "connection")
        inside = takewhile(lambda f: f.name == "field", fields[place + 1 :])
        first = next(inside, None)
        if first is not None:
            return [account, own_field, first, Input("span", "30d"), Input("term", "1d")]
    if "connection" in names:
        raise StepBroken("the consent page offers nothing to choose", _FORM)
    raise StepUntried("there is nothing to grant yet: add a connection first")
