"""Stream names: what a grant's streams are called in their declarations."""

from typing import NamedTuple


class StreamName(NamedTuple):
    """What a stream is called: by its connector, by itself, and by the label of its declaration."""

    connector_key: str
    stream: str
    label: str = ""
