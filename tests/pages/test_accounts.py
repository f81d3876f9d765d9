"""The accounts pages: names, merges and removals."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.pages.house import MAIL, PASSPHRASE, House, Reader, Sheet, housed
from tests.serving import refused

from pdpp.evidence.amount import size_in_words
from pdpp.jobs.importing import import_order
from pdpp.store.jobs import ENDED, JobLease, JobProgress, JobStatus


@pytest.fixture(scope="module")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The demo world, to be changed."""
    with housed(Path(tmp_path_factory.mktemp("changing")) / "store") as made:
        yield made


def form_of(action: str) -> str:
    return f'main form:has(button[value="{action}"])'


def change(page: Sheet, action: str, *, name: str = "", into: str = "", typed: str = "") -> Sheet:
    """Send one of the forms of an account."""
    return page.send(form=form_of(action), action=action, name=name, into=into, typed=typed)


def test_an_account_shows_its_streams_and_who_may_read_it(house: House, owner: Reader) -> None:
    owner.get(house.ask(MAIL, name="Mail Reader")).send(action="approve")
    page = owner.get("/accounts/cin_home")
    assert "Letters newest from 29 October 2026, 12:01 UTC 598 records" in page.text
    sizes = house.world.store.connection_sizes()
    size = size_in_words(sizes["cin_home"])
    assert re.search(rf"records, {size} · 37 files, \d", page.text)
    assert f"records {size}" in " ".join(owner.get("/accounts").text.split())
    assert f"{size} of records" in owner.get("/accounts/cin_home/remove").text
    assert "Mail Reader" in page.text
    assert page.tree.css_first('a[href="/search?account=cin_home&kind=messages"]') is not None


def test_an_unknown_account_is_not_there(owner: Reader) -> None:
    for path in ("/accounts/nope", "/accounts/nope/remove"):
        assert owner.get(path).status == 404


def test_an_account_is_renamed_and_agents_see_the_name(changing: House) -> None:
    reader = changing.owner()
    page = reader.get("/accounts/cin_photos")
    assert change(page, "rename", name="  Pictures   of 2026 ").location == "/accounts/cin_photos"
    assert "Pictures of 2026" in reader.get("/accounts").text
    for name in ("", " ", "x" * 121):
        again = change(reader.get("/accounts/cin_photos"), "rename", name=name)
        assert again.status == 400
        assert "Write a name of 1 to 120 characters." in again.text


def test_nothing_is_changed_without_the_passphrase(changing: House) -> None:
    reader = changing.owner()
    page = reader.get("/accounts/cin_shop")
    asked = page.send(form=form_of("rename"), action="rename", name="Stolen", confirm="")
    assert asked.status == 403
    assert "Is it you?" in asked.text
    assert "Stolen" not in reader.get("/accounts").text
    assert asked.send(confirm="wrong words here ok").status == 401
    assert asked.send(confirm=PASSPHRASE).location == "/accounts/cin_shop"
    assert "Stolen" in reader.get("/accounts").text


def test_an_account_is_removed_when_its_name_is_typed(changing: House) -> None:
    reader = changing.owner()
    client_id = changing.register()
    done = reader.get(changing.ask(MAIL, client_id=client_id)).send(action="approve")
    token = changing.redeem(done.location, client_id)
    agent = changing.world.server.client(token)
    assert agent.get("/v1/streams").status_code == 200
    work = reader.get("/accounts/cin_work/remove")
    assert "Letters: 989 records" in work.text
    assert "Helper" in work.text
    wrong = change(work, "remove", typed="work mail")
    assert wrong.status == 400
    assert "Nothing was removed" in wrong.text
    assert "Work mail" in reader.get("/accounts").text
    for name in ("cin_work", "cin_home"):
        page = reader.get(f"/accounts/{name}/remove")
        title = page.tree.css_first("h1")
        assert title is not None
        typed = title.text().removeprefix("Remove ")
        assert change(page, "remove", typed=typed).location == "/accounts"
    assert "mail" not in reader.get("/accounts").text
    assert reader.get("/accounts/cin_work").status == 404
    refused(agent.get("/v1/streams"), 403, "grant_revoked")


def test_while_an_import_runs_no_account_goes_away(changing: House) -> None:
    """It would go on writing into an account that is no longer there."""
    store, reader = changing.store, changing.owner()
    jobs = store.jobs
    running = jobs.begin(import_order(changing.folder / "notes.zip"), JobLease("test", 1 << 60))
    for number in range(30):  # Many others were ordered since.
        jobs.add(import_order(changing.folder / f"{number}.zip"))
    page = reader.get("/accounts/cin_bank/remove")
    answer = change(page, "remove", typed="Banco Azul")
    assert answer.status == 409
    assert "An import is running. Wait until it ends, or cancel it first." in answer.text
    assert "cin_bank" in store.catalogue().connections
    jobs.finish(running.id, "test", JobStatus.CANCELLED, JobProgress(), None)
    changing.wait_for(lambda: all(job.status in ENDED for job in jobs.recent(40, "import")))
    assert change(page, "remove", typed="Banco Azul").location == "/accounts"
    gone = change(page, "remove", typed="Banco Azul")
    assert gone.status == 404
    assert "does not exist, or it was removed" in gone.text


def test_an_account_becomes_part_of_another(tmp_path: Path) -> None:
    with housed(tmp_path / "store") as house:
        reader = house.owner()
        page = reader.get("/accounts/cin_work")
        for target in ("", "cin_work", "cin_bank", "nope"):
            assert change(page, "merge", into=target).status in (400, 409)
        assert change(page, "merge", into="cin_home").location == "/accounts"
        house.wait_for(lambda: "Work mail" not in reader.get("/accounts").text)
        assert "Letters 1,587" in reader.get("/accounts").text
