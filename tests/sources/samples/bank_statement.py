"""Bank statements as CAMT.053 of two versions, MT940 of two countries, and QIF."""

from tests.sources.samples.sample import FormatSample

IBAN = "PT50000201231234567890154"


def entry(
    amount: str, side: str, day: str, reference: str, details: str, status: str = "BOOK"
) -> str:
    """Return an entry of version 02."""
    return (
        f'<Ntry><NtryRef>1</NtryRef><Amt Ccy="EUR">{amount}</Amt><CdtDbtInd>{side}</CdtDbtInd>'
        f"<Sts>{status}</Sts><BookgDt><Dt>{day}</Dt></BookgDt><ValDt><Dt>{day}</Dt></ValDt>"
        f"<AcctSvcrRef>{reference}</AcctSvcrRef><BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>ICDT</Cd>"
        f"<SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd><NtryDtls>{details}</NtryDtls></Ntry>\n"
    )


RENT = entry(
    "850.00",
    "DBIT",
    "2026-01-02",
    "A1",
    "<TxDtls><Refs><EndToEndId>E-77</EndToEndId></Refs><RltdPties><Dbtr><Nm>Nora Lind</Nm></Dbtr>"
    "<Cdtr><Nm>Casa do Farol</Nm></Cdtr><CdtrAcct><Id><IBAN>PT50999</IBAN></Id></CdtrAcct>"
    "</RltdPties><RmtInf><Ustrd>January rent for the signal house</Ustrd></RmtInf></TxDtls>",
)
PAY = entry(
    "2100.00",
    "CRDT",
    "2026-01-05",
    "A2",
    "<TxDtls><RltdPties><Dbtr><Nm>Harbour office</Nm></Dbtr></RltdPties></TxDtls>",
)
BATCH = entry(
    "30.00",
    "DBIT",
    "2026-01-06",
    "A3",
    "".join(
        f'<TxDtls><AmtDtls><TxAmt><Amt Ccy="EUR">{amount}</Amt></TxAmt></AmtDtls><RltdPties>'
        f"<Cdtr><Nm>{name}</Nm></Cdtr></RltdPties></TxDtls>"
        for amount, name in (("10.00", "Rope shop"), ("20.00", "Flare shop"))
    ),
)
PENDING = entry("5.00", "DBIT", "2026-01-31", "A4", "", status="PDNG")


def camt(*entries: str) -> bytes:
    """Return a statement of version 02."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><BkToCstmrStmt>'
        "<GrpHdr><MsgId>1</MsgId></GrpHdr><Stmt><Id>S1</Id>"
        f"<Acct><Id><IBAN>{IBAN}</IBAN></Id><Ccy>EUR</Ccy><Ownr><Nm>Nora Lind</Nm></Ownr>"
        "<Svcr><FinInstnId><BIC>CAISPTPL</BIC></FinInstnId></Svcr></Acct>"
        '<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">100</Amt>'
        "<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-01-01</Dt></Dt></Bal>"
        '<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1320.00</Amt>'
        "<CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-01-31</Dt></Dt></Bal>\n"
        + "".join(entries)
        + "</Stmt></BkToCstmrStmt></Document>\n"
    ).encode()


CAMT_08 = (
    b'<?xml version="1.0" encoding="UTF-8"?>\n'
    b'<c:Document xmlns:c="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><c:BkToCstmrStmt>'
    b"<c:Stmt><c:Acct><c:Id><c:Othr><c:Id>0042-77</c:Id></c:Othr></c:Id><c:Ccy>CHF</c:Ccy></c:Acct>\n"
    b'<c:Ntry><c:Amt Ccy="CHF">12.50</c:Amt><c:CdtDbtInd>DBIT</c:CdtDbtInd>'
    b"<c:RvslInd>true</c:RvslInd>"
    b"<c:Sts><c:Cd>BOOK</c:Cd></c:Sts><c:BookgDt><c:DtTm>2026-02-01T08:00:00</c:DtTm></c:BookgDt>"
    b"<c:NtryDtls><c:TxDtls><c:RltdPties><c:Cdtr><c:Pty><c:Nm>Bergbahn</c:Nm></c:Pty></c:Cdtr>"
    b"</c:RltdPties><c:RmtInf><c:Strd><c:CdtrRefInf><c:Ref>RF18 7</c:Ref></c:CdtrRefInf></c:Strd>"
    b"</c:RmtInf></c:TxDtls></c:NtryDtls>"
    b"<c:AddtlNtryInf>Gondola to the upper observatory</c:AddtlNtryInf></c:Ntry>\n"
    b'<c:Ntry><c:Amt Ccy="CHF">3.00</c:Amt><c:CdtDbtInd>DBIT</c:CdtDbtInd><c:Sts><c:Cd>BOOK</c:Cd>'
    b"</c:Sts><c:BookgDt><c:Dt>2026-02-02</c:Dt></c:BookgDt>"
    b"<c:AddtlNtryInf>Fee for the paper statement of the upper observatory</c:AddtlNtryInf>"
    b"</c:Ntry>\n</c:Stmt></c:BkToCstmrStmt></c:Document>\n"
)

MT940_HEAD = (
    "{1:F01CAISPTPLAXXX0000000000}{2:O9400000000000}{4:\r\n"
    ":20:STARTUMS\r\n:25:10010010/0123456789\r\n:28C:0/1\r\n:60F:C251231EUR1000,00\r\n"
)
MT940_RENT = (
    ":61:2601020102D850,00NTRFE-77//B1\r\n"
    ":86:020?00ONLINE-UEBERWEISUNG?100599?20EREF+E-77?21SVWZ+Miete fuer das Signal\r\n"
    "?22haus am Deich?30GENODEF1?31DE02100?32Leuchtturm?33verein\r\n"
)
MT940_PAY = ":61:2512310102CR2100,5NMSCNONREF\r\n:86:Salary December\r\n of the harbour office\r\n"
MT940_DUTCH = (
    ":61:260105C12,00NTRFEREF//B3\r\n"
    ":86:/TRTP/SEPA OVERBOEKING/IBAN/NL00INGB1/NAME/Jan de Boer/REMI/Half of the dinner/EREF/X\r\n"
)
MT940_TAIL = ":62F:C260131EUR2250,50\r\n-}\r\n"


def mt940(*movements: str) -> bytes:
    """Return a statement."""
    return (MT940_HEAD + "".join(movements) + MT940_TAIL).encode("cp1252")


QIF_HEAD = "!Account\nNGiro\nTBank\n^\n!Type:Bank\n"
QIF_ROPE = (
    "D12/19'25\nT-1,250.00\nCX\nN1001\nPRope & Sails\nMNew halyard for the dinghy\nLBoat\n^\n"
)
QIF_SPLIT = (
    "D1/ 5'26\nT-30.00\nPMarket\nLFood\nSFood\nEbread\n$-10.00\nSHome:Garden\nEseeds\n$-20.00\n^\n"
)
QIF_CATEGORIES = "!Type:Cat\nNFood\nDGroceries\nE\n^\n"


def qif(*entries: str, head: str = QIF_HEAD) -> bytes:
    """Return a ledger."""
    return (head + "".join(entries)).encode()


SAMPLES = (
    FormatSample(
        "bank_statement",
        "CAMT.053 of version 2",
        {"statement.xml": camt(RENT, PAY, BATCH, PENDING)},
        words='"rent for the signal house"',
        sentence="January rent for the signal house",
        units={"entry": ["XML elements Ntry"], "statement": ["XML elements Stmt"]},
        earlier={"statement.xml": camt(RENT)},
        cut="statement.xml",
        renamed={"statement.xml": "camt53 (1).xml"},
    ),
    FormatSample(
        "bank_statement",
        "CAMT.053 of version 8 with a prefix",
        {"camt.xml": CAMT_08},
        words='"paper statement of the upper observatory"',
        sentence="Fee for the paper statement of the upper observatory",
        units={"entry": ["XML elements Ntry"]},
        cut="camt.xml",
        renamed={"camt.xml": "2026-02.xml"},
    ),
    FormatSample(
        "bank_statement",
        "MT940",
        {"umsatz.sta": mt940(MT940_RENT, MT940_PAY, MT940_DUTCH)},
        units={"entry": ["lines of a statement"]},
        words='"Signalhaus am Deich"',
        sentence="Miete fuer das Signalhaus am Deich",
        earlier={"umsatz.sta": mt940(MT940_RENT)},
        cut="umsatz.sta",
        renamed={"umsatz.sta": "umsatz (1).txt"},
    ),
    FormatSample(
        "bank_statement",
        "QIF",
        {"quicken.qif": qif(QIF_ROPE, QIF_SPLIT, QIF_CATEGORIES)},
        units={"account+entry": ["ends of entries"]},
        cut="quicken.qif",
        words='"halyard for the dinghy"',
        sentence="New halyard for the dinghy",
        earlier={"quicken.qif": qif(QIF_ROPE)},
        renamed={"quicken.qif": "Quicken (2).QIF"},
    ),
)
