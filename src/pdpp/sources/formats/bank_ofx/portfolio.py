"""Portfolios: what the accounts of a file hold of each security, and what these are called."""

from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import cached_property

from pdpp.sources.formats.bank_ofx.moment import read_moment
from pdpp.sources.formats.bank_ofx.statement import BankHolding, BankSecurity, Leaves
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, SeenKeys, digest_key
from pdpp.sources.reading.money import exact, members

_MOST_NAMED = 100_000


class Portfolio:
    """Makes records of holdings and securities; each security is told once for a file."""

    def __init__(self, securities: Callable[[], Iterable[BankSecurity]]) -> None:
        self._securities = securities
        self._held = SeenKeys()
        self._told = SeenKeys()

    @cached_property
    def _names(self) -> dict[str, Leaves]:
        """Return what the file says of securities, by their number."""
        names: dict[str, Leaves] = {}
        for security in self._securities():
            if len(names) < _MOST_NAMED:
                names.setdefault(security.leaves.get("SECID.UNIQUEID", ""), security.leaves)
        return names

    def holding(self, held: BankHolding, where: str) -> Iterator[Finding]:
        """Yield what an account held of one security on the day of the statement."""
        leaves, statement = held.leaves, held.statement
        number, units = leaves.get("SECID.UNIQUEID"), exact(leaves.get("UNITS", ""))
        priced, _ = read_moment(leaves.get("DTPRICEASOF", ""))
        day = read_moment(statement.leaves.get("DTASOF", ""))[0] or priced
        owner = statement.account_key
        if not number or units is None or day is None or owner is None:
            yield Unknown("a holding without a security, a number, a day or an account", where)
            return
        named = self._names.get(number, {})
        data: dict[str, object] = {
            "account_id": owner,
            "held_on": day,
            "name": named.get("SECNAME"),
            "ticker": named.get("TICKER"),
            "security": number,
            "security_scheme": leaves.get("SECID.UNIQUEIDTYPE"),
            "kind": held.kind,
            "held_in": leaves.get("HELDINACCT"),
            "side": leaves.get("POSTYPE", "").lower(),
            **members("units", units),
            **_exactly("unit_price", leaves.get("UNITPRICE")),
            **_exactly("value", leaves.get("MKTVAL")),
            **_exactly("cost", leaves.get("COSTBASIS")),
            "currency": leaves.get("CURRENCY.CURSYM") or statement.leaves.get("CURDEF"),
            "priced_on": priced,
            "memo": leaves.get("MEMO"),
        }
        key = self._key(present(data, ""), leaves.get("INV401KSOURCE", ""))
        if key is None:
            yield Skipped("a holding that stands twice", where)
            return
        yield Item("holdings", key, {"id": key, **present(data, "")})

    def _key(self, data: dict[str, object], place: str) -> RecordKey | None:
        """Return the name of a holding: whose it is, of what and when, not how much.

        A statement may tell one security in several lots: the second has its amounts in its name.
        None says that exactly this one was there before.
        """
        names = ("account_id", "held_on", "security", "kind", "held_in", "side")
        plain = digest_key(place, *(f"{name}={data.get(name, '')}" for name in names))
        amounts = (
            f"{name}={data.get(name, '')}" for name in ("units_text", "value_text", "cost_text")
        )
        whole = digest_key(plain, *amounts)
        if not self._held.first(whole):
            return None
        return plain if self._held.first(plain) else whole

    def security(self, security: BankSecurity, where: str) -> Iterator[Finding]:
        """Yield what a security is called and what it last cost."""
        leaves = security.leaves
        number = leaves.get("SECID.UNIQUEID")
        name = leaves.get("SECNAME") or leaves.get("TICKER") or number
        if not number:
            yield Unknown("a security without a number", where)
            return
        key = digest_key("security", leaves.get("SECID.UNIQUEIDTYPE", ""), number)
        if not self._told.first(key):
            yield Skipped("a security that stands twice", where)
            return
        data: dict[str, object] = {
            "id": key,
            "security": number,
            "security_scheme": leaves.get("SECID.UNIQUEIDTYPE"),
            "name": name,
            "ticker": leaves.get("TICKER"),
            "kind": security.kind,
            **_exactly("unit_price", leaves.get("UNITPRICE")),
            "modified_on": read_moment(leaves.get("DTASOF", ""))[0],
            "memo": leaves.get("MEMO"),
        }
        yield Item("securities", key, present(data, ""))


def _exactly(name: str, text: str | None) -> dict[str, float | Decimal | str]:
    """Return a number with its exact text, or nothing where there is none."""
    value = exact(text or "")
    return {} if value is None else members(name, value)
