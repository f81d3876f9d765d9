"""The parameters that several routes of ``/v1`` take, each described once."""

from pdpp.evidence.analyse import MAX_QUERY_CHARS
from pdpp.evidence.language.question import MAX_QUESTION_CHARS
from pdpp.model.errors import InvalidWindow
from pdpp.resource.parameter import Parameter, Parameters, Shape


def size_in_chars(name: str, description: str, least: int, most: int | None = None) -> Parameter:
    """Return a number of characters; one out of bounds is refused as a window is."""
    return Parameter(
        name, Shape.INTEGER, description, minimum=least, maximum=most, refusal=InvalidWindow
    )


CONNECTION = Parameter(
    "connection_id", Shape.TEXT, "Only this connection, as named by GET /v1/streams."
)
LIMIT = Parameter(
    "limit",
    Shape.INTEGER,
    "How many to return; more than the most is clamped with a warning.",
    minimum=1,
    maximum=100,
    default=25,
    clamp=True,
)
CURSOR = Parameter("cursor", Shape.TEXT, "next_cursor of the page before.", longest=4096)
FIELDS = Parameter("fields", Shape.LIST, "Only these fields of each record.")
VIEW = Parameter("view", Shape.TEXT, "Only the fields of this declared view.")
FILTER = Parameter(
    "filter",
    Shape.FILTER,
    "filter[field]=value for an exact match, filter[field][gte|gt|lte|lt]=value for a range.",
)
EXPAND = Parameter("expand", Shape.LIST, "Declared relations to include with each record.")
EXPAND_LIMIT = Parameter(
    "expand_limit", Shape.LIMITS, "expand_limit[relation]=number: how many of a relation at most."
)
QUERY = Parameter(
    "q",
    Shape.TEXT,
    "What to look for: plain words, any of them, ranked; "
    '"a phrase", +must, -not, prefix*, OR, from:, in:, before:, after:, on:.',
    required=True,
    longest=MAX_QUESTION_CHARS,
)
SEARCH_PARAMETERS = Parameters(
    QUERY,
    Parameter(
        "match",
        Shape.CHOICE,
        "best: any of the words, ranked; all: every word must be there.",
        ("best", "all"),
        default="best",
    ),
    Parameter(
        "sort",
        Shape.CHOICE,
        "score: the best first; time: the newest first.",
        ("score", "time"),
        default="score",
    ),
    Parameter(
        "time_zone",
        Shape.TEXT,
        "The zone of the days a question names; also the header PDPP-Time-Zone.",
    ),
    Parameter("streams", Shape.LIST, "Only these streams; also written streams[]."),
    CONNECTION,
    FILTER,
    LIMIT,
    CURSOR,
)
INTO = Parameter("into", Shape.TEXT, "The account that the records move into.", required=True)
WINDOW_QUERY = Parameter(
    "q", Shape.TEXT, "Read around the first match of these words instead.", longest=MAX_QUERY_CHARS
)
