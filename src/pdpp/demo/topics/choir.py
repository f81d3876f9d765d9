"""The Graça neighbourhood choir: rehearsals on Tuesdays, two concerts a year."""

from pdpp.demo.people import SINGERS
from pdpp.demo.topics.topic import Topic

CHOIR = Topic(
    name="choir",
    people=SINGERS,
    words={
        "piece": (
            "the Fauré",
            "the fado arrangement",
            "the Monteverdi",
            "the lullaby",
            "the canon in five parts",
            "the Basque song",
            "the Christmas motet",
        ),
        "voices": ("altos", "tenors", "sopranos", "basses", "second altos"),
        "place": ("the church hall", "the library", "the old cinema", "the chapel on the hill"),
        "advice": (
            "breathe before the bar line",
            "sing it half as loud",
            "watch the last page",
            "mark the German vowels",
            "learn it by heart",
        ),
    },
    subjects=(
        "Rehearsal {soon}",
        "Parts for {piece}",
        "Concert at {place}",
        "Who can bring cake on {weekday}?",
        "Extra rehearsal for the {voices}",
        "Notes from {weekday}",
        "Choir fee for this term",
        "Recording of {piece}",
    ),
    sentences=(
        "We start with {piece} at half past seven, so please be warm by then.",
        "The {voices} carried {piece} {lately}, it was {good}.",
        "Bar {n} is still {bad}; please {advice}.",
        "{perhaps} {place} is free on {weekday}.",
        "The {voices} should {advice}, then we run it without the piano.",
        "I printed {n} copies of {piece}, they are on the chair by the door.",
        "If you have a cold, come and listen, but sit far from the {voices}.",
        "We have sold {n} tickets for {place} so far.",
        "Somebody left a green umbrella and a score of {piece} behind.",
        "My neighbour heard me practise {piece} and is {feeling}.",
        "Black clothes, a coloured scarf, and please no perfume.",
        "Amélia wants the {voices} to stay {n} minutes longer.",
        "In {piece} we take the second ending, not the first.",
    ),
    remarks=(
        "choir tonight, so I leave at seven sharp",
        "I have had {piece} in my head since {weekday}",
        "we sing at {place} {soon}, come if you like",
        "anyone want {n} concert tickets? asking as an alto",
    ),
)
