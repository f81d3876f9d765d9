"""Statements: what a bank's OFX file says of accounts and of the money that moved."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pdpp.sources.reading.tags import Tag

_ACCOUNT = {"BANKACCTFROM", "CCACCTFROM", "INVACCTFROM"}
_BALANCES = {"LEDGERBAL": "ledger", "AVAILBAL": "available"}
_STATEMENTS = {"STMTRS", "CCSTMTRS", "INVSTMTRS"}
_INVESTMENTS = {
    *("BUYDEBT", "BUYMF", "BUYOPT", "BUYOTHER", "BUYSTOCK", "CLOSUREOPT", "INCOME", "INVEXPENSE"),
    *("JRNLFUND", "JRNLSEC", "MARGININTEREST", "REINVEST", "RETOFCAP", "SELLDEBT", "SELLMF"),
    *("SELLOPT", "SELLOTHER", "SELLSTOCK", "SPLIT", "TRANSFER"),
}
"""What happens to shares and funds; each is one transaction."""
UNPAID = frozenset({"CLOSUREOPT", "JRNLSEC", "SPLIT", "TRANSFER"})
"""Those in which no money moves."""
_HOLDINGS = {
    **{f"POS{kind}": "what is held, which is no movement" for kind in ("DEBT", "MF", "OPT")},
    **{f"POS{kind}": "what is held, which is no movement" for kind in ("OTHER", "STOCK")},
    **{f"{kind}INFO": "what a security is called" for kind in ("DEBT", "MF", "OPT", "OTHER")},
    "STOCKINFO": "what a security is called",
}
_MOVEMENTS = {"STMTTRN"} | _INVESTMENTS
_WRAPPERS = {"INVBUY", "INVSELL"}
_AGGREGATES = (
    {"INVTRAN", "SECID", "INVBUY", "INVSELL", "INVTRANLIST", "INVBANKTRAN", "CURRENCY"}
    | {"ORIGCURRENCY", "PAYEE", "BANKTRANLIST", "BANKACCTTO", "CCACCTTO"}
    | _MOVEMENTS
    | _ACCOUNT
    | set(_BALANCES)
    | _STATEMENTS
    | set(_HOLDINGS)
)
Leaves = dict[str, str]


@dataclass(slots=True)
class BankStatement:
    """One account as far as it has been read: its names, its currency and its balances."""

    leaves: Leaves = field(default_factory=dict)
    account: Leaves = field(default_factory=dict)
    balances: dict[str, Leaves] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BankMovement:
    """One transaction as it stands; members of what is nested in it carry a dot."""

    statement: BankStatement
    leaves: Leaves
    number: int
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class BankHolding:
    """A position or a security, of which no record is made."""

    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class StatementEnd:
    """The end of a statement: everything about its account is known now."""

    statement: BankStatement


def statements(
    tags: Iterable[Tag],
) -> Iterator[BankMovement | BankHolding | StatementEnd | None]:
    """Yield what a stream of tags tells, and at last None where it ended inside a statement."""
    path: list[str] = []
    statement = BankStatement()
    movement: Leaves = {}
    number, ended = 0, False
    for tag in tags:
        name = tag.name.removeprefix("/")
        if tag.name.startswith("/"):
            ended = ended or name == "OFX"
            if name not in path:
                continue
            del path[path.index(name) :]
            if name in _MOVEMENTS:
                number += 1
                kind = None if name == "STMTTRN" else name
                yield BankMovement(statement, movement, number, kind)
                movement = {}
            elif name in _HOLDINGS:
                yield BankHolding(name, _HOLDINGS[name])
            elif name in _STATEMENTS:
                yield StatementEnd(statement)
                statement = BankStatement()
        elif tag.text or name not in _AGGREGATES:
            _keep(tag, path, statement, movement)
        else:
            path.append(name)
    if path or not ended:
        yield None


def _keep(tag: Tag, path: list[str], statement: BankStatement, movement: Leaves) -> None:
    """Put a value where it belongs; the first of a name counts."""
    moving = next((name for name in path if name in _MOVEMENTS), None)
    if moving is not None:
        inner = [name for name in path[path.index(moving) + 1 :] if name not in _WRAPPERS]
        movement.setdefault(".".join([*inner, tag.name]), tag.text)
    elif path and path[-1] in _ACCOUNT:
        statement.account.setdefault(tag.name, tag.text)
    elif path and path[-1] in _BALANCES:
        statement.balances.setdefault(_BALANCES[path[-1]], {}).setdefault(tag.name, tag.text)
    elif path and path[-1] in _STATEMENTS:
        statement.leaves.setdefault(tag.name, tag.text)
