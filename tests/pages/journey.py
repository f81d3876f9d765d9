"""A person's way from an export to its removal, wherever the server comes from."""

import zipfile
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.pages.house import PASSPHRASE, Callback, answered
from tests.pages.window import Window


def write_export(folder: Path) -> Path:
    """Return a zip of notes, as a person would drop it."""
    path = folder / "vault.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vault/.obsidian/app.json", "{}")
        archive.writestr("vault/ferry.md", "# Ferry\n\nThe **blue** ferry leaves at seven.\n")
        archive.writestr("vault/tea.md", "# Tea\n\nGreen tea, two minutes.\n")
    return path


def heading(page: Page, text: str) -> None:
    """Wait until a page is called so."""
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def import_to_removal(owner: Window, base: str, client: Callback, export: Path) -> None:
    """Import, search, connect an agent, see what it read, revoke it and remove the account.

    The owner is logged in at ``base``, an address at which nothing asks for the passphrase again,
    and looks at a home without records.
    """
    page, house = owner.page, owner.house
    # Import an export
    page.get_by_role("link", name="Import an export").click()
    page.get_by_label("Drop files or a folder here, or choose files").set_input_files(export)
    owner.press("Upload")
    heading(page, "vault.zip")
    expect(page.get_by_text("Markdown notes").first).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("succeeded")).to_be_visible()
    # A key that is pressed before the page is whole is lost.
    with page.expect_navigation():
        page.get_by_role("link", name="See your records").click()
    # Search, and open the record
    page.keyboard.press("/")
    expect(page.get_by_label("Search your data")).to_be_focused()
    page.keyboard.type("blue ferry")
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Ferry").click()
    heading(page, "Ferry")
    expect(page.locator("mark#passage")).to_contain_text("ferry")
    # Connect an agent
    client_id = house.register("Reader", client.redirect)
    page.goto(base + house.address(client_id=client_id, redirect=client.redirect))
    page.locator("input.opens").first.check()
    for box in page.locator('input[name="stream"]').all():
        box.check()
    owner.press("Continue")
    confirm = page.get_by_label("Passphrase")
    if confirm.count():
        confirm.fill(PASSPHRASE)
    owner.press("Approve")
    expect(page.get_by_role("heading", name="Back at the client")).to_be_visible()
    code = answered(client.seen[-1])["code"]
    token = house.redeem(f"?code={code}", client_id, client.redirect)
    agent = house.world.server.client(token)
    found = agent.get("/v1/search?q=ferry")
    assert found.status_code == 200, found.text
    # See what it read
    house.wait_for(lambda: "Reader searched" in house.owner().get("/activity").text)
    page.goto(f"{base}/activity")
    page.get_by_role("link", name="Reader searched").first.click()
    heading(page, "Reader searched")
    # Revoke it
    page.get_by_role("link", name="What it may read").click()
    owner.press("Revoke everything of Reader")
    expect(page.get_by_text("revoked", exact=True).first).to_be_visible()
    assert agent.get("/v1/search?q=ferry").status_code == 403
    # Remove the account
    page.get_by_role("link", name="Accounts").click()
    page.locator("a.agent").first.click()
    page.get_by_role("link", name="Remove this account…").click()
    name = page.get_by_role("heading", level=1).inner_text().removeprefix("Remove ")
    page.get_by_label("Type the name of the account").fill(name)
    owner.press("Remove this account")
    expect(page.get_by_text("You have no accounts yet.")).to_be_visible()
