from collections.abc import Iterator

import pytest
from tests.oauth.dance import DECLARATION
from tests.pages.house import MAIL, PASSPHRASE, House, Reader, Sheet, housed
from tests.serving import approve, planted_store, refused

from pdpp.authz.requester import agent_id
from pdpp.authz.selection import Selection, make_grant, make_package, resolve
from pdpp.model import instant


def connect(house: House, owner: Reader, name: str, *accounts: str) -> tuple[str, str]:
    """Approve a new client, by details or for accounts; return its id and its token."""
    client_id = house.register(name)
    sheet = owner.get(house.ask(*(() if accounts else (MAIL,)), client_id=client_id))
    boxes = tuple(("connection", account) for account in accounts)
    if boxes:
        sheet = sheet.send(tick=boxes, action="update")
    return client_id, house.redeem(sheet.send(action="approve").location, client_id)


def streams(house: House, token: str) -> list[str]:
    answer = house.world.server.client(token).get("/v1/streams")
    assert answer.status_code == 200, answer.text
    return sorted({row["connection_id"] for row in answer.json()["data"]})


def revoke(sheet: Sheet, what: str) -> Sheet:
    token = sheet.fields("nav form")[0][1]
    answer = sheet.reader.http.post(
        str(sheet.answer.url), data={"token": token, "revoke": what, "confirm": PASSPHRASE}
    )
    return Sheet(sheet.reader, answer)


def page_of(owner: Reader, client_id: str) -> Sheet:
    return owner.get(f"/agents/{agent_id(client_id)}")


def test_agents_are_listed_with_what_they_may_read(house: House, owner: Reader) -> None:
    client_id, _ = connect(house, owner, "Listed one", "cin_bank", "cin_notes")
    link = f"a[href='/agents/{agent_id(client_id)}']"
    row = owner.get("/agents").tree.css_first(link)
    assert row is not None
    text = " ".join(row.text(separator=" ").split())
    assert "Listed one" in text
    assert "It may read Banco Azul: Payments; Notes: Notes." in text
    assert "since" in text


def test_what_two_approvals_open_is_said_once(house: House, owner: Reader) -> None:
    client_id, _ = connect(house, owner, "Twice approved", "cin_notes")
    sheet = owner.get(house.ask(client_id=client_id))
    boxes = (("connection", "cin_notes"), ("connection", "cin_bank"))
    house.redeem(sheet.send(tick=boxes, action="update").send(action="approve").location, client_id)
    row = owner.get("/agents").tree.css_first(f"a[href='/agents/{agent_id(client_id)}']")
    assert row is not None
    text = " ".join(row.text(separator=" ").split())
    assert "It may read Banco Azul: Payments; Notes: Notes." in text


def test_an_agent_has_a_page_with_the_words_of_the_approval(house: House, owner: Reader) -> None:
    client_id, _ = connect(house, owner, "Worded one")
    sheet = page_of(owner, client_id)
    evidence = sheet.tree.css_first("details.evidence pre")
    assert evidence is not None
    (consent,) = house.store.vault.consents(client_id)
    assert evidence.text().strip() == consent.text.strip()
    assert "4 of 12 fields · from 1 January 2026 on" in sheet.text
    assert "purpose: Find the invoices of the renovation." in sheet.text
    assert client_id in sheet.text


def test_a_grant_is_revoked_at_once(house: House, owner: Reader) -> None:
    client_id, token = connect(house, owner, "Revoked one")
    assert streams(house, token) == ["cin_home", "cin_work"]
    button = page_of(owner, client_id).tree.css_first("section.approval button.danger")
    assert button is not None
    sheet = revoke(page_of(owner, client_id), str(button.attributes["value"]))
    assert sheet.location == f"/agents/{agent_id(client_id)}"
    refused(house.world.server.client(token).get("/v1/streams"), 403, "grant_revoked")
    assert "revoked on" in sheet.follow().text
    assert page_of(owner, client_id).tree.css_first("button.danger") is None


def test_a_page_that_was_open_while_another_revoked_does_no_harm(
    house: House, owner: Reader
) -> None:
    client_id, token = connect(house, owner, "Twice revoked")
    open_tab, other_tab = page_of(owner, client_id), page_of(owner, client_id)
    button = open_tab.tree.css_first("section.approval button.danger")
    assert button is not None
    what = str(button.attributes["value"])
    first = revoke(other_tab, what).follow().text
    late = revoke(open_tab, what)
    assert late.follow().text == first
    refused(house.world.server.client(token).get("/v1/streams"), 403, "grant_revoked")


def test_one_account_of_a_package_is_revoked_alone(house: House, owner: Reader) -> None:
    client_id, token = connect(house, owner, "Parted one", "cin_bank", "cin_notes")
    values = [
        str(node.attributes["value"])
        for node in page_of(owner, client_id).tree.css("div.part button.danger")
    ]
    assert len(values) == 2
    by_account = {
        grant.allowances[0].connection_id: grant.id
        for grant in house.store.vault.grants()
        if grant.client_id == client_id
    }
    revoke(page_of(owner, client_id), f"grant:{by_account['cin_bank']}")
    assert streams(house, token) == ["cin_notes"]
    row = owner.get("/agents").tree.css_first(f"a[href='/agents/{agent_id(client_id)}']")
    assert row is not None
    assert "Banco Azul" not in row.text()


@pytest.mark.parametrize("what", ["package", "client"])
def test_a_package_or_all_of_a_client_is_revoked(house: House, owner: Reader, what: str) -> None:
    client_id, token = connect(house, owner, f"Whole {what}", "cin_bank", "cin_notes")
    package = next(g.package_id for g in house.store.vault.grants() if g.client_id == client_id)
    revoke(page_of(owner, client_id), f"{what}:{package if what == 'package' else ''}")
    refused(house.world.server.client(token).get("/v1/streams"), 403, "grant_revoked")
    assert "can no longer read anything" in owner.get("/agents").text
    assert "Take everything back" not in page_of(owner, client_id).text


@pytest.mark.parametrize("what", ["", "grant:", "grant:grt_other", "package:pkg_x", "all:1"])
def test_only_what_the_agent_holds_can_be_revoked(house: House, owner: Reader, what: str) -> None:
    client_id, token = connect(house, owner, "Kept one")
    assert revoke(page_of(owner, client_id), what).status == 400
    assert streams(house, token)


def test_one_agents_page_cannot_revoke_anothers_grant(house: House, owner: Reader) -> None:
    one, _ = connect(house, owner, "One")
    other, token = connect(house, owner, "Other")
    grant = next(g.id for g in house.store.vault.grants() if g.client_id == other)
    assert revoke(page_of(owner, one), f"grant:{grant}").status == 400
    assert streams(house, token)


def test_a_client_of_the_command_line_is_an_agent_too(house: House, owner: Reader) -> None:
    allowances = resolve(Selection(connections=("cin_shop",)), house.store.catalogue())
    grant, secret, token = make_grant(
        allowances, client_id="my <agent>", purpose="a test", now=instant.now()
    )
    house.store.vault.keep_grant(grant, [token])
    sheet = page_of(owner, "my <agent>")
    assert "my <agent>" in sheet.text
    assert "until you revoke it" in sheet.text
    assert sheet.tree.css_first("details.evidence") is None
    revoke(sheet, "client:")
    refused(house.world.server.client(secret).get("/v1/streams"), 403, "grant_revoked")


def test_a_grant_that_ended_by_itself_is_told(house: House, owner: Reader) -> None:
    allowances = resolve(Selection(connections=("cin_shop",)), house.store.catalogue())
    now = instant.now()
    grant, _, token = make_grant(
        allowances, client_id="ended", purpose="x", now=now - 2, expires_at=now - 1
    )
    house.store.vault.keep_grant(grant, [token])
    sheet = page_of(owner, "ended")
    assert "expired" in sheet.text
    assert sheet.tree.css_first("button.danger") is None


def test_an_unknown_agent_is_not_there(owner: Reader) -> None:
    assert owner.get("/agents/unknown").status == 404


@pytest.mark.scenario("S017", 1, 2, on="http")
def test_a_newcomer_is_told_one_way_to_connect(house: House, owner: Reader) -> None:
    invitation = owner.get("/agents").tree.css_first("section.invite")
    assert invitation is not None
    assert [code.text() for code in invitation.css("code")] == [f"{house.url}/mcp"]
    told = invitation.text().lower()
    for word in ("event", "developer", "owner", "bearer", "token", "profile", "toolset"):
        assert word not in told


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """An owner of 300 accounts who let 45 agents read, one of them everything."""
    accounts = {f"c{number:03}": f"Account {number:03}" for number in range(300)}
    folder = tmp_path_factory.mktemp("crowd")
    store = planted_store(folder, DECLARATION, accounts)
    for number in range(44):
        approve(store, Selection(connections=("c000",)), client_id=f"agent {number:02}")
    approve(store, client_id="reads all")
    made, grants, _, token = make_package(
        resolve(Selection(), store.catalogue()), client_id="packed", purpose="x", now=instant.now()
    )
    store.vault.keep_package(made, grants, [token])
    for _ in range(50):
        approve(store, Selection(connections=("c001",)), client_id="agent 00")
    with housed(folder, store=store) as house:
        yield house.owner()


def test_many_agents_are_listed_on_pages(crowd: Reader) -> None:
    first = crowd.get("/agents")
    (more,) = [link for link in first.tree.css("a[rel=next]") if "More agents" in link.text()]
    second = crowd.get(str(more.attributes["href"]))
    listed = [len(sheet.tree.css("a.agent")) for sheet in (first, second)]
    assert listed == [40, 6]
    assert second.tree.css_first("a[rel=next]") is None
    assert len(crowd.get("/agents?from=9999").tree.css("a.agent")) == 40


@pytest.mark.parametrize("client_id", ["reads all", "packed", "agent 00"])
def test_what_one_agent_has_of_many_accounts_fits_a_page(crowd: Reader, client_id: str) -> None:
    assert len(page_of(crowd, client_id).answer.content) < 60_000


def test_one_of_many_accounts_of_a_package_is_found_on_a_later_page(crowd: Reader) -> None:
    sheet = page_of(crowd, "packed")
    names = []
    while True:
        names += [button.text() for button in sheet.tree.css("button.small")]
        more = [link for link in sheet.tree.css("a.go") if "More accounts" in link.text()]
        if not more:
            break
        sheet = crowd.get(str(more[0].attributes["href"]))
    assert len(set(names)) == len(names) == 300


def test_a_list_of_approvals_that_is_cut_says_so(crowd: Reader) -> None:
    assert "the newest 40 of 51" in page_of(crowd, "agent 00").answer.text
    readers = crowd.get("/accounts/c000").answer.text
    assert "and 6 more agents" in readers
