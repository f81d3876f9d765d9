"""The pages in a real browser, from the first visit to the last revocation."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.pages.every_page import TRAINING
from tests.pages.house import (
    MAIL,
    PASSPHRASE,
    Callback,
    House,
    answered,
    housed,
    waiting_client,
)
from tests.pages.test_device import begin
from tests.pages.window import PHONE, Window, window
from tests.serving import refused

from pdpp.authz.owner import begin_setup

CITED = "/r/cin_home/messages/m-invoice-4471#field=body&chars=5-113"


@pytest.fixture
def client() -> Iterator[Callback]:
    """A client that waits on loopback."""
    with waiting_client() as made:
        yield made


@pytest.fixture(params=[True, False], ids=["scripts", "no-scripts"])
def desk(request: pytest.FixtureRequest, house: House, browser: Browser) -> Iterator[Window]:
    """A window in which the owner is logged in, with scripts and without."""
    with window(house, browser, java_script_enabled=request.param) as made:
        made.open("/login").log_in()
        yield made


def back_at(client: Callback, page: Page) -> dict[str, str]:
    """Return what the browser brought back to the client."""
    expect(page.get_by_role("heading", name="Back at the client")).to_be_visible()
    return answered(client.seen[-1])


# The owner


def test_a_new_owner_sets_up_approves_and_is_sent_back(
    tmp_path: Path, browser: Browser, client: Callback
) -> None:
    with housed(tmp_path / "store", settled=False) as made, window(made, browser) as owner:
        code = begin_setup(made.store.vault) or ""
        owner.open(made.address(MAIL, redirect=client.redirect))
        owner.page.get_by_label("Set-up code").fill(code.lower().replace("-", " "))
        owner.page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
        owner.page.get_by_label("The same passphrase again").fill(PASSPHRASE)
        owner.press("Set up")
        expect(owner.page.get_by_role("heading", level=1)).to_contain_text("wants to read")
        owner.press("Approve")
        assert back_at(client, owner.page).keys() == {"code", "state", "iss"}


def test_a_wrong_passphrase_is_told_and_the_right_one_lets_in(
    house: House, browser: Browser
) -> None:
    with window(house, browser) as stranger:
        stranger.open("/agents")
        stranger.page.get_by_label("Passphrase").fill("not the right one")
        stranger.press("Log in")
        expect(stranger.page.get_by_role("alert")).to_have_text("That is not the passphrase.")
        stranger.log_in()
        expect(stranger.page.get_by_role("heading", level=1)).to_have_text("Who may read your data")
        stranger.press("Log out")
        expect(stranger.page.get_by_label("Passphrase")).to_be_focused()


# Consent


def test_a_request_is_looked_at_and_approved(desk: Window, client: Callback) -> None:
    desk.open(desk.house.address(MAIL, name="Buddy", redirect=client.redirect))
    expect(desk.page).to_have_title("A program on this computer asks · your data server")
    desk.page.get_by_text("See what the agent would see").click()
    assert desk.page.locator("details.samples article").count() == 3
    desk.press("Approve")
    assert back_at(client, desk.page)["state"] == "the-state"


def test_a_request_is_denied(desk: Window, client: Callback) -> None:
    desk.open(desk.house.address(MAIL, redirect=client.redirect))
    desk.press("Deny")
    assert back_at(client, desk.page)["error"] == "access_denied"


def test_the_owner_picks_looks_again_and_approves(desk: Window, client: Callback) -> None:
    client_id = desk.house.register(redirect=client.redirect)
    desk.open(desk.house.address(client_id=client_id, redirect=client.redirect))
    inside = desk.page.get_by_role("checkbox", name="Payments")
    expect(inside).to_be_hidden()
    desk.page.get_by_role("checkbox", name="Banco Azul").check()
    expect(inside).to_be_checked()
    expect(desk.page.get_by_role("checkbox", name="Accounts")).not_to_be_checked()
    desk.press("Continue")
    enforced = desk.page.get_by_role("region", name="What it may read")
    expect(enforced).to_contain_text("1 account, 1 kind of record")
    desk.page.get_by_text("Choose what it may read").click()
    desk.page.get_by_role("checkbox", name="Work mail").check()
    desk.press("Approve")
    expect(desk.page.get_by_role("alert")).to_contain_text("Nothing is approved yet")
    expect(enforced).to_contain_text("Work mail")
    desk.press("Approve")
    token = desk.house.redeem(
        f"?code={back_at(client, desk.page)['code']}", client_id, client.redirect
    )
    rows = desk.house.world.server.client(token).get("/v1/streams").json()["data"]
    assert {row["connection_id"] for row in rows} == {"cin_bank", "cin_work"}


def test_a_broad_choice_is_warned_about_wherever_approve_is_in_sight(desk: Window) -> None:
    desk.open(desk.house.address())
    desk.page.get_by_role("checkbox", name="Home mail").check()
    desk.page.get_by_label("no limit").check()
    desk.press("Continue")
    warning = desk.page.get_by_role("note").filter(has_text="This is broad.")
    for width, height in ((1_000, 800), (360, 740)):
        desk.page.set_viewport_size({"width": width, "height": height})
        desk.page.evaluate("scrollTo(0, 0)")
        expect(desk.page.get_by_role("button", name="Approve")).to_be_in_viewport(ratio=1)
        expect(warning).to_be_in_viewport(ratio=1)


def test_training_asks_for_its_own_tick(desk: Window, client: Callback) -> None:
    desk.open(desk.house.address(TRAINING, redirect=client.redirect))
    desk.press("Approve")
    expect(desk.page.get_by_role("alert")).to_contain_text("tick its box too")
    desk.page.get_by_role("checkbox", name="I agree").check()
    desk.press("Approve")
    assert "code" in back_at(client, desk.page)


def test_a_client_that_sends_the_browser_on_to_another_host_is_no_obstacle(
    desk: Window,
) -> None:
    with waiting_client() as last:
        onward = last.redirect.replace("127.0.0.1", "localhost")
        with waiting_client(lambda: onward) as first:
            desk.open(desk.house.address(MAIL, redirect=first.redirect))
            desk.press("Approve")
            expect(desk.page.get_by_role("heading", name="Back at the client")).to_be_visible()
            assert len(first.seen) == len(last.seen) == 1


def test_a_request_that_was_decided_in_another_tab_is_told(desk: Window, client: Callback) -> None:
    desk.open(desk.house.address(MAIL, redirect=client.redirect))
    other = desk.page.context.new_page()
    other.goto(desk.page.url)
    other.get_by_role("button", name="Deny").click()
    desk.press("Approve")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("That did not work")


def test_everything_is_done_with_the_keyboard_alone(
    house: House, browser: Browser, client: Callback
) -> None:
    with window(house, browser) as owner:
        owner.open(house.address(redirect=client.redirect))
        expect(owner.page.get_by_label("Passphrase")).to_be_focused()
        owner.page.keyboard.type(PASSPHRASE)
        owner.page.keyboard.press("Enter")
        expect(owner.page.get_by_role("heading", level=1)).to_contain_text("wants to read")
        _tab_to(owner.page, 'input[value="cin_notes"]')
        assert _outlined(owner.page)
        owner.page.keyboard.press("Space")
        _tab_to(owner.page, 'input[name="stream"][value="cin_notes/documents"]')
        owner.page.keyboard.press("Enter")
        expect(owner.page.get_by_role("region", name="What it may read")).to_contain_text("Notes")
        _tab_to(owner.page, 'button[value="approve"]')
        assert _outlined(owner.page)
        owner.page.keyboard.press("Enter")
        assert "code" in back_at(client, owner.page)


def _tab_to(page: Page, selector: str) -> None:
    """Press Tab until the element has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.locator(selector).evaluate("node => node === document.activeElement"):
            return
    raise AssertionError(f"{selector} cannot be reached")


def _outlined(page: Page) -> bool:
    """Tell whether it can be seen where the focus is."""
    return bool(
        page.evaluate("parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2")
    )


# Devices, agents, records


def test_a_device_is_connected_by_its_code(desk: Window) -> None:
    _, told = begin(desk.house)
    desk.open("/device")
    desk.page.get_by_label("Code").fill(told["user_code"].lower())
    desk.press("Continue")
    expect(desk.page.get_by_text("calls itself “Frame”").first).to_be_visible()
    desk.page.get_by_role("checkbox", name="Photos").first.check()
    desk.press("Continue")
    desk.press("Approve")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("Approved")


def test_an_agent_is_revoked_and_its_next_request_refused(desk: Window, client: Callback) -> None:
    name = f"Short-lived {time.monotonic_ns()}"
    client_id = desk.house.register(name, client.redirect)
    desk.open(desk.house.address(MAIL, client_id=client_id, redirect=client.redirect))
    desk.press("Approve")
    code = back_at(client, desk.page)["code"]
    token = desk.house.redeem(f"?code={code}", client_id, client.redirect)
    reader = desk.house.world.server.client(token)
    assert reader.get("/v1/streams").status_code == 200
    desk.open("/agents")
    desk.page.get_by_role("link", name=name).click()
    desk.press("Revoke everything of " + name)
    refused(reader.get("/v1/streams"), 403, "grant_revoked")
    expect(desk.page.get_by_text("revoked", exact=True)).to_be_visible()


def test_a_citation_leads_through_the_login_to_the_marked_passage(
    house: House, browser: Browser
) -> None:
    with window(house, browser) as owner:
        owner.open(CITED).log_in()
        mark = owner.page.locator("mark#passage")
        expect(mark).to_contain_text("please find attached invoice 4471")
        expect(mark).to_be_in_viewport()
        assert owner.complaints[1:] == []


def test_without_scripts_a_citation_still_leads_to_its_record(
    house: House, browser: Browser
) -> None:
    with window(house, browser, java_script_enabled=False) as owner:
        owner.open(CITED).log_in()
        expect(owner.page.get_by_role("heading", level=1)).to_contain_text("Invoice 4471")


# How it looks


def test_the_scheme_of_the_reader_is_followed(house: House, browser: Browser) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        with window(house, browser, color_scheme=scheme) as stranger:
            stranger.open("/login")
            colour = stranger.page.evaluate("getComputedStyle(document.body).backgroundColor")
            shades[scheme] = sum(int(part) for part in colour[4:-1].split(","))
    assert shades["dark"] < 200 < 600 < shades["light"]


def test_the_two_answers_have_one_size_and_are_always_in_sight(
    house: House, browser: Browser
) -> None:
    with window(house, browser, viewport=PHONE) as owner:
        owner.open(house.ask(TRAINING)).log_in()
        _check_answers(owner)
        owner.open(house.ask(TRAINING))  # Whoever is logged in already types the passphrase here.
        expect(owner.page.get_by_label("Your passphrase, to approve")).to_be_visible()
        _check_answers(owner)


def _check_answers(owner: Window) -> None:
    deny, approve = (_box(owner, name) for name in ("Deny", "Approve"))
    for side in ("width", "height", "y"):
        assert round(deny[side]) == round(approve[side])
    assert deny["y"] + deny["height"] <= PHONE["height"]
    assert deny["height"] >= 44


def _box(owner: Window, name: str) -> Mapping[str, float]:
    found = owner.page.get_by_role("button", name=name, exact=True).bounding_box()
    assert found is not None
    return cast("Mapping[str, float]", found)
