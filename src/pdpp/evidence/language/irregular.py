"""Irregular English forms, each with the form that stands for it."""

_GROUPS = """
    arise arisen arose; awake awoke awoken; bad worse worst; be am are been being is was were;
    bear born borne; beat beaten; become became; begin began begun; bend bent; bite bit bitten;
    bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built;
    burn burnt; buy bought; catch caught; child children; choose chose chosen; come came;
    deal dealt; dig dug; do did does doing done; draw drawn drew; dream dreamt; drink drank drunk;
    drive driven drove; eat ate eaten; fall fallen fell; feed fed; feel felt; fight fought;
    find found; flee fled; fly flew flown; foot feet; forget forgot forgotten;
    forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given;
    go goes going gone went; goose geese; grow grew grown; half halves; hang hung;
    have had has having; hear heard; hide hid hidden; hold held; keep kept; kneel knelt;
    knife knives; know knew known; lay laid; lead led; leap leapt; learn learnt; leave left;
    lend lent; lie lain; live lives; loaf loaves; lose lost; make made; man men; mean meant;
    meet met; mistake mistaken mistook; mouse mice; mow mown; overcome overcame; pay paid;
    person people; prove proved proven; ride ridden rode; ring rang rung; rise risen rose; run ran;
    say said; see seen; seek sought; sell sold; send sent; sew sewn; shake shaken shook;
    shelf shelves; shine shone; show showed shown; shrink shrank shrunk; sing sang sung;
    sink sank sunk; sit sat; sleep slept; slide slid; speak spoke spoken; spell spelt; spend spent;
    spill spilt; spin spun; spring sprang sprung; stand stood; steal stole stolen; stick stuck;
    sting stung; strike struck; swear swore sworn; sweep swept; swim swam swum; swing swung;
    take taken took; teach taught; tear tore torn; tell told; think thought; throw threw thrown;
    tooth teeth; undergo undergone underwent; understand understood; wake woke woken; want wanted;
    wear wore worn; weave wove woven; weep wept; wife wives; win won; withdraw withdrawn withdrew;
    wolf wolves; woman women; write written wrote;
"""


def _bases() -> dict[str, str]:
    """Return the base of each form; the first word of a group is its base."""
    groups = (group.split() for group in _GROUPS.split(";"))
    return {form: words[0] for words in groups if words for form in words[1:]}


BASES = _bases()
