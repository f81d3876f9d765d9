"""Movement: how Google says that somebody moved and what a place was, in the words of people."""

from types import MappingProxyType

from pdpp.sources.reading.code_words import plain_words, titled_words

_MOVING = "Moving"
_WAYS = MappingProxyType(
    {
        "in bus": "On a bus",
        "in cable car": "In a cable car",
        "in ferry": "On a ferry",
        "in funicular": "In a funicular",
        "in gondola lift": "In a gondola lift",
        "in passenger vehicle": "Driving in a car",
        "in rail vehicle": "On rails",
        "in road vehicle": "On the road",
        "in subway": "On the subway",
        "in taxi": "In a taxi",
        "in train": "On a train",
        "in tram": "On a tram",
        "in two wheeler rickshaw": "In a rickshaw",
        "in vehicle": "In a vehicle",
        "in wheelchair": "In a wheelchair",
        "on bicycle": "On a bicycle",
        "unknown": _MOVING,
        "unknown activity type": _MOVING,
    }
)
_PLACES = MappingProxyType(
    {"aliased location": "", "inferred home": "home", "inferred work": "work", "unknown": ""}
)


def way_of_moving(code: object) -> str:
    """Return how somebody moved."""
    if not isinstance(code, str) or not code:
        return _MOVING
    return _WAYS.get(plain_words(code).lower()) or titled_words(code)


def kind_of_place(code: object) -> str:
    """Return what a place is to somebody, such as "home"; iPhones write it in other letters."""
    words = plain_words(code).lower() if isinstance(code, str) else ""
    words = words.removeprefix("type ")
    return _PLACES.get(words, words)
