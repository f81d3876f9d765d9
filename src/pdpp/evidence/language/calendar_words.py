"""The words of time expressions: months, seasons, days of the week and small numbers.

Names are in the forms in which people write them within a sentence. Portuguese days without
"-feira" are plain numbers, and are left out.
"""

from typing import TypeVar

from pdpp.evidence.analyse import indexed_text

_Value = TypeVar("_Value")
_OTHER_WORDS = frozenset({"dun", "marco"})
"""What names become without their accents that means something else then."""


_LOOKALIKES = str.maketrans("ıİſ’", "iIs'")


def with_usual_letters(text: str) -> str:
    """Return a text of the same length in which each letter of a name has one small form.

    A pattern that ignores case takes "MAYIS" for "mayıs", while its small letters are "mayis".
    """
    return text.translate(_LOOKALIKES)


def _with_plain(meanings: dict[str, _Value]) -> dict[str, _Value]:
    """Return names with those that people type without accents, and all with usual letters."""
    plain = {indexed_text(name): meaning for name, meaning in meanings.items()}
    every = {name: plain[name] for name in plain if name not in _OTHER_WORDS} | meanings
    return {with_usual_letters(name): meaning for name, meaning in every.items()} | every


_MONTHS = """
    january jan januar jänner enero janvier januari janeiro gennaio styczeń stycznia styczniu ocak;
    february feb februar febrero février februari fevereiro febbraio luty lutego lutym
        şubat;
    march mar märz marzo mars maart março marzec marca marcu mart marts;
    april apr abril avril aprile kwiecień kwietnia kwietniu nisan;
    may mai mayo mei maio maggio maj maja maju mayıs;
    june jun juni junio juin junho giugno czerwiec czerwca czerwcu haziran;
    july jul juli julio juillet julho luglio lipiec lipca lipcu temmuz;
    august aug agosto août augustus augusti sierpień sierpnia sierpniu ağustos;
    september sep sept septiembre septembre setembro settembre wrzesień września wrześniu eylül;
    october oct oktober octubre octobre outubro ottobre październik października październiku ekim;
    november nov noviembre novembre novembro listopad listopada listopadzie kasım;
    december dec dezember diciembre décembre dezembro dicembre desember grudzień grudnia
        grudniu aralık
"""

MONTHS = _with_plain(
    {
        name: number
        for number, names in enumerate(_MONTHS.split(";"), start=1)
        for name in names.split()
    }
)

SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
"""The first of the three months of each season."""

_WEEKDAYS = """
    monday montag lunes lundi segunda-feira lunedì maandag poniedziałek måndag mandag pazartesi;
    tuesday dienstag martes mardi terça-feira martedì dinsdag wtorek tisdag tirsdag salı;
    wednesday mittwoch miércoles mercredi quarta-feira mercoledì woensdag środa środę
        onsdag çarşamba;
    thursday donnerstag jueves jeudi quinta-feira giovedì donderdag czwartek torsdag perşembe;
    friday freitag viernes vendredi sexta-feira venerdì vrijdag piątek fredag cuma;
    saturday samstag sábado samedi sabato zaterdag sobota sobotę lördag lørdag cumartesi;
    sunday sonntag domingo dimanche domenica zondag niedziela niedzielę söndag søndag pazar
"""

WEEKDAYS = _with_plain(
    {name: number for number, names in enumerate(_WEEKDAYS.split(";")) for name in names.split()}
)

_NUMBERS = "a two three four five six seven eight nine ten eleven twelve"

NUMBERS = {name: number for number, name in enumerate(_NUMBERS.split(), start=1)}
NUMBERS |= {"one": 1, "couple of": 2}

_NUMBERS_ELSEWHERE = """
    1: ein eine einem einer un une una um uma een één;
    2: zwei deux dos dois duas due twee;
    3: drei trois tres três tre drie;
    4: vier quatre cuatro quatro quattro;
    5: fünf cinq cinco cinque vijf;
    6: sechs six seis sei zes
"""

NUMBERS_ELSEWHERE = _with_plain(
    {
        name: int(number)
        for number, _, names in (line.partition(":") for line in _NUMBERS_ELSEWHERE.split(";"))
        for name in names.split()
    }
)
"""Small numbers as other languages count days, weeks and months that have gone."""

_STRETCHES = """
    day: tag tage tagen jour jours día días dia dias giorno giorni dag dagen;
    week: woche wochen semaine semaines semana semanas settimana settimane week weken;
    month: monat monate monaten mois mes meses mês mese mesi maand maanden;
    year: jahr jahre jahren an ans année années año años ano anos anno anni jaar
"""

STRETCHES = _with_plain(
    {
        name: unit.strip()
        for unit, _, names in (line.partition(":") for line in _STRETCHES.split(";"))
        for name in names.split()
    }
)
"""Days, weeks, months and years in other languages, as they follow a number."""

_DAYS_AGO = """
    -1: tomorrow demain amanhã domani jutro;
    0: today heute hoy aujourd'hui hoje oggi vandaag dzisiaj dziś bugün idag;
    1: yesterday gestern ayer ontem ieri gisteren wczoraj dün igår;
    2: vorgestern anteayer avant-hier anteontem eergisteren przedwczoraj
"""

DAYS_AGO = _with_plain(
    {
        name: int(days)
        for days, _, names in (line.partition(":") for line in _DAYS_AGO.split(";"))
        for name in names.split()
    }
)
"""How many days ago a word means; "morgen" and "mañana" are mornings too, "hier" is here."""

_RELATIVE = """
    week 1: letzte woche, vorige woche, semana pasada, semaine dernière, semana passada,
        settimana scorsa, scorsa settimana, vorige week, zeszłym tygodniu, geçen hafta;
    week 0: diese woche, esta semana, cette semaine, questa settimana, deze week, tym tygodniu,
        bu hafta;
    week -1: nächste woche, próxima semana, semana que viene, semana que vem, semaine prochaine,
        settimana prossima, prossima settimana, volgende week, przyszłym tygodniu, gelecek hafta;
    month 1: letzten monat, mes pasado, mois dernier, mês passado, mese scorso, scorso mese,
        vorige maand, zeszłym miesiącu, geçen ay;
    month 0: diesen monat, este mes, ce mois-ci, este mês, questo mese, deze maand, tym miesiącu,
        bu ay;
    year 1: letztes jahr, voriges jahr, año pasado, année dernière, an dernier, ano passado,
        anno scorso, scorso anno, vorig jaar, zeszłym roku, geçen yıl, geçen sene;
    year 0: dieses jahr, este año, cette année, este ano, quest'anno, dit jaar, tym roku, bu yıl
"""

RELATIVE = _with_plain(
    {
        " ".join(name.split()): (unit, int(back))
        for line in _RELATIVE.split(";")
        for head, _, names in [line.partition(":")]
        for unit, back in [head.split()]
        for name in names.split(",")
    }
)
"""What a phrase means: a week, month or year, and how many of them ago."""
