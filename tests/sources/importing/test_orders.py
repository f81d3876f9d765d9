"""Two exports of one account come to the same records, in whichever order and form they come.

A record is there whole and once: what an earlier export and a later one both hold is one record,
whether the later one comes first, as a zip, or under another name.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine import open_store
from tests.sources.formats import test_bank_ofx as ofx
from tests.sources.formats import test_calendar_ics as ics
from tests.sources.formats import test_mail as mail
from tests.sources.formats import test_telegram as telegram
from tests.sources.kit import Home, read, zipped
from tests.sources.samples import every_sample
from tests.sources.samples.sample import Files, FormatSample

from pdpp.sources.registry import load
from pdpp.store.query import PageQuery
from pdpp.store.scope import owner_reaches

SAMPLES = {name: sample for name, sample in every_sample().items() if sample.earlier is not None}
FORMS = ("folder", "zip", "zip of a folder")
ORDERS = [*permutations(("earlier", "later"))]
APART: Mapping[str, str] = MappingProxyType({})
"""Samples whose keys depend on the order, each with the reason; one that no longer does fails."""

Keys = Counter[tuple[str, str]]


def keys_of(home: Home) -> Keys:
    """Return the keys of all records; a key in two accounts counts twice."""
    with closing(open_store(home.data)) as store:
        reaches = owner_reaches(store.catalogue())
        return Counter(
            (reach.stream.name, record.id)
            for reach in reaches
            for record in store.page(PageQuery((reach,), 1_000)).records
        )


def laid_out(files: Files, form: str, place: Path) -> Path:
    """Write the files of an export in one form."""
    if form == "folder":
        for name, held in files.items():
            (place / "an export" / name).parent.mkdir(parents=True, exist_ok=True)
            (place / "an export" / name).write_bytes(held)
        return place / "an export"
    around = "an export/" if form == "zip of a folder" else ""
    return zipped(place / "an export.zip", {f"{around}{name}": files[name] for name in files})


def brought(
    sample: FormatSample, order: Sequence[str], form: str, place: Path
) -> tuple[Home, Keys]:
    """Import two exports in one order into a new home."""
    home, like = Home(place / form / "-".join(order)), Home(place / "like")
    home.seal_like(like)
    assert sample.earlier is not None
    for which in order:
        files = {"earlier": sample.earlier, "later": sample.files}[which]
        home.bring(laid_out(files, form, place / form / which), *sample.options)
    return home, keys_of(home)


def test_enough_formats_are_tried() -> None:
    assert len({sample.source for sample in SAMPLES.values()}) >= 15
    assert SAMPLES.keys() >= APART.keys()


@pytest.mark.parametrize("name", SAMPLES)
def test_the_order_of_two_exports_changes_no_key(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    forms = FORMS[:1] if sample.named_by_path else FORMS
    form = forms[[*SAMPLES].index(name) % len(forms)]
    homes, found = zip(*(brought(sample, order, form, tmp_path) for order in ORDERS), strict=True)
    same = found[0] == found[1] and homes[0].accounts() == homes[1].accounts()
    assert found[0]
    assert same == (name not in APART), [found[0] - found[1], found[1] - found[0]]


def days(numbers: Sequence[int]) -> Sequence[tuple[int, int]]:
    """Return numbered days of January 2026 in the order of time, for files that are written so."""
    return [(number, number % 28 + 1) for number in sorted(numbers, key=lambda one: one % 28)]


def mailbox(numbers: Sequence[int]) -> Files:
    return {"Inbox.mbox": mail.box(*(mail.letter(one, f"No. {one}", "Tide") for one in numbers))}


def telegram_chat(numbers: Sequence[int]) -> Files:
    said = [telegram.message(one + 2, f"Tide {one}") for one in sorted(numbers)]
    return {"result.json": json.dumps({**telegram.CHAT, "messages": said}).encode()}


def whatsapp_chat(numbers: Sequence[int]) -> Files:
    lines = "".join(f"{day}/1/26, 09:52 - Ana: Tide {one}\n" for one, day in days(numbers))
    return {"WhatsApp Chat with Ana.txt": f"31/12/25, 09:52 - Ana: Hello\n{lines}".encode()}


def calendar(numbers: Sequence[int]) -> Files:
    events = "".join(
        ics.event(f"{one}@x.example", f"DTSTART:202601{one % 28 + 1:02}T100000Z", "SUMMARY:Tide")
        for one in numbers
    )
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{events}END:VCALENDAR\n"
    return {"calendar.ics": text.replace("\n", "\r\n").encode()}


def cards(numbers: Sequence[int]) -> Files:
    said = (f"VERSION:3.0\nFN:Friend {one}\nTEL:+3519120000{one:02}" for one in numbers)
    return {"contacts.vcf": "".join(f"BEGIN:VCARD\n{one}\nEND:VCARD\n" for one in said).encode()}


def statement(numbers: Sequence[int]) -> Files:
    moved = (
        ofx.movement(f"f-{one}", f"202601{one % 28 + 1:02}", f"-{one}.50", "Shop")
        for one in numbers
    )
    return {"statement.ofx": ofx.sgml(*moved)}


def bank_table(numbers: Sequence[int]) -> Files:
    rows = "".join(f"1/{day:02}/2026,Shop {one},-{one}.50\n" for one, day in days(numbers))
    return {"statement.csv": f"Date,Description,Amount\n{rows}".encode()}


def notes(numbers: Sequence[int]) -> Files:
    return {
        f"Notes/{one}.md": f"# Tide {one}\n\nIt came in at {one}.\n".encode() for one in numbers
    }


def films(numbers: Sequence[int]) -> Files:
    rows = (f'"Film {one}","1/{day}/26"\n' for one, day in days(numbers)[::-1])
    return {"NetflixViewingHistory.csv": ("Title,Date\n" + "".join(rows)).encode()}


MAKERS: Mapping[str, tuple[Callable[[Sequence[int]], Files], str]] = MappingProxyType(
    {
        "mail": (mailbox, "messages"),
        "telegram": (telegram_chat, "messages"),
        "whatsapp": (whatsapp_chat, "messages"),
        "calendar_ics": (calendar, "events"),
        "contacts_vcard": (cards, "contacts"),
        "bank_ofx": (statement, "transactions"),
        "bank_csv": (bank_table, "transactions"),
        "markdown": (notes, "notes"),
        "netflix": (films, "watched_titles"),
    }
)
NUMBERS = st.lists(st.integers(0, 60), min_size=1, max_size=25, unique=True)


@pytest.mark.parametrize("source", MAKERS)
@given(one=NUMBERS, other=NUMBERS, form=st.sampled_from(FORMS))
@settings(max_examples=12)
def test_what_two_exports_hold_is_one_record_and_what_differs_is_two(
    source: str, one: Sequence[int], other: Sequence[int], form: str
) -> None:
    make, stream = MAKERS[source]

    def keys(numbers: Sequence[int], place: Path) -> set[str]:
        path = laid_out(make(numbers), form, place)
        return {key for of, key in read(load(source), path) if of == stream}

    with TemporaryDirectory() as folder:
        both = [keys(numbers, Path(folder, name)) for name, numbers in (("a", one), ("b", other))]
    greeting = source == "whatsapp"
    assert [len(found) - greeting for found in both] == [len(one), len(other)]
    assert len(both[0] | both[1]) - greeting == len({*one, *other})
