"""Two exports of one account come to the same records, in whichever order and form they come.

A record is there whole and once: what an earlier export and a later one both hold is one record,
whether the later one comes first, as a zip, or under another name.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import permutations
from pathlib import Path
from types import MappingProxyType

import pytest
from tests.engine import open_store
from tests.sources.kit import Home, zipped
from tests.sources.samples import every_sample
from tests.sources.samples.sample import Files, FormatSample

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


def laid(sample: FormatSample, files: Files, form: str, place: Path) -> Path:
    """Write the files of an export in one form."""
    if form == "folder":
        return sample.folder(place / "an export", files)
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
        home.bring(laid(sample, files, form, place / form / which), *sample.options)
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
