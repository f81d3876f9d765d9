"""A reader over the network, for the adapter on standard input and output."""

from collections.abc import Sequence
from threading import Lock, Thread

from pdpp.credentials import Cache, Credential
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.stream_name import StreamName
from pdpp.mcp.reading.transport import NetworkTransport
from pdpp.wire.bearer import RenewedBearer

NAMES_SECONDS = 1.0
"""How long a client waits for the names of its streams before it is told of tools in general."""


def network_reader(cache: Cache, credential: Credential) -> GrantReader:
    """Return the way to a provider's records under a cached credential."""
    bearer = RenewedBearer(cache, credential)
    transport = NetworkTransport(credential.provider_url, bearer)
    client = ResourceClient(transport, credential.token)
    client.connect_command = cache.connect_command(credential.provider_url)
    reader = GrantReader(client, {}, credential.provider_url)
    reader.names = NamesInTime(GrantReader(reader.client, {}, reader.key))
    return reader


class NamesInTime:
    """Asks once what the streams are called, in a thread, and waits for it only a little.

    A server that is slow or away must not keep a client from opening the conversation.
    """

    def __init__(self, reader: GrantReader, seconds: float = NAMES_SECONDS) -> None:
        self._seconds = seconds
        self._names: Sequence[StreamName] = ()
        self._thread = Thread(target=self._ask, args=(reader,), name="pdpp-names", daemon=True)
        self._start = Lock()

    def __call__(self) -> Sequence[StreamName]:
        """Return the names, none where they have not come yet."""
        with self._start:  # Who comes second must not wait for a thread that is not there yet.
            if self._thread.ident is None:
                self._thread.start()
        self._thread.join(self._seconds)
        return self._names

    def _ask(self, reader: GrantReader) -> None:
        work = reader.stream_names()
        try:
            work.send(None)  # The network blocks; there is no loop to wait in.
        except StopIteration as done:
            self._names = done.value
