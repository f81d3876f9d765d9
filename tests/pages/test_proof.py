"""A session's cookie alone changes nothing: approving needs the passphrase, or a proof of it."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.pages.house import MAIL, PASSPHRASE, House, Reader, Sheet, answered, housed
from tests.serving import SetClock

from pdpp.authz.lifetime import Lifetimes
from pdpp.authz.owner import form_token, new_login_code, private_host
from pdpp.authz.requester import agent_id
from pdpp.authz.throttle import ADDRESS
from pdpp.jobs.importing import import_order
from pdpp.model import instant
from pdpp.pages.proof import PROOF_LIFE, make_proof, read_proof, upload_key
from pdpp.pages.saved_choice import saved_choices
from pdpp.store.jobs import JobLease, JobProgress, JobStatus

KEY, NOW = b"k" * 32, 1_772_366_400_000_000


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[tuple[House, SetClock]]:
    """A server whose clock is set by hand."""
    clock = SetClock()
    with housed(tmp_path / "store", clock=clock) as made:
        yield made, clock


def stolen(owner: Reader, house: House) -> Reader:
    """Return what a thief of the cookies has: a browser of their own with them."""
    thief = house.stranger()
    thief.http.cookies.update(owner.http.cookies)
    return thief


# The proof itself


def test_a_proof_is_good_for_its_session_and_a_while() -> None:
    proof = make_proof(KEY, "ses_1", NOW)
    assert read_proof(KEY, "ses_1", proof, NOW + PROOF_LIFE) == NOW
    assert read_proof(KEY, "ses_1", proof, NOW + PROOF_LIFE + 1) is None
    assert read_proof(KEY, "ses_1", proof, NOW - 1) is None
    assert read_proof(KEY, "ses_2", proof, NOW) is None
    assert read_proof(b"x" * 32, "ses_1", proof, NOW) is None
    for broken in ("", ".", f"{NOW}.", proof[:-1], f"{NOW + 1}{proof[len(str(NOW)) :]}", "x" * 99):
        assert read_proof(KEY, "ses_1", broken, NOW) is None


# Approving


def test_who_has_only_the_cookie_can_look_and_cannot_approve(house: House) -> None:
    thief = stolen(house.owner(), house)
    page = thief.get(house.ask(MAIL))
    assert page.status == 200
    for confirm in ("", "a guess at the passphrase"):
        refused = page.send(action="approve", confirm=confirm)
        assert refused.status in (401, 403)
        assert "code=" not in str(refused.answer.headers)
    forged = page.send(action="approve", confirm="", proof=make_proof(KEY, "ses_x", NOW))
    assert forged.status == 403
    assert "Nothing has changed yet" in forged.text
    assert not dict(forged.fields()).get("proof")


def test_a_page_that_is_merely_opened_never_holds_a_proof(house: House) -> None:
    owner = house.stranger()
    path = house.ask(MAIL)
    logged_in = owner.log_in(path=path)
    assert logged_in.status == 200
    assert dict(logged_in.fields())["proof"]
    assert "proof" not in dict(owner.get(path).fields())


def test_whoever_logs_in_on_the_page_types_the_passphrase_once(house: House) -> None:
    client_id = house.register()
    page = house.stranger().log_in(path=house.ask(MAIL, client_id=client_id))
    looked = page.send(action="update")
    assert dict(looked.fields())["proof"]
    assert answered(looked.send(action="approve").location)["code"]


def test_a_choice_is_kept_when_the_passphrase_was_wrong(house: House, owner: Reader) -> None:
    page = owner.get(house.ask(MAIL)).send(action="update", term="1d")
    refused = page.send(action="approve", confirm="not the passphrase")
    assert refused.status == 401
    assert "That is not the passphrase." in refused.text
    assert ("term", "1d") in refused.fields()
    assert refused.send(action="approve").status == 303


def test_the_passphrase_is_asked_for_again_after_a_while(slow: tuple[House, SetClock]) -> None:
    house, clock = slow
    page = house.stranger().log_in(path=house.ask(MAIL))
    clock.advance(599)
    page = page.send(action="update")
    assert dict(page.fields())["proof"]
    clock.advance(2)
    assert page.send(action="approve", confirm="").status in (403, 404)
    again = page.reader.get(house.ask(MAIL)).send(action="approve", confirm="")
    assert again.status == 403


def test_a_proof_of_one_session_is_none_of_another(house: House) -> None:
    first = house.stranger().log_in(path=house.ask(MAIL))
    proof = dict(first.fields())["proof"]
    page = house.owner().get(house.ask(MAIL))
    assert page.send(action="approve", confirm="", proof=proof).status == 403


# Revoking


def approved(house: House, owner: Reader) -> Sheet:
    client_id = house.register()
    owner.get(house.ask(MAIL, client_id=client_id)).send(action="approve")
    return owner.get(f"/agents/{agent_id(client_id)}")


def test_revoking_needs_the_passphrase_where_other_ports_get_the_cookie(house: House) -> None:
    owner = house.owner()
    page = approved(house, owner)
    asked = page.send(form="main form", revoke="client:", confirm="")
    assert asked.status == 403
    assert "Type your passphrase" in asked.text
    assert ("revoke", "client:") in asked.fields()
    assert asked.send(confirm=PASSPHRASE).status == 303
    assert "revoked" in owner.get(page.answer.url.path).text


def test_revoking_is_one_press_at_the_owners_own_address(house: House) -> None:
    name = private_host(house.store.vault)
    own = house.stranger(Host=f"{name}:{house.url.rpartition(':')[2]}")
    assert own.log_in().status == 303
    page = approved(house, own)
    told = own.get("/agents").text
    assert "/mcp" in told
    assert name not in told
    assert page.send(form="main form", revoke="client:", confirm="").status == 303


def test_a_cookie_of_the_shared_address_is_worth_nothing_at_the_owners_own(house: House) -> None:
    owner = house.owner()
    name = private_host(house.store.vault)
    assert name not in owner.get("/settings").text
    thief = house.stranger(Host=f"{name}:{house.url.rpartition(':')[2]}")
    thief.http.cookies.update(owner.http.cookies)
    for path in ("/settings", "/accounts", "/search?q=a", "/import"):
        assert thief.get(path).status == 401, path
    assert owner.get("/settings").status == 200


def test_a_cookie_of_the_owners_own_address_is_worth_nothing_at_the_shared(house: House) -> None:
    own = house.stranger(Host=f"{private_host(house.store.vault)}:{house.url.rpartition(':')[2]}")
    assert own.log_in().status == 303
    thief = house.stranger()
    thief.http.cookies.update(own.http.cookies)
    assert thief.get("/settings").status == 401


def test_the_owners_own_address_is_hard_to_guess_and_stays(house: House) -> None:
    name = private_host(house.store.vault)
    assert name == private_host(house.store.vault)
    assert len(name) >= len("pdpp-.localhost") + 16
    for other in ("pdpp-0000000000000000.localhost", f"x.{name}", f"{name}.evil.example"):
        assert house.stranger(Host=other).get("/login").status == 400
    for path in ("/login", "/agents", "/.well-known/oauth-authorization-server"):
        answer = house.stranger().http.get(path)
        assert name not in answer.text
        assert name not in str(answer.headers)


# Imports


def begin_upload(reader: Reader, house: House, **more: str) -> httpx.Response:
    """Begin an upload with all that follows from a session's cookie."""
    token = form_token(reader.http.cookies[f"pdpp_session_{house.url.rpartition(':')[2]}"])
    form = {"name": "notes.md", "size": "7", **more}
    return reader.http.post("/import/uploads", data=form, headers={"X-Form-Token": token})


def uploaded(house: House) -> dict[str, bytes]:
    """Return what uploads have left on the disk."""
    files = (house.folder / "uploads").rglob("*")
    return {str(path): path.read_bytes() for path in files if path.is_file()}


def test_who_has_only_the_cookie_uploads_nothing(house: House) -> None:
    owner = house.owner()
    thief = stolen(owner, house)
    before = uploaded(house)
    for guess in ({}, {"confirm": "a guess"}, {"proof": make_proof(KEY, "ses_x", NOW)}):
        assert begin_upload(thief, house, **guess).status_code in (401, 403)
    token = form_token(owner.http.cookies[f"pdpp_session_{house.url.rpartition(':')[2]}"])
    file, typed = {"file": ("notes.md", b"# hello")}, {"token": token}
    assert thief.http.post("/import/uploads", data=typed, files=file).status_code == 403
    assert uploaded(house) == before


def test_who_has_only_the_cookie_writes_into_no_upload_and_takes_none_away(house: House) -> None:
    owner = house.owner()
    begun = begin_upload(owner, house, confirm=PASSPHRASE).json()
    token = form_token(owner.http.cookies[f"pdpp_session_{house.url.rpartition(':')[2]}"])
    place, headers = f"/import/uploads/{begun['id']}/0?offset=0", {"X-Form-Token": token}
    thief, before = stolen(owner, house), uploaded(house)
    for key in (b"", b"0" * 64, upload_key(KEY, begun["id"]).encode(), b"\xff\xe9"):
        sent = thief.http.put(
            place,
            content=b"# other",
            headers=[
                *((name.encode(), text.encode()) for name, text in headers.items()),
                (b"X-Upload-Key", key),
            ],
        )
        assert sent.status_code == 403
    page = thief.get(begun["page"])
    assert page.send(form="main form", action="remove", confirm="").status == 403
    assert uploaded(house) == before
    right = headers | {"X-Upload-Key": begun["key"]}
    assert owner.http.put(place, content=b"# hello", headers=right).status_code == 200
    assert begun["key"] not in thief.get(begun["page"]).text + thief.get("/import").text
    assert owner.get(begun["page"]).send(form="main form", action="remove").status == 303


def test_who_has_only_the_cookie_ends_no_import(house: House) -> None:
    owner = house.owner()
    order = import_order(house.folder / "notes.zip")
    job = house.store.jobs.begin(order, JobLease("test", 1 << 60))
    page = stolen(owner, house).get(f"/import/{job.id}")
    assert page.send(action="cancel", confirm="").status == 403
    running = house.store.jobs.get(job.id)
    assert running is not None
    assert not running.cancel_requested
    house.store.jobs.finish(job.id, "test", JobStatus.CANCELLED, JobProgress(), None)


def test_who_has_only_the_cookie_leaves_no_choices_for_the_owner(house: House) -> None:
    page = stolen(house.owner(), house).get(house.ask())
    boxes = (("connection", "cin_notes"),)
    asked = page.send(tick=boxes, action="save", save_as="Notes", span="30d", confirm="")
    assert asked.status == 403
    assert saved_choices(house.store.vault) == {}


# Logging in while somebody else guesses


def test_strangers_guesses_do_not_lock_a_known_browser_out(slow: tuple[House, SetClock]) -> None:
    house, _ = slow
    owner = house.owner()
    log_out = owner.get("/agents").send(form="nav form")
    assert log_out.location == "/login"
    stranger = house.stranger()
    while stranger.log_in("wrong").status != 429:
        pass
    assert house.stranger().log_in().status == 429
    assert owner.log_in().status == 303


def test_guesses_from_a_known_browser_are_slowed_down_too(slow: tuple[House, SetClock]) -> None:
    house, _ = slow
    owner = house.owner()
    owner.get("/agents").send(form="nav form")
    for _ in range(ADDRESS.free):
        assert owner.log_in("wrong").status == 401
    assert owner.log_in().status == 429
    assert house.stranger().log_in().status == 303


def test_a_browser_that_is_made_up_is_no_known_one(slow: tuple[House, SetClock]) -> None:
    house, _ = slow
    stranger = house.stranger()
    port = house.url.rpartition(":")[2]
    for number in range(ADDRESS.free):
        stranger.http.cookies.set(f"pdpp_browser_{port}", f"brw_{number}")
        assert stranger.log_in("wrong").status == 401
    assert stranger.log_in().status == 429


def test_the_person_at_the_machine_gets_in_with_a_code(slow: tuple[House, SetClock]) -> None:
    house, clock = slow
    stranger = house.stranger()
    while stranger.log_in("wrong").status != 429:
        pass
    code = new_login_code(house.store.vault, clock.now, Lifetimes())
    page = house.stranger().get("/agents")
    form = "main details form"
    assert page.send(form=form, login_code="AAAA-BBBB-CCCC").status == 401
    let_in = page.send(form=form, login_code=code.lower().replace("-", " "))
    assert let_in.status == 303
    assert page.reader.get("/agents").status == 200
    assert house.stranger().get("/agents").send(form=form, login_code=code).status == 401


def test_a_code_lets_in_once_and_approves_nothing(house: House) -> None:
    code = new_login_code(house.store.vault, instant.now(), Lifetimes())
    page = house.stranger().get(house.ask(MAIL)).send(form="main details form", login_code=code)
    assert page.status == 303
    consent = page.follow()
    assert "proof" not in dict(consent.fields())
    assert consent.send(action="approve", confirm="").status == 403
