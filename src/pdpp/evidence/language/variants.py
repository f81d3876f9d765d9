"""Variants: English words that mean the same thing in everyday papers, letters and talk.

British and American words for one thing, the few names that one paper or person goes by, what
people shorten, and small numbers, which are written in letters or in digits. Words
that are only near in meaning come from a table; these are as good as the word itself, or nearly.
"""

from collections.abc import Mapping
from types import MappingProxyType

_GROUPS = """
    aeroplane airplane plane
    apartment flat
    autumn fall
    bill invoice
    bin trash garbage rubbish
    biscuit cookie
    bonnet hood
    boot trunk
    candy sweets
    car automobile vehicle
    cellphone mobile smartphone phone
    chemist pharmacy drugstore
    cinema movies
    cv resume
    diaper nappy
    doctor physician gp
    drug medicine medication
    elevator lift
    email mail letter
    engine motor
    eyeglasses glasses spectacles
    film movie
    flashlight torch
    football soccer
    fridge refrigerator
    gas petrol fuel
    handbag purse
    heater heating radiator
    hire rental rent
    holiday vacation
    hospital clinic
    kid child
    lawyer solicitor attorney
    letterbox mailbox
    licence license permit
    loan mortgage
    lorry truck
    luggage baggage suitcase
    mom mum mother
    dad father
    grandma grandmother
    grandpa grandfather
    motorway highway freeway
    noise noisy loud
    nursery kindergarten daycare
    oven cooker stove
    pavement sidewalk
    photo picture photograph
    physiotherapy physio
    pill tablet
    postcode zip
    quote estimate offer
    railway railroad train
    refund reimbursement
    repair fix mend
    salary wage paycheck wages
    shop store
    sick ill
    sofa couch
    spouse husband wife
    subway underground metro
    tap faucet
    telly television tv
    timetable schedule
    vet veterinary veterinarian
    wardrobe closet
    wifi wlan
    buy purchase order
    appointment meeting event
    spend pay payment expense
    message letter
    boss manager
    colleague coworker
    teacher tutor
    garden yard
    password passcode passphrase
    contract agreement
    tenant renter
    neighbour neighbor
    colour color
    programme program
    theatre theater
    centre center
    grey gray
    tyre tire
    account acct
    address addr
    apartment apt
    appointment appt
    avenue ave
    birthday bday
    christmas xmas
    department dept
    doctor dr
    document doc
    hour hr
    information info
    laboratory lab
    maximum max
    meeting mtg
    message msg
    minute min
    password pw pwd
    photo pic
    professor prof
    quantity qty
    reference ref
    road rd
    street st
    telephone phone tel
    temperature temp
    university uni
    week wk
    year yr
    two 2
    three 3
    four 4
    five 5
    six 6
    seven 7
    eight 8
    nine 9
    ten 10
    eleven 11
    twelve 12
    fifteen 15
    twenty 20
    thirty 30
    forty 40
    fifty 50
    hundred 100
    first 1st
    second 2nd
    third 3rd
    fourth 4th
    fifth 5th
"""


def _read() -> dict[str, tuple[str, ...]]:
    variants: dict[str, tuple[str, ...]] = {}
    for line in _GROUPS.strip().splitlines():
        group = line.split()
        for word in group:
            others = tuple(other for other in group if other != word)
            variants[word] = (*variants.get(word, ()), *others)
    return variants


VARIANTS: Mapping[str, tuple[str, ...]] = MappingProxyType(_read())
"""The variants of a word; a word is folded, and in the form a dictionary has it or its plural."""
