"""The owner's browser, as far as HTTP goes: from a client's address to the answer it gets back."""

import httpx
from tests.oauth.dance import Dance
from tests.pages.house import Reader, settle
from tests.serving import UNENCRYPTED


def decide(dance: Dance, url: str, host: str | None = None) -> str:
    """Open the address a client gave, log in, choose, say yes; return where the browser is sent."""
    settle(dance.store)
    headers = {} if host is None else {"Host": host}
    with httpx.Client(
        base_url=dance.url, headers=headers, trust_env=False, verify=UNENCRYPTED
    ) as http:
        reader = Reader(http)
        path = reader.get(url).location
        assert path.startswith("/consent/")
        # Logging in is a post, so its answer is the page itself, with the proof that a post gives.
        sheet = reader.log_in(path=path)
        accounts = (("connection", "c1"), ("stream", "c1/notes"))
        shown = sheet.send(tick=accounts, action="update")
        assert "Work notes" in shown.text
        return shown.send(action="approve").location
