"""Members: common things of a kind, for questions that name the kind.

Who asks "which sports does Nora do?" looks for "I joined a climbing gym". A text names the thing,
seldom its kind, and the two are no synonyms: only the word for the kind leads to its members. What
has the stem of another thing is left out: "boxing" is a box, "jeans" are Jean's.
"""

from functools import lru_cache

from pdpp.evidence.language.word_lists import read_word_list

_KINDS = """
    sport exercise workout: badminton basketball climb cricket cycle football golf gym hike
        jog judo karate marathon row run skate ski soccer surf swim tennis volleyball yoga
    hobby pastime: bake chess cook craft dance draw garden guitar hike knit paint photography
        piano pottery read sew sing yoga
    instrument: bass cello clarinet drum flute guitar piano saxophone trombone trumpet
        ukulele violin
    pet: bird bunny cat dog fish guinea hamster kitten parrot puppy rabbit turtle
    vehicle: bicycle bike bus car motorbike motorcycle scooter tractor truck van
    relative: aunt brother cousin dad father grandma grandpa mom mother mum nephew niece
        sister uncle
    sibling: brother sister twin
    dessert pastry: biscuit brownie cake chocolate cookie croissant muffin pie pudding tart
    beverage: beer coffee juice lemonade tea water wine
    fruit: apple banana cherry grape lemon orange peach pear plum strawberry
    vegetable: bean cabbage carrot cucumber garlic leek lettuce onion pea potato tomato
    injury accident: ankle break burn crash fall hurt knee shoulder sprain wound wrist
    illness disease: allergy asthma cancer diabetes fever flu infection sick surgery
    country: australia brazil canada china england france germany india ireland italy japan mexico
        portugal scotland spain sweden
    colour color: black blue brown green grey orange pink purple red white yellow
    art: draw paint pottery sculpture sketch watercolour
    furniture: armchair bed chair couch cupboard desk shelf sofa table wardrobe
    clothes clothing: coat dress hat jacket scarf shirt shoe skirt sweater
"""


@lru_cache(maxsize=1)
def _members() -> dict[str, tuple[str, ...]]:
    return read_word_list(_KINDS)


def members_of(kind: str) -> tuple[str, ...]:
    """Return the stems of common things of a kind, which is given by its English stem."""
    return _members().get(kind, ())
