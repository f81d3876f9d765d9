"""Bank statements as CSV tables, of banks in several countries."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.shell import pdpp_here
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_hostile_text,
    check_overlap,
    check_twice,
    golden,
    look,
    read,
    told,
)

from pdpp.model.errors import ImportRefused
from pdpp.sources.formats.bank_csv.amounts import read_amount
from pdpp.sources.formats.bank_csv.source import BankCsv
from pdpp.sources.item import Skipped, Unknown
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import Confidence, ExportRefusal, OwnerChoices, Recognition

SOURCE = BankCsv()

GERMAN = """"Kontonummer:";"DE00 1234"
"Zeitraum:";"Januar 2026"

"Buchungstag";"Begünstigter/Zahlungspflichtiger";"Verwendungszweck";"Betrag";"Währung";"IBAN"
"31.01.2026";"Café Tejo";"Zwei Kaffee";"-4,50";"EUR";"PT50"
"01.02.2026";"Vermieter";"Miete für den Leuchtturm im Februar";"-1.250,00";"EUR";"DE11"
"01.02.2026";"Café Tejo";"Zwei Kaffee";"-4,50";"EUR";"PT50"
"01.02.2026";"Café Tejo";"Zwei Kaffee";"-4,50";"EUR";"PT50"
"""
BRITISH = """Date,Description,Paid out,Paid in,Balance
13/02/2026,"Harbour office, pay",,"£3,100.10","£4,000.00"
14/02/2026,Bakery,£9.00,,"£3,991.00"
"""
AMERICAN = "Transaction Date,Description,Amount\n1/31/2026,COFFEE,(4.50)\n2/1/2026,PAY,+10\n"


def put(folder: Path, text: str, name: str = "statement.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_is_recognised_and_its_reading_told(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, GERMAN))
    assert isinstance(seen, Recognition)
    assert (seen.confidence, seen.account) == (Confidence.LIKELY, "Bank (statement)")
    assert "amount ← 'Betrag'" in seen.notes[0]
    assert "dates as %d.%m.%Y, decimals after ','" in seen.notes[0]


@pytest.mark.parametrize(
    ("name", "account"),
    [
        ("Umsatzanzeige_DE02120300000000202051_20260131", "Umsatzanzeige_…2051_20260131"),
        ("DE02 1203 0000 0000 2020 51", "…2051"),
        ("card 4111-1111-1111-1111 (2)", "card …1111"),
        ("20260101-0042000123-umsatz", "20260101-…0123-umsatz"),
        ("Main_2026-01-01_2026-01-31 01022026", "Main_2026-01-01_2026-01-31 01022026"),
    ],
)
def test_an_account_is_not_called_by_its_whole_number(
    tmp_path: Path, name: str, account: str
) -> None:
    seen = look(SOURCE, put(tmp_path, GERMAN, f"{name}.csv"))
    assert isinstance(seen, Recognition)
    assert seen.account == f"Bank ({account})"


def test_other_tables_are_not_taken(tmp_path: Path) -> None:
    assert look(SOURCE, put(tmp_path, "name,size\nboat,3\n")) is None
    assert look(SOURCE, put(tmp_path, "Date,Amount\nsoon,3\n")) is None
    assert look(SOURCE, put(tmp_path, "Date,Amount\n,\n")) is None
    assert look(SOURCE, put(tmp_path, "just text\n")) is None


def test_statements_of_several_countries_give_these_records(tmp_path: Path) -> None:
    records = {
        (f"{stream} {name}", key): data
        for name, text in (("de", GERMAN), ("uk", BRITISH), ("us", AMERICAN))
        for (stream, key), data in read(SOURCE, put(tmp_path, text)).items()
    }
    golden("bank_csv", records)


@pytest.mark.parametrize(
    ("text", "decimal", "amount"),
    [
        ("1.234,50 €", ",", "1234.50"),
        ("$1,234.50", ".", "1234.50"),
        ("4,50-", ",", "-4.50"),
        ("(4.50)", ".", "-4.50"),
        ("\u22123", ".", "-3"),
        ("1'000.00", ".", "1000.00"),
        ("n/a", ".", None),
        ("1.2.3", ".", None),
        ("- $20.00", ".", "-20.00"),
        ("125,50 kr.", ",", "125.50"),
        ("Rs.500.00", ".", "500.00"),
        (".50", ".", "0.50"),
        ("-.50", ".", "-0.50"),
        ("0000450,00", ",", "450.00"),
        ("1,23,456.50", ".", "123456.50"),
        ("4.50 DR", ".", "-4.50"),
        ("4.50CR", ".", "4.50"),
    ],
)
def test_amounts_are_read_exactly(text: str, decimal: str, amount: str | None) -> None:
    found = read_amount(text, decimal)
    assert (None if found is None else format(found, "f")) == amount


def test_the_owner_maps_columns_that_nobody_knows_and_the_mapping_is_kept(tmp_path: Path) -> None:
    text = "Wann;Wieviel;Wozu\n2026-01-31;-4,50;Kaffee am Leuchtturm\n"
    path = put(tmp_path, text, "januar.csv")
    assert look(SOURCE, path) is None
    refused = look(SOURCE, path, memo="Wozu")
    assert isinstance(refused, ExportRefusal)
    assert "'Wann', 'Wieviel', 'Wozu'" in refused.message
    home = Home(tmp_path / "home")
    mapped = ("--set", "date=Wann", "--set", "amount=wieviel", "--set", "memo=Wozu")
    home.bring(path, *mapped, "--set", "account=Giro")
    later = put(tmp_path, text + "2026-02-01;-1,00;Brot\n", "februar.csv")
    report = home.bring(later)
    assert report["counts"]["new"] == 1
    assert report["counts"]["unchanged"] == 1
    assert {data["memo"] for data in home.records().values()} == {"Kaffee am Leuchtturm", "Brot"}


def test_a_wrong_mapping_is_refused_with_what_there_is(tmp_path: Path) -> None:
    path = put(tmp_path, AMERICAN)
    with pytest.raises(ImportRefused, match="there is no column 'Nope'; there are 'Transaction"):
        look(SOURCE, path, payee="Nope")
    with pytest.raises(ImportRefused, match="date_form"):
        look(SOURCE, path, date_form="%Q")
    with pytest.raises(ImportRefused, match="decimal"):
        look(SOURCE, path, decimal="!")


def test_a_row_without_a_date_or_an_amount_is_told(tmp_path: Path) -> None:
    text = BRITISH + "15/02/2026,Nothing,,,\n,Also nothing,1,,\n1,2,3,4,5,6\n"
    path = put(tmp_path, text)
    seen = told(SOURCE, path, date_form="%d/%m/%Y")
    assert [found.reason for found in seen] == [
        "a row without a date or an amount",
        "a row without a date or an amount",
        "a row with more cells than columns",
    ]


def test_a_statement_that_breaks_off_in_its_last_row_is_told_and_the_row_left_out(
    tmp_path: Path,
) -> None:
    whole = GERMAN.rstrip()
    start = whole.rindex("\n") + 1
    assert told(SOURCE, put(tmp_path, whole)) == []
    empty_at_the_end = whole.rindex(";") + 1  # Such a row may be a whole one.
    for end in {*range(start + 1, len(whole))} - {empty_at_the_end}:
        path = put(tmp_path, whole[:end])
        assert len(read(SOURCE, path)) == 3
        [cut] = told(SOURCE, path)
        assert cut == Skipped("a last row that is cut off", "statement.csv line 8", cut=True)


def test_the_same_file_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(put(tmp_path, GERMAN), tmp_path)


def test_a_month_and_then_two_are_the_two(tmp_path: Path) -> None:
    more = put(tmp_path, GERMAN + '"02.02.2026";"Bäcker";"Brot";"-3,00";"EUR";""\n', "b.csv")
    account = ("--set", "account=Giro")
    check_overlap(put(tmp_path, GERMAN, "a.csv"), more, tmp_path, *account)


def test_hostile_tables_are_survived(tmp_path: Path) -> None:
    def place(content: bytes) -> Path:
        path = tmp_path / "statement.csv"
        path.write_bytes(content)
        return path

    check_hostile_text(SOURCE, GERMAN.encode(), place)
    check_hostile_text(SOURCE, BRITISH.encode(), place)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=6))
def test_equal_rows_of_one_day_keep_their_keys_when_more_follow(payees: list[str]) -> None:
    from tempfile import TemporaryDirectory

    lines = [f"2026-01-31,{payee},-1.00\n" for payee in payees]
    with TemporaryDirectory() as folder:
        some = read(SOURCE, put(Path(folder), "Date,Payee,Amount\n" + "".join(lines)))
        whole = read(
            SOURCE,
            put(Path(folder), "Date,Payee,Amount\n" + "".join(lines) + "2026-02-01,z,-1.00\n"),
        )
    assert len(some) == len(payees)
    assert set(some) <= set(whole)


def test_an_agent_finds_what_was_written_on_a_payment(tmp_path: Path) -> None:
    path = put(tmp_path, GERMAN)
    report = bring_and_ask(path, tmp_path, "Leuchtturm", "Miete für den Leuchtturm im Februar")
    assert report["counts"]["new"] == 4


def amounts(path: Path) -> list[str]:
    return [data["amount_text"] for data in read(SOURCE, path).values()]


def test_a_column_that_says_debit_gives_amounts_their_sign(tmp_path: Path) -> None:
    header = "Date,Description,Amount,Transaction Type\n"
    mint = f"{header}1/31/2026,Tea,3.50,debit\n2/1/2026,Pay,9,credit\n"
    assert amounts(put(tmp_path, mint)) == ["-3.50", "9"]
    dutch = "Datum;Naam / Omschrijving;Af Bij;Bedrag (EUR)\n2026-01-31;Thee;Af;3,50\n"
    assert amounts(put(tmp_path, dutch)) == ["-3.50"]


def test_a_column_that_says_other_things_too_stays_as_it_is(tmp_path: Path) -> None:
    other = "Date,Description,Amount,Transaction Type\n2026-01-31,Tea,-3.50,Card payment\n"
    [data] = read(SOURCE, put(tmp_path, other)).values()
    assert (data["amount_text"], data["other"]) == ("-3.50", {"Transaction Type": "Card payment"})


def test_day_and_month_are_told_apart_by_the_whole_column(tmp_path: Path) -> None:
    rows = "".join(f"0{month}/0{day}/2026,x,1\n" for month in (1, 2) for day in (1, 4, 9))
    days = [
        d["booked_on"] for d in read(SOURCE, put(tmp_path, f"Date,Memo,Amount\n{rows}")).values()
    ]
    assert days[0] == "2026-01-01"
    assert days[-1] == "2026-02-09"


def test_a_header_after_a_hash_is_a_header(tmp_path: Path) -> None:
    assert amounts(put(tmp_path, "#Date,Memo,Amount\n2026-01-31,Tea,-3.50\n")) == ["-3.50"]


def test_an_amount_that_no_float_holds_comes_in_to_the_digit_and_again_unchanged(
    tmp_path: Path,
) -> None:
    table = "Date,Description,Amount\n31/01/2026,Satoshi,123456789012.345678\n"
    path = put(tmp_path, table)
    (data,) = read(SOURCE, path).values()
    assert data["amount"] == Decimal("123456789012.345678")
    check_twice(path, tmp_path)


HEADER = "Date,Description,Amount\n"
JANUARY = HEADER + "2026-01-02,Account fee,-3.00\n2026-01-09,Bakery,-4.50\n"
FEBRUARY = HEADER + "2026-02-02,Account fee,-3.00\n2026-02-10,Fishmonger,-12.00\n"


def test_two_accounts_of_one_bank_stay_apart_though_their_rows_are_alike(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    one = home.bring(put(tmp_path, JANUARY, "Chase4321_Activity_20260131.csv"))
    rows = (
        HEADER
        + "2026-01-02,Account fee,-3.00\n"
        + "".join(f"2026-01-{day:02},Shop {day},-1.00\n" for day in range(3, 20))
    )
    two = home.bring(put(tmp_path, rows, "Chase8765_Activity_20260131.csv"))
    assert one["connection"]["connection_id"] != two["connection"]["connection_id"]
    assert two["counts"]["new"] == 18, "the fee of the second account is no repeat of the first's"
    later = home.bring(put(tmp_path, FEBRUARY, "Chase4321_Activity_20260228 (1).csv"))
    assert later["connection"]["connection_id"] == one["connection"]["connection_id"]


BALANCES = "Date,Description,Amount,Balance\n"


@pytest.mark.parametrize(
    ("joint", "own"),
    [
        (
            HEADER + "2026-03-01,Rent,-900.00\n2026-03-02,Coffee,-3.00\n",
            HEADER + "2026-03-02,Coffee,-3.00\n2026-03-03,Shoes,-50.00\n",
        ),
        (
            BALANCES + "2026-03-01,Coffee,-3.00,97.00\n2026-03-02,Coffee,-3.00,94.00\n",
            BALANCES + "2026-03-01,Coffee,-3.00,497.00\n2026-03-02,Coffee,-3.00,494.00\n",
        ),
    ],
)
def test_what_two_short_statements_share_by_chance_makes_them_no_account(
    tmp_path: Path, joint: str, own: str
) -> None:
    folder = tmp_path / "downloads"
    folder.mkdir()
    put(folder, joint, "joint.csv")
    put(folder, own, "own.csv")
    shown = pdpp_here("import", folder, "--yes", data=tmp_path / "home")
    assert shown.out.count("transactions: 2 new") == 2
    assert "Bank (own)    new, unless another one here is the same account" in shown.err


def test_one_payment_with_the_same_balance_behind_it_joins_two_months(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    last = "2026-01-31,Coffee,-3.00,94.00\n"
    january = "2026-01-05,Rent,-900.00,97.00\n2026-01-20,Pay,900.00,997.00\n" + last
    february = last + "2026-02-03,Rope,-4.00,90.00\n2026-02-09,Tea,-5.00,85.00\n"
    one = home.bring(put(tmp_path, BALANCES + january, "one.csv"))
    two = home.bring(put(tmp_path, BALANCES + february, "two.csv"))
    assert two["connection"]["connection_id"] == one["connection"]["connection_id"]
    assert (two["counts"]["new"], two["counts"]["unchanged"]) == (2, 1)


@pytest.mark.parametrize("form", ["above", "column"])
def test_the_number_that_a_statement_tells_is_its_account(tmp_path: Path, form: str) -> None:
    def statement(number: str, text: str) -> str:
        if form == "above":
            return f'"IBAN:","{number}"\n"Period:","a month"\n\n{text}'
        lines = text.splitlines()
        return "\n".join([f"Account Number,{lines[0]}", *(f"{number},{row}" for row in lines[1:])])

    home = Home(tmp_path / "home")
    reports = [
        home.bring(put(tmp_path, statement(number, text), "transactions.csv"))["connection"][
            "connection_id"
        ]
        for number, text in (
            ("DE02 1203 0000 0000 2020 51", JANUARY),
            ("DE02 5001 0517 0137 0750 30", JANUARY),
            ("DE02120300000000202051", FEBRUARY),
        )
    ]
    assert reports[0] == reports[2] != reports[1]


def test_whose_a_statement_is_is_said_once_and_remembered_from_month_to_month(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home")
    one = home.bring(put(tmp_path, JANUARY, "umsaetze_2026-01.csv"), "--account", "Giro")
    two = home.bring(put(tmp_path, JANUARY, "kreditkarte_2026-01.csv"), "--account", "Card")
    assert one["connection"]["connection_id"] != two["connection"]["connection_id"]
    later = home.bring(put(tmp_path, FEBRUARY, "umsaetze_2026-02.csv"))
    assert later["connection"]["connection_id"] == one["connection"]["connection_id"]
    card = home.bring(put(tmp_path, FEBRUARY, "kreditkarte_2026-02.csv"))
    assert card["connection"]["connection_id"] == two["connection"]["connection_id"]


CHASE = (
    "Details,Posting Date,Description,Amount,Type,Balance,Check or Slip #\n"
    "DEBIT,01/13/2026,Bakery,-4.50,ACH_DEBIT,100.00,,\nCREDIT,01/14/2026,Pay,9.00,ACH,109.00,,\n"
)
DUTCH = (
    '"Datum";"Naam / Omschrijving";"Rekening";"Tegenrekening";"Code";"Af Bij";"Bedrag (EUR)"\n'
    '"20260113";"Bakker";"NL1";"NL2";"BA";"Af";"4,50"\n'
    '"20260114";"Haven";"NL1";"NL3";"OV";"Bij";"9,00"\n'
)
SHORT = (
    "Umsatzanzeige;Datei erstellt am: 13.01.2026\n\nIBAN;DE12 5001 0517 0000 0000 00\n"
    "Kontoname;Girokonto\nBank;ING\nKunde;Nora\nZeitraum;01.01.2026 - 13.01.2026\n\n"
    "Buchung;Empfänger;Verwendungszweck;Saldo;Währung;Betrag;Währung\n"
    "13.01.2026;Bäcker;Brot;100,00;EUR;-4,50;EUR\n"
)
PAYPAL = (
    '"Date","Time","Name","Type","Status","Currency","Gross","Fee","Net"\n'
    '"13/01/2026","10:00:00","Bakery","Payment","Completed","EUR","-5,00","0,50","-4,50"\n'
)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (CHASE, ["-4.50", "9.00"]),
        (DUTCH, ["-4.50", "9.00"]),
        (SHORT, ["-4.50"]),
        (PAYPAL, ["-4.50"]),
    ],
)
def test_tables_with_open_ends_days_in_digits_and_long_heads_are_read(
    tmp_path: Path, table: str, expected: list[str]
) -> None:
    path = put(tmp_path, table)
    assert amounts(path) == expected
    assert {data["booked_on"][:7] for data in read(SOURCE, path).values()} == {"2026-01"}


def test_a_payment_that_is_not_booked_is_told_and_left_out(tmp_path: Path) -> None:
    rows = "2026-01-02,Bakery,-4.50,COMPLETED\n2026-01-02,Ferry,-9.99,REVERTED\n"
    path = put(tmp_path, f"Completed Date,Description,Amount,State\n{rows},Inn,-1.00,PENDING\n")
    assert amounts(path) == ["-4.50"]
    reasons = [found.reason for found in told(SOURCE, path)]
    assert reasons == ["a payment that is not booked"] * 2


def test_a_card_whose_spending_has_no_sign_is_turned_unless_said_otherwise(tmp_path: Path) -> None:
    rows = "01/13/2026,Bakery,NORA,-1001,4.50\n01/14/2026,PAYMENT,NORA,-1001,-50.00\n"
    path = put(tmp_path, f"Date,Description,Card Member,Account #,Amount\n{rows}")
    assert amounts(path) == ["-4.50", "50.00"]
    as_written = read(SOURCE, path, sign="as written").values()
    assert [data["amount_text"] for data in as_written] == ["4.50", "-50.00"]
    with pytest.raises(ImportRefused, match="sign must be"):
        look(SOURCE, path, sign="sideways")


def test_statements_of_a_folder_are_found_each_by_itself(tmp_path: Path) -> None:
    folder = tmp_path / "Downloads"
    folder.mkdir()
    put(folder, JANUARY, "Main 1111.csv")
    put(folder, FEBRUARY, "Savings 2222.csv")
    put(folder, "Name,Length\nAda,7\n", "boats.csv")
    home = Home(tmp_path / "data")
    assert home.run(folder, "--yes").code == 0
    days = sorted(data["booked_on"] for data in home.records().values())
    assert days == ["2026-01-02", "2026-01-09", "2026-02-02", "2026-02-10"]


WELLS_FARGO = (
    '"02/03/2026","-4.50","*","","HARBOUR BAKERY LISBOA PT"\n'
    '"02/02/2026","-1,250.00","*","1044","RENT OF THE LANTERN ROOM"\n'
    '"01/12/2026","3100.10","*","","HARBOUR OFFICE PAYROLL"\n'
    '"01/05/2026","-4.50","","","HARBOUR BAKERY LISBOA PT"\n'
)


def test_a_table_without_a_header_is_known_by_all_of_its_lines(tmp_path: Path) -> None:
    records = read(SOURCE, put(tmp_path, WELLS_FARGO, "Checking1.csv"))
    assert [(d["booked_on"], d["amount_text"], d["memo"]) for d in records.values()] == [
        ("2026-02-03", "-4.50", "HARBOUR BAKERY LISBOA PT"),
        ("2026-02-02", "-1250.00", "RENT OF THE LANTERN ROOM"),
        ("2026-01-12", "3100.10", "HARBOUR OFFICE PAYROLL"),
        ("2026-01-05", "-4.50", "HARBOUR BAKERY LISBOA PT"),
    ]
    assert [d["other"] for d in records.values() if "other" in d] == [{"Check number": "1044"}]


@pytest.mark.parametrize("at", range(2, 5))
@pytest.mark.parametrize(
    "odd",
    [
        '"13/02/2026","-4.50","*","","Bakery"',
        '"01/02/2026","-4.5","*","","Bakery"',
        '"01/02/2026","-4.50","x","","Bakery"',
        '"01/02/2026","-4.50","*","a","Bakery"',
        '"01/02/2026","-4.50","*","",""',
        '"01/02/2026","-4.50","*",""',
        '"01/02/2026","-4.50","*","","Bakery","more"',
    ],
)
def test_a_table_without_a_header_of_which_one_line_is_otherwise_is_refused(
    tmp_path: Path, odd: str, at: int
) -> None:
    lines = WELLS_FARGO.splitlines()
    lines.insert(at, odd)
    refused = look(SOURCE, put(tmp_path, "\n".join(lines) + "\n"))
    assert isinstance(refused, ExportRefusal)
    assert f"line {at + 1}" in refused.message
    assert "--set date='column 1'" in refused.message


def test_one_line_without_a_header_is_no_statement(tmp_path: Path) -> None:
    refused = look(SOURCE, put(tmp_path, WELLS_FARGO.splitlines()[0]))
    assert isinstance(refused, ExportRefusal)
    assert "only 1 line" in refused.message


SENSOR = "2026-01-01,3.50,warm\n2026-01-02,4.25,cold\n"
BALANCED = "2026-01-01,-3.50,100.00,Tea\n2026-01-02,-4.25,95.75,Rope\n"


def test_other_tables_without_a_header_are_taken_only_if_the_owner_says_so(tmp_path: Path) -> None:
    path = put(tmp_path, SENSOR)
    assert look(SOURCE, path) is None
    home = Home(tmp_path / "home")
    report = home.bring(path, "--as", "bank_csv")
    assert report["counts"]["new"] == 2
    assert {d["memo"]: d["amount"] for d in home.records().values()} == {"warm": 3.5, "cold": 4.25}


def test_columns_that_lines_do_not_tell_apart_must_be_said(tmp_path: Path) -> None:
    path = put(tmp_path, BALANCED)
    refused = look(SOURCE, path, memo="column 4")
    assert isinstance(refused, ExportRefusal)
    assert "what its amount is cannot be told" in refused.message
    assert "'column 2', 'column 3'" in refused.message
    told_columns = {"date": "column 1", "amount": "column 2", "memo": "column 4"}
    # A line with another delimiter in its words could be taken for a header.
    path = put(tmp_path, BALANCED.replace("Tea", "Tea; milk").replace("Rope", "Rope; tar"))
    records = read(SOURCE, path, **told_columns, balance="column 3")
    assert [(d["amount_text"], d["balance_text"]) for d in records.values()] == [
        ("-3.50", "100.00"),
        ("-4.25", "95.75"),
    ]


# Statements as banks of many countries write them. Each is a header and two payments.

EVERYWHERE = {
    "a footer where dates stand": (
        "Buchungstag;Wert;Begünstigter / Auftraggeber;Verwendungszweck;Betrag;Währung\n"
        "13.01.2026;13.01.2026;Bäcker;Brot;-4,50;EUR\n"
        "14.01.2026;14.01.2026;Hafen;Lohn;1.500,00;EUR\n"
        "Kontostand;14.01.2026;;;1.495,50;EUR\n"
    ),
    "a side in a column without a name": (
        '"Buchungstag";"Empfänger/Zahlungspflichtiger";"Währung";"Umsatz";" "\n'
        '"13.01.2026";"Bäcker";"EUR";"4,50";"S"\n"14.01.2026";"Hafen";"EUR";"1.500,00";"H"\n'
        '"01.01.2026";"Anfangssaldo";"EUR";"10,00";"H"\n'
    ),
    "two columns that could tell the side": (
        '"Date","Name / Description","Debit/credit","Amount (EUR)","Transaction type"\n'
        '"20260113","Baker","Debit","4,50","Payment terminal"\n'
        '"20260114","Harbour","Credit","1500,00","Transfer"\n'
    ),
    "money that came with a minus": (
        "Status,Date,Description,Debit,Credit\n"
        "Cleared,01/13/2026,BAKER,4.50,\nCleared,01/14/2026,HARBOUR,,-1500.00\n"
    ),
    "months as words": (
        '"Date","Transaction type","Description","Paid out","Paid in","Balance"\n'
        '"13 Jan 2026","Visa purchase","BAKER","£4.50","","£10.00"\n'
        '"14 Jan 2026","Bank credit","HARBOUR","","£1,500.00","£1,510.00"\n'
    ),
    "years of two digits": (
        "Transaction Description,Transaction Date,Transaction Type,Transaction Amount,Balance\n"
        "Baker,01/13/26,Debit,4.50,10.00\nHarbour,01/14/26,Credit,1500.00,1510.00\n"
    ),
    "lakhs": (
        "Txn Date,Description,Debit,Credit,Balance\n"
        '13 Jan 2026,BAKER,4.50, ,"1,00,000.00"\n14 Jan 2026,HARBOUR, ,"1,500.00","1,01,500.00"\n'
    ),
    "letters behind amounts": (
        'Date,Description,Amount\n13/01/2026,BAKER,4.50 Dr\n14/01/2026,HARBOUR,"1,500.00 Cr"\n'
    ),
    "letters only behind what came": (
        "Date,Description,Amount\n13/01/2026,BAKER,4.50\n14/01/2026,HARBOUR,1500.00CR\n"
    ),
    "a card of Discover": (
        "Trans. Date,Post Date,Description,Amount,Category\n"
        "01/13/2026,01/13/2026,BAKER,4.50,Food\n01/14/2026,01/14/2026,PAYMENT,-1500.00,Payments\n"
    ),
    "a card of Apple": (
        "Transaction Date,Clearing Date,Description,Merchant,Type,Amount (USD),Purchased By\n"
        "01/13/2026,01/14/2026,BAKER,Baker,Purchase,4.50,Nora\n"
        "01/14/2026,01/15/2026,DEPOSIT,Bank,Payment,-1500.00,Nora\n"
    ),
    "a card of German American Express": (
        "Datum,Beschreibung,Karteninhaber,Konto #,Betrag\n"
        '13/01/2026,BAECKER,NORA,-1001,"4,50"\n14/01/2026,ZAHLUNG,NORA,-1001,"-1.500,00"\n'
    ),
    "Britain": (
        "Transaction Date,Sort Code,Transaction Description,Debit Amount,Credit Amount,Balance\n"
        "13/01/2026,'30-00-00,BAKER,4.50,,10.00\n14/01/2026,'30-00-00,PAY,,1500.00,1510.00\n"
    ),
    "France": (
        "Date;Libellé;Débit euros;Crédit euros;\n"
        '13/01/2026;"CARTE\nBOULANGER";4,50;;\n14/01/2026;"PORT";;1 500,00;\n'
    ),
    "Italy": (
        "Data_Operazione;Data_Valuta;Entrate;Uscite;Descrizione\n"
        "13/01/2026;13/01/2026;;-4,50;Forno\n14/01/2026;14/01/2026;1.500,00;;Porto\n"
    ),
    "Switzerland": (
        '"Datum";"Buchungstext";"Belastung CHF";"Gutschrift CHF";"Saldo CHF"\n'
        '"13.01.2026";"Bäcker";"4.50";"";"10.00"\n"14.01.2026";"Hafen";"";"1\'500.00";"1510.00"\n'
    ),
    "Sweden": (
        "Bokföringsdag;Belopp;Namn;Rubrik;Saldo;Valuta\n"
        "2026/01/13;-4,50;Bagare;Bröd;10,00;SEK\n2026/01/14;1500,00;Hamn;Lön;1510,00;SEK\n"
    ),
    "Norway": (
        "Dato;Beskrivelse;Rentedato;Inn;Ut;Til konto;Fra konto;\n"
        "13.01.2026;BAKER;13.01.2026;;-4,50;;12;\n14.01.2026;HAVN;14.01.2026;1500,00;;12;;\n"
    ),
    "Croatia": (
        "Datum izvršenja;Opis plaćanja;Isplata;Uplata;Stanje\n"
        "13.01.2026.;PEKARA;4,50;;10,00\n14.01.2026.;LUKA;;1.500,00;1.510,00\n"
    ),
    "China": (
        "交易时间,交易对方,商品,收/支,金额(元)\n"
        "2026-01-13 10:00:00,面包店,面包,支出,¥4.50\n2026-01-14 10:00:00,港口,工资,收入,¥1500.00\n"
    ),
}


@pytest.mark.parametrize("place", EVERYWHERE)
def test_statements_of_many_banks_come_in_with_their_signs(tmp_path: Path, place: str) -> None:
    records = read(SOURCE, put(tmp_path, EVERYWHERE[place])).values()
    assert [(d["booked_on"], d["amount"]) for d in records] == [
        ("2026-01-13", -4.5),
        ("2026-01-14", 1500),
    ]
    assert all(d.get("payee") or d.get("memo") for d in records)


@pytest.mark.parametrize(
    ("encoding", "text", "memo"),
    [
        (
            "cp1250",
            "Data operacji;Opis operacji;Kwota\n2026-01-13;Żółta łódź;-4,50\n",
            "Żółta łódź",
        ),
        ("cp1250", "Datum;Popis;Částka;Měna\n13.01.2026;Člun;-4,50;CZK\n", "Člun"),
        ("cp1251", "Дата операции;Описание;Сумма\n13.01.2026;Лодка;-4,50\n", "Лодка"),
        ("cp932", "取引日,入出金(円),残高(円),摘要\n20260113,-450,100,船\n", "船"),
        (
            "big5",
            "活存明細查詢\n日期,摘要,支出,存入,結餘,備註\n2026/01/13,船,450,,100,港口\n",
            "船",
        ),
        ("cp950", "交易日期,帳務日期,說明,提出,存入,餘額\n2026/01/13,2026/01/13,船,45,,9\n", "船"),
        ("gb18030", "交易时间,商品说明,收/支,金额\n2026-01-13 10:00:00,船,支出,4.50\n", "船"),
    ],
)
def test_the_letters_of_a_bank_are_told_by_the_words_of_its_header(
    tmp_path: Path, encoding: str, text: str, memo: str
) -> None:
    path = tmp_path / "statement.csv"
    path.write_bytes(text.encode(encoding))
    (data,) = read(SOURCE, path).values()
    assert data["memo"] == memo
    assert data["amount"] < 0


def test_a_row_that_is_a_balance_or_open_is_told_and_left_out(tmp_path: Path) -> None:
    text = (
        ';\n"Umsätze";"30 Tage";\n"Neuer Kontostand";"1.000,00 EUR";\n\n'
        '"Buchungstag";"Vorgang";"Buchungstext";"Umsatz in EUR";\n'
        '"offen";"Karte";"Bäcker";"-5,00";\n"13.01.2026";"Karte";"Bäcker";"-4,50";\n'
        '"12.01.2026";"";"Endsaldo";"10,00";\n"Alter Kontostand";"500,00 EUR";\n'
    )
    path = put(tmp_path, text)
    assert amounts(path) == ["-4.50"]
    assert [found.reason for found in told(SOURCE, path)] == [
        "a payment that is not booked",
        "a balance, which is no payment",
        "a row without a date or an amount",
    ]


def test_the_currency_and_the_payer_are_told_by_headers(tmp_path: Path) -> None:
    text = (
        '"Buchungsdatum";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Betrag (€)"\n'
        '"13.01.26";"Nora";"Bäcker";"-4,5"\n"14.01.26";"Hafen";"Nora";"1.500"\n'
    )
    records = read(SOURCE, put(tmp_path, text)).values()
    assert [(d["payee"], d["currency"]) for d in records] == [("Bäcker", "EUR"), ("Hafen", "EUR")]


def test_a_day_in_a_column_called_valuta_is_no_currency(tmp_path: Path) -> None:
    text = "Datum;Omschrijving;Valuta;Bedrag;Munt\n13/01/2026;BAKKER;14/01/2026;-4,50;EUR\n"
    (data,) = read(SOURCE, put(tmp_path, text)).values()
    assert (data["currency"], data["other"]) == ("EUR", {"Valuta": "14/01/2026"})


def test_a_column_without_a_name_is_told_by_its_number(tmp_path: Path) -> None:
    seen = look(SOURCE, put(tmp_path, EVERYWHERE["a side in a column without a name"]))
    assert isinstance(seen, Recognition)
    assert "direction ← 'column 5'" in seen.notes[0]


def test_cells_below_no_name_are_kept_under_their_number(tmp_path: Path) -> None:
    text = '"Date","Amount","Description","",""\n"2026-01-13","-4.50","Card","Place: quay",""\n'
    (data,) = read(SOURCE, put(tmp_path, text)).values()
    assert data["other"] == {"column 4": "Place: quay"}


@pytest.mark.parametrize(
    "above",
    [
        "Letzter Kontostand;;;;{sum},00;EUR\n",
        "Liste des opérations du compte entre le 01/0{month}/2026 et le 28/0{month}/2026;\n",
        "Account balance;{sum}.50\n",
    ],
)
def test_a_balance_or_a_day_above_a_table_is_no_account(tmp_path: Path, above: str) -> None:
    home = Home(tmp_path / "home")
    table = "Datum;Beschreibung;Betrag;Saldo\n13.01.2026;Brot;-4,50;1,00\n"
    more = table + "13.02.2026;Seil;-9,00;2,00\n"
    one = home.bring(put(tmp_path, above.format(sum=2000, month=1) + table))
    two = home.bring(put(tmp_path, above.format(sum=3000, month=2) + more))
    assert one["connection"]["connection_id"] == two["connection"]["connection_id"]
    assert two["counts"]["new"] == 1


def test_the_number_of_the_other_side_is_not_the_account(tmp_path: Path) -> None:
    table = "Datum;Beschreibung;Kontonummer;Betrag\n13.01.2026;Brot;DE99;-4,50\n"
    above = '"Kontonummer:";"DE02 1203 0000 0000 2020 51";\n\n'
    seen = look(SOURCE, put(tmp_path, above + table))
    assert isinstance(seen, Recognition)
    assert seen.identity == "de02120300000000202051"
    some = look(SOURCE, put(tmp_path, table + "14.01.2026;Tee;;-1,00\n"))
    assert isinstance(some, Recognition)
    assert not some.owner_known


def test_a_statement_that_was_mapped_before_is_read_by_the_same_columns(tmp_path: Path) -> None:
    text = "Datum;Betrag;Tekst\n13.01.2026;-4,50;Brot\n"
    kept = {"date": "Datum", "amount": "Betrag", "date_form": "%d.%m.%Y", "decimal": ","}
    choices = OwnerChoices(recall=lambda _key, _shape: kept)
    seen = SOURCE.recognise(open_tree(put(tmp_path, text)), choices)
    assert isinstance(seen, Recognition)
    [(_, plan)] = seen.detail["tables"]
    assert set(plan.columns) == {"date", "amount"}


def test_cards_of_american_express_without_a_holder_are_turned(tmp_path: Path) -> None:
    said = "Date,Description,Amount,Extended Details,Appears On Your Statement As"
    told_as = "Datum,Beschreibung,Betrag,Weitere Details,Erscheint auf Ihrer Abrechnung als"
    for header in (said, told_as):
        path = put(
            tmp_path, f"{header}\n15/01/2024,Bakery,12.50,,BAKERY\n16/01/2024,Thanks,-90.00,,T\n"
        )
        amounts = [data["amount"] for data in read(SOURCE, path).values()]
        assert amounts == [-12.5, 90.0]


def test_letters_of_a_zone_behind_a_time_do_not_hide_it(tmp_path: Path) -> None:
    rows = "2024-01-15 23:30:00 EST,-$12.50,Pizza\n2024-07-10 10:00:00 EDT,$5.00,Rent\n"
    found = read(SOURCE, put(tmp_path, f"Date,Amount,Notes\n{rows}")).values()
    assert [data["booked_on"] for data in found] == ["2024-01-15", "2024-07-10"]


def test_a_currency_beside_an_amount_is_kept(tmp_path: Path) -> None:
    rows = "2024-01-15;Bread;-12,50 PLN\n2024-01-16;Pay;1 000,00 zł\n2024-01-17;Tea;-3,00 €\n"
    found = read(SOURCE, put(tmp_path, f"Data;Opis operacji;Kwota\n{rows}")).values()
    assert [data.get("currency") for data in found] == ["PLN", None, "EUR"]


def test_where_no_column_is_called_as_texts_are_the_one_that_differs_most_is_the_text(
    tmp_path: Path,
) -> None:
    rows = "15.01.2024;Debit;Bakery;-12,50\n16.01.2024;Debit;Tea house;-3,00\n"
    path = put(tmp_path, f"Datum;Sorte;Womit;Betrag\n{rows}")
    found = read(SOURCE, path).values()
    assert [data["memo"] for data in found] == ["Bakery", "Tea house"]
    assert [data["other"] for data in found] == [{"Sorte": "Debit"}] * 2


def test_what_nordic_banks_only_reserve_is_not_booked(tmp_path: Path) -> None:
    rows = "2024/01/15;-12,50;Bageri\n2024/01/16;-1,00;Kiosk\nReserverat;-3,00;Kaffe\n"
    path = put(tmp_path, f"Bokföringsdag;Belopp;Rubrik\n{rows}")
    assert [found.reason for found in told(SOURCE, path)] == ["a payment that is not booked"]


REVOLUT = {
    "English": "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,"
    "Balance",
    "German": "Art,Produkt,Datum des Beginns,Datum des Abschlusses,Beschreibung,Betrag,Gebühr,"
    "Währung,Status,Kontostand",
    "French": "Type,Produit,Date de début,Date de fin,Description,Montant,Frais,Devise,État,Solde",
    "Spanish": "Tipo,Producto,Fecha de inicio,Fecha de finalización,Descripción,Importe,Comisión,"
    "Divisa,State,Saldo",
    "Italian": "Tipo,Prodotto,Data di inizio,Data di completamento,Descrizione,Importo,Costo,"
    "Valuta,State,Saldo",
    "Portuguese": "Tipo,Produto,Data de início,Data de Conclusão,Descrição,Montante,Comissão,Moeda,"
    "Estado,Saldo",
    "Polish": "Rodzaj,Produkt,Data rozpoczęcia,Data zrealizowania,Opis,Kwota,Opłata,Waluta,State,"
    "Saldo",
}
WAITING = {
    "English": "PENDING",
    "German": "AUSSTEHEND",
    "French": "EN ATTENTE",
    "Spanish": "PENDIENTE",
    "Italian": "IN SOSPESO",
    "Portuguese": "PENDENTE",
    "Polish": "OCZEKUJE",
}


@pytest.mark.parametrize("language", REVOLUT)
def test_revolut_is_read_in_its_languages_with_the_fee_beside_an_amount(
    tmp_path: Path, language: str
) -> None:
    text = (
        f"{REVOLUT[language]}\n"
        "Card,Now,2026-01-31 19:48:40,2026-02-01 07:30:04,Chandler,-39.90,0.00,EUR,DONE,160.10\n"
        "Swap,Now,2026-02-03 10:00:00,2026-02-03 10:00:01,Into crowns,-100.00,1.25,EUR,DONE,58.85\n"
        f"Card,Now,2026-02-04 10:00:00,,Ferry,-5.00,0.00,EUR,{WAITING[language]},\n"
    )
    path = put(tmp_path, text)
    found = [
        (row["memo"], row["booked_on"], row["amount_text"]) for row in read(SOURCE, path).values()
    ]
    assert found == [
        ("Chandler", "2026-02-01", "-39.90"),
        ("Into crowns", "2026-02-03", "-101.25"),
    ]
    fees = [fee for row in read(SOURCE, path).values() for fee in row["other"].values()]
    assert "1.25" in fees
    assert [each.reason for each in told(SOURCE, path)] == ["a payment that is not booked"]


def test_a_business_account_of_revolut_is_read(tmp_path: Path) -> None:
    text = (
        "Date started (UTC),Date completed (UTC),ID,Type,State,Description,Reference,Payer,"
        "Orig currency,Orig amount,Payment currency,Amount,Total amount,Fee,Balance,Account\n"
        "2026-02-01,2026-02-02,r1,CARD_PAYMENT,COMPLETED,Sails,,Nora,EUR,20.00,GBP,-17.10,-17.20,"
        "0.10,982.80,Main\n"
        "2026-02-03,,r2,TRANSFER,DECLINED,Ropes,,Nora,GBP,9.00,GBP,-9.00,-9.00,0.00,,Main\n"
    )
    path = put(tmp_path, text)
    [row] = read(SOURCE, path).values()
    assert (row["memo"], row["amount_text"], row["currency"]) == ("Sails", "-17.20", "GBP")
    assert [each.reason for each in told(SOURCE, path)] == ["a payment that is not booked"]


def test_what_paypal_only_notes_moved_no_money(tmp_path: Path) -> None:
    text = (
        "Date,Time,Name,Type,Status,Currency,Gross,Fee,Net,Transaction ID,Balance Impact\n"
        "01/31/2026,10:00:00,Chandler,Authorization,Completed,USD,-9.00,0.00,-9.00,a,Memo\n"
        "01/31/2026,10:00:05,Chandler,Payment,Completed,USD,-9.00,0.00,-9.00,b,Debit\n"
    )
    path = put(tmp_path, text)
    [row] = read(SOURCE, path).values()
    assert row["other"]["Transaction ID"] == "b"
    assert [each.reason for each in told(SOURCE, path)] == ["a payment that is not booked"]


def test_of_paypals_amounts_the_one_after_fees_counts(tmp_path: Path) -> None:
    text = (
        "Date,Time,TimeZone,Name,Type,Status,Currency,Amount,Fees,Total,Balance,Transaction ID\n"
        "31/01/2026,10:00:00,GMT,Ben,Payment,Completed,GBP,50.00,-1.75,48.25,48.25,a\n"
    )
    [row] = read(SOURCE, put(tmp_path, text)).values()
    assert row["amount_text"] == "48.25"


def test_fees_and_taxes_of_trade_republic_are_parts_of_amounts(tmp_path: Path) -> None:
    names = (
        "datetime,date,account_type,category,type,asset_class,name,symbol,shares,price,amount,fee,"
        "tax,currency,original_amount,original_currency,fx_rate,description,transaction_id,"
        "counterparty_name,counterparty_iban,payment_reference,mcc_code"
    )
    rows = (
        "2026-01-30T10:00:00Z,2026-01-30,DEFAULT,TRADING,BUY,STOCK,Sails AG,DE1,2,50,-100.00,-1.00,"
        ",EUR,,,,Buy trade,a,,,,",
        "2026-01-31T10:00:00Z,2026-01-31,DEFAULT,CASH,INTEREST_PAYMENT,,,,,,0.800000,,-0.24,EUR,,,,"
        "Interest payment,b,,,,",
        "2026-01-31T11:00:00Z,2026-01-31,DEFAULT,CASH,CARD_TRANSACTION,,Chandler,,,,-4.50,,,EUR,,,,"
        "Chandler,c,,,,5411",
    )
    found = read(SOURCE, put(tmp_path, "\n".join((names, *rows)) + "\n")).values()
    assert [(row["booked_on"], row["amount"], row.get("payee")) for row in found] == [
        ("2026-01-30", -101.0, "Sails AG"),
        ("2026-01-31", 0.56, None),
        ("2026-01-31", -4.5, "Chandler"),
    ]


WISE = (
    "ID,Status,Direction,Created on,Finished on,Source fee amount,Source fee currency,"
    "Target fee amount,Target fee currency,Source name,Source amount (after fees),Source currency,"
    "Target name,Target amount (after fees),Target currency,Exchange rate,Reference,Batch\n"
    "T-1,COMPLETED,OUT,2026-01-29 08:00:00,2026-01-30 08:00:00,0.50,EUR,,,"
    "Nora,99.50,EUR,Chandler,85.10,GBP,0.855,Rope,\n"
    "T-2,COMPLETED,IN,2026-01-30 09:00:00,2026-01-30 09:00:00,1.00,USD,,,"
    "Harbour,1600.00,USD,Nora,1500.00,EUR,0.93,Pay,\n"
    "B-3,COMPLETED,NEUTRAL,2026-01-31 08:00:00,2026-01-31 08:00:00,0.20,EUR,,,"
    "Nora,50.00,EUR,Nora,54.00,USD,1.08,,\n"
    "C-4,REFUNDED,OUT,2026-01-31 08:00:00,2026-01-31 08:00:00,0,EUR,,,"
    "Nora,9.00,EUR,Ferry,9.00,EUR,1,,\n"
    "C-5,CANCELLED,OUT,2026-01-31 08:00:00,,0,EUR,,,Nora,7.00,EUR,Ferry,7.00,EUR,1,,\n"
)


def test_of_two_amounts_of_wise_the_one_that_moved_counts(tmp_path: Path) -> None:
    path = put(tmp_path, WISE)
    assert [
        (row["booked_on"], row["amount"], row["currency"], row["payee"])
        for row in read(SOURCE, path).values()
    ] == [
        ("2026-01-30", -100.0, "EUR", "Chandler"),
        ("2026-01-30", 1500.0, "EUR", "Harbour"),
        ("2026-01-31", -50.2, "EUR", "Nora"),
        ("2026-01-31", 54.0, "USD", "Nora"),
    ]
    assert [each.reason for each in told(SOURCE, path)] == ["a payment that is not booked"] * 2
    check_twice(path, tmp_path)
    sideways = put(tmp_path, WISE.replace(",NEUTRAL,", ",SIDEWAYS,"), "sideways.csv")
    assert len(read(SOURCE, sideways)) == 2
    assert "a row of a direction that is not known" in [
        each.reason for each in told(SOURCE, sideways)
    ]


def test_a_statement_of_venmo_tells_the_other_side_and_its_balances(tmp_path: Path) -> None:
    text = (
        "Account Statement - (@Nora) ,,,,,,,,,,\nAccount Activity,,,,,,,,,,\n"
        ",ID,Datetime,Type,Status,Note,From,To,Amount (total),Beginning Balance,Ending Balance\n"
        ",,,,,,,,,$100.00,\n"
        ",1,2026-01-13T10:00:00,Payment,Complete,Bread,Nora,Baker,- $4.50,,\n"
        ",2,2026-01-14T10:00:00,Payment,Complete,Ferry,Ben,Nora,+ $20.00,,\n"
        ",3,2026-01-15T10:00:00,Charge,Complete,Rent,Nora,Ada,+ $400.00,,\n"
        ",4,2026-01-16T10:00:00,Charge,Complete,Oars,Ben,Nora,- $30.00,,\n"
        ",,,,,,,,,,$485.50\n"
    )
    path = put(tmp_path, text)
    rows = [(row["amount"], row["payee"]) for row in read(SOURCE, path).values()]
    assert rows == [(-4.5, "Baker"), (20.0, "Ben"), (400.0, "Ada"), (-30.0, "Ben")]
    assert [each.reason for each in told(SOURCE, path)] == ["a balance, which is no payment"] * 2


def test_what_was_spent_with_curve_has_a_minus(tmp_path: Path) -> None:
    text = (
        "Export Format,Date (YYYY-MM-DD as UTC),Time (HH:MM:SS as UTC), Merchant,"
        "Txn Amount (Funding Card),Txn Currency (Funding Card),Txn Amount (Foreign Spend),"
        "Txn Currency (Foreign Spend),Card Name,Card Last 4 Digits,Type,Category,Notes,Fees\n"
        "CSV,2026-01-13,10:00:00,Baker,4.50,EUR,4.20,CHF,Visa,1234,Personal,Food,,\n"
        "CSV,2026-01-14,10:00:00,Baker,-2.00,EUR,,,Visa,1234,Personal,Food,back,\n"
    )
    rows = read(SOURCE, put(tmp_path, text)).values()
    assert [(row["amount"], row["currency"], row["payee"]) for row in rows] == [
        (-4.5, "EUR", "Baker"),
        (2.0, "EUR", "Baker"),
    ]


def test_shared_costs_of_splitwise_need_the_name_of_the_person(tmp_path: Path) -> None:
    text = (
        "Date,Description,Category,Cost,Currency,Nora,Ben\n\n"
        "2026-01-13,Bread,Groceries,4.50,EUR,2.25,-2.25\n"
        "2026-01-14,Nora paid Ben,Payment,15.00,EUR,15.00,-15.00\n\n"
        "2026-01-20,Total balance, , ,EUR,17.25,-17.25\n"
    )
    path = put(tmp_path, text)
    refusal = SOURCE.recognise(open_tree(path), OwnerChoices())
    assert isinstance(refusal, ExportRefusal)
    assert "--set amount=NAME" in refusal.message
    assert "'Nora', 'Ben'" in refusal.message
    rows = read(SOURCE, path, amount="Nora").values()
    assert [row["amount"] for row in rows] == [2.25, 15.0]
    reasons = [each.reason for each in told(SOURCE, path, amount="Nora")]
    assert reasons == ["a balance, which is no payment"]


def test_statements_of_qonto_are_read(tmp_path: Path) -> None:
    text = (
        "Status,Settlement date (UTC),Operation date (UTC),Total amount (incl. VAT),Currency,"
        "Counterparty name,Payment method,Transaction ID\n"
        "settled,2026-01-30 08:00:00,2026-01-29 08:00:00,-150.00,EUR,Chandler,card,q1\n"
        "processing,,2026-01-31 08:00:00,-9.00,EUR,Ferry,card,q2\n"
    )
    path = put(tmp_path, text)
    [row] = read(SOURCE, path).values()
    assert (row["payee"], row["amount"], row["booked_on"]) == ("Chandler", -150.0, "2026-01-30")
    assert [each.reason for each in told(SOURCE, path)] == ["a payment that is not booked"]


DUTCH = (
    "123456789\tEUR\t20240115\t1000,00\t976,55\t20240115\t-23,45\tBEA NR:AB12 Albert Heijn\r\n"
    "123456789\tEUR\t20240116\t976,55\t2226,55\t20240117\t1250,00\tSEPA Naam: J Jansen\r\n"
)


def test_a_table_of_abn_amro_is_read_without_a_header(tmp_path: Path) -> None:
    path = tmp_path / "TXT240201101010.TAB"
    path.write_text(DUTCH)
    first, second = check_twice(tmp_path / "TXT240201101010.TAB", tmp_path / "a").values()
    paid, got = sorted((first, second), key=lambda data: data["booked_on"])
    assert (paid["amount_text"], paid["booked_on"]) == ("-23.45", "2024-01-15")
    assert (got["amount_text"], got["balance_text"]) == ("1250.00", "2226.55")
    assert (got["currency"], got["memo"]) == ("EUR", "SEPA Naam: J Jansen")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / path.name).write_text(DUTCH)
    assert Home(tmp_path / "b").bring(folder)["counts"]["new"] == 2


def test_a_line_that_is_not_of_abn_amro_is_told_and_nothing_is_guessed(tmp_path: Path) -> None:
    path = tmp_path / "TXT240201101010.TAB"
    path.write_text(DUTCH + "123456789\tEUR\tsoon\t1,00\t1,00\t20240117\t1,00\tx\r\n")
    refusal = look(SOURCE, path)
    assert isinstance(refusal, ExportRefusal)
    assert "ABN AMRO except for line 3" in refusal.message


def test_signs_behind_the_names_of_columns_do_not_hide_them(tmp_path: Path) -> None:
    table = (
        '"Date","Type","Check #","Description","Withdrawal (-)","Deposit (+)","RunningBalance"\n'
        '"Posted Transactions"\n'
        '"07/30/2026","ATM","","Harbour","$1,500.00","","$20.00"\n'
        '"07/01/2026","ACH","","Pay","","$3.00","$1,520.00"\n'
    )
    rope, pay = read(SOURCE, put(tmp_path, table)).values()
    assert (rope["amount_text"], rope["balance_text"]) == ("-1500.00", "20.00")
    assert pay["amount_text"] == "3.00"


def test_a_second_day_behind_a_day_does_not_hide_it(tmp_path: Path) -> None:
    table = (
        "Date,Description,Amount\n09/16/2026 as of 09/15/2026,Rope,$1.00\n09/17/2026,Tar,$2.00\n"
    )
    days = [data["booked_on"] for data in read(SOURCE, put(tmp_path, table)).values()]
    assert days == ["2026-09-16", "2026-09-17"]


def test_years_of_taiwan_are_counted_from_1912(tmp_path: Path) -> None:
    header = "交易日期,摘要,支出金額,存入金額,餘額\n"
    text = f'{header}115/07/01,薪資,,"1,000",2000\n114/12/31,船,100,,1000\n'
    found = read(SOURCE, put(tmp_path, text)).values()
    assert sorted((data["booked_on"], data["amount_text"]) for data in found) == [
        ("2025-12-31", "-100"),
        ("2026-07-01", "1000"),
    ]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1141231", "1150113"),
        ("01141231", "01150113"),
        ("114年12月31日", "115年1月13日"),
        ("民國114年12月31日", "民國 115 年 1 月 13 日"),
        ("2025年12月31日", "2026年1月13日"),
        ("令和7年12月31日", "令和8年1月13日"),
        ("31/12/2568", "13/01/2569"),
        ("20251231", "20260113"),
    ],
)
def test_days_in_the_calendars_of_asia_are_read(first: str, second: str, tmp_path: Path) -> None:
    header = "日期,摘要,支出,存入,餘額\n"
    text = f"{header}{first},船票,100,,1000\n{second},薪資,,500,1500\n"
    found = read(SOURCE, put(tmp_path, text)).values()
    assert sorted((data["booked_on"], data["amount_text"]) for data in found) == [
        ("2025-12-31", "-100"),
        ("2026-01-13", "500"),
    ]


@pytest.mark.parametrize("day", ["1152013", "26年1月13日", "明治9年1月13日"])
def test_a_number_that_is_no_day_of_a_known_calendar_is_told(day: str, tmp_path: Path) -> None:
    text = f"日期,摘要,支出,存入,餘額\n1150113,船票,100,,1000\n1150114,繩,1,,9\n{day},薪,,5,1\n"
    path = put(tmp_path, text)
    assert look(SOURCE, path) is None or any(isinstance(one, Unknown) for one in told(SOURCE, path))


_OF_MANY_COUNTRIES = {
    "Korea": (
        "cp949",
        "거래일시,적요,보낸분/받는분,출금액(원),입금액(원),잔액(원)\n"
        '2026.01.13 14:05:10,체크카드,등대,"5,500",0,"94,500"\n'
        '2026.01.14 09:00:00,급여,항구,0,"3,000,000","3,094,500"\n',
        [("-5500", "94500", "KRW"), ("3000000", "3094500", "KRW")],
    ),
    "Israel": (
        "cp1255",
        'תאריך,תאריך ערך,תיאור,אסמכתא,בחובה,בזכות,"היתרה בש""ח"\n'
        '13/01/26,13/01/26,מגדלור,12345,250.50,0.00,"9,749.50"\n'
        '14/01/26,14/01/26,משכורת,777,0.00,"12,000.00","21,749.50"\n',
        [("-250.50", "9749.50", None), ("12000.00", "21749.50", None)],
    ),
    "Saudi Arabia": (
        "cp1256",
        "التاريخ,البيان,مدين,دائن,الرصيد\n13/01/2026,منارة,50.25,,949.75\n"
        "14/01/2026,راتب,,9000.00,9949.75\n",
        [("-50.25", "949.75", None), ("9000.00", "9949.75", None)],
    ),
    "Thailand": (
        "cp874",
        "วันที่,เวลา,รายการ,ถอนเงิน,ฝากเงิน,ยอดคงเหลือ (บาท)\n"
        "13/01/2569,14:05,ประภาคาร,500.00,,9500.00\n14/01/2569,09:00,เงินเดือน,,300.00,9800.00\n",
        [("-500.00", "9500.00", None), ("300.00", "9800.00", None)],
    ),
    "Greece": (
        "cp1253",
        "Ημερομηνία;Περιγραφή;Ποσό;Υπόλοιπο\n13/01/2026;ΦΑΡΟΣ;-25,50;974,50\n"
        "14/01/2026;ΜΙΣΘΟΔΟΣΙΑ;1.200,00;2.174,50\n",
        [("-25.50", "974.50", None), ("1200.00", "2174.50", None)],
    ),
    "Ukraine": (
        "utf-8",
        '"Дата i час операції","Деталі операції",MCC,"Сума в валюті картки (UAH)",'
        '"Сума в валюті операції",Валюта,Курс,"Залишок після операції"\n'
        '"13.01.2026 14:05:10","Маяк",5411,-450.5,-10.0,EUR,45.05,9749.5\n'
        '"14.01.2026 09:00:00","Зарплата",4829,20000.0,20000.0,UAH,—,29749.5\n',
        [("-450.5", "9749.5", "UAH"), ("20000.0", "29749.5", "UAH")],
    ),
    "Brazil": (
        "latin-1",
        "data;lançamento;ag./origem;valor (R$);saldos (R$)\n13/01/2026;PIX FAROL;;-1.250,00;\n"
        "13/01/2026;SALDO DO DIA;;;8.750,00\n14/01/2026;SALARIO;0101;5.000,00;\n",
        [("-1250.00", None, "BRL"), ("5000.00", None, "BRL")],
    ),
    "Japan": (
        "cp932",
        "お客さま口座情報,,,,\n記号番号,10100-12345671,,,\n"
        "取引日,入出金明細ID,受入金額（円）,払出金額（円）,詳細１,詳細２,現在（貸付）高\n"
        "20260113,202601130001,,1500,カード,灯台,98500\n"
        "20260114,202601140001,250000,,給与,カ）ポート,348500\n",
        [("-1500", "98500", "JPY"), ("250000", "348500", "JPY")],
    ),
    "Hungary": (
        "cp1250",
        '"Tranzakció dátuma";"Összeg";"Devizanem";"Könyvelt egyenleg";"Partner neve"\r\n'
        '"2026.01.13.";"-12 500";"HUF";"350 000";"Világítótorony"\r\n'
        '"2026.01.14.";"420 000,50";"HUF";"770 000,50";"Kovács János"\r\n',
        [("-12500", "350000", "HUF"), ("420000.50", "770000.50", "HUF")],
    ),
}


@pytest.mark.parametrize("country", _OF_MANY_COUNTRIES)
def test_statements_are_read_in_the_words_and_letters_of_their_country(
    country: str, tmp_path: Path
) -> None:
    encoding, text, expected = _OF_MANY_COUNTRIES[country]
    path = tmp_path / "statement.csv"
    path.write_bytes(text.encode(encoding))
    found = sorted(read(SOURCE, path).values(), key=lambda data: str(data["booked_on"]))
    assert [data["booked_on"] for data in found] == ["2026-01-13", "2026-01-14"]
    facts = [(one["amount_text"], one.get("balance_text"), one.get("currency")) for one in found]
    assert facts == expected
    assert all(data.get("memo") or data.get("payee") for data in found)
    assert all("\ufffd" not in str(data) for data in found)
    assert not any(isinstance(one, Unknown) for one in told(SOURCE, path))


def test_a_column_sorts_payments_into_categories(tmp_path: Path) -> None:
    text = "Date,Description,Amount,Category\n2026-02-01,Bakery,-4.50,Food\n2026-02-02,Fee,-1,\n"
    bakery, fee = read(SOURCE, put(tmp_path, text)).values()
    assert (bakery["category"], bakery.get("other")) == ("Food", None)
    assert "category" not in fee


def test_a_table_of_two_sides_has_categories_too(tmp_path: Path) -> None:
    text = (
        "Status,Direction,Finished on,Source fee amount,Source name,Source amount (after fees),"
        "Source currency,Target name,Target amount (after fees),Target currency,Reference,"
        "Category\nCOMPLETED,OUT,2026-02-01 08:01:00,0.00,Nora,12.00,EUR,Rope shop,12.00,EUR,"
        "Ropes,Boat\n"
    )
    [payment] = read(SOURCE, put(tmp_path, text)).values()
    assert (payment["payee"], payment["amount"], payment["category"]) == ("Rope shop", -12, "Boat")


def test_who_was_paid_is_the_description_where_no_column_tells_it(tmp_path: Path) -> None:
    text = "Date,Description,Amount\n2026-02-01,Bakery,-4.50\n"
    [alone] = read(SOURCE, put(tmp_path, text)).values()
    assert (alone["payee"], alone["memo"]) == ("Bakery", "Bakery")
    text = "Date,Payee,Description,Amount\n2026-02-01,,Monthly fee,-4.50\n"
    [empty] = read(SOURCE, put(tmp_path, text)).values()
    assert (empty.get("payee"), empty["memo"]) == (None, "Monthly fee")


@pytest.mark.parametrize(
    ("day", "is_told"), [("03/04/2026", True), ("04/04/2026", False), ("14/04/2026", False)]
)
def test_another_way_to_read_the_days_is_told_where_it_fits_as_well(
    tmp_path: Path, day: str, is_told: bool
) -> None:
    path = put(tmp_path, f"Date,Description,Amount\n{day},Bakery,-9.00\n")
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert ("--set date_form" in seen.notes[0]) is is_told
    seen = look(SOURCE, path, date_form="%d/%m/%Y")
    assert isinstance(seen, Recognition)
    assert "--set date_form" not in seen.notes[0]


def test_the_older_table_of_ubs_tells_what_for_its_currency_and_its_account(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "Valuation date;Banking relationship;Portfolio;Product;IBAN;Ccy.;Date from;Date to;"
        "Description;Trade date;Booking date;Value date;Description 1;Description 2;Debit;Credit;"
        "Balance\n07.07.17;0240 1;;0240 1.01C;CH62 0024;CHF;01.02.17;30.06.17;Current Account;"
        "30.06.17;30.06.17;30.06.17;e-banking Order;Rope shop;3'416.82;;206'149.34\n",
    )
    [booking] = read(SOURCE, path).values()
    assert (booking["memo"], booking["currency"]) == ("e-banking Order", "CHF")
    assert (booking["amount_text"], booking["booked_on"]) == ("-3416.82", "2017-06-30")
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert (seen.identity, seen.owner_known) == ("ch620024", True)


def test_who_was_paid_by_wise_stands_in_one_of_two_columns(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "TransferWise ID,Date,Amount,Currency,Description,Payer Name,Payee Name,Merchant\n"
        "CARD-1,18-01-2023,-4.99,EUR,Card,,,Bakery\nTRANSFER-2,16-01-2023,-8,EUR,Sent,,Ana Lind,\n"
        "TRANSFER-3,14-01-2023,5,EUR,Received,Ivo Berg,,\n",
    )
    paid = {data["memo"]: data["payee"] for data in read(SOURCE, path).values()}
    assert paid == {"Card": "Bakery", "Sent": "Ana Lind", "Received": "Ivo Berg"}


def test_a_table_of_holdings_above_the_payments_is_told(tmp_path: Path) -> None:
    path = put(
        tmp_path,
        "Account Number,Investment Name,Symbol,Shares,Share Price,Total Value,\n"
        "123,Harbour fund,HBR,10,110.00,1100.00,\n123,Tide fund,TDE,1,1.00,1.00,\n\n\n"
        "Account Number,Trade Date,Settlement Date,Transaction Type,Transaction Description,"
        "Investment Name,Symbol,Shares,Share Price,Net Amount,Account Type,\n"
        "123,2026-09-01,2026-09-02,Buy,Buy,Harbour fund,HBR,10,108.00,-1080.00,CASH,\n"
        "123,2026-09-03,2026-09-03,Dividend,Paid out,Harbour fund,HBR,0,0,80.00,CASH,\n",
    )
    amounts = {data["memo"]: data["amount_text"] for data in read(SOURCE, path).values()}
    assert amounts == {"Buy": "-1080.00", "Paid out": "80.00"}
    assert told(SOURCE, path) == [
        Skipped("rows of another table above this one", "statement.csv: 2")
    ]


MONTHS = {
    "decimals": ("13.01.2026;Brot;-50", "13.02.2026;Brot;-62,35\n12.02.2026;Lohn;1.000"),
    "days": ("03/01/2026;Bread;-50.00", "02/03/2026;Pay;1000.00\n02/13/2026;Bread;-62.35"),
    "both": ("13/01/2026;Bread;-50.00", "2026-02-13;Bread;-62,35\n2026-02-12;Pay;1000"),
}


@pytest.mark.parametrize("name", MONTHS)
def test_what_a_statement_tells_counts_more_than_what_an_earlier_one_did(
    tmp_path: Path, name: str
) -> None:
    home = Home(tmp_path / "home")
    for month, rows in enumerate(MONTHS[name], 1):
        path = put(tmp_path, f"Datum;Text;Betrag\n{rows}\n", f"giro_5678_{month}.csv")
        assert home.bring(path)["counts"]["unknown"] == 0
    later = [data for data in home.records().values() if data["booked_on"] > "2026-02"]
    assert sorted(data["amount"] for data in later) == [-62.35, 1000.0]


def test_where_a_statement_tells_nothing_the_earlier_one_does(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    for month, rows in enumerate(("03/13/2026;Bread;-62,35", "04/05/2026;Pay;1.234"), 1):
        home.bring(put(tmp_path, f"Datum;Text;Betrag\n{rows}\n", f"giro_5678_{month}.csv"))
    found = sorted((data["booked_on"], data["amount"]) for data in home.records().values())
    assert found == [("2026-03-13", -62.35), ("2026-04-05", 1234.0)]


@pytest.mark.parametrize(
    ("header", "rows", "expected"),
    [
        ("Datum;Text;Betrag (€)", "13.01.2026;Zins;1.000", ["1000"]),
        ("Datum;Text;Betrag", "13.01.2026;Zins;1.000\n12.01.2026;Brot;-50", ["-50", "1000"]),
        ("Date;Text;Amount;Currency", "13.01.2026;Tea;1.000;KWD", ["1.000"]),
    ],
)
def test_a_point_before_three_digits_divides_thousands_unless_a_currency_has_as_many(
    tmp_path: Path, header: str, rows: str, expected: list[str]
) -> None:
    found = read(SOURCE, put(tmp_path, f"{header}\n{rows}\n")).values()
    assert sorted(data["amount_text"] for data in found) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SHOP 12345", None),
        ("24 MAIN ST", None),
        ("A12B34", None),
        ("USD 12.50 DR", "-12.50"),
        ("Rs. 12.50 Cr", "12.50"),
        ("-12.50 грн", "-12.50"),
        ("12.50 Euro", "12.50"),
        ("SOLL 12.50", None),
        ("12.50USDT", "12.50"),
    ],
)
def test_a_text_with_a_number_in_it_is_no_amount(text: str, expected: str | None) -> None:
    found = read_amount(text, ".")
    assert found == (None if expected is None else Decimal(expected))


def test_a_row_that_was_cut_at_a_comma_is_told_and_is_no_payment(tmp_path: Path) -> None:
    rows = "2026-01-13,Rope,-4.50,\n2026-01-14,Rope, 24 Quay Road,-9.00\n"
    path = put(tmp_path, f"Date,Description,Amount,Memo\n{rows}")
    assert [data["amount"] for data in read(SOURCE, path).values()] == [-4.5]
    assert Unknown("a row without a date or an amount", "statement.csv line 3") in told(
        SOURCE, path
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("\u2013$12.50", "-12.50"), ("12.50 (USD)", "12.50"), ("$(12.50)", "-12.50")],
)
def test_a_dash_is_a_minus_and_brackets_are_one_around_digits_alone(
    text: str, expected: str
) -> None:
    assert read_amount(text, ".") == Decimal(expected)


def test_a_payment_with_a_number_is_the_same_under_other_names_and_at_other_hours(
    tmp_path: Path,
) -> None:
    header = "Transaction ID,Date,Time,Name,Amount,Currency,Description\n"
    home = Home(tmp_path / "home")
    for name, rows in (
        ("data_1234.csv", "tx_00009a,13/01/2026,10:00:00,Tea,-4.50,GBP,TEA 12\n"),
        ("data_1234 (1).csv", "tx_00009a,13/01/2026,10:00:00,Tea House,-4.50,GBP,TEA 12\n"),
        ("data_1234 (2).csv", "tx_00009b,13/01/2026,18:00:00,Tea House,-4.50,GBP,TEA 12\n"),
    ):
        home.bring(put(tmp_path, header + rows, name))
    found = sorted((data["other"]["Time"], data["payee"]) for data in home.records().values())
    assert found == [("10:00:00", "Tea House"), ("18:00:00", "Tea House")]


def test_numbers_that_only_count_rows_and_those_of_two_rows_tell_no_payments_apart(
    tmp_path: Path,
) -> None:
    header = "Transaction ID,Date,Amount,Currency,Description\n"
    home = Home(tmp_path / "home")
    row = ",2026-01-13,-4.50,EUR,Tea\n"
    home.bring(put(tmp_path, f"{header}1{row}", "data_1234.csv"))
    home.bring(put(tmp_path, f"{header}2{row}", "data_1234 (1).csv"))
    assert len(home.records()) == 1
    twice = f"{header}TRANSFER-1{row}TRANSFER-1,2026-01-13,-0.50,EUR,Fee\n"
    assert len(read(SOURCE, put(tmp_path, twice))) == 2


def test_days_that_could_be_months_are_told_by_another_column_of_days(tmp_path: Path) -> None:
    rows = "01/10/2026,01/13/2026,-4.50,Rope\n01/09/2026,01/12/2026,-1.00,Tea\n"
    path = put(tmp_path, f"Transaction Date,Value Date,Amount,Description\n{rows}")
    seen = look(SOURCE, path)
    assert isinstance(seen, Recognition)
    assert "or as" not in seen.notes[0]
    days = sorted(data["booked_on"] for data in read(SOURCE, path).values())
    assert days == ["2026-01-09", "2026-01-10"]
