"""Passkeys in a real browser with a virtual authenticator: made, used, refused and removed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, CDPSession, expect
from tests.pages.house import PASSPHRASE, House
from tests.pages.window import Window, window

from pdpp.authz.owner import private_host
from pdpp.authz.passkey import read_passkeys


@contextmanager
def device(own: Window) -> Iterator[tuple[CDPSession, str]]:
    """Put an authenticator into the browser that verifies its user."""
    session = own.page.context.new_cdp_session(own.page)
    session.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    yield session, made["authenticatorId"]


def own_url(house: House) -> str:
    return f"http://{private_host(house.store.vault)}:{house.url.rpartition(':')[2]}"


def add(own: Window, name: str, passphrase: str = PASSPHRASE) -> None:
    own.page.get_by_label("Name").fill(name)
    own.page.get_by_label("Your passphrase").fill(passphrase)
    own.page.get_by_role("button", name="Add a passkey").click()


@pytest.fixture
def own(house: House, browser: Browser) -> Iterator[Window]:
    """The owner's window at the owner's own address, on the settings page."""
    with window(house, browser) as opened:
        opened.page.goto(f"{own_url(house)}/settings")
        opened.log_in()
        yield opened


def test_a_passkey_is_made_logs_in_and_is_removed(own: Window, house: House) -> None:
    with device(own) as (session, authenticator):
        add(own, "My phone", "not the passphrase")
        expect(own.page.get_by_role("alert")).to_have_text("That is not the passphrase.")
        assert read_passkeys(house.store.vault) == ()
        # The refused try left a key in the device, as it does in a real one.
        session.send("WebAuthn.clearCredentials", {"authenticatorId": authenticator})
        add(own, "My phone")
        expect(own.page.get_by_text("My phone", exact=False).first).to_be_visible()
        own.press("Log out")
        own.page.goto(f"{own_url(house)}/agents?x=1#part")
        own.page.get_by_role("button", name="Use a passkey").click()
        expect(own.page.get_by_role("heading", level=1)).to_have_text("Who may read your data")
        assert own.page.url.endswith("/agents?x=1#part")
        (key,) = read_passkeys(house.store.vault)
        assert key.used_at is not None
        assert key.counter > 0
        own.page.goto(f"{own_url(house)}/settings")
        own.page.get_by_role("button", name="Remove My phone").click()
        expect(own.page.get_by_role("button", name="Remove My phone")).to_have_count(0)
        own.press("Log out")
        expect(own.page.get_by_role("button", name="Use a passkey")).to_have_count(0)
        assert [text for text in own.complaints if "401" not in text] == []


def test_another_address_and_another_device_do_not_log_in(
    own: Window, house: House, browser: Browser
) -> None:
    with device(own) as (session, authenticator):
        add(own, "My laptop")
        expect(own.page.get_by_role("button", name="Remove My laptop")).to_be_visible()
        own.press("Log out")
        # The same server under another name offers no passkey that was made for this one.
        own.page.goto(f"{house.url.replace('127.0.0.1', 'localhost')}/login")
        expect(own.page.get_by_role("button", name="Use a passkey")).to_have_count(0)
        own.page.goto(f"{own_url(house)}/login")
        verified = {"authenticatorId": authenticator, "isUserVerified": False}
        session.send("WebAuthn.setUserVerified", verified)
        own.page.get_by_role("button", name="Use a passkey").click()
        expect(own.page.get_by_text("No passkey was used.")).to_be_visible()
        session.send("WebAuthn.clearCredentials", {"authenticatorId": authenticator})
        own.page.get_by_role("button", name="Use a passkey").click()
        expect(own.page.get_by_text("No passkey was used.")).to_be_visible()
        expect(own.page.get_by_label("Passphrase")).to_be_visible()


def test_without_scripts_the_passphrase_remains(house: House, browser: Browser) -> None:
    with window(house, browser, java_script_enabled=False) as plain:
        plain.page.goto(f"{own_url(house)}/settings")
        plain.log_in()
        expect(plain.page.get_by_role("heading", name="Passkeys")).to_be_visible()
        expect(plain.page.get_by_role("button", name="Add a passkey")).to_be_hidden()
        expect(plain.page.get_by_text("with scripts turned on")).to_be_visible()


def test_at_a_number_the_page_says_where_to_add_one_and_tells_no_address(house: House) -> None:
    page = house.owner().get("/settings")
    assert "only for addresses with a name" in page.text
    assert "open the address that pdpp serve printed" in page.text
    assert private_host(house.store.vault) not in page.text
