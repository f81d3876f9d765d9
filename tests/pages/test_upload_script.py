"""The script of uploads in a real browser: folders, files that change, sessions that end, names."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Route, expect
from tests.pages.house import PASSPHRASE, House
from tests.pages.journey import heading
from tests.pages.window import PHONE, Window, window

from pdpp.pages.imports.upload import UploadFolder

FILES = "Drop files or a folder here, or choose files"
PIECES = "**/import/uploads/*/*"


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files go up in many pieces."""
    monkeypatch.setattr("pdpp.pages.imports.upload_endpoint.CHUNK_BYTES", 1_000)


def at_import(owner: Window) -> Window:
    """Open the import page in a window."""
    owner.open("/import").log_in()
    heading(owner.page, "Import")
    return owner


def answered(owner: Window, name: str) -> None:
    """Answer a form that asks for the passphrase."""
    owner.press(name)
    owner.page.get_by_label("Passphrase").fill(PASSPHRASE)
    owner.press(name)


@pytest.mark.parametrize("change", ["grown", "cut", "gone"])
@pytest.mark.usefixtures("small_pieces")
def test_a_file_that_changes_while_it_is_sent_is_named_at_once(
    importing: House, browser: Browser, tmp_path: Path, change: str
) -> None:
    notes = tmp_path / f"{change}.md"
    notes.write_text("# Long\n\n" + "word " * 900)

    def change_it(route: Route) -> None:
        if route.request.url.endswith("?offset=2000"):
            if change == "gone":
                notes.unlink(missing_ok=True)
            else:
                notes.write_text("# Other\n" * (1 if change == "cut" else 2_000))
        route.continue_()

    with window(importing, browser) as owner:
        at_import(owner).page.route(PIECES, change_it)
        owner.page.get_by_label(FILES).set_input_files(notes)
        owner.press("Upload")
        expect(owner.page.locator("#upload-state")).to_have_text(
            f"Your browser can read {change}.md no more: it was changed or removed. "
            "Choose the files again."
        )


@pytest.mark.parametrize("screen", [PHONE, None], ids=["phone", "desk"])
def test_a_folder_is_chosen_without_dropping_it(
    importing: House, browser: Browser, tmp_path: Path, screen: dict[str, int] | None
) -> None:
    vault = tmp_path / f"Vault {'small' if screen else 'large'}"
    vault.mkdir()
    for number in range(150):
        (vault / f"{number}.md").write_text(f"# Note {number} of {vault.name}\n")
    options = {"viewport": screen} if screen else {}
    with window(importing, browser, **options) as owner:
        at_import(owner).page.get_by_label("Or choose a folder").set_input_files(vault)
        owner.press("Upload")
        heading(owner.page, vault.name)
        expect(owner.page.get_by_text("150 records")).to_be_visible()
        wide = owner.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        assert not wide
        answered(owner, "Import")
        expect(owner.page.get_by_text("150 read: 150 new")).to_be_visible()


@pytest.mark.usefixtures("small_pieces")
def test_a_session_that_ends_on_the_way_costs_nothing_that_arrived(
    importing: House, browser: Browser, tmp_path: Path
) -> None:
    notes = tmp_path / "session.md"
    notes.write_text("# Session\n\n" + "word " * 500)
    sent: list[str] = []

    def end_session(route: Route) -> None:
        sent.append(route.request.url.rpartition("=")[2])
        if sent == ["0", "1000"]:
            owner.page.context.clear_cookies()
        route.continue_()

    with window(importing, browser) as owner:
        at_import(owner).page.route(PIECES, end_session)
        owner.page.get_by_label(FILES).set_input_files(notes)
        owner.press("Upload")
        expect(owner.page.locator("#upload-state")).to_have_text(
            "Your session has ended: log in again. "
            "What arrived is kept: drop the same files again to go on."
        )
        at_import(owner).page.get_by_label(FILES).set_input_files(notes)
        owner.press("Upload")
        heading(owner.page, "session.md")
        assert sent == ["0", "1000", "1000", "2000"]
        plan = urlsplit(owner.page.url).path
        # It ends once more, between the upload and the answer; the answer is still there.
        owner.page.context.clear_cookies()
        owner.press("Import")
        owner.log_in()
        owner.press("Continue")
        expect(owner.page.get_by_text("1 read: 1 new")).to_be_visible()
        imports = importing.store.jobs.recent(50, "import")
        # Whoever goes back to the page of the upload is led to its import, or told that it is gone.
        owner.open(plan)
        expect(owner.page.get_by_role("button", name="Import", exact=True)).to_have_count(0)
        assert len(imports) == len(importing.store.jobs.recent(50, "import"))


def test_marks_that_turn_writing_around_are_taken_from_the_line_of_progress(
    importing: House, browser: Browser, tmp_path: Path
) -> None:
    notes = tmp_path / "tides\u202egpj.<b>md"
    notes.write_text("# Tides\n")
    with window(importing, browser) as owner:
        said: list[str] = []
        at_import(owner).page.expose_function("heard", lambda line: said.append(line))
        owner.page.evaluate(
            """() => {
              const state = document.getElementById("upload-state");
              const tell = () => heard(state.textContent);
              new MutationObserver(tell).observe(state, { childList: true });
            }"""
        )
        owner.page.get_by_label(FILES).set_input_files(notes)
        owner.press("Upload")
        expect(owner.page.get_by_role("heading", level=1)).to_contain_text("tides⟨U+202E⟩gpj.<b>md")
    assert "\u202e" not in "".join(said)
    assert any(line.startswith("tides·gpj.<b>md: ") for line in said), said


def test_what_an_export_says_runs_and_loads_nothing_in_a_browser(
    importing: House, browser: Browser, tmp_path: Path
) -> None:
    image = "<img src=x onerror=alert(1)>"
    lines = [
        f"[{day:02}/01/2025, 10:0{day % 10}:00] {who}: ferry {image} [go](javascript:alert(2))\n"
        for day in range(1, 25)
        for who in ("Ana", '"><script>alert(3)</script>', "\u202eevil")
    ]
    chat = tmp_path / f"WhatsApp Chat with {image}\u202e.txt"
    chat.write_text("".join(lines))
    asked: list[str] = []
    with window(importing, browser) as owner:
        page = at_import(owner).page
        page.on("dialog", lambda dialog: asked.append(dialog.message))
        page.get_by_label(FILES).set_input_files(chat)
        owner.press("Upload")
        expect(page.get_by_text("What was recognised")).to_be_visible()
        answered(owner, "Import")
        expect(page.get_by_text("73 read: 73 new")).to_be_visible()
        paths = ["/", "/import", "/accounts", "/activity", "/search?q=ferry"]
        page.goto(f"{importing.url}/search?q=ferry")
        link = page.locator(".results h2 a").first.get_attribute("href")
        owner.complaints.clear()
        for path in (*paths, link or ""):
            owner.open(path)
            assert page.locator("main img, main script, a[href^=javascript]").count() == 0, path
    assert asked == []
    assert owner.complaints == []


def test_a_folder_is_chosen_without_scripts(
    importing: House, browser: Browser, tmp_path: Path
) -> None:
    vault = tmp_path / "Quiet vault"
    (vault / "inner").mkdir(parents=True)
    for name in ("one.md", "inner/two.md"):
        (vault / name).write_text(f"# {name}\n")
    with window(importing, browser, java_script_enabled=False) as owner:
        at_import(owner).page.get_by_label("Or choose a folder").set_input_files(vault)
        owner.press("Upload")
        expect(owner.page.get_by_text("2 records")).to_be_visible()


@pytest.mark.usefixtures("small_pieces")
def test_an_upload_that_another_tab_removes_is_not_said_to_be_kept(
    importing: House, browser: Browser, tmp_path: Path
) -> None:
    notes = tmp_path / "removed.md"
    notes.write_text("# Removed\n\n" + "word " * 500)
    folder = UploadFolder(importing.folder)

    def remove(route: Route) -> None:
        if route.request.url.endswith("?offset=1000"):
            folder.remove(folder.get(route.request.url.split("/")[-2]))
        route.continue_()

    with window(importing, browser) as owner:
        at_import(owner).page.route(PIECES, remove)
        owner.page.get_by_label(FILES).set_input_files(notes)
        owner.press("Upload")
        expect(owner.page.locator("#upload-state")).to_have_text(
            "This upload does not exist, or no longer exists. Choose the files again."
        )
    assert not [one for one in folder.uploads() if one.title == "removed.md"]
