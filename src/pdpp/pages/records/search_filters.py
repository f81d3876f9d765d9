"""Search filters: what the address of the search page asks for, and the addresses next to it."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

_MONTH = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?\Z", re.ASCII)
_LONGEST = 200
_QUOTES = str.maketrans(dict.fromkeys('"“”„‟＂', " "))


@dataclass(frozen=True, slots=True)
class SearchFilters:
    """Words, an account, a kind of records, a person, a month or year, an order, and a place.

    ``after`` is where the page before ended: a cursor, or a moment of a browsed list.
    """

    q: str = ""
    account: str = ""
    kind: str = ""
    person: str = ""
    month: str = ""
    sort: str = ""
    after: str = ""

    @classmethod
    def of_query(cls, query: Mapping[str, str]) -> "SearchFilters":
        """Return the filters that an address names; what makes no sense is left out."""
        month = query.get("month", "")
        return cls(
            q=query.get("q", "").strip(),
            account=query.get("account", "")[:_LONGEST],
            kind=query.get("kind", "")[:_LONGEST],
            person=query.get("person", "").strip()[:_LONGEST],
            month=month if _MONTH.match(month) else "",
            sort="time" if query.get("sort") == "time" else "",
            after=query.get("after", "")[:4_096],
        )

    @property
    def searches(self) -> bool:
        """Tell whether there is something to look for; else records are browsed."""
        return bool(self.q or self.person)

    @property
    def question(self) -> str:
        """Return the question in the language of the search."""
        parts = [self.q]
        if self.person:
            parts.append(f'from:"{self.person.translate(_QUOTES).strip()}"')
        if self.month:
            parts.append(f"on:{self.month}")
        return " ".join(part for part in parts if part)

    def with_changes(self, **changes: str) -> "SearchFilters":
        """Return other filters; a change of any begins at the first page."""
        return replace(self, **({"after": ""} | changes))

    def query(self, **changes: str) -> str:
        """Return the query string of these filters with changes, beginning with a question mark."""
        values: dict[str, Any] = asdict(self.with_changes(**changes))
        encoded = urlencode({name: value for name, value in values.items() if value})
        return f"?{encoded}" if encoded else "?"
