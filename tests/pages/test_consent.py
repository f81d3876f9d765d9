from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.pages.house import MAIL, REDIRECT, House, Reader, Sheet, answered, housed
from tests.serving import SetClock, planted_store, put

from pdpp.model.instant import DAY
from pdpp.model.validation import parse_declaration
from pdpp.pages.consent import form_targets

TRAINING = {**MAIL, "purpose_code": "https://pdpp.dev/purpose/ai_training"}
LETTER = {
    "id": "late",
    "thread_id": "t-late",
    "subject": "Late",
    "body": "This came late.",
    "from": "a@example.org",
    "to": [],
    "sent_at": "2026-11-01T00:00:00Z",
    "unread": True,
}
WORK = (("connection", "cin_work"),)


def pick(house: House, owner: Reader, *boxes: tuple[str, str], **values: Any) -> Sheet:
    """Tick boxes on a new picker and look at what they mean."""
    return owner.get(house.ask()).send(tick=boxes, action="update", **values)


def held_texts(house: House, client_id: str) -> list[str]:
    return [consent.text for consent in house.store.vault.consents(client_id)]


# What the page shows


def test_the_page_keeps_apart_who_asks_what_is_enforced_and_what_is_promised(
    house: House, owner: Reader
) -> None:
    sheet = owner.get(house.ask(MAIL, name="Research Buddy"))
    sections = {
        str(node.attributes["aria-labelledby"]): " ".join(node.text(separator=" ").split())
        for node in sheet.tree.css("section[aria-labelledby]")
    }
    assert "Your answer goes to a program on the computer" in sections["who"]
    assert "says what for: “Find the invoices of the renovation.”" in sections["who"]
    assert "2 accounts, 1 kind of record" in sections["enforced"]
    assert "Home mail" in sections["enforced"]
    assert "4 of 12 fields · from 1 January 2026 on" in sections["enforced"]
    assert "retention, max duration: “30 days”" in sections["promised"]
    assert "retention" not in sections["enforced"]
    assert "A program on this computer wants to read your data" in sheet.text
    assert "calls itself “Research Buddy”" in sheet.text
    assert "Unverified" in sheet.text


def test_the_counts_are_those_of_the_draft(house: House, owner: Reader) -> None:
    sheet = owner.get(house.ask(MAIL))
    token = house.redeem(sheet.send(action="approve").location, client_id_of(sheet), REDIRECT)
    rows = house.world.server.client(token).get("/v1/streams").json()["data"]
    assert {row["record_count"] for row in rows} == {346, 543}
    assert "346 of " in sheet.text
    assert "543 of " in sheet.text
    assert "889 records now" in sheet.text


def client_id_of(sheet: Sheet) -> str:
    node = sheet.tree.css_first(".asker .id")
    assert node is not None
    return node.text().strip()


def test_the_samples_are_what_the_agent_would_see_and_no_more(house: House, owner: Reader) -> None:
    sheet = owner.get(house.ask(MAIL))
    samples = sheet.tree.css("details.samples article")
    assert len(samples) == 3
    names = {node.text() for node in sheet.tree.css("details.samples dt")}
    assert names == {"id", "subject", "body", "sent_at"}


def test_a_hostile_name_is_text_and_nothing_hides_in_it(house: House, owner: Reader) -> None:
    client_id = house.register()
    kept = house.store.vault.client(client_id)
    assert kept is not None
    with house.store.vault.transaction() as transaction:
        name = "<b>Bank</b>” is safe. “<script>alert(1)</script>"
        transaction.keep_client(replace(kept, name=name))
    sheet = owner.get(house.ask(MAIL, client_id=client_id))
    assert "<b>Bank" not in sheet.answer.text
    assert sheet.tree.css_first("main script") is None
    assert "calls itself “<b>Bank</b>' is safe. '<script>alert(1)</script>”" in sheet.text


def test_hostile_purposes_and_promises_are_text(house: House, owner: Reader) -> None:
    asked = {
        **MAIL,
        "purpose_description": "</p><form action=//evil.example>",
        "retention": {"<i>": "<img src=x onerror=alert(1)>\u202e"},
    }
    sheet = owner.get(house.ask(asked))
    assert len(sheet.tree.css("main form")) == 1
    assert sheet.tree.css_first("main img") is None
    assert "<img src=x onerror=alert(1)>⟨U+202E⟩" in sheet.text


def test_approving_and_denying_are_equally_easy(house: House, owner: Reader) -> None:
    sheet = owner.get(house.ask(MAIL))
    buttons = [node.attributes.get("value") for node in sheet.tree.css(".decision button")]
    assert buttons == ["deny", "approve"]


def test_enter_in_a_field_decides_nothing(house: House, owner: Reader) -> None:
    for asks in ((MAIL,), ()):
        first = owner.get(house.ask(*asks)).tree.css_first("main form button")
        assert first is not None
        assert first.attributes["value"] == "update"


def test_a_broad_request_is_warned_about(house: House, owner: Reader) -> None:
    broad = {**MAIL, "streams": [{"name": "*"}]}
    assert "This is broad" in owner.get(house.ask(broad)).text
    assert "This is broad" not in owner.get(house.ask(MAIL)).text


# Deciding about a request


def test_an_approval_gives_what_was_shown(house: House, owner: Reader) -> None:
    client_id = house.register("Buddy")
    sheet = owner.get(house.ask(MAIL, client_id=client_id))
    done = sheet.send(action="approve")
    assert done.location.startswith(REDIRECT + "?")
    answer = answered(done.location)
    assert answer.keys() == {"code", "state", "iss"}
    assert answer["state"] == "the-state"
    reader = house.world.server.client(house.redeem(done.location, client_id))
    page = reader.get("/v1/streams/messages/records", params={"connection_id": "cin_home"}).json()
    assert set(page["data"][0]["data"]) == {"id", "subject", "body", "sent_at"}
    assert min(row["data"]["sent_at"] for row in page["data"]) >= "2026-01-01"


def test_the_words_that_were_shown_are_kept(house: House, owner: Reader) -> None:
    client_id = house.register("Buddy")
    sheet = owner.get(house.ask(MAIL, client_id=client_id))
    sheet.send(action="approve")
    (kept,) = held_texts(house, client_id)
    shown = sheet.text
    for line in kept.splitlines():
        sentence = line.strip().rpartition(": ")[2] if line.startswith("  ") else line
        for part in sentence.replace(" (Mail)", " Mail").split(", "):
            told = part.partition("enforces: ")[2] or part.partition("How long: ")[2] or part
            assert told in shown, told


def test_a_denial_is_told_to_the_client(house: House, owner: Reader) -> None:
    client_id = house.register("Buddy")
    done = owner.get(house.ask(MAIL, client_id=client_id)).send(action="deny")
    assert answered(done.location)["error"] == "access_denied"
    assert answered(done.location)["state"] == "the-state"
    assert held_texts(house, client_id) == []


@pytest.mark.parametrize("action", ["approve", "deny"])
def test_a_request_is_decided_once(house: House, owner: Reader, action: str) -> None:
    sheet = owner.get(house.ask(MAIL))
    assert sheet.send(action=action).status == 303
    for again in ("approve", "deny", "update"):
        refused = sheet.send(action=again)
        assert refused.status == 404
        assert "Start again" in refused.text


def test_a_request_that_waited_too_long_is_gone(tmp_path: Path) -> None:
    clock = SetClock()
    with housed(tmp_path / "store", clock=clock) as made:
        owner = made.owner()
        sheet = owner.get(made.ask(MAIL))
        clock.advance(601)
        assert sheet.send(action="approve").status == 404
        assert owner.get(str(sheet.answer.url.path)).status == 404


def test_an_unknown_request_is_not_there(owner: Reader) -> None:
    assert owner.get("/consent/rev_made-up").status == 404


def test_what_is_optional_is_given_only_when_it_is_ticked(house: House, owner: Reader) -> None:
    sheet = owner.get(house.ask(MAIL))
    assert "Attached files" not in enforced(sheet)
    more = sheet.send(tick=(("stream", "cin_home/attachments"),), action="update")
    assert "Attached files" in enforced(more)
    client_id = client_id_of(more)
    token = house.redeem(more.send(action="approve").location, client_id)
    rows = house.world.server.client(token).get("/v1/streams").json()["data"]
    assert [(row["connection_id"], row["name"]) for row in rows] == [
        ("cin_home", "attachments"),
        ("cin_home", "messages"),
        ("cin_work", "messages"),
    ]


def enforced(sheet: Sheet) -> str:
    node = sheet.tree.css_first("section[aria-labelledby=enforced]")
    return "" if node is None else " ".join(node.text(separator=" ").split())


def test_an_owner_leaves_an_account_out(house: House, owner: Reader) -> None:
    sheet = owner.get(house.ask(MAIL)).send(untick=WORK, action="update")
    assert "Work mail" not in enforced(sheet)
    assert "1 account" in enforced(sheet)
    assert sheet.send(action="approve").status == 303


def test_without_what_the_client_needs_there_is_nothing_to_approve(
    house: House, owner: Reader
) -> None:
    accounts = (*WORK, ("connection", "cin_home"))
    sheet = owner.get(house.ask(MAIL)).send(untick=accounts, action="update")
    assert sheet.status == 200
    assert "requires messages of at least one account" in sheet.text
    assert sheet.tree.css_first(".decision button[value=approve]") is None
    assert sheet.tree.css_first(".decision button[value=deny]") is not None


def test_how_long_is_the_owners_choice(house: House, owner: Reader) -> None:
    client_id = house.register()
    sheet = owner.get(house.ask(MAIL, client_id=client_id)).send(term="always", action="update")
    assert "does not end by itself" in enforced(sheet)
    sheet.send(action="approve")
    (grant,) = [grant for grant in house.store.vault.grants() if grant.client_id == client_id]
    assert grant.expires_at is None


def test_a_single_use_has_no_length_to_choose(house: House, owner: Reader) -> None:
    sheet = owner.get(house.ask({**MAIL, "access_mode": "single_use"}))
    assert "Once:" in enforced(sheet)
    assert sheet.tree.css_first("input[name=term]") is None
    assert sheet.send(action="approve").status == 303


def test_several_objects_give_a_package(house: House, owner: Reader) -> None:
    notes = {**MAIL, "source": "demo_notes", "streams": [{"name": "documents"}]}
    sheet = owner.get(house.ask(MAIL, notes))
    assert "3 accounts" in enforced(sheet)
    client_id = client_id_of(sheet)
    sheet.send(action="approve")
    grants = [grant for grant in house.store.vault.grants() if grant.client_id == client_id]
    assert len(grants) == 3
    assert len({grant.package_id for grant in grants}) == 1


# What was shown is what is approved


def test_a_choice_that_was_not_looked_at_is_not_approved(house: House, owner: Reader) -> None:
    client_id = house.register()
    sheet = owner.get(house.ask(MAIL, client_id=client_id))
    refused = sheet.send(untick=WORK, action="approve")
    assert refused.status == 409
    assert "Nothing is approved yet" in refused.text
    assert "Work mail" not in enforced(refused)
    assert held_texts(house, client_id) == []
    assert refused.send(action="approve").status == 303
    assert "Work mail" not in held_texts(house, client_id)[0]


def test_what_this_server_does_not_hold_is_said_to_its_owner_and_cannot_be_approved(
    house: House, owner: Reader
) -> None:
    unknown = {**MAIL, "source": "no-such-source"}
    sheet = owner.get(house.ask(unknown))
    assert "you have imported nothing of that kind" in sheet.text
    assert sheet.send(action="approve").status == 409
    assert sheet.send(action="deny").status == 303


def test_a_forged_digest_approves_nothing(house: House, owner: Reader) -> None:
    sheet = owner.get(house.ask(MAIL))
    for digest in ("", "0" * 64):
        assert sheet.send(digest=digest, action="approve").status == 409
    assert sheet.send(action="approve").status == 303


def test_a_declaration_that_changed_meanwhile_is_shown_before_it_is_approved(
    tmp_path: Path,
) -> None:
    with housed(tmp_path / "store") as made:
        owner = made.owner()
        sheet = owner.get(made.ask(MAIL))
        document = dict(made.store.catalogue().sources["demo_mail"].document)
        made.store.register(parse_declaration({**document, "declaration_version": "later"}))
        refused = sheet.send(action="approve")
        assert refused.status == 409
        assert "or a source did" in refused.text
        assert refused.send(action="approve").status == 303


def test_records_that_came_meanwhile_change_neither_the_digest_nor_what_is_kept(
    tmp_path: Path,
) -> None:
    with housed(tmp_path / "store") as made:
        owner, client_id = made.owner(), made.register()
        sheet = owner.get(made.ask(MAIL, client_id=client_id))
        put(made.store, "cin_home", "messages", LETTER)
        assert sheet.send(action="approve").status == 303
        (kept,) = held_texts(made, client_id)
        assert "346 of " in kept
        assert "347" not in kept


@pytest.mark.parametrize("counted", ["", "1", "1,2,3", "a,b", "-1,2", "1,2" + "0" * 20])
def test_counts_that_make_no_sense_are_not_kept(house: House, owner: Reader, counted: str) -> None:
    client_id = house.register()
    sheet = owner.get(house.ask(MAIL, client_id=client_id))
    assert sheet.send(counted=counted, action="approve").status == 303
    assert " now" not in held_texts(house, client_id)[0]


# AI training


def test_training_needs_a_tick_of_its_own(house: House, owner: Reader) -> None:
    client_id = house.register()
    sheet = owner.get(house.ask(TRAINING, client_id=client_id))
    box = sheet.tree.css_first("input[name=training]")
    assert box is not None
    assert "checked" not in box.attributes
    refused = sheet.send(action="approve")
    assert refused.status == 400
    assert "tick its box too" in refused.text
    assert held_texts(house, client_id) == []
    assert refused.send(training="yes", action="approve").status == 303
    assert "train AI models" in held_texts(house, client_id)[0]


# The picker


def test_a_client_that_asks_for_nothing_gets_nothing_by_itself(house: House, owner: Reader) -> None:
    sheet = owner.get(house.ask())
    assert "You choose." in sheet.text
    assert "Nothing is chosen yet" in sheet.text
    assert not [pair for pair in sheet.fields() if pair[0] == "connection"]
    assert sheet.tree.css_first(".decision button[value=approve]") is None
    assert sheet.send(action="approve").status == 409


def test_a_ticked_account_is_its_dated_streams_of_the_last_year(
    house: House, owner: Reader
) -> None:
    sheet = pick(house, owner, ("connection", "cin_bank"))
    assert "Payments" in enforced(sheet)
    assert "Accounts" not in enforced(sheet)
    assert "1 account, 1 kind of record" in enforced(sheet)
    client_id = client_id_of(sheet)
    location = sheet.send(action="approve").location
    (grant,) = [grant for grant in house.store.vault.grants() if grant.client_id == client_id]
    assert grant.package_id is not None
    (allowance,) = grant.allowances
    assert allowance.time is not None
    assert allowance.time.since is not None
    assert allowance.time.since % DAY == 0
    assert 365 * DAY <= grant.created_at - allowance.time.since <= 366 * DAY
    assert grant.expires_at is not None
    assert 0 <= grant.created_at + 30 * DAY - grant.expires_at <= 60_000_000
    token = house.redeem(location, client_id)
    assert token.startswith("pdpp_package_")
    rows = house.world.server.client(token).get("/v1/streams").json()["data"]
    assert [row["name"] for row in rows] == ["transactions"]


def test_fields_days_and_length_are_picked(house: House, owner: Reader) -> None:
    sheet = owner.get(house.ask()).send(action="open:cin_home/messages")
    assert ("connection", "cin_home") in sheet.fields()
    unwanted = tuple(
        pair
        for pair in sheet.fields()
        if pair[0] == "field" and pair[1].startswith("cin_home/messages/") and pair[1][18:] != "id"
    )
    assert len(unwanted) == 11
    shown = sheet.send(
        untick=(*unwanted, ("stream", "cin_home/attachments"), ("stream", "cin_home/threads")),
        span="dates",
        since="2026-01-01",
        until="2026-03-31",
        term="7d",
        action="update",
    )
    told = enforced(shown)
    assert "1 of 12 fields · from 1 January 2026 up to and including 31 March 2026" in told
    (chosen,) = [pair for pair in shown.fields() if pair[0] == "span"]
    assert chosen == ("span", "dates")
    assert ("since", "2026-01-01") in shown.fields()
    assert shown.send(action="approve").status == 303


def test_what_is_not_possible_is_told(house: House, owner: Reader) -> None:
    for values in ({"term": "9d"}, {"span": "dates", "since": "2026-02-01", "until": "2026-01-01"}):
        refused = pick(house, owner, ("connection", "cin_home"), **values)
        assert refused.status == 400
        assert "Choose one of the durations" in refused.text or "first day must not" in refused.text


def test_a_period_that_makes_no_sense_is_refused_with_the_choice_kept(
    house: House, owner: Reader
) -> None:
    for since, until, told in (
        ("", "", "Write the first day, the last day, or both."),
        ("2026-02-01", "2026-01-01", "The first day must not be after the last."),
        ("tomorrow", "", "Write a day such as 2026-01-31."),
        ("2026-01-01", "9999-12-31", "Write a day such as 2026-01-31."),
    ):
        refused = pick(
            house, owner, ("connection", "cin_home"), span="dates", since=since, until=until
        )
        assert refused.status == 400
        assert told in refused.text
        for kept in (("connection", "cin_home"), ("span", "dates"), ("since", since)):
            assert kept in refused.fields()
        assert refused.tree.css_first("button[value=approve]") is None
        mended = refused.send(action="update", since="2026-01-01", until="2026-12-31")
        assert mended.status == 200
        assert mended.tree.css_first("button[value=approve]") is not None


def test_nothing_ticked_says_what_to_do(house: House, owner: Reader) -> None:
    assert "Tick at least one account" in pick(house, owner).text


def test_a_limit_in_time_is_lifted_with_one_press(house: House, owner: Reader) -> None:
    page = pick(house, owner, ("connection", "cin_home"), span="30d")
    assert " of " in enforced(page)
    wide = page.send(action="span:all")
    assert ("span", "all") in wide.fields()
    assert wide.tree.css_first("button[value='span:all']") is None
    assert "This is broad" in wide.text


def test_presets_fill_the_form_in_and_approve_nothing(house: House, owner: Reader) -> None:
    everyday = pick(house, owner).send(action="preset:everyday")
    assert everyday.status == 200
    ticked = everyday.fields()
    connections = {value for name, value in ticked if name == "connection"}
    assert "cin_home" in connections
    assert "cin_bank" not in connections
    assert ("span", "dates") in ticked
    assert not [value for name, value in ticked if name == "field" and "amount" in value]
    cleared = everyday.send(action="preset:nothing")
    assert not [name for name, _ in cleared.fields() if name == "connection"]
    assert everyday.send(action="preset:nope").status == 400


def test_what_is_broad_stands_beside_the_button(house: House, owner: Reader) -> None:
    page = pick(house, owner, ("connection", "cin_home"), span="all", term="always")
    warning = page.tree.css_first(".decision .warning")
    assert warning is not None
    assert warning.text() == (
        "This is broad. It shows every field. It reaches back without any limit in time."
        " It never ends by itself."
    )


def test_a_picker_opens_nothing_that_is_not_there(house: House, owner: Reader) -> None:
    sheet = pick(
        house,
        owner,
        ("connection", "cin_nope"),
        ("stream", "cin_nope/messages"),
        ("field", "cin_nope/messages/id"),
    )
    assert "There is no connection" in sheet.text
    assert sheet.tree.css_first(".decision button[value=approve]") is None


def test_a_stream_of_an_account_that_is_not_ticked_stays_closed(
    house: House, owner: Reader
) -> None:
    sheet = pick(house, owner, ("connection", "cin_notes"))
    assert "1 account" in enforced(sheet)
    assert "Home mail" not in enforced(sheet)


def test_a_choice_without_records_has_no_samples(house: House, owner: Reader) -> None:
    sheet = pick(
        house,
        owner,
        ("connection", "cin_home"),
        span="dates",
        since="1999-01-01",
        until="1999-01-02",
    )
    assert "nothing in this period" in enforced(sheet)
    assert "It would see nothing now" in sheet.text


def test_the_text_of_records_is_only_text(tmp_path: Path) -> None:
    declaration: dict[str, Any] = {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": "https://sources.example/x"},
        "connector_key": "x",
        "declaration_version": "1",
        "publisher": {"id": "https://sources.example"},
        "display": {"name": "<b>X</b>"},
        "streams": [
            {
                "name": "notes",
                "display": {"label": "<i>Notes</i>"},
                "semantics": "mutable_state",
                "schema": {
                    "type": "object",
                    "properties": {
                        "id": {"type": "string"},
                        "title": {"type": "string", "x_pdpp_role": "primary-title"},
                        "file": {"type": "string", "contentEncoding": "base64"},
                    },
                },
                "primary_key": ["id"],
            }
        ],
    }
    note = {"id": "1", "title": "</dd><script>alert(1)</script>\u202e", "file": "AAAA"}
    store = planted_store(tmp_path, declaration, {"c": "<u>Mine</u>"}, {("c", "notes"): [note]})
    with housed(tmp_path, store=store) as made:
        owner = made.owner()
        boxes = (("connection", "c"), ("stream", "c/notes"))
        sheet = owner.get(made.ask()).send(tick=boxes, action="update")
        assert sheet.tree.css_first("main script, main b, main i, main u") is None
        assert "<script>alert(1)</script>⟨U+202E⟩" in sheet.text
        assert "<u>Mine</u>" in sheet.text


# Where a decision may lead


@pytest.mark.parametrize(
    ("uri", "targets"),
    [
        (None, "'self'"),
        ("https://claude.ai/cb", "'self' http: https:"),
        ("http://127.0.0.1:7/cb", "'self' http: https:"),
        ("cursor://anysphere/cb", "'self' http: https: cursor:"),
        ("com.example.app:/cb", "'self' http: https: com.example.app:"),
        ("x;y:/cb", "'self' http: https:"),
    ],
)
def test_a_form_may_lead_to_the_client_that_asked(uri: str | None, targets: str) -> None:
    assert form_targets(uri) == targets
