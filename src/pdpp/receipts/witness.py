"""Witnesses: who is told the end of the log, outside the folder that holds it.

Whoever can write to the data folder can put back an older log *and* an older store. A line on
another disk, or at another address, then still says how far the log had come.
"""

import os
from collections.abc import Callable
from pathlib import Path

from pdpp.model import instant
from pdpp.wire.http import FORM_LIMITS, HttpClient

Witness = Callable[[int, int, bytes], None]
"""Is told the time, the number of the last receipt, and its hash."""


def make_witness(place: str | None) -> Witness | None:
    """Return what tells a file or an https address; nobody is told where none is named."""
    if place is None:
        return None
    if place.startswith("https://"):
        return _posting(place)
    return _appending(Path(place))


def _appending(path: Path) -> Witness:
    def append(at: int, number: int, hashed: bytes) -> None:
        # Opened each time, so that the file may lie on a disk that is not always there.
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, f"{instant.to_text(at)} {number} {hashed.hex()}\n".encode())
        finally:
            os.close(descriptor)

    return append


def _posting(address: str) -> Witness:
    def post(at: int, number: int, hashed: bytes) -> None:
        document = {"at": instant.to_text(at), "number": number, "hash": hashed.hex()}
        reply = HttpClient(FORM_LIMITS).post_json(address, document)
        if reply.status >= 300:
            raise OSError(f"the witness answered {reply.status}")

    return post
