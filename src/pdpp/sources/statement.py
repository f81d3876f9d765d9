"""Statements: what a bank's OFX file says of accounts and of the money that moved."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pdpp.sources.tags import Tag

_ACCOUNT = {"BANKACCTFROM", "CCACCTFROM"}
_BALANCES = {"LEDGERBAL": "ledger", "AVAILBAL": "available"}
_STATEMENTS = {"STMTRS", "CCSTMTRS"}
_INVESTMENTS = {"INVSTMTRS", "INVSTMTMSGSRSV1"}
_AGGREGATES = (
    {"STMTTRN", "CURRENCY", "ORIGCURRENCY", "PAYEE", "BANKTRANLIST", "BANKACCTTO", "CCACCTTO"}
    | _ACCOUNT
    | set(_BALANCES)
    | _STATEMENTS
    | _INVESTMENTS
)
Leaves = dict[str, str]


@dataclass(slots=True)
class Statement:
    """One account as far as it has been read: its names, its currency and its balances."""

    leaves: Leaves = field(default_factory=dict)
    account: Leaves = field(default_factory=dict)
    balances: dict[str, Leaves] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Movement:
    """One transaction as it stands; members of what is nested in it carry a dot."""

    statement: Statement
    leaves: Leaves
    number: int


@dataclass(frozen=True, slots=True)
class Closing:
    """The end of a statement: everything about its account is known now."""

    statement: Statement


@dataclass(frozen=True, slots=True)
class Foreign:
    """A part of the file that is about something else, such as shares."""

    name: str


def statements(found: Iterable[Tag]) -> Iterator[Movement | Closing | Foreign | None]:
    """Yield what a stream of tags tells, and at last None where it ended inside a statement."""
    path: list[str] = []
    statement = Statement()
    movement: Leaves = {}
    number, ended = 0, False
    for tag in found:
        name = tag.name.removeprefix("/")
        if tag.name.startswith("/"):
            ended = ended or name == "OFX"
            if name not in path:
                continue
            del path[path.index(name) :]
            if name == "STMTTRN":
                number += 1
                yield Movement(statement, movement, number)
                movement = {}
            elif name in _STATEMENTS:
                yield Closing(statement)
                statement = Statement()
        elif tag.text or name not in _AGGREGATES:
            _keep(tag, path, statement, movement)
        else:
            if name in _INVESTMENTS and not _INVESTMENTS & set(path):
                yield Foreign(name)
            path.append(name)
    if path or not ended:
        yield None


def _keep(tag: Tag, path: list[str], statement: Statement, movement: Leaves) -> None:
    """Put a value where it belongs; the first of a name counts."""
    if "STMTTRN" in path:
        inner = path[path.index("STMTTRN") + 1 :]
        movement.setdefault(".".join([*inner, tag.name]), tag.text)
    elif path and path[-1] in _ACCOUNT:
        statement.account.setdefault(tag.name, tag.text)
    elif path and path[-1] in _BALANCES:
        statement.balances.setdefault(_BALANCES[path[-1]], {}).setdefault(tag.name, tag.text)
    elif path and path[-1] in _STATEMENTS:
        statement.leaves.setdefault(tag.name, tag.text)
