"""Kinds: what bookings are by the codes of ISO 20022 and of SWIFT, in the words of people."""

from types import MappingProxyType

_USES = MappingProxyType(
    {
        "CDPT": "cash deposit",
        "CHRG": "bank charges",
        "COMM": "commission",
        "CWDL": "cash withdrawal",
        "DVCA": "dividend",
        "FEES": "bank fees",
        "INTR": "interest",
        "PMDD": "direct debit",
        "POSC": "credit card payment",
        "POSD": "card payment",
        "SALA": "salary",
        "STDO": "standing order",
        "TAXE": "taxes",
        "XBCW": "cash withdrawal abroad",
    }
)
"""What some bookings are, whatever family they are of."""
_FAMILIES = MappingProxyType(
    {
        "CCRD": "card payment",
        "CNTR": "booking at the counter",
        "ICDT": "transfer sent",
        "ICHQ": "cheque paid",
        "IDDT": "direct debit collected",
        "IRCT": "instant transfer sent",
        "MCRD": "card payment received",
        "RCDT": "transfer received",
        "RCHQ": "cheque received",
        "RDDT": "direct debit",
        "RRCT": "instant transfer received",
    }
)
_DOMAINS = MappingProxyType(
    {
        "ACMT": "account management",
        "CAMT": "cash management",
        "FORX": "foreign exchange",
        "LDAS": "loan or deposit",
        "PMNT": "payment",
        "SECU": "securities",
    }
)
_SWIFT = MappingProxyType(
    {
        "BNK": "booking of securities",
        "BRF": "brokerage fee",
        "CHG": "bank charges",
        "CHK": "cheque",
        "COM": "commission",
        "DDT": "direct debit",
        "DIV": "dividend",
        "FEX": "foreign exchange",
        "INT": "interest",
        "LDP": "loan deposit",
        "MSC": "miscellaneous",
        "RTI": "returned item",
        "SEC": "securities",
        "STO": "standing order",
        "TCK": "traveller's cheques",
        "TRF": "transfer",
    }
)


def iso_words(domain: str, family: str, use: str) -> str:
    """Return what kind of booking it was, nothing where no word is known."""
    return _USES.get(use) or _FAMILIES.get(family) or _DOMAINS.get(domain, "")


def swift_words(code: str) -> str:
    """Return what kind of booking ``NTRF`` and the like are, nothing where no word is known."""
    return _SWIFT.get(code[1:], "")
