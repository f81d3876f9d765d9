"""Types of JSON members: what the shapes of answers are written with.

The shape of an answer is a ``TypedDict`` beside the code that builds it. The type checker compares
the two, and the OpenAPI document is derived from the same definition, so neither can say something
else. What a Python type cannot say stands in ``Annotated``: a text is the description of a member,
a ``Keyword`` one more keyword of its JSON Schema, an enumeration or a tuple its values.
"""

from typing import Annotated, Any, NamedTuple


class Keyword(NamedTuple):
    """One keyword of JSON Schema with its value."""

    name: str
    value: Any


Size = Annotated[int, Keyword("minimum", 0)]
Moment = Annotated[str, Keyword("format", "date-time")]
Digest = Annotated[str, Keyword("pattern", "^[0-9a-f]{16}$")]
Sha256 = Annotated[str, Keyword("pattern", "^[0-9a-f]{64}$")]
Scalar = str | float | bool | None
