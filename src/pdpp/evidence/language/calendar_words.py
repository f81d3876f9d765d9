"""The words of time expressions: months, seasons, days of the week and small numbers."""

_MONTHS = """
    january jan januar jänner enero janvier;
    february feb februar febrero février;
    march mar märz marzo mars;
    april apr abril avril;
    may mai mayo;
    june jun juni junio juin;
    july jul juli julio juillet;
    august aug agosto août;
    september sep sept septiembre septembre;
    october oct oktober octubre octobre;
    november nov noviembre novembre;
    december dec dezember diciembre décembre
"""

MONTHS = {
    name: number
    for number, names in enumerate(_MONTHS.split(";"), start=1)
    for name in names.split()
}

SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
"""The first of the three months of each season."""

WEEKDAYS = {
    name: number
    for number, name in enumerate(
        ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    )
}

_NUMBERS = "a two three four five six seven eight nine ten eleven twelve"

NUMBERS = {name: number for number, name in enumerate(_NUMBERS.split(), start=1)}
NUMBERS |= {"one": 1, "couple of": 2}

DAYS_AGO = {
    "today": 0,
    "yesterday": 1,
    "tomorrow": -1,
    "heute": 0,
    "gestern": 1,
    "vorgestern": 2,
    "hoy": 0,
    "ayer": 1,
    "aujourd'hui": 0,
}
"""How many days ago a word means."""
