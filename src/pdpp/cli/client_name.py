"""Client names: how a person knows a client, with the id that commands take."""

from collections.abc import Mapping

from pdpp.store.port import Store


def client_names(store: Store) -> dict[str, str]:
    """Return what the approved clients call themselves, by id."""
    return {client.id: client.name for client in store.vault.clients()}


def named(client_id: str, names: Mapping[str, str]) -> str:
    """Return a client by name and id, or by its id alone where it has no name."""
    name = names.get(client_id)
    return client_id if name is None else f"{name} ({client_id})"
