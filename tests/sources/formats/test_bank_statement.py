"""What is particular to statements as CAMT.053, MT940 and QIF."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, look, read, told, zipped
from tests.sources.samples import bank_statement as bank

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.bank_statement.source import StatementFiles
from pdpp.sources.source import Recognition

SOURCE = StatementFiles()


def put(folder: Path, content: bytes, name: str = "statement.xml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(content)
    return path


def bookings(path: Path) -> list[dict[str, Any]]:
    records = read(SOURCE, path).items()
    return [data for (stream, _), data in records if stream == "transactions"]


def accounts(path: Path) -> list[dict[str, Any]]:
    return [data for (stream, _), data in read(SOURCE, path).items() if stream == "accounts"]


def test_a_camt_booking_has_its_sign_the_other_side_and_its_purpose(tmp_path: Path) -> None:
    rent, pay = bookings(put(tmp_path, bank.camt(bank.RENT, bank.PAY)))
    assert (rent["amount_text"], rent["payee"]) == ("-850.00", "Casa do Farol")
    assert (rent["payee_account"], rent["reference"]) == ("PT50999", "E-77")
    assert (rent["kind"], rent["bank_code"]) == ("transfer sent", "PMNT-ICDT-ESCT")
    assert rent["posted_on"] == "2026-01-02"
    assert rent["memo"] == "January rent for the signal house"
    assert (pay["amount_text"], pay["payee"]) == ("2100.00", "Harbour office")
    [account] = accounts(tmp_path / "statement.xml")
    assert (account["number"], account["bank_id"]) == (bank.IBAN, "CAISPTPL")
    assert (account["ledger_balance_text"], account["balance_on"]) == ("1320.00", "2026-01-31")


def test_a_batch_is_its_payments_where_they_add_up(tmp_path: Path) -> None:
    parts = bookings(put(tmp_path, bank.camt(bank.BATCH)))
    told_parts = [(part["payee"], part["amount_text"], part["part"]) for part in parts]
    assert told_parts == [
        ("Rope shop", "-10.00", "1 of 2"),
        ("Flare shop", "-20.00", "2 of 2"),
    ]
    odd = bank.BATCH.replace("20.00</Amt></TxAmt>", "21.00</Amt></TxAmt>")
    [whole] = bookings(put(tmp_path, bank.camt(odd)))
    assert whole["amount_text"] == "-30.00"


def test_what_is_only_announced_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, bank.camt(bank.PENDING))
    assert [finding.reason for finding in told(SOURCE, path)] == [
        "a booking that is only announced"
    ]


def test_version_8_with_a_prefix_is_read(tmp_path: Path) -> None:
    ride, fee = bookings(put(tmp_path, bank.CAMT_08))
    assert (ride["payee"], ride["memo"], ride["reversal"]) == ("Bergbahn", "RF18 7", True)
    assert (ride["posted_on"], ride["currency"]) == ("2026-02-01", "CHF")
    assert fee["amount_text"] == "-3.00"


def test_mt940_is_read_in_three_dialects(tmp_path: Path) -> None:
    path = put(tmp_path, bank.mt940(bank.MT940_RENT, bank.MT940_PAY, bank.MT940_DUTCH), "x.sta")
    rent, pay, dinner = bookings(path)
    assert (rent["amount_text"], rent["payee"]) == ("-850.00", "Leuchtturmverein")
    assert (rent["memo"], rent["reference"]) == ("Miete fuer das Signalhaus am Deich", "E-77")
    assert (rent["kind"], rent["payee_account"]) == ("ONLINE-UEBERWEISUNG", "DE02100")
    # It counts from December and was booked in January of the next year.
    assert (pay["value_on"], pay["posted_on"]) == ("2025-12-31", "2026-01-02")
    assert (pay["amount_text"], pay["memo"]) == ("2100.5", "Salary December of the harbour office")
    assert (dinner["payee"], dinner["memo"]) == ("Jan de Boer", "Half of the dinner")
    [account] = accounts(path)
    assert (account["number"], account["bank_id"]) == ("0123456789", "10010010")
    assert account["ledger_balance_text"] == "2250.50"


def test_a_reversal_turns_the_sign(tmp_path: Path) -> None:
    back = ":61:260110RC5,00NTRFNONREF\r\n:86:Taken back\r\n"
    [booking] = bookings(put(tmp_path, bank.mt940(back), "x.sta"))
    assert (booking["amount_text"], booking["reversal"]) == ("-5.00", True)


def test_qif_has_categories_and_splits(tmp_path: Path) -> None:
    path = put(tmp_path, bank.qif(bank.QIF_ROPE, bank.QIF_SPLIT), "a.qif")
    rope, bread, seeds = bookings(path)
    assert (rope["posted_on"], rope["amount_text"]) == ("2025-12-19", "-1250.00")
    assert (rope["category"], rope["check_number"]) == ("Boat", "1001")
    assert [(part["category"], part["amount"], part["memo"]) for part in (bread, seeds)] == [
        ("Food", -10.0, "bread"),
        ("Home:Garden", -20.0, "seeds"),
    ]
    assert bread["posted_on"] == "2026-01-05"
    assert [account["number"] for account in accounts(path)] == ["Giro"]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("12/19/2018", "2018-12-19"),
        ("2018-12-19", "2018-12-19"),
        ("1/2/97", "1997-01-02"),
        ("1.2'03", "2003-02-01"),
        ("20181219", "2018-12-19"),
        ("19 December 2018", "2018-12-19"),
        ("Dec 19, 2018", "2018-12-19"),
    ],
)
def test_dates_of_qif(tmp_path: Path, text: str, day: str) -> None:
    path = put(tmp_path, bank.qif(f"D{text}\nT5\nPx\n^\n"), "a.qif")
    assert bookings(path)[0]["posted_on"] == day


def test_the_whole_file_decides_between_day_and_month(tmp_path: Path) -> None:
    path = put(tmp_path, bank.qif("D03/04/2026\nT5\n^\n", "D19/04/2026\nT5\n^\n"), "a.qif")
    assert [booking["posted_on"] for booking in bookings(path)] == ["2026-04-03", "2026-04-19"]


def test_equal_bookings_of_a_day_are_all_kept(tmp_path: Path) -> None:
    coffee = "D1/5'26\nT-1.20\nPCoffee\n^\n"
    assert len(bookings(put(tmp_path, bank.qif(coffee, coffee, coffee), "a.qif"))) == 3


def test_statements_of_one_account_in_a_zip_and_alone_are_one_account(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    days = {"1.xml": bank.camt(bank.RENT), "2.xml": bank.camt(bank.PAY, bank.RENT)}
    first = home.bring(zipped(tmp_path / "days.zip", days))
    assert first["streams"]["transactions"]["new"] == 2
    month = home.bring(put(tmp_path, bank.camt(bank.RENT, bank.PAY, bank.BATCH)))
    assert month["connection"]["connection_id"] == first["connection"]["connection_id"]
    assert month["streams"]["transactions"]["new"] == 2


def test_other_xml_and_text_are_not_taken(tmp_path: Path) -> None:
    for name, content in (("a.xml", b"<Document/>"), ("b.txt", b":20:x\n"), ("c.qif", b"Type")):
        assert not isinstance(look(SOURCE, put(tmp_path, content, name)), Recognition)


def test_two_accounts_are_the_same_two_in_a_folder_and_alone(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    other = bank.camt(bank.PAY).replace(bank.IBAN.encode(), b"PT50000201231234567890999")
    put(tmp_path / "both", bank.camt(bank.RENT), "a.xml")
    put(tmp_path / "both", other, "b.xml")
    home.bring(put(tmp_path, bank.camt(bank.RENT), "a.xml"))
    assert home.run(tmp_path / "both", "--yes").code == 0
    assert home.bring(put(tmp_path, other, "b.xml"))["counts"]["new"] == 0
    booked = [key for key in home.records() if key[0] == "transactions"]
    assert len(booked) == 2


def mt940(account: str, *lines: str) -> bytes:
    """Return a statement of one day with bookings as they are given."""
    head = f":20:X\n:25:{account}\n:28C:1\n:60F:C260101EUR10,00\n"
    return (head + "\n".join(lines) + "\n:62F:C260113EUR5,50\n-\n").encode()


@pytest.mark.parametrize(
    ("written", "number", "bank_id"),
    [
        ("UBRTHUHB/123ABC002/HUF", "123ABC002", "UBRTHUHB"),
        ("NL71RABO0123456789 EUR", "NL71RABO0123456789", None),
        ("NL69INGB0123456789EUR", "NL69INGB0123456789", None),
        ("/PL84114020170000450200130141", "PL84114020170000450200130141", None),
    ],
)
def test_a_currency_behind_the_account_of_mt940_is_no_part_of_it(
    tmp_path: Path, written: str, number: str, bank_id: str | None
) -> None:
    path = put(tmp_path, mt940(written, ":61:260113D4,50NMSCNONREF", ":86:Bread"), "x.sta")
    [account] = accounts(path)
    assert (account["number"], account.get("bank_id")) == (number, bank_id)
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert seen.account.endswith(number[-4:])


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # A kind of booking of two letters and a space, as ING wrote it.
        ((":61:260113D4,50NOV NONREF", ":86:Bread"), ("NOV", None, "Bread", None)),
        (
            (
                ":61:260113D4,50N102EREF",
                ":86:/EREF/E-1/BENM//NAME/BAKER ON THE QU",
                "AY/REMI//ISDT/2026-01-13",
            ),
            ("N102", "BAKER ON THE QUAY", "/EREF/E-1/BENM", "E-1"),
        ),
        (
            (
                ":61:2601130113D4,50NTRFEREF//1",
                ":86:/EREF/E-1//CNTP/NL11/INGBNL2A/BAKER///REMI/USTD//Bread/",
            ),
            ("transfer", "BAKER", "Bread", "E-1"),
        ),
        (
            (":61:2601130113DN4,50S020NONREF", ":86: 020~00Card", "~20Bre~21ad~32BAKER~33 & SON"),
            ("Card", "BAKER & SON", "Bread", None),
        ),
    ],
)
def test_dialects_of_mt940_that_banks_in_several_countries_write(
    tmp_path: Path, lines: tuple[str, ...], expected: tuple[str | None, ...]
) -> None:
    [booking] = bookings(put(tmp_path, mt940("DE1", *lines), "x.sta"))
    kind, payee, memo, reference = expected
    assert (booking["amount_text"], booking["posted_on"]) == ("-4.50", "2026-01-13")
    assert (booking["kind"], booking.get("payee")) == (kind, payee)
    assert booking["memo"].startswith(str(memo))
    assert booking.get("reference") == reference


def test_a_slash_in_a_reference_does_not_cost_the_booking(tmp_path: Path) -> None:
    lines = (":61:2601130113D4,50NMSC3412/1XY//O/3412", "Payment")
    [booking] = bookings(put(tmp_path, mt940("DE1", *lines), "x.sta"))
    assert (booking["amount_text"], booking["memo"]) == ("-4.50", "Payment")
    assert (booking["reference"], booking["bank_reference"]) == ("3412/1XY", "O/3412")


def test_what_an_account_had_before_is_not_what_it_has(tmp_path: Path) -> None:
    content = mt940("DE1", ":61:260113D4,50NMSCNONREF", ":86:Bread")
    path = put(tmp_path, content.replace(b":62F:C260113EUR5,50", b":62F:C2601135,50"), "x.sta")
    [account] = accounts(path)
    assert account["currency"] == "EUR"
    assert not account.keys() & {"ledger_balance", "balance_on"}


def test_for_whom_a_payment_was_is_told_where_the_other_side_is_not(tmp_path: Path) -> None:
    told = bank.RENT.replace("<Cdtr><Nm>Casa do Farol</Nm></Cdtr>", "{}")
    behind = told.format("<UltmtCdtr><Nm>Ana Lind</Nm></UltmtCdtr>")
    [rent] = bookings(put(tmp_path, bank.camt(behind)))
    assert rent["payee"] == "Ana Lind"
    [unknown] = bookings(put(tmp_path, bank.camt(told.format(""))))
    assert rent["id"] == unknown["id"]
    both = bank.RENT.replace("</Cdtr>", "</Cdtr><UltmtCdtr><Nm>Ana Lind</Nm></UltmtCdtr>", 1)
    [named] = bookings(put(tmp_path, bank.camt(both)))
    assert named["payee"] == "Casa do Farol"


def test_years_before_2000_are_read(tmp_path: Path) -> None:
    path = put(tmp_path, mt940("DE1", ":61:991231D4,50NMSCNONREF", ":86:Bread"), "x.sta")
    assert [booking["posted_on"] for booking in bookings(path)] == ["1999-12-31"]


def test_a_report_of_some_days_is_read_as_a_statement_is(tmp_path: Path) -> None:
    statement = bank.camt(bank.RENT, bank.PENDING)
    report = statement.replace(b"camt.053.", b"camt.052.")
    report = report.replace(b"<Stmt>", b"<Rpt>").replace(b"</Stmt>", b"</Rpt>")
    path = put(tmp_path, report)
    assert [booking["payee"] for booking in bookings(path)] == ["Casa do Farol"]
    assert bookings(path) == bookings(put(tmp_path, statement))[:1]


def notification(*entries: str) -> bytes:
    """Return the same bookings as the bank tells them one by one."""
    text = bank.camt(*entries).replace(b"camt.053.", b"camt.054.")
    for before, after in ((b"Stmt>", b"Ntfctn>"), (b"BkToCstmrNtfctn", b"BkToCstmrDbtCdtNtfctn")):
        text = text.replace(before, after)
    return re.sub(rb"<Bal>.*</Bal>", b"", text)


def test_a_notification_tells_payments_without_counting_them_twice(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    one_sum = bank.BATCH.replace(bank.BATCH[bank.BATCH.index("<NtryDtls>") :], "</Ntry>")
    statement = home.bring(put(tmp_path, bank.camt(bank.RENT, one_sum), "053.xml"))
    notices = home.bring(put(tmp_path, notification(bank.BATCH, bank.PENDING), "054.xml"))
    assert notices["connection"] == statement["connection"]
    assert (notices["counts"]["new"], notices["counts"]["skipped"]) == (2, 1)
    kept = [(stream, data) for (stream, _), data in home.records().items()]
    told = [data for stream, data in kept if stream == "notifications"]
    assert {(data["payee"], data["amount_text"]) for data in told} == {
        ("Rope shop", "-10.00"),
        ("Flare shop", "-20.00"),
    }
    assert {data["account_number"] for data in told} == {bank.IBAN}
    sums = [data["amount_text"] for stream, data in kept if stream == "transactions"]
    assert sorted(sums) == ["-30.00", "-850.00"]
    [account] = [data for stream, data in kept if stream == "accounts"]
    assert account["ledger_balance_text"] == "1320.00"


def test_a_folder_of_statements_and_notifications_is_one_account(tmp_path: Path) -> None:
    put(tmp_path / "both", bank.camt(bank.RENT, bank.BATCH), "053.xml")
    put(tmp_path / "both", notification(bank.RENT, bank.BATCH), "054.xml")
    report = Home(tmp_path / "home").bring(tmp_path / "both")
    new = {name: stream["new"] for name, stream in report["streams"].items()}
    assert new == {"accounts": 1, "transactions": 3, "notifications": 3}


def test_shares_that_are_bought_cost_money(tmp_path: Path) -> None:
    lots = [f"D01/13/2026\nN{action}\nYROPE\nQ2\nT21.00\n^\n" for action in ("Buy", "Sell")]
    path = put(tmp_path, ("!Type:Invst\n" + "".join(lots)).encode(), "a.qif")
    assert [(lot["kind"], lot["amount"]) for lot in bookings(path)] == [("Buy", -21), ("Sell", 21)]


def test_what_a_bank_says_of_a_booking_beside_its_purpose_is_kept(tmp_path: Path) -> None:
    lines = (":61:2601130113D4,50N077NONREF//B4G29P", "Fee for a card", ":86:Old harbour card")
    [booking] = bookings(put(tmp_path, mt940("DE1", *lines), "x.sta"))
    assert (booking["memo"], booking["details"]) == ("Old harbour card", "Fee for a card")
    assert booking["bank_reference"] == "B4G29P"


def test_a_ledger_without_a_name_is_the_same_alone_and_beside_others(tmp_path: Path) -> None:
    def ledger(*payees: str) -> bytes:
        entries = [f"D1/{day}/2026\nT-5\nP{payee}\n^\n" for day, payee in enumerate(payees, 10)]
        return bank.qif(*entries, head="!Type:Bank\n")

    home, ledgers = Home(tmp_path / "home"), tmp_path / "ledgers"
    checking = ("Rope", "Pie", "Tea", "Oars", "Paint", "Soap", "Tar", "Nails")
    january = put(ledgers, ledger(*checking), "checking-2026-01.qif")
    put(ledgers, ledger(*checking, "Lamp"), "checking-2026-02.qif")
    savings = put(ledgers, ledger("Rope", *["Fee"] * 12), "savings.qif")
    home.run(ledgers, "--yes")
    assert sorted(home.accounts()) == ["Bank", "Bank 2"]
    payees = [str(data["payee"]) for data in home.records().values() if "payee" in data]
    assert sorted(payees) == sorted([*checking, "Lamp", *["Fee"] * 12])
    for path in (savings, january):
        assert home.bring(path)["counts"]["new"] == 0


def test_a_ledger_is_called_as_its_first_entry_opens_it(tmp_path: Path) -> None:
    opening = "D1/1/26\nT100\nPOpening Balance\nL[Giro]\n^\n"
    ledger = f"!Type:Bank\n{opening}D1/2/26\nT-5\nPRope\n^\n".encode()
    put(tmp_path / "both", ledger, "a.qif")
    put(tmp_path / "both", b"!Type:Bank\nD1/2/26\nT-5\nPRope\n^\n", "b.qif")
    assert [account["number"] for account in accounts(tmp_path / "both")] == ["Giro", "b"]
    home = Home(tmp_path / "home")
    home.bring(tmp_path / "both")
    again = home.bring(put(tmp_path, ledger, "renamed.qif"))
    assert again["counts"]["new"] == 0


@pytest.mark.parametrize(
    ("written", "days"),
    [
        (
            ["18-12-28", "18-12-31", "19-01-02", "19-02-01"],
            ["2018-12-28", "2018-12-31", "2019-01-02", "2019-02-01"],
        ),
        (["99/12/31", "99/12/02", "99/11/20"], ["1999-12-31", "1999-12-02", "1999-11-20"]),
        (["25/10/18", "25/11/18", "25/10/19"], ["2018-10-25", "2018-11-25", "2019-10-25"]),
        (["12/10/18", "12/11/18", "12/10/19"], ["2018-12-10", "2018-12-11", "2019-12-10"]),
        (["12/31'18", "1/2'19", "2/1'19"], ["2018-12-31", "2019-01-02", "2019-02-01"]),
    ],
)
def test_the_order_of_entries_shows_whether_a_short_year_stands_first(
    tmp_path: Path, written: list[str], days: list[str]
) -> None:
    entries = [f"D{day}\nT-{number}\nPx\n^\n" for number, day in enumerate(written, 1)]
    path = put(tmp_path, bank.qif(*entries), "a.qif")
    found = sorted(bookings(path), key=lambda data: -float(data["amount"]))
    assert [data["posted_on"] for data in found] == days


@pytest.mark.parametrize(
    ("written", "days", "is_told"),
    [
        (["1/5/26", "9/5/26", "1/6/26"], ["2026-05-01", "2026-05-09", "2026-06-01"], False),
        (["5/1/26", "5/9/26", "6/1/26"], ["2026-05-01", "2026-05-09", "2026-06-01"], False),
        (["1/5/26", "2/5/26", "3/5/26"], ["2026-01-05", "2026-02-05", "2026-03-05"], True),
        (["3/4/2026"], ["2026-03-04"], True),
        (["4/4/2026"], ["2026-04-04"], False),
        (["3/14/2026"], ["2026-03-14"], False),
        (["03.11.26", "04.11.26", "10.11.26"], ["2026-11-03", "2026-11-04", "2026-11-10"], False),
        (["26.11.03", "26.11.04", "26.12.01"], ["2026-11-03", "2026-11-04", "2026-12-01"], False),
    ],
)
def test_days_that_could_be_months_are_read_in_the_order_of_the_entries_or_told(
    tmp_path: Path, written: list[str], days: list[str], is_told: bool
) -> None:
    entries = [f"D{day}\nT-{number}\nPx\n^\n" for number, day in enumerate(written, 1)]
    path = put(tmp_path, bank.qif(*entries), "a.qif")
    assert sorted(data["posted_on"] for data in bookings(path)) == days
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert any("date_order" in note for note in seen.notes) is is_told


def test_the_owner_tells_the_order_of_the_dates(tmp_path: Path) -> None:
    path = put(tmp_path, bank.qif("D3/4/2026\nT-1\nPx\n^\n"), "a.qif")
    found = read(SOURCE, path, date_order="dmy")
    assert [data["posted_on"] for data in found.values() if "posted_on" in data] == ["2026-04-03"]
    seen = look(SOURCE, path, date_order="dmy")
    assert isinstance(seen, Recognition)
    assert seen.notes == ()
    with pytest.raises(ImportRefused, match="date_order"):
        look(SOURCE, path, date_order="backwards")


def test_points_divide_thousands_in_a_qif_that_writes_decimals_behind_a_comma(
    tmp_path: Path,
) -> None:
    lot = "D13/01/2026\nNBuy\nYFund\nQ1.012,345\nI10,1234\nT1.000\n^\n"
    text = f"!Type:Invst\n{lot}D14/01/2026\nNDiv\nYFund\nT50,5\n^\n"
    bought, paid = bookings(put(tmp_path, text.encode(), "a.qif"))
    assert (bought["amount_text"], paid["amount_text"]) == ("-1000", "50.5")
    assert (bought["units"], bought["unit_price"]) == (1012.345, 10.1234)


def test_splits_of_qif_that_do_not_add_up_are_told_beside_the_whole(tmp_path: Path) -> None:
    entry = "D13/1/2026\nT-10.00\nSFood\nEapples\n$-4.00\nSHome\n$-5.00\n^\n"
    [booking] = bookings(put(tmp_path, bank.qif(entry), "a.qif"))
    assert (booking["amount_text"], booking["details"]) == (
        "-10.00",
        "Food -4.00 apples\nHome -5.00",
    )
