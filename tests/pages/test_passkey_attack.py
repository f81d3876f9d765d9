"""Passkeys attacked over HTTP: by another port, and by one answer sent many times at once."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.authz.authenticator import Authenticator, es256
from tests.pages.house import PASSPHRASE, House, Reader, Sheet

from pdpp.authz.webauthn import PasskeyContext

FORM = "form[data-passkey]"


def at(house: House, port: int | None = None) -> tuple[Reader, PasskeyContext]:
    """Return a browser at ``localhost``, and where it is; another port is a proxy's."""
    host = f"localhost:{port or urlsplit(house.url).port}"
    return house.stranger(Host=host), PasskeyContext(f"http://{host}", "", b"")


def challenge(page: Sheet) -> str:
    form = page.tree.css_first(FORM)
    assert form is not None, page.text
    options: dict[str, Any] = json.loads(str(form.attributes["data-passkey"]))
    return str(options["challenge"])


def registered(house: House) -> Authenticator:
    """Return a device whose passkey is the owner's at ``localhost``."""
    reader, here = at(house)
    assert reader.log_in().status == 303
    page, device = reader.get("/settings"), Authenticator(*es256())
    answer = device.create(here, challenge(page))
    sent = page.send(
        form=FORM, action="add-passkey", new_passkey=answer, passkey_name="x", confirm=PASSPHRASE
    )
    assert sent.status == 303, sent.text
    return device


@pytest.fixture(scope="module")
def device(house: House) -> Authenticator:
    return registered(house)


def test_a_listener_on_another_port_cannot_use_a_passkey(
    house: House, device: Authenticator
) -> None:
    """It hands the challenge on to its visitor's browser, and its own name on to the server."""
    mine, here = at(house)
    evil, there = at(house, 9)
    theirs = evil.get("/login")
    assert theirs.tree.css_first(FORM) is None
    # Without the form: with a challenge that the server made for that very browser elsewhere.
    page = mine.get("/login")
    mark = next(value for name, value in mine.http.cookies.items() if "mark" in name)
    evil.http.cookies.set("pdpp_mark_9", mark)
    token = {"token": dict(page.fields(FORM))["token"]}
    answer = device.use(there, challenge(page))
    refused = evil.http.post("/login", data=token | {"passkey": answer})
    assert refused.status_code == 401
    assert "does not know this passkey" in refused.text
    assert page.send(form=FORM, passkey=device.use(here, challenge(page))).status == 303


def test_one_answer_sent_many_times_at_once_begins_one_session(
    house: House, device: Authenticator
) -> None:
    reader, here = at(house)
    page = reader.get("/login")
    form = {"token": dict(page.fields(FORM))["token"], "passkey": device.use(here, challenge(page))}
    cookies = dict(reader.http.cookies)

    def send(_: int) -> int:
        again = at(house)[0].http
        again.cookies.update(cookies)
        return again.post("/login", data=form).status_code

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(send, range(6))) == [303, *[401] * 5]


@pytest.mark.parametrize("port", ["65536", "9" * 5_000])
def test_a_port_that_cannot_be_is_refused(house: House, port: str) -> None:
    assert house.stranger(Host=f"localhost:{port}").get("/login").status == 400


def test_a_strangers_try_does_not_wait_among_the_writers(
    house: House, device: Authenticator
) -> None:
    reader, here = at(house)
    page = reader.get("/login")
    token = {"token": dict(page.fields(FORM))["token"]}
    wrong = Authenticator(*es256()).use(here, challenge(page))
    # Whoever writes now keeps everybody else who writes waiting; what is refused need not write.
    with house.store.vault.transaction():
        for tried in ({"passkey": wrong}, {"passkey": "{}"}, {"login_code": "none-such-code"}):
            assert reader.http.post("/login", data=token | tried).status_code == 401
    assert page.send(form=FORM, passkey=device.use(here, challenge(page))).status == 303
