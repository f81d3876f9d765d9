"""Granted details: what a grant opens, in the form that clients ask for it."""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from pdpp.authz.detail import DETAIL_TYPE
from pdpp.model import instant
from pdpp.model.grant import Allowance, Grant, Interval
from pdpp.store.catalogue import Catalogue


def granted_details(grants: Iterable[Grant], catalogue: Catalogue) -> list[dict[str, Any]]:
    """Return one object for each grant and source; what no longer exists is not told."""
    return [detail for grant in grants for detail in _details(grant, catalogue)]


def _details(grant: Grant, catalogue: Catalogue) -> Iterable[dict[str, Any]]:
    connected = [one for one in grant.allowances if one.connection_id in catalogue.connections]

    def source(allowance: Allowance) -> str:
        return catalogue.connections[allowance.connection_id].connector_key

    for connector_key, own in groupby(sorted(connected, key=source), key=source):
        yield {
            "type": DETAIL_TYPE,
            "source": catalogue.sources[connector_key].source_id,
            "purpose_description": grant.purpose,
            "access_mode": grant.access_mode.value,
            "streams": [_stream(allowance) for allowance in own],
        }


def _stream(allowance: Allowance) -> dict[str, Any]:
    stream: dict[str, Any] = {
        "name": allowance.stream,
        "connection_ids": [allowance.connection_id],
        "fields": list(allowance.fields),
    }
    if allowance.time is not None:
        stream["time_range"] = _range(allowance.time)
    if allowance.keys is not None:
        stream["resources"] = sorted(allowance.keys)
    return stream


def _range(time: Interval) -> dict[str, str]:
    bounds = {"since": time.since, "until": time.until}
    return {name: instant.to_text(bound) for name, bound in bounds.items() if bound is not None}
