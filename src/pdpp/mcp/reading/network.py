"""A reading over the network, for the adapter on standard input and output."""

from pdpp.credentials import Cache, Credential
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.transport import NetworkTransport
from pdpp.wire.bearer import RenewedBearer


def network_reader(cache: Cache, credential: Credential) -> GrantReader:
    """Return the way to a provider's records under a cached credential."""
    bearer = RenewedBearer(cache, credential)
    transport = NetworkTransport(credential.provider_url, bearer)
    return GrantReader(ResourceClient(transport, credential.token), {}, credential.provider_url)
