"""A person's way through the pages in a real browser, and what may go wrong on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.engine import open_store
from tests.pages.house import PASSPHRASE, House, housed, waiting_client
from tests.pages.journey import heading, import_to_removal, write_export
from tests.pages.test_home import fail_import
from tests.pages.window import window

from pdpp.authz.owner import begin_setup, private_host
from pdpp.pages.imports import upload as uploads


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """A zip of notes, as a person would drop it."""
    return write_export(tmp_path)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server with an owner, without records, whose last import failed."""
    folder = Path(tmp_path_factory.mktemp("empty")) / "store"
    folder.mkdir(mode=0o700)
    with housed(folder, store=open_store(folder)) as made:
        fail_import(made.store, folder / "broken.zip", "It is no zip.")
        yield made


def own_window_url(house: House) -> str:
    """Return the owner's own address, at which nothing asks for the passphrase again."""
    return f"http://{private_host(house.store.vault)}:{house.url.rpartition(':')[2]}"


def test_from_the_first_visit_to_the_last_removal(
    tmp_path: Path, browser: Browser, export: Path
) -> None:
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    with (
        housed(folder, store=open_store(folder), settled=False) as house,
        waiting_client() as client,
        window(house, browser) as owner,
    ):
        page, base = owner.page, own_window_url(house)
        # Set it up
        code = begin_setup(house.store.vault) or ""
        page.goto(f"{base}/")
        page.get_by_label("Set-up code").fill(code)
        page.get_by_label("Passphrase", exact=True).fill(PASSPHRASE)
        page.get_by_label("The same passphrase again").fill(PASSPHRASE)
        owner.press("Set up")
        heading(page, "Nothing here yet")
        import_to_removal(owner, base, client, export)
        assert owner.complaints[1:] == [] or all("401" in line for line in owner.complaints)


def test_an_upload_that_breaks_off_goes_on_by_itself(
    empty: House, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpp.pages.imports.upload_endpoint.CHUNK_BYTES", 1_000)
    notes = tmp_path / "long.md"
    notes.write_text("# Long\n\n" + "word " * 900)
    offsets: list[int] = []

    def break_once(route: Route) -> None:
        offsets.append(int(route.request.url.rpartition("=")[2]))
        if offsets.count(2_000) == 1 and offsets[-1] == 2_000:
            route.abort("connectionreset")
        else:
            route.continue_()

    with window(empty, browser) as owner:
        owner.open("/import").log_in()
        owner.page.route("**/import/uploads/*/*", break_once)
        chosen = owner.page.get_by_label("Drop files or a folder here, or choose files")
        chosen.set_input_files(notes)
        owner.press("Upload")
        heading(owner.page, "long.md")
        expect(owner.page.get_by_role("button", name="Import", exact=True)).to_be_visible()
    assert offsets == [0, 1_000, 2_000, 2_000, 3_000, 4_000]
    (kept,) = [
        one
        for one in uploads.UploadFolder(empty.folder).uploads()
        if one.files[0].name == "long.md"
    ]
    stored = uploads.UploadFolder(empty.folder).place(kept, 0)
    assert stored.read_bytes() == notes.read_bytes()


def test_an_upload_is_cancelled_while_it_waits_and_goes_on_later(
    empty: House, browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpp.pages.imports.upload_endpoint.CHUNK_BYTES", 1_000)
    notes = tmp_path / "cut.md"
    notes.write_text("# Cut\n\n" + "word " * 500)
    sent: list[str] = []
    """Each request of the upload in the order in which the browser sent it, by its end."""

    def break_off(route: Route) -> None:
        if route.request.url.endswith("?offset=1000"):
            route.abort("connectionreset")
        else:
            route.continue_()

    with window(empty, browser) as owner:
        owner.open("/import").log_in()
        owner.page.on("request", lambda request: _note_upload(request.url, sent))
        owner.page.route("**/import/uploads/*/*", break_off)
        chosen = owner.page.get_by_label("Drop files or a folder here, or choose files")
        chosen.set_input_files(notes)
        owner.press("Upload")
        expect(owner.page.get_by_text("The connection broke. Trying again.")).to_be_visible()
        owner.press("Cancel")
        kept = "Cancelled. What arrived is kept: drop the same files again to go on."
        expect(owner.page.get_by_text(kept)).to_be_visible()
        owner.page.unroute("**/import/uploads/*/*")
        owner.press("Upload")
        heading(owner.page, "cut.md")
    first, second = " ".join(sent).split("uploads")[1:]
    assert first.startswith(" 0?offset=0 0?offset=1000")
    assert second == " 0?offset=1000 0?offset=2000", "what had arrived was sent again"


def _note_upload(url: str, sent: list[str]) -> None:
    last = url.rpartition("/")[2]
    if last == "uploads" or "?offset=" in last:
        sent.append(last)


_DROP = """
() => {
  const file = (name, text) => ({
    isFile: true, name, file: (done) => done(new File([text], name)),
  });
  const folder = (name, children) => ({
    isFile: false, name,
    createReader: () => {
      const batches = [children, []];
      return { readEntries: (done) => done(batches.shift()) };
    },
  });
  const vault = folder("vault", [
    folder(".obsidian", [file("app.json", "{}")]), file("tea.md", "# Tea"),
  ]);
  const drop = new Event("drop", { cancelable: true });
  const items = [{ webkitGetAsEntry: () => vault }];
  Object.defineProperty(drop, "dataTransfer", { value: { items } });
  document.getElementById("drop").dispatchEvent(drop);
}
"""
"""Drops a folder: no test can take one from a desktop, so the entries of the browser are made."""


def test_a_folder_is_dropped_and_recognised(empty: House, browser: Browser) -> None:
    with window(empty, browser) as owner:
        owner.open("/import").log_in()
        heading(owner.page, "Import")
        owner.page.get_by_label("Passphrase").fill(PASSPHRASE)
        owner.page.evaluate(_DROP)
        heading(owner.page, "vault")
        expect(owner.page.get_by_text("Markdown notes").first).to_be_visible()
    names = {tuple(file.name for file in one.files) for one in _uploads_of(empty)}
    assert ("vault/.obsidian/app.json", "vault/tea.md") in names


_DROP_SOME = """
(names) => {
  const entry = (name) => ({
    isFile: true, name,
    file: (done, failed) =>
      name.startsWith("locked") ? failed(new Error("no")) : done(new File(["# Tea"], name)),
  });
  const children = [names.map(entry), []];
  const folder = {
    isFile: false, name: "Downloads",
    createReader: () => ({ readEntries: (done) => done(children.shift()) }),
  };
  const drop = new Event("drop", { cancelable: true });
  const items = [{ webkitGetAsEntry: () => folder }];
  Object.defineProperty(drop, "dataTransfer", { value: { items } });
  document.getElementById("drop").dispatchEvent(drop);
}
"""


def test_a_drop_before_the_passphrase_waits_for_it_and_files_that_cannot_be_read_are_told(
    empty: House, browser: Browser
) -> None:
    with window(empty, browser) as owner:
        owner.open("/import").log_in()
        heading(owner.page, "Import")
        state = owner.page.locator("#upload-state")
        owner.page.evaluate(_DROP_SOME, [])
        expect(state).to_have_text("There is no file to upload in it.")
        owner.page.evaluate(_DROP_SOME, ["tea.md", "locked.pdf"])
        expect(state).to_have_text(
            "Your browser cannot read Downloads/locked.pdf. Press Upload to send the other 1."
        )
        owner.page.evaluate(_DROP_SOME, ["tea.md"])
        expect(state).to_have_text("Type your passphrase and press Upload.")
        owner.press("Upload")
        heading(owner.page, "Downloads")
        expect(owner.page.get_by_text("Markdown notes").first).to_be_visible()


def _uploads_of(house: House) -> list[uploads.Upload]:
    return list(uploads.UploadFolder(house.folder).uploads())


def test_without_scripts_an_export_comes_in_all_the_same(
    empty: House, browser: Browser, export: Path
) -> None:
    with window(empty, browser, java_script_enabled=False) as owner:
        owner.open("/import").log_in()
        chosen = owner.page.get_by_label("Drop files or a folder here, or choose files")
        chosen.set_input_files(export)
        owner.press("Upload")
        heading(owner.page, "vault.zip")
        owner.press("Remove the upload without importing it")
        owner.page.get_by_label("Passphrase").fill(PASSPHRASE)
        owner.press("Remove")
        heading(owner.page, "Import")


def test_two_tabs_do_not_undo_each_other(house: House, browser: Browser) -> None:
    with window(house, browser) as owner:
        base = own_window_url(house)
        owner.page.goto(f"{base}/accounts/cin_photos")
        owner.log_in()
        heading(owner.page, "Photos")
        other = owner.page.context.new_page()
        other.goto(f"{base}/accounts/cin_photos")
        other.get_by_label("Name", exact=True).fill("Pictures")
        other.get_by_role("button", name="Rename").click()
        heading(other, "Pictures")
        owner.page.get_by_label("Name", exact=True).fill("Photos")
        owner.press("Rename")
        heading(owner.page, "Photos")


def test_a_session_that_ends_in_the_middle_of_a_form_loses_nothing(
    house: House, browser: Browser
) -> None:
    with window(house, browser) as owner:
        owner.open("/settings").log_in()
        heading(owner.page, "Settings")
        owner.page.get_by_label("Time zone").fill("Europe/Lisbon")
        owner.page.context.clear_cookies()
        owner.press("Save")
        owner.log_in()
        heading(owner.page, "You are logged in again")
        owner.press("Continue")
        expect(owner.page.get_by_label("Time zone")).to_have_value("Europe/Lisbon")
        owner.page.get_by_label("Time zone").fill("")
        owner.press("Save")
        owner.page.get_by_label("Passphrase").fill(PASSPHRASE)
        owner.press("Change it")
        expect(owner.page.get_by_label("Time zone")).to_have_value("")


def test_the_search_is_a_key_away_but_not_while_typing(house: House, browser: Browser) -> None:
    with window(house, browser) as owner:
        owner.open("/accounts/cin_home").log_in()
        box = owner.page.get_by_label("Search your data")
        heading(owner.page, "Home mail")
        owner.page.wait_for_load_state()
        owner.page.keyboard.press("Control+k")
        expect(box).to_be_focused()
        name = owner.page.get_by_label("Name", exact=True)
        name.fill("")
        name.press("/")
        expect(name).to_have_value("/")


def test_a_page_makes_three_requests_at_most(house: House, browser: Browser) -> None:
    asked: list[str] = []
    with window(house, browser) as owner:
        owner.open("/").log_in()
        heading(owner.page, "What you have")
        owner.page.on("request", lambda request: asked.append(request.url))
        for path in ("/", "/search", "/import", "/r/cin_home/messages/m-invoice-4471"):
            asked.clear()
            owner.open(path)
            owner.page.wait_for_load_state("networkidle")
            assert len(asked) <= 3, asked
            assert all(url.startswith(house.url) for url in asked)


def test_bars_are_reached_and_followed_with_the_keyboard(house: House, browser: Browser) -> None:
    with window(house, browser) as owner:
        owner.open("/search").log_in()
        bar = owner.page.get_by_role("link", name="March 2026", exact=False).first
        bar.focus()
        owner.page.keyboard.press("Enter")
        expect(owner.page.get_by_label("Filters in force")).to_contain_text("March 2026")
