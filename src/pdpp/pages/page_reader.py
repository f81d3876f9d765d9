"""Page readers: the operations of ``/v1`` for a page, as the owner or as an agent would see them.

What a page reads leaves a receipt like any other read. Where the owner looks through a grant, the
receipt is the owner's too: the agent read nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pdpp.authz.principal import Principal
from pdpp.resource.operate import Parameters, operate
from pdpp.service.service import Service
from pdpp.store.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class PageReader:
    """Reads for one page; ``base`` stands before the addresses of what it shows."""

    service: Service
    owner: Principal
    principal: Principal
    catalogue: Catalogue
    """What is declared and connected; a page asks for it once, not for each of its lines."""
    base: str = ""

    @property
    def is_owner(self) -> bool:
        """Tell whether the page shows what the owner sees."""
        return self.principal.is_owner

    async def operate(
        self,
        operation: str,
        path: Mapping[str, str] | None = None,
        query: Parameters | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Run an operation and return its answer as data."""
        return await operate(
            self.service,
            self.principal,
            operation,
            path,
            query,
            reader=self.owner,
            headers=headers or {},
        )
