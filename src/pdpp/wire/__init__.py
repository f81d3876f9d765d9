"""The wire: HTTP to a resource server elsewhere, shared by the library and the adapter."""
