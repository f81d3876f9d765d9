"""People: Nora Winter and everyone she writes to; all of them invented."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """Someone in the demo world."""

    name: str
    address: str
    job: str = ""

    @property
    def first_name(self) -> str:
        """Return what friends call them."""
        return self.name.split()[0]

    @property
    def mailbox(self) -> str:
        """Return the name and address as a mail header has them."""
        return f"{self.name} <{self.address}>"


NORA_AT_WORK = Person("Nora Winter", "nora@atlas-tide.example", "Project lead")
NORA_AT_HOME = Person("Nora Winter", "nora.winter@home.example")

COLLEAGUES = (
    Person("Tomás Rebelo", "tomas@atlas-tide.example", "Sound designer"),
    Person("Inês Duarte", "ines@atlas-tide.example", "Managing partner"),
    Person("Priya Raman", "priya@atlas-tide.example", "Software engineer"),
    Person("Jonas Lindqvist", "jonas@atlas-tide.example", "Illustrator"),
    Person("Mei Tanaka", "mei@atlas-tide.example", "Writer and translator"),
    Person("Kofi Mensah", "kofi@atlas-tide.example", "Software engineer"),
    Person("Gonçalo Vaz", "goncalo@atlas-tide.example", "Bookkeeper"),
    Person("Anneke Visser", "anneke@atlas-tide.example", "Producer"),
)
CLIENTS = (
    Person("Helena Brandão", "helena.brandao@harbourmuseum.example", "Curator"),
    Person("Matteo Ricci", "matteo@quillfish.example", "Head of marketing"),
    Person("Siobhan Keane", "siobhan@lanternfestival.example", "Festival director"),
)
FAMILY = (
    Person("Clara Winter", "clara.winter@home.example"),
    Person("Helga Winter", "helga@winterhaus.example"),
    Person("Beatriz Pinto", "bea.pinto@home.example"),
)
BUILDERS = (
    Person("Rui Almeida", "rui@almeida-renovations.example", "Builder"),
    Person("Sofia Matos", "sofia@matos-architects.example", "Architect"),
    Person("Duarte Leal", "duarte@lealplumbing.example", "Plumber"),
)
SINGERS = (
    Person("Amélia Costa", "amelia@graca-choir.example", "Choir director"),
    Person("David Okafor", "david.okafor@home.example"),
    Person("Lucie Moreau", "lucie@graca-choir.example"),
)
TRAVELLERS = (
    Person("Haruka Mori", "haruka@mori-guesthouse.example", "Host"),
    Person("Clara Winter", "clara.winter@home.example"),
)
FIRMS = (
    Person("Tejo Power", "bills@tejo-power.example"),
    Person("Água Clara", "contas@agua-clara.example"),
    Person("Banco Azul", "notices@banco-azul.example"),
    Person("Graça Library", "desk@graca-library.example"),
    Person("Paper Boat Books", "hello@paperboat.example"),
)
FAR_FRIENDS = {
    "yael": Person("Yael Ben-Ami", "yael@olive-lane.example"),
    "layla": Person("Layla Haddad", "layla@cedar-post.example"),
    "ji-woo": Person("Kim Ji-woo", "jiwoo@han-river.example"),
    "wei": Person("Lin Wei", "lin.wei@jade-tea.example"),
    "haruka": TRAVELLERS[0],
    "stranger": Person("Prize Office", "winner@totally-real-prizes.example"),
}
