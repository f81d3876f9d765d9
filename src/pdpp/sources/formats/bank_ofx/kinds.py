"""Kinds: what OFX calls transactions and accounts by codes, in the words of people."""

from types import MappingProxyType

_TRANSACTIONS = MappingProxyType(
    {
        "ATM": "cash machine (withdrawal or deposit)",
        "CASH": "cash withdrawal",
        "CHECK": "check",
        "CREDIT": "credit",
        "DEBIT": "debit",
        "DEP": "deposit",
        "DIRECTDEBIT": "direct debit",
        "DIRECTDEP": "direct deposit",
        "DIV": "dividend",
        "FEE": "fee",
        "HOLD": "amount on hold",
        "INT": "interest",
        "OTHER": "other",
        "PAYMENT": "electronic payment",
        "POS": "purchase in a shop",
        "REPEATPMT": "standing order",
        "SRVCHG": "bank fee (service charge)",
        "XFER": "transfer",
        "BUYDEBT": "bond bought",
        "BUYMF": "fund bought",
        "BUYOPT": "option bought",
        "BUYOTHER": "other security bought",
        "BUYSTOCK": "stock bought",
        "CLOSUREOPT": "option closed",
        "INCOME": "income of a security",
        "INVEXPENSE": "expense of a security",
        "JRNLFUND": "money moved within the account",
        "JRNLSEC": "security moved within the account",
        "MARGININTEREST": "margin interest",
        "REINVEST": "income reinvested",
        "RETOFCAP": "return of capital",
        "SELLDEBT": "bond sold",
        "SELLMF": "fund sold",
        "SELLOPT": "option sold",
        "SELLOTHER": "other security sold",
        "SELLSTOCK": "stock sold",
        "SPLIT": "split of shares",
        "TRANSFER": "security transferred",
    }
)
_ACCOUNTS = MappingProxyType(
    {
        "BANK": "bank account",
        "CD": "certificate of deposit",
        "CHECKING": "checking account",
        "CREDITCARD": "credit card",
        "CREDITLINE": "line of credit",
        "INVESTMENT": "investment account",
        "LOAN": "loan",
        "MONEYMRKT": "money market account",
        "SAVINGS": "savings account",
    }
)


def transaction_words(code: str) -> str:
    """Return what kind of transaction it was; what no bank should write stays as it is."""
    return _TRANSACTIONS.get(code.upper(), code)


def account_words(code: str) -> str:
    """Return what kind of account it is."""
    return _ACCOUNTS.get(code.upper(), code)
