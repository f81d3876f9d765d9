"""The site: what every page shares."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pdpp.authz.authority import Authority
from pdpp.authz.owner import Owner
from pdpp.authz.principal import Principal, owner_principal
from pdpp.pages.page_reader import PageReader
from pdpp.pages.records.timeline import MonthCounts
from pdpp.resource.operate import Parameters
from pdpp.service.service import Service
from pdpp.store.catalogue import Catalogue

T = TypeVar("T")

_HASHING_AT_ONCE = 2
"""Each check of a passphrase takes 64 MiB for a moment."""


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
    hashing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_HASHING_AT_ONCE))

    def is_private(self, origin: str) -> bool:
        """Tell whether an address is the owner's own, which no other program knows."""
        return urlsplit(origin).hostname == self.private_host

    async def hash(self, operation: Callable[[], T]) -> T:
        """Run what hashes a passphrase away from the event loop, few at a time."""
        async with self.hashing:
            return await asyncio.to_thread(operation)

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
        if not self._owners or self._owners[0][0] is not catalogue:
            self._owners[:] = [(catalogue, owner_principal(catalogue))]
        owner = self._owners[0][1]
        return PageReader(self.service, owner, owner, catalogue)
