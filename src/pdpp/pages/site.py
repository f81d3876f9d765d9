"""The site: what every page shares."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from starlette.responses import Response

from pdpp.authz.authority import Authority
from pdpp.authz.owner import Owner
from pdpp.authz.principal import Principal, owner_principal
from pdpp.pages.page_reader import PageReader
from pdpp.pages.records.timeline import MonthCounts
from pdpp.resource.operate import Parameters
from pdpp.service.service import Service
from pdpp.store.catalogue import Catalogue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Site:
    """The store with its authority and its owner, as pages need them."""

    service: Service
    authority: Authority
    owner: Owner
    proof_key: bytes
    private_host: str
    """A name under ``.localhost`` that only the owner knows: other ports get no cookies of it."""
    data: Path | None = None
    """The data folder; without one nothing can be imported or backed up here."""
    month_counts: MonthCounts = field(default_factory=MonthCounts)
    _owners: list[tuple[Catalogue, Principal]] = field(default_factory=list)

    def is_private(self, origin: str) -> bool:
        """Tell whether an address is the owner's own, which no other program knows."""
        return urlsplit(origin).hostname == self.private_host

    async def hash(self, operation: Callable[[], T]) -> T:
        """Run what hashes a passphrase away from the event loop, few at a time."""
        return await self.service.runner.for_stranger(operation)

    async def draw(self, operation: Callable[[], Response], *, known: bool) -> Response:
        """Make a page in a thread: templates and long records would hold up everybody else.

        Only who is ``known`` has it made among the readers.
        """
        runner = self.service.runner
        return await (runner.aside(operation) if known else runner.for_stranger(operation))

    async def write(self, operation: Callable[[], T]) -> T:
        """Run what changes the store."""
        return await self.service.runner.write(operation)

    async def read(self, kind: str, operation: Callable[[], T]) -> T:
        """Run what reads records, under one snapshot."""
        return await self.service.runner.read(f"page {kind}", operation)

    async def operate(
        self, operation: str, path: Mapping[str, str] | None = None, query: Parameters | None = None
    ) -> Any:
        """Run an operation of ``/v1`` for the owner's session; it leaves a receipt like any other.

        The page has checked the session before it asks.
        """
        return await self.reader().operate(operation, path, query)

    def reader(self) -> PageReader:
        """Return what reads as the owner; who that is follows from the catalogue alone."""
        catalogue = self.service.store.catalogue()
        known, owner = self._owners[0] if self._owners else (None, None)
        if owner is None or known is not catalogue:
            owner = owner_principal(catalogue)
            # In one step, because pages are made in several threads.
            self._owners[:] = [(catalogue, owner)]
        return PageReader(self.service, owner, owner, catalogue)
