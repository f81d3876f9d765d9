"""Bank statements as OFX or QFX files: version 1 is SGML, version 2 is XML."""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.bank_ofx.kinds import account_words, transaction_words
from pdpp.sources.formats.bank_ofx.moment import read_moment
from pdpp.sources.formats.bank_ofx.portfolio import Portfolio
from pdpp.sources.formats.bank_ofx.statement import (
    PENDING,
    UNPAID,
    BankHolding,
    BankMovement,
    BankSecurity,
    BankStatement,
    StatementEnd,
    statements,
)
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.money import exact, members
from pdpp.sources.reading.tags import tags
from pdpp.sources.reading.textfile import encoding_of
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    roots_of_accounts,
)

_MOST_REMEMBERED = 500_000
_PATTERNS = ("*.[oOqQ][fF][xX]", "*.[qQ][bB][oO]")
_HEADER = re.compile(rb"OFXHEADER\s*[:=]")
_ROOT = re.compile(rb"<OFX\s*>", re.IGNORECASE)
_VERSION = re.compile(rb"VERSION\s*[:=]\s*[\"']?(\d{3})")
_CHARSET = re.compile(rb"CHARSET\s*:\s*(\S+)")
_ENCODING = re.compile(rb"encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_LEAF = rb"<%s>\s*([^<\r\n]{1,80})"
_ENCODINGS = {b"1252": "cp1252", b"UTF-8": "utf-8", b"NONE": "utf-8", b"8859-1": "latin-1"}


class BankOfx(Source):
    """Statements that a bank hands out for programs such as Quicken or GnuCash."""

    connector_key = "bank_ofx"
    lies_among_others = True
    files_stand_alone = True
    label = "Bank statement (OFX or QFX)"

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return every file by itself where they are of several accounts."""
        files = [entry for entry in _candidates(tree) if _is_ofx(entry.head())]
        return roots_of_accounts({f.name: " ".join(_own_account(f.head())) for f in files})

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for the header and the root that only this format has."""
        files_found = [entry for entry in _candidates(tree) if _is_ofx(entry.head())]
        if not files_found:
            return None
        head = files_found[0].head()
        version = _VERSION.search(head)
        kind = f"OFX {version.group(1).decode()}" if version else "OFX"
        bank, number = _own_account(head)
        files = f", {len(files_found)} files" if len(files_found) > 1 else ""
        # Months of one account are that account, in one file or in many.
        alone = len({_own_account(entry.head()) for entry in files_found}) == 1
        return Recognition(
            Confidence.CERTAIN,
            kind + files,
            account=f"{bank} …{number[-4:]}" if number and alone else bank,
            identity=digest_key(bank, number) if alone else bank,
            detail={"entries": [entry.name for entry in files_found]},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each statement file."""
        for entry in tree.these(recognition.detail["entries"]):
            yield ExportPart(entry, partial(_read, entry))


def _candidates(tree: Tree) -> list[FileEntry]:
    return list(tree.entries) if tree.kind == "file" else tree.named(*_PATTERNS)


def _is_ofx(head: bytes) -> bool:
    return bool(_ROOT.search(head)) and (bool(_HEADER.search(head)) or b"<SIGNONMSGSRSV1>" in head)


def _own_account(head: bytes) -> tuple[str, str]:
    """Return the bank and the number of the account that a file begins with."""
    return _leaf(head, b"ORG") or "Bank", _leaf(head, b"ACCTID") or ""


def _leaf(head: bytes, name: bytes) -> str | None:
    match = re.search(_LEAF % name, head, re.IGNORECASE)
    return match.group(1).decode(_encoding(head), "replace").strip() if match else None


def _encoding(head: bytes) -> str:
    """Return how a file's text is written: as it is, where that and its header disagree."""
    declared = _declared_encoding(head)
    if not head.isascii():
        is_utf_8 = encoding_of(head).startswith("utf-8")
        if is_utf_8 or declared == "utf-8":
            return "utf-8" if is_utf_8 else "cp1252"
    return declared


def _declared_encoding(head: bytes) -> str:
    """Return the encoding a header names; banks without a word on it mean Windows' letters."""
    declared = _ENCODING.search(head)
    if declared is not None:
        try:
            "".encode(declared.group(1).decode())
        except (LookupError, UnicodeError):
            return "utf-8"
        return declared.group(1).decode()
    charset = _CHARSET.search(head)
    if b"ENCODING:UTF-8" in head.replace(b" ", b"").upper():
        return "utf-8"
    return _ENCODINGS.get(charset.group(1).upper(), "cp1252") if charset else "utf-8"


def _read(entry: FileEntry) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    encoding = _encoding(entry.head())
    portfolio = Portfolio(partial(_securities, entry, encoding))
    with entry.open() as stream:
        for part in statements(tags(stream, encoding)):
            if part is None:
                yield Skipped("the file ends in the middle", entry.name, cut=True)
            elif isinstance(part, BankHolding):
                where = f"{entry.name} holding {part.number}"
                yield from account(portfolio.holding(part, where), where, "holding")
            elif isinstance(part, BankSecurity):
                where = f"{entry.name} security {part.number}"
                yield from account(portfolio.security(part, where), where, "security")
            elif isinstance(part, BankMovement):
                where = f"{entry.name} transaction {part.number}"
                yield from account(_transaction(part, seen, where), where, "transaction")
            else:
                yield from account(_account(part), f"{entry.name} account", "account")


def _securities(entry: FileEntry, encoding: str) -> Iterator[BankSecurity]:
    """Yield the securities that a file names; they stand behind the statements that hold them."""
    with suppress(DamagedFile), entry.open() as stream:
        parts = statements(tags(stream, encoding))
        yield from (part for part in parts if isinstance(part, BankSecurity))


def _account(closing: StatementEnd) -> Iterator[Finding]:
    statement = closing.statement
    key = statement.account_key
    if key is None:
        yield Unknown("a statement without an account", "STMTRS")
        return
    data: dict[str, object] = {
        "id": key,
        "number": statement.number,
        "bank_id": statement.account.get("BANKID") or statement.account.get("BROKERID"),
        "kind": account_words(statement.account.get("ACCTTYPE") or _kind(statement)),
        "currency": statement.leaves.get("CURDEF"),
    }
    for name, leaves in statement.balances.items():
        amount = exact(leaves.get("BALAMT", ""))
        if amount is not None:
            data |= members(f"{name}_balance", amount)
    day, _ = read_moment(statement.balances.get("ledger", {}).get("DTASOF", ""))
    yield Item("accounts", key, present({**data, "balance_on": day}, ""))


def _transaction(movement: BankMovement, seen: dict[str, str], where: str) -> Iterator[Finding]:
    leaves, statement = movement.leaves, movement.statement
    if movement.kind == PENDING:
        yield Skipped("a transaction that is not booked", where)
        return
    day, moment = read_moment(leaves.get("DTPOSTED") or leaves.get("INVTRAN.DTTRADE", ""))
    # Shares that are split or moved cost nothing.
    unpaid = "0" if movement.kind in UNPAID else ""
    amount = exact(leaves.get("TRNAMT") or leaves.get("TOTAL") or unpaid)
    owner = statement.account_key
    if day is None or amount is None or owner is None:
        yield Unknown("a transaction without a date, an amount or an account", where)
        return
    data: dict[str, object] = {
        "account_id": owner,
        "posted_on": day,
        "posted_at": moment,
        "kind": transaction_words(leaves.get("TRNTYPE") or movement.kind or ""),
        "payee": leaves.get("NAME") or leaves.get("PAYEE.NAME"),
        "memo": leaves.get("MEMO") or leaves.get("INVTRAN.MEMO"),
        "security": leaves.get("SECID.UNIQUEID"),
        "units": _number(leaves.get("UNITS") or leaves.get("NEWUNITS")),
        "unit_price": _number(leaves.get("UNITPRICE")),
        "check_number": leaves.get("CHECKNUM"),
        "currency": leaves.get("CURRENCY.CURSYM") or statement.leaves.get("CURDEF"),
        **members("amount", amount),
    }
    data = present(data, "")
    key = _key(leaves.get("FITID") or leaves.get("INVTRAN.FITID"), data, seen)
    if key is None:
        yield Skipped("a transaction that stands twice", where)
        return
    yield Item("transactions", key, {"id": key, **data})


def _kind(statement: BankStatement) -> str:
    """Return what an account is that does not say it."""
    if "LOANACCTID" in statement.account:
        return "LOAN"
    if "BANKID" in statement.account:
        return "BANK"
    return "INVESTMENT" if "BROKERID" in statement.account else "CREDITCARD"


def _number(text: str | None) -> float | None:
    value = exact(text or "")
    return None if value is None else float(value)


def _key(number: str | None, data: dict[str, Any], seen: dict[str, str]) -> RecordKey | None:
    """Return the bank's own name for a transaction, or one made of its content.

    Some banks give one name to two transactions, in one statement or again in a later one: the day
    and the amount are a part of the key. If these are the same too, the second has all of its
    content in its key. None says that exactly this one was there before.
    """
    digest = digest_key(*(f"{name}={data[name]}" for name in sorted(data)))
    if len(seen) >= _MOST_REMEMBERED:
        seen.clear()
    told = (data["account_id"], number or "", data["posted_on"], str(data["amount"]))
    key = safe_key(*told) if number else _numbered(data, digest, seen)
    if seen.get(key, digest) != digest:
        key = RecordKey(f"{key}-{digest[:8]}")
    if key in seen:
        return None
    seen[key] = digest
    return key


def _numbered(data: dict[str, Any], digest: str, seen: dict[str, str]) -> RecordKey:
    """Return a key of the content; equal transactions that the bank does not name are numbered."""
    key, number = safe_key(data["account_id"], digest), 1
    while key in seen:
        number += 1
        key = safe_key(data["account_id"], digest, str(number))
    return key
