"""The demo world: eight connections of one invented person, Nora Winter in Lisbon.

Everything is made by code from fixed seeds and fixed dates, so two runs give the same bytes.
"""

from collections.abc import Iterator
from itertools import chain

from pdpp.demo import bank, calendar, chat, mail, notes, photos, shop
from pdpp.demo.awkward import AWKWARD
from pdpp.demo.source import Batch, Blob, Source
from pdpp.demo.story import INVOICE_STORY

_MODULES = (mail, chat, notes, bank, calendar, photos, shop)


def sources() -> tuple[Source, ...]:
    """Return every source with its connections."""
    return tuple(chain.from_iterable(module.sources() for module in _MODULES))


def batches() -> Iterator[Batch]:
    """Yield every record as lines to ingest, one stream after the other."""
    for module in _MODULES:
        yield from module.batches()


def blobs() -> Iterator[Blob]:
    """Yield every piece of content that records point to, each once."""
    seen: set[str] = set()
    for item in chain(mail.blobs(), photos.blobs()):
        if item.blob_id not in seen:
            seen.add(item.blob_id)
            yield item


__all__ = ["AWKWARD", "INVOICE_STORY", "Batch", "Blob", "Source", "batches", "blobs", "sources"]
