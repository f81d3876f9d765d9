"""The settings page: passphrase, sessions, tokens, dates, backup, health."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine import ENGINE, open_store
from tests.pages.house import PASSPHRASE, House, Reader, Sheet, housed
from tests.serving import owner as owner_token
from tests.serving import refused

import pdpp
from pdpp.authz.owner import private_host
from pdpp.jobs.backup_note import last_backup

NEW = "five other plain words here"


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The demo world, with settings to be changed."""
    with housed(Path(tmp_path_factory.mktemp("settled")) / "store") as made:
        yield made


def form_of(action: str) -> str:
    return f'main form:has(button[value^="{action}"])'


def test_dates_are_written_as_the_owner_wants_them(settled: House) -> None:
    reader = settled.owner()
    page = reader.get("/settings")
    form = form_of("dates")
    saved = page.send(
        form=form, action="dates", confirm=PASSPHRASE, time_zone="Asia/Tokyo", language="de"
    )
    assert saved.location == "/settings"
    record = reader.get("/r/cin_home/messages/m-invoice-4471")
    assert "12. März 2026, 18:15 JST" in record.text
    assert "newest from 29. Oktober 2026, 21:01 JST" in reader.get("/accounts/cin_home").text
    wrong = page.send(form=form, action="dates", confirm=PASSPHRASE, time_zone="Mars/Olympus")
    assert wrong.status == 400
    assert "Europe/Lisbon" in wrong.text
    other = page.send(form=form, action="dates", confirm=PASSPHRASE, language="tlh")
    assert other.status == 400
    page.send(form=form, action="dates", confirm=PASSPHRASE, time_zone="", language="en")


def test_the_passphrase_is_changed_and_other_sessions_end(tmp_path: Path) -> None:
    with housed(tmp_path / "store", store=open_store(tmp_path / "store")) as house:
        reader, other = house.owner(), house.owner()
        page = reader.get("/settings")

        def change(confirm: str, new: str, again: str) -> Sheet:
            return page.send(
                form=form_of("passphrase"),
                action="passphrase",
                confirm=confirm,
                new_passphrase=new,
                new_again=again,
            )

        assert change("wrong words are here", NEW, NEW).status == 401
        assert change("", NEW, NEW).status == 401
        assert change(PASSPHRASE, NEW, "something else here").status == 400
        assert change(PASSPHRASE, "short", "short").status == 400
        assert change(PASSPHRASE, NEW, NEW).location == "/settings"
        assert reader.get("/settings").status == 200
        assert other.get("/settings").status == 401
        stranger = house.stranger()
        assert stranger.log_in(PASSPHRASE).status == 401
        assert stranger.log_in(NEW).status == 303


def test_sessions_are_listed_and_ended(settled: House) -> None:
    reader, other, third = settled.owner(), settled.owner(), settled.owner()
    page = reader.get("/settings")
    buttons = page.tree.css('button[value^="end:"]')
    assert len(page.tree.css("#sessions ~ form li strong")) == 1
    first = str(buttons[0].attributes["value"])
    assert page.send(form=form_of("end"), action=first, confirm=PASSPHRASE).status == 303
    assert {other.get("/").status, third.get("/").status} == {200, 401}
    done = reader.get("/settings").send(form=form_of("end"), action="end:", confirm=PASSPHRASE)
    assert done.status == 303
    assert [who.get("/").status for who in (reader, other, third)] == [200, 401, 401]


def test_a_token_of_the_owner_is_revoked(settled: House) -> None:
    token = owner_token(settled.store)
    program = settled.world.server.client(token)
    assert program.get("/v1/streams").status_code == 200
    reader = settled.owner()
    page = reader.get("/settings")
    assert "test-owner" in page.text
    button = page.tree.css_first('button[value^="revoke-token:"]')
    assert button is not None
    action = str(button.attributes["value"])
    form = form_of("revoke-token")
    assert page.send(form=form, action=action, confirm=PASSPHRASE).location == "/settings"
    refused(program.get("/v1/streams"), 401, "authentication_error")
    assert page.send(form=form, action=action, confirm=PASSPHRASE).status == 400


def test_nothing_is_changed_at_a_shared_address_without_the_passphrase(settled: House) -> None:
    page = settled.owner().get("/settings")
    for action in ("dates", "end") if ENGINE == "postgres" else ("dates", "backup", "end"):
        asked = page.send(form=form_of(action), action=f"{action}", confirm="")
        assert asked.status == 403, action


def test_a_store_that_cannot_copy_itself_says_what_does(
    settled: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(type(settled.store), "backup", raising=False)
    reader = settled.owner()
    assert "backup" not in reader.get("/").text
    page = reader.get("/settings")
    assert "Back it up with pg_dump" in page.text
    assert "Back up now" not in page.text


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_is_made_and_its_age_is_told(settled: House, tmp_path: Path) -> None:
    reader = settled.owner()
    assert "There is no backup yet." in reader.get("/").text
    page = reader.get("/settings")
    inside = settled.folder / "backup"
    for folder in ("relative/path", str(inside)):
        wrong = page.send(form=form_of("backup"), action="backup", folder=folder)
        assert wrong.status == 400, folder
    target = tmp_path / "copies" / "monday"
    done = page.send(form=form_of("backup"), action="backup", folder=str(target))
    assert done.location == "/settings#backup"
    settled.wait_for(lambda: last_backup(settled.store.vault) is not None)
    assert f"in {target}" in reader.get("/settings").text
    assert "backup" not in reader.get("/").text
    copy = open_store(target)
    try:
        assert set(copy.catalogue().connections) == set(settled.store.catalogue().connections)
    finally:
        copy.close()


def test_health_version_and_notes_are_told(settled: House) -> None:
    text = settled.owner().get("/settings").text
    assert f"Version {pdpp.__version__}" in text
    assert "every read of an agent is recorded" in text
    assert "What changed in this version" in text


def test_the_owners_own_address_is_shown_there_alone(settled: House) -> None:
    name = private_host(settled.store.vault)
    assert name not in settled.owner().get("/settings").text
    own = settled.stranger(Host=f"{name}:{settled.url.rpartition(':')[2]}")
    assert own.log_in().status == 303
    assert f"http://{name}:" in own.get("/settings").text


def test_an_unknown_setting_is_refused(owner: Reader) -> None:
    page = owner.get("/settings")
    assert page.send(form=form_of("dates"), action="nope", confirm=PASSPHRASE).status == 400
