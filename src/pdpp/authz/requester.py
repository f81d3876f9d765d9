"""Requesters: who asks, as far as it can be told to the owner without believing the asker."""

import hashlib
import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from pdpp.authz.client_metadata import is_document_id
from pdpp.evidence.budget import cut
from pdpp.evidence.fence import is_plain, visible
from pdpp.store.vault import RegisteredClient

_LONGEST_NAME = 60
_LONGEST_ID = 200
_QUOTES = str.maketrans(dict.fromkeys('"“”„‟«»', "'"))
_WORD = re.compile(r"[^\W_]+")
_TONES = 8


@dataclass(frozen=True, slots=True)
class Requester:
    """A client as the owner sees it: ``host`` is the address its own document was fetched from."""

    name: str
    client_id: str
    host: str | None = None

    @property
    def monogram(self) -> str:
        """Return one or two letters that stand where a logo would."""
        words = _WORD.findall(self.name)
        return "".join(word[0] for word in words[:2]).upper() or "?"

    @property
    def tone(self) -> int:
        """Return which of a few colours the monogram has: the same for the same client id."""
        return _digest(self.client_id)[0] % _TONES


def agent_id(client_id: str) -> str:
    """Return the name of a client in addresses, where an id of its own may not stand."""
    return _digest(client_id).hex()[:24]


def requester_of(client_id: str, client: RegisteredClient | None) -> Requester:
    """Return how a client is shown; one that was never registered has only its id."""
    client_name = client.name if client is not None else ""
    name = one_line(client_name, _LONGEST_NAME) or one_line(client_id, _LONGEST_NAME)
    return Requester(name, one_line(client_id, _LONGEST_ID), _host(client_id))


def one_line(text: str, most: int) -> str:
    """Return untrusted text as one short line in which nothing is hidden and no quote ends."""
    # Most names are such a line already; a page of 300 streams asks for a thousand of them.
    if len(text) <= most and is_plain(text) and '"' not in text and "  " not in text:
        return text.strip(" ")
    line = visible(" ".join(text.split()), lines=False).translate(_QUOTES)
    kept, shortened = cut(line, most)
    return kept + "…" if shortened else kept


def _digest(client_id: str) -> bytes:
    return hashlib.sha256(client_id.encode("utf-8", "surrogatepass")).digest()


def _host(client_id: str) -> str | None:
    """Return the host of a client whose id is the address of its document."""
    return urlsplit(client_id).hostname if is_document_id(client_id) else None
