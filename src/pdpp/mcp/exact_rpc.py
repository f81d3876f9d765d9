"""Messages whose decimals keep their digits: how the kernel is to read and write JSON."""

from json import JSONDecoder

from pdpp.mcp.kernel import rpc
from pdpp.model.decimals import ExactEncoder, read_fraction

_DECODER = JSONDecoder(parse_constant=rpc.refuse_constant, parse_float=read_fraction)


def parse(text: bytes) -> object:
    """Return the JSON value that a message holds."""
    return rpc.parse(text, _DECODER)


def encode(answer: rpc.JsonObject) -> bytes:
    """Return an answer as one line of JSON."""
    return rpc.encode(answer, ExactEncoder)
