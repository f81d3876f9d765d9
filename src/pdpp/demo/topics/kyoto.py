"""The trip to Kyoto in April 2026, with sister Clara."""

from pdpp.demo.people import TRAVELLERS
from pdpp.demo.topics.topic import Topic

KYOTO_TRIP = Topic(
    name="kyoto",
    people=TRAVELLERS,
    words={
        "sight": (
            "Fushimi Inari",
            "the Philosopher's Path",
            "Nishiki market",
            "the moss garden",
            "Arashiyama",
            "the silver pavilion",
            "Tō-ji on flea market day",
            "the tiny record shop in Demachiyanagi",
        ),
        "food": (
            "yudofu",
            "matcha parfait",
            "cold soba",
            "grilled mochi",
            "an egg sandwich",
            "pickled plum",
            "eel on rice",
        ),
        "blossom": ("cherry blossom", "late magnolia", "first maple green", "petals on the canal"),
        "guest": ("guesthouse", "machiya", "little inn", "room by the river"),
    },
    subjects=(
        "Kyoto: {sight}",
        "Your booking at the {guest}",
        "Flights in April",
        "What to pack for Kyoto",
        "Rail passes and the luggage",
        "List of things to eat",
        "{sight} or {sight}?",
        "Photos from {sight}",
    ),
    sentences=(
        "We should see {sight} early, before {n} buses arrive.",
        "The {guest} has room for two from the second to the fourteenth of April.",
        "The forecast says {blossom} in the first week, with a little {weather}.",
        "For lunch near {sight} I read about {food}, and about {food} too.",
        "Clara wants {sight}; I want to sit by the river with {food}.",
        "The train from the airport takes {n} minutes and costs less than a taxi.",
        "The luggage can be sent ahead to the {guest}, which is {good}.",
        "I learned {n} new words and forgot most of them {lately}.",
        "There is a night opening at {sight}, we only need to queue.",
        "Please bring slippers, the floor of the {guest} is cold in the morning.",
        "I still dream of {food} and of {blossom}.",
        "We walked {n} kilometres in one day, mostly by mistake.",
        "The lady at {sight} drew us a map on the back of a receipt.",
    ),
    remarks=(
        "out of office from 2 April, there will be {blossom}",
        "tip for Kyoto: {sight} before breakfast",
        "I had {food} twice today and regret nothing",
        "does anyone have a plug adapter for Japan?",
    ),
)
