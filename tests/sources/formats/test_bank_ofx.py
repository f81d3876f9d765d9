"""Bank statements as OFX 1 (SGML) and OFX 2 (XML), as several banks write them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_cuts,
    check_hostile_text,
    check_hostile_zip,
    check_overlap,
    check_twice,
    findings,
    golden,
    look,
    read,
    told,
    zipped,
)

from pdpp.sources.formats.bank_ofx.source import BankOfx
from pdpp.sources.item import Item, Skipped
from pdpp.sources.reading.money import exact
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import Confidence, Recognition

SOURCE = BankOfx()

HEADER_1 = (
    "OFXHEADER:100\r\nDATA:OFXSGML\r\nVERSION:102\r\nSECURITY:NONE\r\nENCODING:USASCII\r\n"
    "CHARSET:1252\r\nCOMPRESSION:NONE\r\nOLDFILEUID:NONE\r\nNEWFILEUID:NONE\r\n\r\n"
)
HEADER_2 = (
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
    '<?OFX OFXHEADER="200" VERSION="211" SECURITY="NONE" OLDFILEUID="NONE" NEWFILEUID="NONE"?>\n'
)


def movement(number: str, day: str, amount: str, payee: str, memo: str = "") -> str:
    """Return one transaction as SGML, without end tags for values."""
    note = f"<MEMO>{memo}\r\n" if memo else ""
    name = f"<FITID>{number}\r\n" if number else ""
    return (
        f"<STMTTRN>\r\n<TRNTYPE>DEBIT\r\n<DTPOSTED>{day}\r\n<TRNAMT>{amount}\r\n"
        f"{name}<NAME>{payee}\r\n{note}</STMTTRN>\r\n"
    )


COFFEE = movement("2026-001", "20260131120000.000[-5:EST]", "-4.50", "Café Tejo &amp; Filho")
RENT = movement("2026-002", "20260201", "-1250.00", "Landlord", "Rent for the lighthouse keeper")
PAY = movement("2026-003", "20260228", "+3100,10", "Harbour office")


def sgml(*movements: str) -> bytes:
    """Return a whole statement of version 1."""
    return (
        HEADER_1 + "<OFX>\r\n<SIGNONMSGSRSV1><SONRS><STATUS><CODE>0<SEVERITY>INFO</STATUS>"
        "<DTSERVER>20260301<LANGUAGE>ENG<FI><ORG>Banco do Cais<FID>77</FI></SONRS></SIGNONMSGSRSV1>"
        "\r\n<BANKMSGSRSV1><STMTTRNRS><TRNUID>1<STMTRS>\r\n<CURDEF>EUR\r\n<BANKACCTFROM>\r\n"
        "<BANKID>0033\r\n<ACCTID>0000123456789\r\n<ACCTTYPE>CHECKING\r\n</BANKACCTFROM>\r\n"
        "<BANKTRANLIST>\r\n<DTSTART>20260101\r\n<DTEND>20260228\r\n"
        + "".join(movements)
        + "</BANKTRANLIST>\r\n<LEDGERBAL><BALAMT>1845.60<DTASOF>20260228</LEDGERBAL>\r\n"
        "<AVAILBAL><BALAMT>1800.00<DTASOF>20260228</AVAILBAL>\r\n"
        "</STMTRS></STMTTRNRS></BANKMSGSRSV1>\r\n</OFX>\r\n"
    ).encode("cp1252")


CARD = (
    HEADER_2
    + """<OFX><SIGNONMSGSRSV1><SONRS><DTSERVER>20260301</DTSERVER><FI><ORG>Cartão Sul</ORG></FI>
</SONRS></SIGNONMSGSRSV1><CREDITCARDMSGSRSV1><CCSTMTTRNRS><CCSTMTRS><CURDEF>EUR</CURDEF>
<CCACCTFROM><ACCTID>4111-XXXX-9999</ACCTID></CCACCTFROM><BANKTRANLIST>
<STMTTRN><TRNTYPE>POS</TRNTYPE><DTPOSTED>20260215093000[0:GMT]</DTPOSTED><TRNAMT>-19.99</TRNAMT>
<FITID>c-1</FITID><PAYEE><NAME>Livraria Ideal</NAME><CITY>Porto</CITY></PAYEE>
<MEMO>Three books on tides &lt;used&gt;</MEMO>
<CURRENCY><CURRATE>1.1</CURRATE><CURSYM>USD</CURSYM></CURRENCY></STMTTRN>
</BANKTRANLIST><LEDGERBAL><BALAMT>-19.99</BALAMT><DTASOF>20260228</DTASOF></LEDGERBAL>
</CCSTMTRS></CCSTMTTRNRS></CREDITCARDMSGSRSV1></OFX>
"""
).encode()


def put(folder: Path, content: bytes, name: str = "statement.ofx") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_statement_is_recognised_with_its_bank_and_the_end_of_its_number(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, sgml(COFFEE)))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.version) == (Confidence.CERTAIN, "OFX 102")
    assert seen.account == "Banco do Cais …6789"


def test_a_card_statement_in_xml_is_recognised(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, CARD, "card.qfx"))
    assert isinstance(seen, Recognition)
    assert (seen.version, seen.account) == ("OFX 211", "Cartão Sul …9999")


def test_other_text_is_not_taken(tmp_path: Path) -> None:
    assert look(SOURCE, put(tmp_path, b"<html><body>OFX</body></html>")) is None
    assert look(SOURCE, put(tmp_path, b"date;amount\n", "a.ofx")) is None


def test_a_folder_of_statements_is_one_connection(tmp_path: Path) -> None:
    put(tmp_path, sgml(COFFEE), "january.ofx")
    put(tmp_path, CARD, "card.QFX")
    put(tmp_path, b"shopping list", "notes.txt")
    seen = look(SOURCE, tmp_path)
    assert isinstance(seen, Recognition)
    assert seen.version == "OFX 211, 2 files"
    assert len([key for key in read(SOURCE, tmp_path) if key[0] == "accounts"]) == 2


def test_statements_of_both_versions_give_these_records(tmp_path: Path) -> None:
    put(tmp_path, sgml(COFFEE, RENT, PAY), "bank.ofx")
    put(tmp_path, CARD, "card.qfx")
    golden("bank_ofx", read(SOURCE, tmp_path))


def test_the_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(put(tmp_path, sgml(COFFEE, RENT)), tmp_path)


def test_a_month_and_then_two_months_are_the_two_months(tmp_path: Path) -> None:
    first = put(tmp_path, sgml(COFFEE, RENT), "one.ofx")
    check_overlap(first, put(tmp_path, sgml(RENT, PAY, COFFEE), "two.ofx"), tmp_path)


def test_an_older_statement_leaves_the_newer_balance(tmp_path: Path) -> None:
    january = sgml(COFFEE).replace(b"1845.60<DTASOF>20260228", b"90.00<DTASOF>20260131")
    home = Home(tmp_path / "home")
    for content, name in ((sgml(PAY), "february.ofx"), (january, "january.ofx")):
        home.bring(put(tmp_path, content, name))
    (account,) = [data for (stream, _), data in home.records().items() if stream == "accounts"]
    assert (account["balance_on"], account["ledger_balance_text"]) == ("2026-02-28", "1845.60")
    assert len(home.records()) == 3


def test_a_name_that_a_bank_gave_twice_keeps_both_transactions(tmp_path: Path) -> None:
    other = movement("2026-001", "20260131", "-9.00", "Bakery")
    found = findings(SOURCE, put(tmp_path, sgml(COFFEE, other, other, COFFEE)))
    items = [item for item in found if isinstance(item, Item) and item.stream == "transactions"]
    assert len({item.key for item in items}) == len(items) == 2
    reasons = [item.reason for item in found if isinstance(item, Skipped)]
    assert reasons == ["a transaction that stands twice"] * 2


def test_a_name_that_a_bank_gives_again_takes_no_earlier_transaction_away(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    months = (
        sgml(
            movement("1", "20260501", "-9.40", "Chandler"), movement("2", "20260502", "-3", "Pie")
        ),
        sgml(movement("1", "20260602", "5.00", "Reward"), movement("2", "20260603", "-3", "Pie")),
    )
    for number, content in enumerate((*months, *months)):
        home.bring(put(tmp_path, content, f"{number}.ofx"))
    days = [data["posted_on"] for (name, _), data in home.records().items() if name != "accounts"]
    assert sorted(days) == ["2026-05-01", "2026-05-02", "2026-06-02", "2026-06-03"]


def test_a_transaction_without_a_name_gets_one_from_its_content(tmp_path: Path) -> None:
    nameless = movement("", "20260131", "-9.00", "Bakery")
    once = read(SOURCE, put(tmp_path, sgml(nameless)))
    again = read(SOURCE, put(tmp_path, sgml(COFFEE, nameless)))
    assert set(once) < set(again)


def test_what_is_no_booking_is_told(tmp_path: Path) -> None:
    wrong = [
        movement("a", "2026", "-9.00", "x"),
        movement("b", "20260230", "-9.00", "x"),
        movement("c", "20260101", "nine", "x"),
    ]
    reasons = [found.reason for found in told(SOURCE, put(tmp_path, sgml(*wrong)))]
    assert reasons == ["a transaction without a date, an amount or an account"] * 3


def test_a_statement_without_an_account_is_told(tmp_path: Path) -> None:
    bare = sgml(COFFEE).replace(b"<ACCTID>0000123456789\r\n", b"")
    assert [found.reason for found in told(SOURCE, put(tmp_path, bare))] == [
        "a transaction without a date, an amount or an account",
        "a statement without an account",
    ]


def test_a_cut_file_loses_its_tail_and_says_so(tmp_path: Path) -> None:
    check_cuts(SOURCE, sgml(COFFEE, RENT, PAY), lambda content: put(tmp_path, content))


def test_a_document_type_with_entities_is_refused(tmp_path: Path) -> None:
    bomb = CARD.replace(b"<OFX>", b'<!DOCTYPE x [<!ENTITY a "boom">]><OFX>')
    (found,) = told(SOURCE, put(tmp_path, bomb))
    assert "document type" in found.example


def test_a_value_without_an_end_is_refused(tmp_path: Path) -> None:
    endless = sgml(movement("a", "20260101", "-1", "x" * 200_000))
    assert any(
        "longer than anything" in found.example for found in told(SOURCE, put(tmp_path, endless))
    )


def test_hostile_text_is_survived(tmp_path: Path) -> None:
    check_hostile_text(SOURCE, sgml(COFFEE, RENT), lambda content: put(tmp_path, content))
    check_hostile_text(SOURCE, CARD, lambda content: put(tmp_path, content))


def test_hostile_archives_are_survived(tmp_path: Path) -> None:
    folder = tmp_path / "inner"
    folder.mkdir()
    check_hostile_zip(SOURCE, {"bank/one.ofx": sgml(COFFEE), "card.qfx": CARD}, folder)
    assert read(SOURCE, zipped(tmp_path / "ok.zip", {"bank/one.ofx": sgml(COFFEE)}))


@pytest.mark.parametrize(
    ("header", "encoding"),
    [
        ("ENCODING:UTF-8\nCHARSET:NONE", "utf-8"),
        ("ENCODING:USASCII\nCHARSET:1252", "cp1252"),
        ("ENCODING:USASCII\nCHARSET:8859-1", "latin-1"),
    ],
)
def test_letters_are_read_as_the_header_says(tmp_path: Path, header: str, encoding: str) -> None:
    text = sgml(movement("a", "20260101", "-1", "PADARIA")).decode("cp1252")
    text = text.replace("ENCODING:USASCII\r\nCHARSET:1252", header).replace("PADARIA", "Pão à moda")
    records = read(SOURCE, put(tmp_path, text.encode(encoding)))
    assert [data["payee"] for (stream, _), data in records.items() if stream != "accounts"] == [
        "Pão à moda"
    ]


def test_an_unknown_encoding_is_read_as_utf_8(tmp_path: Path) -> None:
    odd = CARD.replace(b'encoding="UTF-8"', b'encoding="x-strange"')
    assert len(read(SOURCE, put(tmp_path, odd))) == 2


@given(st.permutations(["a", "b", "c", "d"]), st.integers(min_value=1, max_value=4))
def test_keys_do_not_depend_on_what_else_is_in_a_file(order: list[str], count: int) -> None:
    from tempfile import TemporaryDirectory

    made = {name: movement(name, "20260101", f"-{name.encode()[0]}", name) for name in "abcd"}
    with TemporaryDirectory() as folder:
        whole = read(SOURCE, put(Path(folder), sgml(*made.values())))
        some = read(SOURCE, put(Path(folder), sgml(*(made[name] for name in order[:count]))))
    assert set(some) <= set(whole)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12.50", "12.50"),
        ("-1,5", "-1.5"),
        ("\u22123", "-3"),
        ("1_0", None),
        ("NaN", None),
        ("", None),
    ],
)
def test_amounts_are_exact_or_nothing(text: str, value: str | None) -> None:
    found = exact(text)
    assert (None if found is None else format(found, "f")) == value


def test_an_agent_finds_what_was_written_on_a_payment(tmp_path: Path) -> None:
    path = put(tmp_path, sgml(COFFEE, RENT))
    report = bring_and_ask(path, tmp_path, "lighthouse keeper", "Rent for the lighthouse keeper")
    assert report["counts"]["new"] == 3


SHARES = (
    b"<INVSTMTMSGSRSV1><INVSTMTTRNRS><INVSTMTRS><DTASOF>20260228<CURDEF>USD<INVACCTFROM>"
    b"<BROKERID>broker.example<ACCTID>9911</INVACCTFROM><INVTRANLIST><DTSTART>20260101<DTEND>20260228"
    b"<BUYSTOCK><INVBUY><INVTRAN><FITID>b1<DTTRADE>20260203<MEMO>Bought</INVTRAN><SECID>"
    b"<UNIQUEID>US0378331005<UNIQUEIDTYPE>ISIN</SECID><UNITS>3<UNITPRICE>10.5<TOTAL>-31.50"
    b"<SUBACCTSEC>CASH<SUBACCTFUND>CASH</INVBUY><BUYTYPE>BUY</BUYSTOCK>"
    b"<INVBANKTRAN><STMTTRN><TRNTYPE>CREDIT<DTPOSTED>20260210<TRNAMT>5.00<FITID>c1<NAME>Dividend"
    b"</STMTTRN><SUBACCTFUND>CASH</INVBANKTRAN></INVTRANLIST></INVSTMTRS></INVSTMTTRNRS>"
    b"</INVSTMTMSGSRSV1>"
)


def test_investments_are_transactions_of_an_account_of_their_own(tmp_path: Path) -> None:
    path = put(tmp_path, sgml(COFFEE).replace(b"</OFX>", SHARES + b"</OFX>"))
    records = read(SOURCE, path)
    bought = next(data for data in records.values() if data.get("security"))
    assert (bought["kind"], bought["amount_text"], bought["units"]) == (
        "stock bought",
        "-31.50",
        3.0,
    )
    assert bought["posted_on"] == "2026-02-03"
    kinds = {data["kind"] for (stream, _), data in records.items() if stream == "accounts"}
    assert kinds == {"checking account", "investment account"}
    assert any(data.get("payee") == "Dividend" for data in records.values())
    assert not told(SOURCE, path)


def test_sections_of_text_comments_and_a_root_with_a_space_are_read(tmp_path: Path) -> None:
    odd = sgml(COFFEE).replace(b"<OFX>", b"<OFX >").replace(b"<MEMO>", b"<!-- a < b --><MEMO>")
    odd = odd.replace(b"<NAME>Cafe", b"<NAME><![CDATA[Cafe & <Bar>]]>", 1)
    plain = read(SOURCE, put(tmp_path, sgml(COFFEE)))
    assert len(read(SOURCE, put(tmp_path, odd))) == len(plain)


def test_letters_are_read_as_they_are_where_the_header_is_wrong(tmp_path: Path) -> None:
    text = sgml(movement("f9", "20260201", "-1.00", "Padaria São João")).decode("cp1252")
    records = read(SOURCE, put(tmp_path, text.encode()))
    assert any(data.get("payee") == "Padaria São João" for data in records.values())


def position(kind: str, number: str, units: str, value: str, more: str = "") -> str:
    """Return what is held of one security, as XML."""
    return (
        f"<POS{kind}><INVPOS><SECID><UNIQUEID>{number}</UNIQUEID><UNIQUEIDTYPE>CUSIP</UNIQUEIDTYPE>"
        f"</SECID><HELDINACCT>CASH</HELDINACCT><POSTYPE>LONG</POSTYPE><UNITS>{units}</UNITS>"
        f"<UNITPRICE>235.74</UNITPRICE><MKTVAL>{value}</MKTVAL>"
        f"<DTPRICEASOF>20260227160000</DTPRICEASOF>{more}</INVPOS></POS{kind}>\n"
    )


def named(kind: str, number: str, name: str, price: str = "235.74", day: str = "20260227") -> str:
    """Return what a security is called, as XML."""
    return (
        f"<{kind}INFO><SECINFO><SECID><UNIQUEID>{number}</UNIQUEID><UNIQUEIDTYPE>CUSIP"
        f"</UNIQUEIDTYPE></SECID><SECNAME>{name}</SECNAME><TICKER>{name[:3].upper()}</TICKER>"
        f"<UNITPRICE>{price}</UNITPRICE><DTASOF>{day}</DTASOF></SECINFO></{kind}INFO>\n"
    )


STOCK = position("STOCK", "78462F103", "200", "47148.00", "<MEMO>Price of the last bell</MEMO>")
FUND = position("MF", "922908363", "50.1234567", "11816.10")
NAMES = (
    named("STOCK", "78462F103", "Harbour Lights Trust"),
    named("MF", "922908363", "Tidewater Income Fund"),
)


def investments(*positions: str, names: tuple[str, ...] = NAMES, day: str = "20260228") -> bytes:
    """Return the statement of a broker, with the names of securities behind it."""
    return (
        HEADER_2 + "<OFX><SIGNONMSGSRSV1><SONRS><FI><ORG>Quay Brokers</ORG></FI></SONRS>"
        f"</SIGNONMSGSRSV1><INVSTMTMSGSRSV1><INVSTMTTRNRS><INVSTMTRS><DTASOF>{day}</DTASOF>"
        "<CURDEF>USD</CURDEF><INVACCTFROM><BROKERID>quay.example</BROKERID><ACCTID>9911</ACCTID>"
        "</INVACCTFROM><INVPOSLIST>\n" + "".join(positions) + "</INVPOSLIST></INVSTMTRS>"
        "</INVSTMTTRNRS></INVSTMTMSGSRSV1><SECLISTMSGSRSV1><SECLIST>\n"
        + "".join(names)
        + "</SECLIST></SECLISTMSGSRSV1></OFX>\n"
    ).encode()


def test_what_an_account_holds_is_kept_with_the_name_of_each_security(tmp_path: Path) -> None:
    records = read(SOURCE, put(tmp_path, investments(STOCK, FUND)))
    [held] = [d for (s, _), d in records.items() if s == "holdings" and d["kind"] == "stock"]
    account_id = next(data["id"] for (stream, _), data in records.items() if stream == "accounts")
    assert {name: value for name, value in held.items() if name != "id"} == {
        "account_id": account_id,
        "held_on": "2026-02-28",
        "name": "Harbour Lights Trust",
        "ticker": "HAR",
        "security": "78462F103",
        "security_scheme": "CUSIP",
        "kind": "stock",
        "held_in": "CASH",
        "side": "long",
        "units": 200.0,
        "units_text": "200",
        "unit_price": 235.74,
        "unit_price_text": "235.74",
        "value": 47148.0,
        "value_text": "47148.00",
        "currency": "USD",
        "priced_on": "2026-02-27",
        "memo": "Price of the last bell",
    }
    names = {data["name"]: data["kind"] for (s, _), data in records.items() if s == "securities"}
    assert names == {"Harbour Lights Trust": "stock", "Tidewater Income Fund": "fund"}
    assert not told(SOURCE, put(tmp_path, investments(STOCK, FUND)))


def test_lots_of_one_security_are_kept_and_the_same_line_comes_once(tmp_path: Path) -> None:
    lot = position("STOCK", "78462F103", "5", "1178.70")
    path = put(tmp_path, investments(STOCK, lot, STOCK, names=(NAMES[0], NAMES[0])))
    held = [
        data["units"] for (stream, _), data in read(SOURCE, path).items() if stream == "holdings"
    ]
    assert sorted(held) == [5.0, 200.0]
    assert [found.reason for found in told(SOURCE, path)] == [
        "a holding that stands twice",
        "a security that stands twice",
    ]


def test_each_statement_keeps_what_was_held_on_its_day(tmp_path: Path) -> None:
    later = position("STOCK", "78462F103", "210", "50000.00")
    newer = (named("STOCK", "78462F103", "Harbour Lights Trust", "238.10", "20260331"),)
    january = put(tmp_path, investments(STOCK), "a.ofx")
    march = put(tmp_path, investments(later, names=newer, day="20260331"), "b.ofx")
    home = Home(tmp_path / "home")
    for path in (march, january, march, january):
        home.bring(path)
    records = home.records()
    days = {d["held_on"]: d["units"] for (s, _), d in records.items() if s == "holdings"}
    assert days == {"2026-02-28": 200.0, "2026-03-31": 210.0}
    prices = [
        d["unit_price"]
        for d in records.values()
        if d.get("name") == "Harbour Lights Trust" and "modified_on" in d
    ]
    assert prices == [238.1]


def test_a_holding_that_says_too_little_is_told(tmp_path: Path) -> None:
    odd = [
        position("STOCK", "", "1", "1"),
        position("OPT", "1", "many", "1"),
        "<POSOTHER></POSOTHER>\n",
    ]
    path = put(tmp_path, investments(*odd, names=(named("DEBT", "", "x"),)))
    assert [found.reason for found in told(SOURCE, path)] == [
        "a holding without a security, a number, a day or an account"
    ] * 3 + ["a security without a number"]


def test_shares_that_are_split_or_moved_cost_nothing(tmp_path: Path) -> None:
    moved = (
        b"<SPLIT><INVTRAN><FITID>s1<DTTRADE>20260204</INVTRAN><SECID><UNIQUEID>US0378331005</SECID>"
        b"<OLDUNITS>3<NEWUNITS>6</SPLIT><TRANSFER><INVTRAN><FITID>t1<DTTRADE>20260205</INVTRAN>"
        b"<SECID><UNIQUEID>US0378331005</SECID><UNITS>2<TFERACTION>IN</TRANSFER></INVTRANLIST>"
        b"<INVPOSLIST><POSSTOCK><INVPOS><SECID><UNIQUEID>US0378331005</SECID><UNITS>8"
        b"</INVPOS></POSSTOCK></INVPOSLIST>"
    )
    shares = SHARES.replace(b"</INVTRANLIST>", moved)
    path = put(tmp_path, sgml(COFFEE).replace(b"</OFX>", shares + b"</OFX>"))
    kinds = {
        data["kind"]: (data["amount_text"], data["units"])
        for data in read(SOURCE, path).values()
        if data.get("amount_text") and data.get("security")
    }
    assert kinds == {
        "stock bought": ("-31.50", 3.0),
        "split of shares": ("0", 6.0),
        "security transferred": ("0", 2.0),
    }
    assert not told(SOURCE, path)


def test_months_of_one_account_are_that_account_in_one_file_and_in_many(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    one = look(SOURCE, put(tmp_path / "a", sgml(COFFEE), "january.ofx"))
    put(tmp_path / "b", sgml(COFFEE), "january.ofx")
    put(tmp_path / "b", sgml(RENT), "february.ofx")
    many = look(SOURCE, tmp_path / "b")
    assert isinstance(one, Recognition)
    assert isinstance(many, Recognition)
    assert (many.identity, many.account) == (one.identity, one.account)
    put(tmp_path / "b", CARD, "card.QFX")
    assert sorted(SOURCE.roots(open_tree(tmp_path / "b"))) == [
        "card.QFX",
        "february.ofx",
        "january.ofx",
    ]


def test_equal_transactions_without_a_name_are_all_kept_and_come_once(tmp_path: Path) -> None:
    coffee = movement("", "20260113", "-4.50", "Bakery")
    path = put(tmp_path, sgml(coffee, coffee))
    assert [data["payee"] for data in read(SOURCE, path).values() if "payee" in data] == [
        "Bakery",
        "Bakery",
    ]
    check_twice(path, tmp_path)


def test_what_is_not_booked_and_what_is_owed_are_told(tmp_path: Path) -> None:
    more = (
        "<BANKTRANLISTP><STMTTRNP><TRNTYPE>DEBIT<DTTRAN>20260113<TRNAMT>-9<NAME>Inn</STMTTRNP>"
        "</BANKTRANLISTP></STMTRS></STMTTRNRS></BANKMSGSRSV1><LOANMSGSRSV1><LOANSTMTRS>"
        "<CURDEF>EUR<LOANACCTFROM><LOANACCTID>77</LOANACCTFROM><LOANTRANLIST><LOANSTMTTRN>"
        "<DTPOSTED>20260113</LOANSTMTTRN></LOANTRANLIST></LOANSTMTRS></LOANMSGSRSV1></OFX>"
    )
    statement = sgml(movement("1", "20260113", "-4.50", "Bakery")).decode()
    path = put(tmp_path, (statement[: statement.index("</STMTRS>")] + more).encode())
    assert [found.reason for found in told(SOURCE, path)] == [
        "a transaction that is not booked",
        "a transaction without a date, an amount or an account",
    ]
    kinds = [
        data.get("kind") for (stream, _), data in read(SOURCE, path).items() if stream == "accounts"
    ]
    assert "loan" in kinds


def test_an_account_of_a_bank_without_a_kind_is_no_card(tmp_path: Path) -> None:
    path = tmp_path / "giro.ofx"
    path.write_bytes(sgml(RENT).replace(b"<ACCTTYPE>CHECKING", b"<ACCTTYPE></ACCTTYPE>"))
    [account] = [data for (stream, _), data in read(SOURCE, path).items() if stream == "accounts"]
    assert account["kind"] == "bank account"


def test_a_statement_of_a_card_that_ends_as_another_is_whole(tmp_path: Path) -> None:
    text = sgml(COFFEE).decode("latin-1")
    for name in ("STMTTRNRS", "STMTRS"):
        text = text.replace(f"<{name}>", f"<CC{name}>")
    text = text.replace("BANKACCTFROM>", "CCACCTFROM>").replace("</STMTTRNRS>", "</CCSTMTTRNRS>")
    path = tmp_path / "card.ofx"
    path.write_bytes(text.encode("latin-1"))
    assert b"<CCSTMTRS>" in path.read_bytes()
    assert b"</STMTRS>" in path.read_bytes()
    assert told(SOURCE, path) == []
    assert sorted(stream for stream, _ in read(SOURCE, path)) == ["accounts", "transactions"]
