"""What the owner sees in an agent's place, and who reads by it."""

import time
from pathlib import Path

from tests.pages.house import MAIL, House, Reader, housed
from tests.serving import UNLIMITED

from pdpp.store.receipts import ReceiptQuery


def approve_mail(house: House, reader: Reader, name: str) -> str:
    """Approve mail of this year without people; return the address under which it is seen."""
    client_id = house.register(name)
    reader.get(house.ask(MAIL, client_id=client_id)).send(action="approve")
    agents = reader.get("/agents")
    agent = next(
        str(node.attributes["href"]) for node in agents.tree.css("a.agent") if name in node.text()
    )
    link = reader.get(agent).tree.css_first('a[href*="/see/"]')
    assert link is not None
    return str(link.attributes["href"]).removesuffix("/search")


def test_the_agents_page_says_in_a_sentence_what_each_may_read(house: House, owner: Reader) -> None:
    approve_mail(house, owner, "One Sentence")
    text = owner.get("/agents").text
    assert "One Sentence" in text
    assert "It may read Home mail: Letters" in text
    assert "Work mail" in text


def test_the_owner_sees_what_the_agent_would_see(house: House, owner: Reader) -> None:
    seen = approve_mail(house, owner, "Looked Through")
    page = owner.get(f"{seen}/search?q=invoice")
    assert "You see what “Looked Through” would see" in page.text
    links = [str(node.attributes["href"]) for node in page.tree.css(".results a")]
    assert links
    assert all(link.startswith(f"{seen}/r/cin_") for link in links)
    assert "Banco Azul" not in page.text
    record = owner.get(links[0])
    names = {node.text() for node in record.tree.css(".values dt")}
    assert "subject" in names
    assert names <= {"id", "subject", "body", "sent_at"}
    browsed = owner.get(f"{seen}/search")
    assert len(browsed.tree.css(".results li")) == 25
    assert "2025" not in {node.text()[-4:] for node in browsed.tree.css(".results .kicker")}


def test_what_the_grant_hides_is_not_there(house: House, owner: Reader) -> None:
    seen = approve_mail(house, owner, "Hidden From")
    for path in ("/r/cin_bank/transactions/x", "/r/cin_home/threads/t-invoice-4471"):
        assert owner.get(seen + path).status == 404, path
    assert owner.get(f"{seen}/search?account=cin_bank").status == 400
    blob = owner.get("/r/cin_home/messages/m-invoice-4471").tree.css_first('a[href^="/file/"]')
    assert blob is not None
    address = str(blob.attributes["href"])
    assert owner.http.get(address).status_code == 200
    assert owner.http.get(seen + address).status_code == 404


def test_an_approval_that_was_taken_back_shows_nothing(house: House, owner: Reader) -> None:
    seen = approve_mail(house, owner, "Taken Back")
    agent = seen.partition("/see/")[0]
    owner.get(agent).send(revoke="client:")
    assert owner.get(f"{seen}/search").status == 404
    other = approve_mail(house, owner, "Another One")
    mixed = agent + "/see/" + other.partition("/see/")[2]
    assert owner.get(f"{mixed}/search").status == 404


def test_looking_as_an_agent_is_no_read_of_the_agent(tmp_path: Path) -> None:
    with housed(tmp_path / "store", settings=UNLIMITED) as house:
        reader = house.owner()
        seen = approve_mail(house, reader, "Never Asked")
        before = time.time_ns() // 1_000
        assert reader.get(f"{seen}/search?q=invoice").status == 200
        log = house.store.receipts
        house.wait_for(
            lambda: any(
                row.receipt.operation == "search"
                for row in log.receipts(ReceiptQuery(before - 1_000_000), 50)
            )
        )
        searches = [
            row.receipt
            for row in log.receipts(ReceiptQuery(before - 1_000_000), 50)
            if row.receipt.operation == "search"
        ]
        assert {receipt.client_id for receipt in searches} == {None}
        assert {receipt.grant_id is None for receipt in searches} == {False}
        assert "Never Asked" not in reader.get("/").text.partition("What agents read lately")[2]


def test_the_samples_of_a_consent_page_leave_receipts_of_the_owner(tmp_path: Path) -> None:
    with housed(tmp_path / "store", settings=UNLIMITED) as house:
        reader = house.owner()
        assert reader.get(house.ask(MAIL, client_id=house.register("Waits"))).status == 200
        log = house.store.receipts
        house.wait_for(
            lambda: any(
                row.receipt.operation == "listRecords" for row in log.receipts(ReceiptQuery(), 50)
            )
        )
        assert {row.receipt.client_id for row in log.receipts(ReceiptQuery(), 50)} == {None}
