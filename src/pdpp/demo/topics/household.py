"""Everyday life: family, bills, books and the cat."""

from pdpp.demo.people import FAMILY, FIRMS
from pdpp.demo.topics.topic import Topic

FAMILY_LIFE = Topic(
    name="family",
    people=FAMILY,
    words={
        "dish": ("caldo verde", "plum cake", "lentil soup", "bacalhau", "Helga's dumplings"),
        "event": ("birthday", "Sunday lunch", "swim", "flea market", "film night", "walk"),
        "cat": ("Bolacha", "the cat", "that animal", "her royal highness"),
        "plant": ("fig tree", "basil", "lemon tree", "jasmine", "tomato on the sill"),
    },
    subjects=(
        "{weekday}?",
        "Recipe for {dish}",
        "{cat} again",
        "About the {event}",
        "Mum and the {plant}",
        "Small favour",
        "Are you home {soon}?",
        "Lunch at {cafe}",
    ),
    sentences=(
        "Are you coming to the {event} {soon}?",
        "I made {dish} for {n} people and nothing was left.",
        "Mum called {lately} about the {plant} and sounded {feeling}.",
        "{cat} slept on the printer and sent you {n} blank pages.",
        "Bring the big pot, I will bring the {dish}.",
        "The {plant} has {n} new leaves, which I report with pride.",
        "Let us meet at {cafe} and walk down to the river.",
        "Clara has found an old photo of the {event} in Aveiro.",
        "Do you still have the book I lent you, the one with the lighthouse?",
        "I can take {cat} for the weekend if you water the {plant}.",
        "The doctor says all is well and that she should walk more.",
        "There was {weather} all day, so we stayed in and cooked {dish}.",
        "I passed {cafe} and they asked after you.",
        "The heating man came {lately}, drank two coffees and fixed it with a spoon.",
        "Beatriz is selling her bicycle, the green one, for {n}0 euros.",
        "Do not worry about the present, {n} euros each is plenty.",
    ),
    remarks=(
        "{cat} walked over my keyboard, ignore that",
        "I brought {dish}, it is in the kitchen",
        "working from {cafe} today because of the {weather}",
        "my {plant} is taller than my monitor now",
    ),
)

PAPERWORK = Topic(
    name="paperwork",
    people=FIRMS,
    words={
        "paper": ("bill", "statement", "contract", "meter reading", "reminder", "receipt"),
        "thing": ("electricity", "water", "the savings account", "your library card", "a book"),
    },
    subjects=(
        "Your {paper} is ready",
        "{paper} for {thing}",
        "A change to your contract",
        "Please confirm your address",
        "Your order is on its way",
    ),
    sentences=(
        "Your {paper} for {thing} is ready; the amount is {price} euros.",
        "The amount will be collected {soon} from your account.",
        "You do not need to do anything.",
        "If you have a question about {thing}, reply to this message or call us on {weekday}.",
        "Compared with last month this is {n} percent less.",
        "We will read the meter {soon} between nine and one.",
        "Two books are due back {soon}; you can renew them online.",
        "Your new card is on its way and will reach you within {n} days.",
        "This message was sent to you because you are our customer.",
        "Thank you for choosing paperless mail and saving {n} envelopes.",
    ),
    remarks=("paperwork day: a {paper} for {thing}",),
)
