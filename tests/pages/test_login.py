from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.pages.house import PASSPHRASE, House, Reader, housed
from tests.serving import UNLIMITED, SetClock, running

from pdpp.app import make_app
from pdpp.authz.owner import begin_setup
from pdpp.authz.throttle import ADDRESS, GuessPace
from pdpp.model.instant import SECOND

PAGES = ["/", "/agents", "/agents/x", "/consent/rev_x", "/device", "/device/approved", "/r/a/b/c"]


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[House]:
    """The demo world before anybody owns it."""
    with housed(tmp_path / "store", settled=False) as made:
        yield made


# Logging in


@pytest.mark.parametrize("path", PAGES)
def test_a_stranger_meets_the_login_at_every_address(house: House, path: str) -> None:
    sheet = house.stranger().get(path)
    assert sheet.status == 401
    assert sheet.tree.css_first("input[name=passphrase]") is not None
    assert "Log in" in sheet.text


def test_a_login_leads_back_to_the_very_address(house: House) -> None:
    path = "/r/cin_home/messages/m-invoice-4471?field=body&chars=5-113"
    reader = house.stranger()
    sheet = reader.log_in(path=path)
    assert sheet.location == path
    assert "Invoice 4471" in sheet.follow().text


def test_the_login_form_names_no_address_so_that_a_browser_keeps_what_stands_after_the_hash(
    house: House,
) -> None:
    form = house.stranger().get("/agents").tree.css_first("main form")
    assert form is not None
    assert "action" not in form.attributes


def test_a_path_that_looks_like_another_host_leads_nowhere_else(house: House) -> None:
    reader = house.stranger()
    sheet = reader.get(f"{house.url}//evil.example/login")
    assert sheet.status == 404
    assert sheet.answer.headers["content-type"] == "application/json"


def test_a_wrong_passphrase_is_told_and_opens_nothing(house: House) -> None:
    reader = house.stranger()
    sheet = reader.log_in("not the passphrase", "/agents")
    assert sheet.status == 401
    assert "That is not the passphrase." in sheet.text
    assert reader.get("/agents").status == 401
    assert "not the passphrase" not in sheet.answer.headers.get("set-cookie", "")


def test_a_passphrase_is_never_shown_again(house: House) -> None:
    sheet = house.stranger().log_in("<wrong but secret>")
    assert "secret" not in sheet.answer.text


def test_the_session_is_in_a_cookie_that_scripts_and_other_sites_do_not_get(house: House) -> None:
    reader = house.stranger()
    cookies = reader.log_in().answer.headers.get_list("set-cookie")
    (session,) = [cookie for cookie in cookies if "pdpp_session" in cookie]
    parts = {part.strip().lower() for part in session.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/"} <= parts
    assert not any(part.startswith(("domain", "max-age", "expires")) for part in parts)


def test_on_https_the_cookie_is_bound_to_the_host(tmp_path: Path) -> None:
    settings = type(UNLIMITED)(origin="https://data.example", public=True, requests_per_second=0)
    with housed(tmp_path / "store", settings=settings) as made:
        reader = made.stranger(Host="data.example", Origin="https://data.example")
        page = reader.get("/login")
        mark = page.answer.headers["set-cookie"]
        assert mark.startswith("__Host-pdpp_mark=")
        assert "Secure" in mark
        answer = reader.http.post(
            "/login",
            data={**dict(page.fields()), "passphrase": PASSPHRASE},
            headers={"Cookie": mark.partition(";")[0]},
        )
        session = answer.headers.get_list("set-cookie")[0]
        assert session.startswith("__Host-pdpp_session=")
        assert "Secure" in session


def test_a_login_makes_a_new_session_whatever_the_browser_brought(house: House) -> None:
    page = house.stranger().get("/login")
    mark = page.answer.headers["set-cookie"].partition(";")[0]
    brought = mark.partition("=")[0].replace("mark", "session") + "=ses_chosen_by_somebody"
    answer = house.stranger().http.post(
        "/login",
        data={**dict(page.fields()), "passphrase": PASSPHRASE},
        headers={"Cookie": f"{mark}; {brought}"},
    )
    given = answer.headers.get_list("set-cookie")[0].partition(";")[0]
    assert given.startswith(brought.partition("=")[0])
    assert given != brought
    for cookie, status in ((brought, 401), (given, 200)):
        found = house.stranger().http.get("/agents", headers={"Cookie": cookie})
        assert found.status_code == status


def test_logging_in_twice_in_two_tabs_does_no_harm(house: House) -> None:
    reader = house.stranger()
    one, other = reader.get("/agents"), reader.get("/device")
    assert one.send(passphrase=PASSPHRASE).location == "/agents"
    assert other.send(passphrase=PASSPHRASE).location == "/device"


def test_the_login_page_lets_an_owner_pass(owner: Reader) -> None:
    for path in ("/login", "/setup"):
        assert owner.get(path).location == "/"
    assert owner.get("/").status == 200


def test_a_second_server_on_this_machine_has_a_session_of_its_own(
    house: House, tmp_path: Path
) -> None:
    with housed(tmp_path / "store") as other:
        names = {
            cookie.name
            for made in (house, other)
            for cookie in made.owner().http.cookies.jar
            if "session" in cookie.name
        }
        assert len(names) == 2


def test_guesses_are_slowed_down_with_the_time_to_wait(tmp_path: Path) -> None:
    clock = SetClock()
    with housed(tmp_path / "store", clock=clock) as made:
        reader = made.stranger()
        for _ in range(ADDRESS.free):
            assert reader.log_in("wrong").status == 401
        sheet = reader.log_in()
        assert sheet.status == 429
        assert sheet.answer.headers["retry-after"] == "1"
        assert "try again in 1 second." in sheet.text
        clock.advance(1)
        assert reader.log_in().location == "/login"


def test_how_many_guesses_are_free_is_a_setting(tmp_path: Path) -> None:
    clock = SetClock()
    settings = replace(UNLIMITED, login=GuessPace(free=2, longest=SECOND))
    with housed(tmp_path / "store", settings=settings, clock=clock) as made:
        reader = made.stranger()
        assert [reader.log_in("wrong").status for _ in range(3)] == [401, 401, 429]
        clock.advance(1)
        assert [reader.log_in("wrong").status for _ in range(2)] == [401, 429]
        assert reader.log_in().answer.headers["retry-after"] == "1"


# Logging out


def test_logging_out_ends_the_session_on_the_server(house: House) -> None:
    reader = house.owner()
    kept = dict(reader.http.cookies)
    sheet = reader.get("/agents").send(form="nav form")
    assert sheet.location == "/login"
    reader.http.cookies.update(kept)
    assert reader.get("/agents").status == 401


def test_a_session_ends_by_itself(tmp_path: Path) -> None:
    clock = SetClock()
    with housed(tmp_path / "store", clock=clock) as made:
        reader = made.owner()
        assert reader.get("/agents").status == 200
        clock.advance(13 * 3_600)
        assert reader.get("/agents").status == 401


# Setting up


def test_a_new_owner_sets_up_with_the_printed_code(empty: House) -> None:
    code = begin_setup(empty.store.vault) or ""
    reader = empty.stranger()
    sheet = reader.get("/agents")
    assert sheet.status == 401
    assert "Set-up code" in sheet.text
    done = sheet.send(code=code.lower(), passphrase=PASSPHRASE, again=PASSPHRASE)
    assert done.location == "/agents"
    assert reader.get("/agents").status == 200
    assert empty.owner().get("/agents").status == 200


@pytest.mark.parametrize(
    ("code", "passphrase", "again", "status", "told"),
    [
        ("AAAA-BBBB-CCCC", PASSPHRASE, PASSPHRASE, 401, "not the set-up code"),
        (None, PASSPHRASE, "another", 400, "differ"),
        (None, "short", "short", 400, "at least 12 characters"),
    ],
)
def test_a_set_up_that_is_not_right_changes_nothing(
    empty: House, code: str | None, passphrase: str, again: str, status: int, told: str
) -> None:
    right = begin_setup(empty.store.vault) or ""
    sheet = empty.stranger().get("/setup")
    done = sheet.send(code=code or right, passphrase=passphrase, again=again)
    assert done.status == status
    assert told in done.text
    assert "Set-up code" in empty.stranger().get("/agents").text


def test_without_a_code_the_page_says_which_command_sets_up(empty: House) -> None:
    sheet = empty.stranger().get("/agents")
    assert "pdpp owner init" in sheet.text
    assert sheet.tree.css_first("input[name=code]") is None


def test_nobody_sets_up_a_server_that_has_an_owner(house: House) -> None:
    reader = house.stranger()
    sheet = reader.get("/setup")
    assert sheet.tree.css_first("input[name=code]") is None
    done = sheet.send(code="", passphrase="another good one", again="another good one")
    assert done.status == 401


def test_starting_the_server_does_not_wait_for_the_pages(tmp_path: Path) -> None:
    import subprocess
    import sys

    told = "import sys, pdpp.app; print(sorted({'jinja2', 'argon2'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_application_made_twice_shares_its_sessions(house: House) -> None:
    """Several workers answer one browser."""
    reader = house.owner()
    with running(make_app(house.store, UNLIMITED)) as other:
        port = house.url.rpartition(":")[2]
        again = Reader(other.client(Host=f"127.0.0.1:{port}"))
        again.http.cookies.update(dict(reader.http.cookies))
        assert again.get("/agents").status == 200
