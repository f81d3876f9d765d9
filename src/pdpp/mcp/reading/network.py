"""A reading over the network, for the adapter on standard input and output."""

from pdpp.credentials import Cache, Credential
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.renewal import RenewingTransport
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.transport import NetworkTransport


def network_reader(cache: Cache, credential: Credential) -> GrantReader:
    """Return the way to a provider's records under a cached credential."""
    transport = RenewingTransport(NetworkTransport(credential.provider_url), cache, credential)
    return GrantReader(ResourceClient(transport, credential.token), {}, credential.provider_url)
