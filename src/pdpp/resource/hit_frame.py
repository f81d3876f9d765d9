"""Hit frames: what all hits of a reach have in common."""

from collections.abc import Mapping
from typing import NamedTuple

from pdpp.evidence.handle import Handle
from pdpp.evidence.presentation import NAMING
from pdpp.model.declaration import Role
from pdpp.resource.answers import SourceJson
from pdpp.resource.call import of_connection, records_route
from pdpp.resource.envelope import source_of
from pdpp.store.scope import Reach, roles_of
from pdpp.store.stream_names import stream_names

_IDENTITY = frozenset({Role.TITLE, Role.ACTOR, Role.LINK})
"""Roles that say what a record is; a match in them finds it but is no passage to quote."""


class HitPlace(NamedTuple):
    """A searched field: a match in one with ``quotes`` is a passage, in a body the best one."""

    name: str
    quotes: bool
    body: bool


class HitFrame(NamedTuple):
    """What all hits of a reach have in common."""

    handle: str
    """The part of a handle that comes before the key."""
    stream: str
    route: str
    """The part of a record's route that comes before its key."""
    source: SourceJson
    of_connection: str
    naming_roles: Mapping[str, str]
    """The roles of the fields that say what a hit is called and when it happened."""
    names: frozenset[str]
    """The terms of what the stream and its account are called."""
    places: tuple[HitPlace, ...]
    """The fields that are searched."""


def hit_frame(reach: Reach) -> HitFrame:
    """Return what all hits of a reach have in common."""
    stream = reach.stream
    roles = {name: stream.fields[name].role for name in reach.searched_fields()}
    return HitFrame(
        handle=Handle(reach.connection_id, stream.name, "").id,
        stream=stream.name,
        route=records_route(reach),
        source=source_of(reach),
        of_connection=of_connection(reach),
        naming_roles={name: role for name, role in roles_of(reach).items() if role in NAMING},
        names=reach.once(stream_names),
        places=tuple(
            HitPlace(name, role not in _IDENTITY, role is Role.BODY) for name, role in roles.items()
        ),
    )
