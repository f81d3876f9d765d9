"""A fake of the TypeScript reference server: its shapes on the wire, written by itself.

It shares no code with ours: it has its own records, its own JSON and a plain HTTP server on a
loopback port. Use it as a context manager and point any client at its address::

    with ReferenceServer() as server:
        client = Client(server.url, token=server.token)

``server.asked`` lists the requests it got (method, path, query), ``server.world`` what it holds.
``ReferenceServer(Behaviour(...))`` chooses what differs between its deployments: owner-like flags
in the compact schema, no compact view at all, a legend, one connection only.
"""

from tests.reference_server.server import ReferenceServer
from tests.reference_server.world import Behaviour, World, two_mailboxes

__all__ = ["Behaviour", "ReferenceServer", "World", "two_mailboxes"]
