"""Statements: what a bank's OFX file says of accounts, of money that moved and of what is held."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pdpp.sources.keys import RecordKey, digest_key
from pdpp.sources.reading.tags import Tag

_ACCOUNT = {"BANKACCTFROM", "CCACCTFROM", "INVACCTFROM", "LOANACCTFROM"}
_BALANCES = {"LEDGERBAL": "ledger", "AVAILBAL": "available"}
_STATEMENTS = {"STMTRS", "CCSTMTRS", "INVSTMTRS", "LOANSTMTRS"}
_INVESTMENTS = {
    *("BUYDEBT", "BUYMF", "BUYOPT", "BUYOTHER", "BUYSTOCK", "CLOSUREOPT", "INCOME", "INVEXPENSE"),
    *("JRNLFUND", "JRNLSEC", "MARGININTEREST", "REINVEST", "RETOFCAP", "SELLDEBT", "SELLMF"),
    *("SELLOPT", "SELLOTHER", "SELLSTOCK", "SPLIT", "TRANSFER"),
}
"""What happens to shares and funds; each is one transaction."""
UNPAID = frozenset({"CLOSUREOPT", "JRNLSEC", "SPLIT", "TRANSFER"})
"""Those in which no money moves."""
_SECURITY_KINDS = {
    "DEBT": "bond",
    "MF": "fund",
    "OPT": "option",
    "OTHER": "other",
    "STOCK": "stock",
}
_HOLDINGS = {f"POS{name}": kind for name, kind in _SECURITY_KINDS.items()}
_SECURITIES = {f"{name}INFO": kind for name, kind in _SECURITY_KINDS.items()}
PENDING = "STMTTRNP"
"""A transaction that the bank has not booked."""
_MOVEMENTS = {"STMTTRN", "LOANSTMTTRN", PENDING} | _INVESTMENTS
_WRAPPERS = {"INVBUY", "INVSELL"}
_AGGREGATES = (
    {"INVTRAN", "SECID", "INVBUY", "INVSELL", "INVTRANLIST", "INVBANKTRAN", "CURRENCY"}
    | {"ORIGCURRENCY", "PAYEE", "BANKTRANLIST", "BANKACCTTO", "CCACCTTO", "BANKTRANLISTP"}
    | {"LOANTRANLIST", "LOANTRNAMT"}
    | _MOVEMENTS
    | _ACCOUNT
    | set(_BALANCES)
    | _STATEMENTS
    | set(_HOLDINGS)
    | set(_SECURITIES)
)
_GROUPS = _MOVEMENTS | set(_HOLDINGS) | set(_SECURITIES)
"""What becomes a record of its own, with the values in it."""
Leaves = dict[str, str]


@dataclass(slots=True)
class BankStatement:
    """One account as far as it has been read: its names, its currency and its balances."""

    leaves: Leaves = field(default_factory=dict)
    account: Leaves = field(default_factory=dict)
    balances: dict[str, Leaves] = field(default_factory=dict)

    @property
    def number(self) -> str:
        """Return the number of the account, or nothing."""
        return self.account.get("ACCTID") or self.account.get("LOANACCTID", "")

    @property
    def account_key(self) -> RecordKey | None:
        """Return the name of the account in records, where the statement has its number."""
        number = self.number
        if not number:
            return None
        return digest_key(self.account.get("BANKID") or self.account.get("BROKERID", ""), number)


@dataclass(frozen=True, slots=True)
class BankMovement:
    """One transaction as it stands; members of what is nested in it carry a dot."""

    statement: BankStatement
    leaves: Leaves
    number: int
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class BankHolding:
    """What an account holds of one security, as it stands."""

    statement: BankStatement
    leaves: Leaves
    number: int
    kind: str


@dataclass(frozen=True, slots=True)
class BankSecurity:
    """What a file says of one security: its number, its name and its price."""

    leaves: Leaves
    number: int
    kind: str


@dataclass(frozen=True, slots=True)
class StatementEnd:
    """The end of a statement: everything about its account is known now."""

    statement: BankStatement


StatementPart = BankMovement | BankHolding | BankSecurity | StatementEnd


def statements(tags: Iterable[Tag]) -> Iterator[StatementPart | None]:
    """Yield what a stream of tags tells, and at last None where it ended inside a statement."""
    path: list[str] = []
    statement = BankStatement()
    group: Leaves = {}
    numbers: Counter[type] = Counter()
    ended = False
    for tag in tags:
        name = tag.name.removeprefix("/")
        if tag.name.startswith("/"):
            ended = ended or name == "OFX"
            if name in _STATEMENTS:  # A bank may end that of a card as if it were another.
                name = next(filter(_STATEMENTS.__contains__, path), name)
            if name not in path:
                continue
            del path[path.index(name) :]
            if name in _GROUPS:
                part = _part(name, statement, group, numbers)
                group = {}
                yield part
            elif name in _STATEMENTS:
                yield StatementEnd(statement)
                statement = BankStatement()
        elif tag.text or name not in _AGGREGATES:
            _keep(tag, path, statement, group)
        else:
            path.append(name)
    if path or not ended:
        yield None


def _part(
    name: str, statement: BankStatement, leaves: Leaves, numbers: Counter[type]
) -> StatementPart:
    """Return what a group of values is, numbered among those of its kind."""
    if name in _HOLDINGS:
        numbers[BankHolding] += 1
        return BankHolding(statement, leaves, numbers[BankHolding], _HOLDINGS[name])
    if name in _SECURITIES:
        numbers[BankSecurity] += 1
        return BankSecurity(leaves, numbers[BankSecurity], _SECURITIES[name])
    numbers[BankMovement] += 1
    kind = None if name == "STMTTRN" else name
    return BankMovement(statement, leaves, numbers[BankMovement], kind)


def _keep(tag: Tag, path: list[str], statement: BankStatement, group: Leaves) -> None:
    """Put a value where it belongs; the first of a name counts."""
    around = next((name for name in path if name in _GROUPS), None)
    if around is not None:
        inner = [name for name in path[path.index(around) + 1 :] if name not in _WRAPPERS]
        group.setdefault(".".join([*inner, tag.name]), tag.text)
    elif path and path[-1] in _ACCOUNT:
        statement.account.setdefault(tag.name, tag.text)
    elif path and path[-1] in _BALANCES:
        statement.balances.setdefault(_BALANCES[path[-1]], {}).setdefault(tag.name, tag.text)
    elif path and path[-1] in _STATEMENTS:
        statement.leaves.setdefault(tag.name, tag.text)
