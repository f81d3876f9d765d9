"""A program that listens on another port of this machine, and a real browser that visits it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from selectolax.lexbor import LexborHTMLParser
from tests.pages.every_page import every_page, import_notes, lived_in
from tests.pages.house import MAIL, House, waiting_client
from tests.pages.test_home import fail_import
from tests.pages.window import window

from pdpp.authz.owner import private_host
from pdpp.model import instant
from pdpp.pages.imports.upload import UploadedFile, UploadFolder


@contextmanager
def listener() -> Iterator[tuple[int, list[str]]]:
    """Listen on another port; yield it with the cookies that visitors brought."""
    cookies: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<h1>Kittens</h1>")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield server.server_port, cookies
    finally:
        server.shutdown()
        server.server_close()


def test_a_listener_that_learns_the_cookie_cannot_approve(house: House, browser: Browser) -> None:
    with listener() as (port, cookies), waiting_client() as client, window(house, browser) as own:
        own.open("/login").log_in()
        own.page.goto(f"http://127.0.0.1:{port}/")
        brought = cookies[-1]
        assert "pdpp_session" in brought, "browsers share cookies between ports; so this was sent"
        path = house.ask(MAIL, redirect=client.redirect)
        headers = {"Cookie": brought, "Origin": house.url}
        thief = own.house.world.server.client(**headers)
        page = LexborHTMLParser(thief.get(path).text)
        fields = {
            str(node.attributes["name"]): node.attributes.get("value") or ""
            for node in page.css("main form input[type=hidden]")
        }
        connections = [
            str(node.attributes["value"]) for node in page.css("input[name=connection][checked]")
        ]
        assert fields["digest"]
        form = {**fields, "connection": connections, "term": "30d", "action": "approve"}
        answer = thief.post(path, data=form)
        assert answer.status_code == 403
        assert client.seen == []
        file, typed = {"file": ("notes.md", b"# Kittens")}, {"token": fields["token"]}
        assert thief.post("/import/uploads", data=typed, files=file).status_code == 403
        assert not list((house.folder / "uploads").rglob("notes.md"))
        own.open(path)
        own.page.get_by_label("Passphrase").fill("four plain words here")
        own.press("Approve")
        expect(own.page.get_by_role("heading", name="Back at the client")).to_be_visible()


def test_a_listener_learns_nothing_of_a_session_at_the_owners_own_address(
    house: House, browser: Browser
) -> None:
    own_url = f"http://{private_host(house.store.vault)}:{house.url.rpartition(':')[2]}"
    with listener() as (port, cookies), window(house, browser) as own:
        own.page.goto(f"{own_url}/agents")
        own.log_in()
        expect(own.page.get_by_role("heading", name="Who may read your data")).to_be_visible()
        for host in ("127.0.0.1", "localhost", "other.localhost"):
            own.page.goto(f"http://{host}:{port}/")
            assert "session" not in cookies[-1]
        own.page.goto(f"{own_url}/agents")
        expect(own.page.get_by_role("button", name="Log out")).to_be_visible()


def test_a_listener_that_learns_the_cookie_changes_nothing_by_looking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed_by: list[str] = []

    def note(name: str) -> None:
        change = getattr(UploadFolder, name)

        def noted(*given: object) -> None:
            changed_by.append(threading.current_thread().name)
            change(*given)

        monkeypatch.setattr(UploadFolder, name, noted)

    with lived_in(tmp_path / "store") as house, listener() as (port, cookies):
        uploads = UploadFolder(house.folder)
        failed = uploads.begin([UploadedFile("broken.zip", 1)], instant.now())
        job = fail_import(house.store, house.folder / "broken.zip", "It is no zip.")
        uploads.note_jobs(failed, [job])
        import_notes(house)
        jobs = [f"/import/{job.id}" for job in house.store.jobs.recent(25, "import")]
        pages = {*every_page(house).values(), *jobs}
        owner = house.owner()
        owner.http.get(f"http://127.0.0.1:{port}/")
        assert "pdpp_session" in cookies[-1], "cookies do not know of ports"
        note("keep")
        note("remove")
        thief = house.world.server.client(Cookie=cookies[-1])
        answers = {path: thief.get(path).status_code for path in pages}
        assert answers[f"/import/{job}"] == 200, "the thief can look"
        assert not [name for name in changed_by if not name.startswith("pdpp-job")]
        assert uploads.get(failed.id).jobs == (job,)
        assert f"/import/uploads/{failed.id}" in owner.get("/import").answer.text, "to try again"
        assert owner.get(f"/import/uploads/{failed.id}").status == 200
