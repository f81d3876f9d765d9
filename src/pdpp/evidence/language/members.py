"""Members: common things of a kind, for questions that name the kind.

Who asks "which sports does Nora do?" looks for "I joined a climbing gym". A text names the thing,
seldom its kind, and the two are no synonyms: only the word for the kind leads to its members. What
has the stem of another thing is left out: "boxing" is a box, "jeans" are Jean's.
"""

from functools import lru_cache

from pdpp.evidence.language.word_lists import read_word_list

_KINDS = """
    sport exercise workout: badminton basketball climb cricket cycle football golf gym hike jog
        judo karate marathon row run skate ski soccer surf swim tennis volleyball yoga
    hobby pastime: bake chess cook craft dance draw garden guitar hike knit paint photography
        piano pottery read sew sing yoga
    instrument: bass cello clarinet drum flute guitar piano saxophone trombone trumpet ukulele
        violin
    pet: bird bunny cat dog fish guinea hamster kitten parrot puppy rabbit turtle
    vehicle: bicycle bike bus car motorbike motorcycle scooter tractor truck van
    relative: aunt brother cousin dad father grandma grandpa mom mother mum nephew niece sister
        uncle
    sibling: brother sister twin
    dessert pastry: biscuit brownie cake chocolate cookie croissant muffin pie pudding tart
    beverage: beer coffee juice lemonade tea water wine
    fruit: apple banana cherry grape lemon orange peach pear plum strawberry
    vegetable: bean cabbage carrot cucumber garlic leek lettuce onion pea potato tomato
    injury accident: ankle break burn crash fall hurt knee shoulder sprain wound wrist
    illness disease: allergy asthma cancer diabetes fever flu infection sick surgery
    country: australia brazil canada china england france germany india ireland italy japan
        mexico portugal scotland spain sweden
    colour color: black blue brown green grey orange pink purple red white yellow
    art: draw paint pottery sculpture sketch watercolour
    furniture: armchair bed chair couch cupboard desk shelf sofa table wardrobe
    clothes clothing: coat dress hat jacket scarf shirt shoe skirt sweater
    breed: beagle bulldog collie dachshund greyhound labrador poodle retriever spaniel terrier
    cuisine dish meal: curry lasagna noodle omelette paella pancake pasta pie pizza ramen rice
        risotto roast salad soup stew sushi taco
    game: cards chess crossword dice domino monopoly poker puzzle scrabble
    insect: ant bee beetle butterfly fly mosquito spider wasp
    jewellery jewelry: bracelet brooch earring necklace pendant ring watch
    occupation profession job: accountant architect baker builder carpenter chef dentist
        designer doctor driver electrician engineer farmer gardener journalist lawyer librarian
        mechanic nurse pilot plumber scientist teacher vet waiter waitress
    room: attic basement bathroom bedroom cellar hall kitchen study
    school subject: art biology chemistry geography history math music physics
    season: autumn spring summer winter
    spice herb: basil chili cinnamon cumin garlic ginger mint oregano pepper rosemary thyme
    tool: drill hammer ladder saw screwdriver spade
    tree: birch cherry maple oak palm pine willow
    flower: daisy lavender lily orchid rose sunflower tulip
"""


@lru_cache(maxsize=1)
def _members() -> dict[str, tuple[str, ...]]:
    return read_word_list(_KINDS)


def members_of(kind: str) -> tuple[str, ...]:
    """Return the stems of common things of a kind, which is given by its English stem."""
    return _members().get(kind, ())
