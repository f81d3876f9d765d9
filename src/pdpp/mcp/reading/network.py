"""A reading over the network, for the adapter on standard input and output."""

from pdpp.credentials import Cache, Credential
from pdpp.mcp.reading.client import ResourceClient
from pdpp.mcp.reading.reading import Reading
from pdpp.mcp.reading.renewal import Renewing
from pdpp.mcp.reading.transport import Network


def network_reading(cache: Cache, credential: Credential) -> Reading:
    """Return the way to a provider's records under a cached credential."""
    transport = Renewing(Network(credential.provider_url), cache, credential)
    return Reading(ResourceClient(transport, credential.token), {}, credential.provider_url)
