"""Layouts of bank tables that say little of themselves: no header, no names, other tables above."""

from pathlib import Path

import pytest
from tests.sources.kit import Records, check_twice, look, read, told

from pdpp.sources.formats.bank_csv.source import BankCsv
from pdpp.sources.source import ExportRefusal

SOURCE = BankCsv()

BAWAG = (
    "AT001234567890123456;Seilerei Ebbe   FE/000000011 ;05.01.2026;04.01.2026;-1.020,50;EUR\n"
    "AT001234567890123456;Heuer Jänner   BG/000000012 ;09.01.2026;09.01.2026;+2.400,00;EUR\n"
)
ELBA = (
    '05.01.2026;"Empfänger:  Seilerei Ebbe";05.01.2026;-1.020,50;EUR;05.01.2026 07:10:11:120;\n'
    '09.01.2026;"Auftraggeber:  Hafenamt";09.01.2026;2.400,00;EUR;09.01.2026 01:02:03:004;\n'
)
VOLKSBANK = (
    "05-01-2026,NL00SNSB0000000001,NL00INGB0000000002,Touwslagerij,,,,EUR,1500.00,EUR,-1020.50,"
    "05-01-2026,05-01-2026,1,BEA,11,,'Touw, dertig meter',1\n"
    "09-01-2026,NL00SNSB0000000001,,,,,,EUR,479.50,EUR,2400.00,09-01-2026,09-01-2026,2,OVS,12,,,1\n"
)
CANADIAN = "01/05/2026,ROPE # 845 _M,1020.50,,1500.00\n01/09/2026,PAY MSP,,2400.00,3900.00\n\n\n"
BARE = {"BAWAG": BAWAG, "Raiffeisen": ELBA, "ASN": VOLKSBANK, "TD": CANADIAN}


def put(folder: Path, text: str) -> Path:
    path = folder / "umsaetze.csv"
    path.write_text(text, encoding="utf-8")
    return path


def facts(records: Records) -> list[tuple[object, ...]]:
    names = ("booked_on", "amount_text", "currency")
    return sorted(tuple(data.get(name) for name in names) for data in records.values())


def memos(records: Records) -> list[str]:
    return [str(data.get("memo")) for data in records.values()]


@pytest.mark.parametrize("bank", BARE)
def test_tables_without_a_header_are_known_by_their_lines(bank: str, tmp_path: Path) -> None:
    found = check_twice(put(tmp_path, BARE[bank]), tmp_path)
    currency = None if bank == "TD" else "EUR"
    assert facts(found) == [
        ("2026-01-05", "-1020.50", currency),
        ("2026-01-09", "2400.00", currency),
    ]
    assert any(
        "Seilerei" in text or "ROPE" in text or text == "Touw, dertig meter"
        for text in memos(found)
    )


@pytest.mark.parametrize("bank", BARE)
def test_a_line_without_a_day_is_not_of_such_a_table(bank: str, tmp_path: Path) -> None:
    lines = BARE[bank].rstrip() + "\n"
    seen = look(SOURCE, put(tmp_path, lines + lines.replace("2026", "soon")))
    assert isinstance(seen, ExportRefusal)
    assert bank in seen.message
    assert "line 3" in seen.message


def test_amounts_without_a_name_stand_behind_their_currency(tmp_path: Path) -> None:
    text = (
        "Datum,Tijd,Valutadatum,Product,ISIN,Omschrijving,FX,Mutatie,,Saldo,,Order Id\n"
        '09-01-2026,08:14,09-01-2026,ROPE FUND,NL00,Dividend,,EUR,"0,19",USD,"13,88",\n'
        '05-01-2026,16:43,05-01-2026,ROPE FUND,NL00,Kosten,,EUR,"-1.002,00",USD,"13,69",c4e0\n'
        '05-01-2026,15:58,05-01-2026,ROPE FUND,NL00,"Koop 0,01",,,,EUR,"13,87",\n'
    )
    found = check_twice(put(tmp_path, text), tmp_path)
    assert facts(found) == [("2026-01-05", "-1002.00", "EUR"), ("2026-01-09", "0.19", "EUR")]
    assert {data["balance_text"] for data in found.values()} == {"13.88", "13.69"}
    assert [each.reason for each in told(SOURCE, put(tmp_path, text))] == [
        "a row without a date or an amount"
    ]


def test_what_stands_above_a_table_with_names_of_its_own_is_not_its_header(tmp_path: Path) -> None:
    text = (
        '"Kontoumsätze Hafenkasse"\n\n"Umsätze ab";"Enddatum";"Kontonummer";"Saldo";"Währung"\n'
        '"01.01.2026";"31.01.2026";"7654321";"1.379,50";"EUR"\n\n'
        '"Buchungstag";"Wertstellungstag";"Verwendungszweck";"Umsatz";"Währung"\n'
        '"05.01.2026";"05.01.2026";"Seilerei Ebbe";"-1.020,50";"EUR";""\n'
        '"09.01.2026";"09.01.2026";"Heuer";"2.400,00";"EUR";""\n'
        '"* noch nicht ausgeführte Umsätze"\n'
    )
    found = check_twice(put(tmp_path, text), tmp_path)
    assert facts(found) == [("2026-01-05", "-1020.50", "EUR"), ("2026-01-09", "2400.00", "EUR")]


ABOVE = (
    "Code de la banque : 10101;Date de début : 01/03/2026;Date de fin : 31/03/2026;;{}\n"
    "Numéro de compte : 0123;Devise : EUR;;{}\n\nSolde en fin de période;;;{}\n"
)
TAIL = "Solde en début de période;;;{}\n"
SHORT = (
    ABOVE.format("", ";", "-15,00;")
    + "Date;Libellé;Débit;Crédit;Détail\n05/03/2026;CORDERIE;-800,00;;Cordes\n"
    + "20/03/2026;CAPITAINERIE;;10,00;Solde du mois\n"
    + TAIL.format("775,00;")
)
LONG = (
    ABOVE.format("", "", ";-15,00")
    + "Date;Numéro d'opération;Libellé;Débit;Crédit;Détail;\n"
    + "05/03/26;R1;CORDERIE;-800,00;;Cordes;\n20/03/26;R2;CAPITAINERIE;;+10,00;Solde du mois;\n"
    + TAIL.format(";+775,00")
)


@pytest.mark.parametrize("text", [SHORT, LONG], ids=["short", "long"])
def test_names_with_their_values_above_a_table_are_not_its_header(
    text: str, tmp_path: Path
) -> None:
    path = put(tmp_path, text)
    assert facts(read(SOURCE, path)) == [
        ("2026-03-05", "-800.00", None),
        ("2026-03-20", "10.00", None),
    ]
    assert {finding.reason for finding in told(SOURCE, path)} == {"a balance, which is no payment"}


PAYPAL = {
    "Spanish": "Fecha,Hora,Zona horaria,Nombre,Tipo,Estado,Divisa,Bruto,Comisión,Neto",
    "French": "Date,Heure,Fuseau horaire,Nom,Type,État,Devise,Avant commission,Commission,Net",
    "Italian": "Data,Ora,Fuso orario,Nome,Tipo,Stato,Valuta,Lordo,Tariffa,Netto",
}


@pytest.mark.parametrize("language", PAYPAL)
def test_paypal_is_known_in_more_languages(language: str, tmp_path: Path) -> None:
    row = '31/1/2026,11:05:56,Europe/Madrid,Cordelería,x,x,EUR,"49,37","-1,78","47,59"\n'
    path = put(tmp_path, f"{PAYPAL[language]}\n{row}")
    [data] = read(SOURCE, path).values()
    assert (data["amount_text"], data["payee"]) == ("47.59", "Cordelería")


def test_sums_in_the_currency_of_the_account_have_its_name(tmp_path: Path) -> None:
    text = (
        "Номер карты;Дата операции;Дата обработки;Сумма операции;Валюта операции;"
        "Сумма пересчитанная в валюту счета;Валюта счета;Основание;Статус\n"
        "'4622;2026-01-05 00:00:00;2026-01-07;-4,50;EUR;-336,15;RUR;Канат;Исполнено\n"
        "'4622;2026-01-09 10:48:55;;-600,00;RUR;-600,00;RUR;Смола;В обработке\n"
    )
    path = put(tmp_path, text)
    assert facts(read(SOURCE, path)) == [("2026-01-05", "-336.15", "RUR")]
    assert [each.reason for each in told(SOURCE, path)] == ["a payment that is not booked"]


def test_the_currency_of_the_shop_is_not_that_of_the_account(tmp_path: Path) -> None:
    text = (
        "Дата совершения операции;Описание;Валюта операции;Сумма в валюте операции;"
        "Сумма в валюте счета;\n05.01.2026;Канат;EUR;-4,5;-336,15;\n09.01.2026;Смола;;;-,01;\n"
    )
    found = read(SOURCE, put(tmp_path, text))
    assert facts(found) == [("2026-01-05", "-336.15", None), ("2026-01-09", "-0.01", None)]


@pytest.mark.parametrize(
    ("header", "lines"),
    [
        (
            "KNAB EXPORT;;;;;;\nRekeningnummer;Transactiedatum;Valutacode;CreditDebet;Bedrag;"
            "Tegenrekeninghouder;Omschrijving;\n",
            ("NL01;05-01-2026;EUR;D;1020,50;Touw BV;touw;", "NL01;09-01-2026;EUR;C;2400;Haven;;"),
        ),
        (
            "Тип счёта;Валюта;Дата операции;Описание операции;Приход;Расход;\n",
            ("Мой счет;EUR;05.01.26;Канат;0;1020,50;", "Мой счет;EUR;09.01.26;Оклад;2400;0;"),
        ),
        (
            "日付,内容,出金金額(円),入金金額(円),残高(円)\n",
            ('2026/01/05,ロープ,"1,020",,"40,000"', '2026/01/09,給料,,"2,400","42,400"'),
        ),
        (
            "记账日期,货币,交易金额,联机余额,交易摘要,对手信息\n",
            ('2026-01-05,EUR,"-1,020.50",9.00,绳,店', '2026-01-09,EUR,"2,400.00",9.00,薪,港'),
        ),
        (
            "交易日期,摘要,记账金额(收入),记账金额(支出),记账币种,余额,对方户名\n",
            (
                '2026-01-05  \t,"绳  \t","  \t","1,020.50  \t",EUR  \t,"1.00 \t","店 \t",',
                '2026-01-09  \t,"薪  \t","2,400.00  \t","  \t",EUR  \t,"1.00 \t","港 \t",',
            ),
        ),
        (
            "Transaction date,Description,Billing amount,Billing currency,Credit / Debit\n",
            ('05/01/2026,ROPE,"-1,020.50"\t,EUR,DEBIT', '09/01/2026,PAY,"2,400.00"\t,EUR,CREDIT'),
        ),
        (
            "Datum der Transaktion,Rechnungsbetrag ausgehend,Rechnungsbetrag eingehend,"
            "Währung der Karte,Verfügbares Guthaben\n",
            ('"05.01.26, 13:56",1020.50,0.00,EUR,1.00', '"09.01.26, 9:10",0.00,2400.00,EUR,1.00'),
        ),
        (
            "#;Account;Date;Amount;Currency;Name;Reason;Note\n",
            ("1;DE81;1/5/26;-1020,50;EUR;Rope;rope;", "2;DE81;1/9/26;2400,00;EUR;Pay;;"),
        ),
        (
            "Typ,Buchungsdatum,Betrag,Zahlungsempfänger,Verwendungszweck,Kategorie,Abhebung\n",
            ('x,05.01.2026,"-1.020,50 €",Seiler,Tau,y', 'x,09.01.2026,"2.400,00 €",Amt,Heuer,y'),
        ),
        (
            "Kliendi konto;Kuupäev;Saaja/Maksja;Selgitus;Summa;Valuuta;Deebet/Kreedit\n"
            "EE01;01.01.2026;;Algsaldo;5;EUR;K\n",
            ("EE01;05.01.2026;Köis OÜ;köis;1020,50;EUR;D", "EE01;09.01.2026;;palk;2400;EUR;K"),
        ),
    ],
)
def test_words_of_more_banks_are_known(header: str, lines: tuple[str, str], tmp_path: Path) -> None:
    found = read(SOURCE, put(tmp_path, header + "\n".join(lines) + "\n"))
    assert [(day, str(amount).partition(".")[0]) for day, amount, _ in facts(found)] == [
        ("2026-01-05", "-1020"),
        ("2026-01-09", "2400"),
    ]
    assert {currency for *_, currency in facts(found)} <= {"EUR", "JPY"}


def test_what_a_card_of_canada_paid_has_no_sign(tmp_path: Path) -> None:
    text = (
        '"Merchant Name","Card Used For Transaction","Date","Time","Amount"\n'
        '"Rope","**** 1234","01/10/2026","06:50 PM","36.33"\n'
        '"Tar","**** 1234","12/15/2025","05:08 PM","13.98"\n'
    )
    found = read(SOURCE, put(tmp_path, text))
    assert [amount for _, amount, _ in facts(found)] == ["-13.98", "-36.33"]


def test_what_a_card_paid_in_japan_has_no_sign(tmp_path: Path) -> None:
    text = '"利用日","利用店名・商品名","利用者","利用金額"\n"2026/01/05","ロープ","本人","1051"\n'
    [row] = read(SOURCE, put(tmp_path, text)).values()
    assert (row["payee"], row["amount_text"]) == ("ロープ", "-1051")


def test_a_first_row_that_is_shorter_than_the_others_is_no_header(tmp_path: Path) -> None:
    text = (
        "Date;Description;Amount\n2026-01-05;Rope;-1020.50\n2026-01-09;Pay;2400.00;\n"
        "2026-01-10;Tar;-3.00;\n"
    )
    assert len(facts(read(SOURCE, put(tmp_path, text)))) == 3


def test_a_note_below_a_table_is_no_row_that_was_cut_off(tmp_path: Path) -> None:
    table = "Date,Description,Amount\n2026-01-05,Rope,-1020.50\n2026-01-09,Pay,2400.00\n"
    for note, reasons in (
        ("\n\nDate downloaded 12/03/2026 3:00 pm", ["a row without a date or an amount"]),
        ("2026-01-10,Ta", ["a last row that is cut off"]),
    ):
        path = put(tmp_path, table + note)
        assert len(read(SOURCE, path)) == 2
        assert [finding.reason for finding in told(SOURCE, path)] == reasons


def test_a_row_shorter_than_every_short_row_before_it_was_cut_off(tmp_path: Path) -> None:
    table = "Date,Description,Amount,Kind,Note\n2026-01-05,Rope,-10.50,x\n2026-01-09,Pay,24.00,x\n"
    path = put(tmp_path, f"{table}2026-01-10,Tar,-1")
    assert len(read(SOURCE, path)) == 2
    assert [finding.reason for finding in told(SOURCE, path)] == ["a last row that is cut off"]


SCOTIA = (
    "Filter,Date,Description,Sub-description,Status,Type of Transaction,Amount\n"
    '"February 2026, From date=2026-02-01",2026-02-26,rope,Toronto On,posted,Debit,15\n'
    ",2026-02-24,tea,Toronto On,posted,Debit,29.88\n"
)


@pytest.mark.parametrize("credit", ["-300", "300"])
def test_a_column_that_says_of_each_row_whether_money_went_is_believed_under_any_name(
    tmp_path: Path, credit: str
) -> None:
    row = f",2026-02-21,thank you,,posted,Credit,{credit}\n"
    assert facts(read(SOURCE, put(tmp_path, SCOTIA + row))) == [
        ("2026-02-21", "300", None),
        ("2026-02-24", "-29.88", None),
        ("2026-02-26", "-15", None),
    ]


def test_a_letter_or_amounts_with_a_minus_make_no_column_of_sides(tmp_path: Path) -> None:
    text = "Date,Description,Cleared,Amount\n2026-02-24,rope,D,15.00\n2026-02-23,tea,C,2.50\n"
    assert [row[1] for row in facts(read(SOURCE, put(tmp_path, text)))] == ["2.50", "15.00"]
    text = "Date,Description,Kind,Amount\n2026-02-24,rope,Debit,-15.00\n2026-02-23,x,Credit,-1\n"
    assert [row[1] for row in facts(read(SOURCE, put(tmp_path, text)))] == ["-1", "-15.00"]


def test_of_an_amount_a_fee_and_a_net_the_net_came_or_went(tmp_path: Path) -> None:
    text = (
        "id,Type,Source,Amount,Fee,Net,Currency,Created (UTC),Available On (UTC),Description\n"
        "txn_1,charge,ch_1,97.00,3.07,93.93,eur,2026-01-11 09:00,2026-01-18 00:00,Chart\n"
        "txn_2,payout,po_1,-93.93,0.00,-93.93,eur,2026-01-20 00:00,2026-01-20 00:00,PAYOUT\n"
    )
    assert [row[1] for row in facts(read(SOURCE, put(tmp_path, text)))] == ["93.93", "-93.93"]
    text = "Date,Amount,Fee,Net Amount,Notes\n2026-01-13,$97.00,-$3.07,$93.93,Chart\n"
    assert [row[1] for row in facts(read(SOURCE, put(tmp_path, text)))] == ["93.93"]


def test_each_currency_may_have_a_column_of_its_own(tmp_path: Path) -> None:
    text = (
        '"Account Type","Account Number","Transaction Date","Description 1","CAD$","USD$"\n'
        "Chequing,00000-1111111,1/13/2026,ROPE,-4.50,\nSavings,00000-2222222,1/14/2026,PAY,,200.00\n"
    )
    assert facts(read(SOURCE, put(tmp_path, text))) == [
        ("2026-01-13", "-4.50", "CAD"),
        ("2026-01-14", "200.00", "USD"),
    ]


def test_cards_of_bmo_are_turned(tmp_path: Path) -> None:
    text = (
        "Following data is valid as of 20260115101112:\n\n"
        "Item #,Card #,Transaction Date,Posting Date,Transaction Amount,Description\n"
        "1,'5191',20260113,20260114,4.5,ROPE\n2,'5191',20260102,20260103,-100.0,PAYMENT\n"
    )
    assert [row[1] for row in facts(read(SOURCE, put(tmp_path, text)))] == ["100.0", "-4.5"]


COMDIRECT = (
    ';\n"Umsätze Girokonto";"Zeitraum: 30 Tage";\n"Neuer Kontostand";"1.234,56 EUR";\n\n'
    '"Buchungstag";"Wertstellung (Valuta)";"Vorgang";"Buchungstext";"Umsatz in EUR";\n'
    '"13.01.2026";"13.01.2026";"Lastschrift";"Auftraggeber: SEILEREI Ref. A";"-1.012,34";\n'
    '"12.01.2026";"12.01.2026";"Übertrag";"Auftraggeber: HAFENAMT Ref. B";"50,00";\n'
    '"11.01.2026";"11.01.2026";"Lastschrift";"Auftraggeber: SEILEREI Ref. C";"-9,00";\n\n'
    '"Umsätze Visa-Karte";"Zeitraum: 30 Tage";\n"Neuer Kontostand";"-20,00 EUR";\n\n'
    '"Buchungstag";"Umsatztag";"Vorgang";"Referenz";"Buchungstext";"Umsatz in EUR";\n'
    '"10.01.2026";"09.01.2026";"Visa-Umsatz";"R1";"SEEKARTEN 12345";"-20,00";\n\n'
    '"Umsätze Tagesgeld";"Zeitraum: 30 Tage";\n\n"Keine Umsätze vorhanden.";\n'
)
AGRICOLE = (
    "Téléchargement du 15/01/2026;\n\nCompte Chèque n° 12345678901;\n\n"
    "Date;Libellé;Débit euros;Crédit euros;\n13/01/2026;CORDERIE;12,50;;\n\n"
    "Livret A n° 98765432101;\nSolde au 15/01/2026 9 234,56 €\n\n"
    "Date;Libellé;Débit euros;Crédit euros;\n13/01/2026;CORDERIE;12,50;;\n"
    "04/01/2026;INTERETS;;20,00;\n"
)


def test_tables_below_each_other_are_read_each_by_its_own_header(tmp_path: Path) -> None:
    found = check_twice(put(tmp_path, COMDIRECT), tmp_path)
    amounts = sorted((day, amount) for day, amount, _ in facts(found))
    assert amounts == [
        ("2026-01-10", "-20.00"),
        ("2026-01-11", "-9.00"),
        ("2026-01-12", "50.00"),
        ("2026-01-13", "-1012.34"),
    ]
    tables = {data["booked_on"]: data["other"].get("table") for data in found.values()}
    assert tables == dict.fromkeys(tables) | {"2026-01-10": "Umsätze Visa-Karte"}


def test_a_wide_table_below_does_not_hide_the_narrow_one_above_it(tmp_path: Path) -> None:
    depot = (
        '"Umsätze Depot";"Zeitraum: 30 Tage";\n\n'
        '"Buchungstag";"Stück / Nom.";"Bezeichnung";"WKN";"Währung";"Kurs";"Umsatz in EUR";\n'
        '"09.01.2026";"10";"FONDS 2000";"A0";"EUR";"100,50";"-1.005,00";\n'
    )
    giro = COMDIRECT[: COMDIRECT.index('"Umsätze Visa')]
    found = facts(read(SOURCE, put(tmp_path, giro + depot)))
    assert [(day, amount) for day, amount, _ in found] == [
        ("2026-01-09", "-1005.00"),
        ("2026-01-11", "-9.00"),
        ("2026-01-12", "50.00"),
        ("2026-01-13", "-1012.34"),
    ]


def test_rows_of_a_first_table_are_not_told_as_above_the_second(tmp_path: Path) -> None:
    month = "Date,Description,Category,Amount\n2026-01-13,Rope,Ship,-4.50\n2026-01-14,Tea,Ship,-1\n"
    path = put(tmp_path, month + month.replace("-01-", "-02-"))
    assert len(read(SOURCE, path)) == 4
    assert told(SOURCE, path) == []


def test_a_header_that_comes_again_begins_another_table(tmp_path: Path) -> None:
    found = read(SOURCE, put(tmp_path, AGRICOLE)).values()
    told_apart = sorted((data["amount"], data.get("other")) for data in found if data["amount"] > 0)
    assert told_apart == [(20.0, {"table": "Livret A n° 98765432101"})]
    assert [data.get("other") for data in found if data["amount"] < 0] == [
        None,
        {"table": "Livret A n° 98765432101"},
    ]


def test_months_put_below_each_other_are_read_alike(tmp_path: Path) -> None:
    header = "Date,Description,Card Member,Account #,Amount\n"
    text = f"{header}03/02/2026,ROPE,NORA,-1,4.50\n{header}03/28/2026,PAYMENT,NORA,-1,-9.00\n"
    found = facts(read(SOURCE, put(tmp_path, text)))
    assert [row[:2] for row in found] == [("2026-03-02", "-4.50"), ("2026-03-28", "9.00")]


@pytest.mark.parametrize("day", ["05 Jan 2026", "115/01/05", "1150105", "2026-01-05T09:00:00"])
def test_rows_between_a_gap_and_the_next_header_are_read(tmp_path: Path, day: str) -> None:
    header = "Date,Description,Amount\n"
    text = f"{header}{day},ROPE,-1.00\n\n{day},TAR,-2.00\n{header}{day},OARS,-3.00\n"
    found = facts(read(SOURCE, put(tmp_path, text)))
    assert [row[1] for row in found] == ["-1.00", "-2.00", "-3.00"]


@pytest.mark.parametrize("rows", [1, 2, 3, 30])
def test_a_short_statement_below_many_lines_is_known_by_the_names_of_its_columns(
    tmp_path: Path, rows: int
) -> None:
    above = "mBank S.A.;\n90-959 Łódź 2;\nwww.mBank.pl;\n\n#Klient;\nNORA;\n\nLista operacji;\n\n"
    above += "#Za okres:;\n01.01.2026;31.01.2026;\n\n#dla rachunków:;\neKonto - 1;\n\n"
    above += "#Waluta;#Wpływy;#Wydatki;\nPLN;0,00;-4,50;\n\n"
    header = "#Data operacji;#Opis operacji;#Rachunek;#Kategoria;#Kwota;\n"
    row = '2026-01-13;"LINY";"eKonto 1111";"Dom";-1 004,50 PLN;;\n'
    found = read(SOURCE, put(tmp_path, above + header + row * rows))
    assert facts(found) == [("2026-01-13", "-1004.50", "PLN")] * rows
