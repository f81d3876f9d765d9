"""Words: what banks call their columns, and what they write in them, in many languages."""

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "date": (
            *("date", "booking date", "transaction date", "posting date", "posted date"),
            *("completed date", "post date", "activity date", "date posted", "trans. date"),
            *("txn date", "booked at", "run date", "datetime", "buchung", "buchungstag"),
            *("buchungsdatum", "datum", "belegdatum", "fecha", "fecha operación"),
            *("fecha de operación", "fecha operacion", "fecha contable", "data", "data mov."),
            *("data movimento", "data lançamento", "data lanc.", "date opération"),
            *("date de comptabilisation", "date operation", "dateop", "date de l'opération"),
            *("data contabile", "data operazione", "data registrazione", "created"),
            *("created (utc)", "boekingsdatum", "datum verrichting", "bokföringsdag"),
            *("bokföringsdatum", "transaktionsdatum", "transaktionsdag", "dato"),
            *("bogføringsdato", "bokføringsdato", "bokført dato", "kirjauspäivä", "pvm"),
            *("data operacji", "data transakcji", "data księgowania", "datum zaúčtování"),
            *("datum provedení", "dátum zaúčtovania", "dátum", "könyvelés dátuma"),
            *("tranzakció dátuma", "datum izvršenja", "tarih", "işlem tarihi"),
            *("дата операции", "дата платежа", "дата", "交易时间", "交易日期", "日期", "取引日"),
            *("年月日", "日付", "date completed (utc)", "datum des abschlusses", "date de fin"),
            *("fecha de finalización", "data di completamento", "data de conclusão"),
            *("data zrealizowania", "settlement date (utc)", "fecha valor", "wertstellung"),
            *("value date", "date (yyyy-mm-dd as utc)"),
            *("거래일시", "거래일자", "거래일", "거래일 시", "일자", "תאריך", "תאריך הפעולה"),
            *("التاريخ", "تاريخ العملية", "تاريخ المعاملة", "วันที่", "วันที่ทำรายการ"),
            *("дата i час операції", "дата і час операції", "дата операції", "ημερομηνία"),
            *("tanggal", "tanggal transaksi", "交易日", "記帳日", "記帳日期", "帳務日期", "入帳日"),
            *("transactiedatum", "дата совершения операции", "利用日", "kuupäev", "datums"),
            *("记账日期", "datum der transaktion", "trade date"),
        ),
        "amount": (
            *(
                "total",
                "amount",
                "transaction amount",
                "betrag",
                "umsatz",
                "importe",
                "valor",
                "montante",
            ),
            *("montant", "montant de l'opération", "importo", "bedrag", "net", "netto", "neto"),
            *("gross", "brutto", "bruto", "lordo", "avant commission", "amount (total)"),
            *("credit/debit amount", "cad$", "belopp", "beløb"),
            *("beløp", "määrä", "kwota", "kwota transakcji", "kwota operacji"),
            *("kwota transakcji (waluta rachunku)", "částka", "zaúčtovaná částka", "objem"),
            *("suma", "összeg", "iznos", "tutar", "сумма платежа"),
            *("сумма пересчитанная в валюту счета", "сумма операции", "сумма"),
            *("сумма в валюте счета", "summa", "利用金額", "金额", "金額", "入出金"),
            *("debit/credit", "total amount (incl. vat)", "value"),
            *("txn amount (funding card)", "billing amount", "交易金额", "cash flow"),
            *("거래금액", "סכום", "المبلغ", "จำนวนเงิน", "ποσό", "jumlah"),
            *("сума в валюті картки", "сума у валюті картки", "net amount"),
        ),
        "direction": (
            *("transaction type", "debit/credit", "credit/debit", "credit debit indicator"),
            *("af bij", "soll/haben", "s/h", "d/c", "c/d", "d/k", "dr/cr", "cr/dr", "sign"),
            *("kredit/debet", "bejövő/kimenő", "收/支", "creditdebet", "deebet/kreedit"),
            *("deebet/kreedit (d/c)", "debets/kredīts", "credit / debit", "type", ""),
        ),
        "money_out": (
            *("outflow", "withdrawals", "debet", "uitgaven", "debit", "withdrawal", "paid out"),
            *("money out", "soll", "débito", "débit", "debit amount", "withdrawal amount"),
            *("withdrawal amt.", "belastung", "lastschrift", "zahlungsausgang", "uscite"),
            *("addebiti", "addebito", "dare", "cargo", "cargos", "ut", "ut fra konto"),
            *("isplata", "お引出し", "出金", "支出", "支出金額", "提出"),
            *(
                "払出金額",
                "お支払金額",
                "출금액",
                "출금",
                "출금금액",
                "찾으신금액",
                "חובה",
                "בחובה",
            ),
            *("مدين", "المدين", "ถอนเงิน", "ถอน", "χρέωση", "расход", "出金金額"),
            *("记账金额(支出)", "rechnungsbetrag ausgehend"),
        ),
        "money_in": (
            *("inflow", "deposits", "ontvangsten", "credit", "deposit", "paid in", "money in"),
            *("haben", "crédito", "crédit", "credit amount", "deposit amount", "deposit amt."),
            *("gutschrift", "zahlungseingang", "entrate", "accrediti", "accredito", "avere"),
            *("abono", "abonos", "inn", "inn på konto", "uplata", "お預入れ", "入金"),
            *("存入", "存入金額"),
            *(
                "受入金額",
                "お預り金額",
                "입금액",
                "입금",
                "입금금액",
                "맡기신금액",
                "זכות",
                "בזכות",
            ),
            *("دائن", "الدائن", "ฝากเงิน", "ฝาก", "πίστωση", "приход", "入金金額"),
            *("记账金额(收入)", "rechnungsbetrag eingehend"),
        ),
        "payee": (
            *("payee", "name", "name / description", "merchant", "counterparty", "counter party"),
            *(
                "counterparty name",
                "partner name",
                "payee name",
                "merchant name",
                "naam / omschrijving",
            ),
            *("beguenstigter/zahlungspflichtiger", "begünstigter/zahlungspflichtiger"),
            *("begünstigter / auftraggeber", "auftraggeber / begünstigter"),
            *("auftraggeber/empfänger", "sender / empfänger", "empfänger/zahlungspflichtiger"),
            *("zahlungsempfänger*in", "name zahlungsbeteiligter", "partnername", "empfänger"),
            *("naam tegenpartij", "naam tegenpartij bevat", "handelaar", "beneficiary/payer"),
            *("beneficiario", "destinatário", "tiers", "namn", "navn", "nimi", "saaja/maksaja"),
            *("nombre", "nom", "nome"),
            *("dane kontrahenta", "název protiúčtu", "jméno protistrany", "partner neve"),
            *("交易对方", "to"),
            *("보낸분/받는분", "의뢰인/수취인", "기재내용", "empfängername", "tegenrekeninghouder"),
            *("利用店名・商品名", "gavėjas", "saņēmējs/maksātājs", "对方户名", "对手信息"),
            "zahlungsempfänger",
        ),
        "payer": ("payer name", "zahlungspflichtige*r", "from", "auftraggebername"),
        "memo": (
            # UBS calls the account "description", and what it was for by a number.
            *("description 1", "beschreibung 1", "descrizione 1"),
            *("description", "memo", "narrative", "narration", "verwendungszweck"),
            *(
                "buchungstext",
                "booking text",
                "details",
                "vorgang/verwendungszweck",
                "concepto",
                "descripción",
            ),
            *("descrição", "histórico", "libellé", "libelle operation"),
            *("libelle simplifie", "descrizione"),
            *("descrizione operazioni", "dettagli", "omschrijving", "omschrijving-1"),
            *("mededelingen", "notifications", "payment reference", "transaction description"),
            *("transaction details", "transaction remarks", "merchant/description"),
            *("transaction ref1", "buchungs-details", "avisierungstext"),
            *("beschreibung", "beschreibung1", "text", "tekst", "beskrivning", "beskrivelse"),
            *("forklaring", "rubrik", "meddelande", "selitys", "otsikko", "opis operacji"),
            *(
                "opis transakcji",
                "opis",
                "tytuł",
                "popis",
                "zpráva",
                "zpráva pro příjemce",
                "poznámka",
            ),
            *("közlemény", "opis plaćanja", "açıklama", "описание", "商品", "商品说明"),
            *(
                "お取り扱い内容",
                "入出金先内容",
                "摘要",
                "交易摘要",
                "說明",
                "備註",
                *("desc", "reason", "zahlungsreferenz"),
                "note",
                "notes",
                "label",
                "reference",
                "lançamento",
                *("詳細1", "詳細１", "적요", "내용", "거래내용", "תיאור", "תיאור הפעולה", "הפעולה"),
                *("פרטים", "البيان", "الوصف", "التفاصيل", "รายการ", "รายละเอียด"),
                *("описание операции", "內容", "内容", "paaiškinimai", "selgitus", "detaļas"),
                *("опис операції", "деталі операції", "περιγραφή", "keterangan"),
            ),
        ),
        "tax": ("tax",),
        "fee": ("fee", "gebühr", "frais", "comisión", "costo", "comissão", "taxa", "opłata"),
        "balance": (
            *(
                "balance",
                "running balance",
                "runningbalance",
                "runningbalance",
                "running bal.",
                "saldo",
                "solde",
            ),
            *("kontostand", "guthaben", "saldo nach buchung", "saldo na mutatie"),
            *("saldo na trn", "closing balance", "cash balance", "accountbalance"),
            *("saldo contabilístico", "disponible", "bokfört saldo", "saldo po transakcji"),
            "saldo po operacji",
            *("zůstatek", "stanje", "bakiye", "残高", "餘額", "結餘", "即時餘額", "結存餘額"),
            *(
                "könyvelt egyenleg",
                "現在(貸付)高",
                "現在（貸付）高",
                "잔액",
                "거래후잔액",
                "거래 후 잔액",
            ),
            *("거래후 잔액", "יתרה", 'היתרה בש"ח', 'יתרה בש"ח', "الرصيد", "ยอดคงเหลือ"),
            *("залишок після операції", "υπόλοιπο", "current balance", "取引後残高"),
            *("联机余额", "余额", "verfügbares guthaben"),
        ),
        "currency": (
            *("ccy.", "whrg.", "monn.", "mon."),
            *(
                "currency",
                "payment currency",
                "währung",
                "waehrung",
                "moneda",
                "moeda",
                "devise",
                "valuta",
                "whg",
            ),
            *("munt", "devies", "divisa", "waluta", "měna", "mena", "pénznem", "valuutta"),
            *("валюта платежа", "валюта счета", "валюта операции", "валюта", "valutacode"),
            *("billing currency", "货币", "记账币种", "währung der karte"),
            *("valiuta", "valuuta", "valūta", "txn currency (funding card)"),
            *("devizanem", "валюта картки", "מטבע", "العملة", "νόμισμα"),
        ),
        "category": (
            *("category", "category name", "spending category", "kategorie", "hauptkategorie"),
            *("categoría", "categoria", "catégorie", "categorie", "kategori", "kategoria"),
            *("kategória", "luokka", "категория", "категорія", "交易分类", "分類", "カテゴリ"),
        ),
    }
)
"""The names that banks give to columns; of several in one table the first here counts."""

OUT_WORDS = frozenset(
    {"debit", "d", "dr", "af", "soll", "s", "debet", "out", "-", "dbit", "withdrawal", "outflow"}
    | {"débit", "débito", "debito", "belastung", "lastschrift", "kimenő", "支出"}
)
IN_WORDS = frozenset(
    {"credit", "c", "cr", "bij", "haben", "h", "in", "+", "crdt", "deposit", "inflow", ""}
    | {"crédit", "crédito", "credito", "gutschrift", "kredit", "k", "bejövő", "收入"}
)
"""What banks write beside an amount without a sign to say that it went out or came in."""
NEITHER_WORDS = frozenset({"/", "不计收支"})
"""What they write where money only changed its place."""

FEES_APART = frozenset(
    {"completed date", "date completed (utc)", "datum des abschlusses", "date de fin"}
    | {"fecha de finalización", "data di completamento", "data de conclusão", "data zrealizowania"}
)
"""What Revolut calls the day of a payment, beside whose amount a fee stands that is not in it."""
TAXES_APART = frozenset({"account type", "asset class", "fee", "tax"})
"""Columns of Trade Republic, beside whose amounts fees and taxes stand that are not in them."""

PARTIES = frozenset({"from", "to", "amount (total)"})
"""Columns of Venmo, of which two tell the sides of a payment."""
REQUEST = "charge"
"""What Venmo calls a payment for which its receiver asked: who asks stands first."""

SHARED_COSTS = ("date", "description", "category", "cost", "currency")
"""Columns of Splitwise, behind which everybody of a group has a column with their name."""

NUMBERS = frozenset(
    {"transaction id", "transactionid", "balance transaction id", "transferwise id"}
    | {"identificador", "transaktionscode", "transactiereferentie", "numéro de transaction"}
    | {"id. de transacción", "codice transazione", "id da transação"}
)
"""Columns with the number that a service gives a payment for good."""
SHORTEST_NUMBER = 8
"""Shorter ones may only count the rows of a file."""

STATES = frozenset(
    {"state", "status", "info", "stato", "état", "estado", "статус", "当前状态", "交易状态"}
    | {"balance impact", "auswirkung auf guthaben"}
)
NOT_BOOKED = frozenset(
    {"pending", "reverted", "declined", "failed", "denied", "cancelled", "canceled"}
    | {"vorgemerkt", "umsatz vorgemerkt", "ausstehend", "offen", "autorizzato", "交易关闭"}
    | {"reserverat", "reservert", "reserveret", "varattu"}
    | {"rückgängig gemacht", "abgelehnt", "en attente", "renvoyé", "rétabli", "refusé", "annulé"}
    | {"in sospeso", "annullato", "rifiutato", "pendiente", "revertido", "devuelto", "rechazado"}
    | {"pendente", "revertida", "devolvida", "recusada", "oczekuje", "cofnięto", "odrzucono"}
    | {"memo", "processing", "в обработке", "отклонено", "отменено"}
)
"""What banks write beside a payment that was never booked, or is not yet: it may come again."""

BALANCES = re.compile(
    r"(?:beginning|opening|closing|ending) balance(?: as of .{6,12})?|anfangssaldo|endsaldo"
    r"|saldo (?:anterior|inicial|final|do dia)|solde en (?:début|fin) de période"
    r"|turnover|total balance"
    r"|likutis (?:pradžiai|pabaigai)|apyvarta|algsaldo|lõppsaldo|käive"
    r"|(?:sākuma|beigu) atlikums|apgrozījums",
    re.IGNORECASE,
)
"""What stands in a row that tells a balance or a sum, as if it were a payment."""

CARDS = (
    frozenset({"card member", "amount"}),
    frozenset({"appears on your statement as", "amount"}),
    frozenset({"karteninhaber", "konto", "betrag"}),
    frozenset({"erscheint auf ihrer abrechnung als", "betrag"}),
    frozenset({"trans. date", "post date", "amount"}),
    frozenset({"item", "card", "transaction amount"}),
    frozenset({"clearing date", "merchant", "purchased by", "amount"}),
    frozenset({"txn amount (funding card)", "txn currency (funding card)"}),
    frozenset({"利用日", "利用店名・商品名", "利用金額"}),
    frozenset({"merchant name", "card used for transaction", "amount"}),
)
"""Columns of statements of cards that write what was spent without a sign."""
BARE_CARD = frozenset({"date", "title", "amount"})
"""All the columns of such a statement whose names say little."""

_CODES = (
    "eur|usd|gbp|chf|sek|nok|dkk|pln|czk|huf|ron|sgd|inr|cad|aud|nzd|zar|brl|jpy|cny|hkd|try"
    "|krw|ils|thb|uah|twd|idr|mxn"
)
_SIGNS = MappingProxyType(
    {
        "€": "EUR",
        "£": "GBP",
        "元": "CNY",
        "円": "JPY",
        "r$": "BRL",
        "원": "KRW",
        "₩": "KRW",
        "₪": "ILS",
        "฿": "THB",
        "₺": "TRY",
        "₴": "UAH",
        "₹": "INR",
        "บาท": "THB",
    }
)
_CURRENCY = re.compile(
    rf"\s*[(（]\s*({_CODES}|r\$|[€£元円$원₩₪฿₺₴₹]|บาท|euros)\s*[)）]\Z"
    rf"|(?: in)? ({_CODES}|euros|euroa)\Z"
)
_SIGN_BEHIND = re.compile(r"\s*\([-+]\)\Z")
_BESIDE = re.compile(rf"[€£元円원₩₪฿₺₴₹]|(?<![^\W\d_])(?:{_CODES})(?![^\W\d_])", re.IGNORECASE)


def plain_name(name: str) -> str:
    """Return the name of a column as it is compared: in small letters, without currency or sign."""
    return _CURRENCY.sub("", _SIGN_BEHIND.sub("", _folded(name))).strip()


def currency_in(name: str) -> str:
    """Return the currency that the name of a column tells, or nothing."""
    match = _CURRENCY.search(_folded(name))
    if match is None:
        return ""
    word = match[1] or match[2]
    return "EUR" if word.startswith("euro") else _SIGNS.get(word, word.upper().strip("$"))


def currency_beside(amount: str) -> str:
    """Return the currency that stands beside an amount, or nothing; a dollar may be of any."""
    match = _BESIDE.search(amount)
    return _SIGNS.get(match[0], match[0].upper()) if match else ""


def _folded(name: str) -> str:
    text = unicodedata.normalize("NFC", name).replace("_", " ").replace("\u2019", "'")
    return " ".join(text.split()).strip("# ").casefold()
