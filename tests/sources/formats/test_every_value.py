"""No value of an export goes in silence, whatever a newer version of a service makes of it.

One value after the other of each sample is changed. Nothing fails, everything is accounted for,
and a sentence that came in and stands there still comes in, or the report tells more than before.
"""

import random
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from tests.soak import SOAK
from tests.sources.mutants import Document, Mutant, mutant, places, read_whole, sentences
from tests.sources.samples import every_sample
from tests.sources.samples.sample import FormatSample

from pdpp.sources.registry import load

MUTANTS = 300 if SOAK else 12
SEED = 3
ASIDE = ("google_chat *.annotations.*", "copilot *k*")
"""Places of what stands beside what a person said: the card below a message, and the way to what a
line of a log changes, which then is another change."""
WITH_OTHERS = frozenset({"Bookmarks bar"})
"""Names of folders, which come in with what lies in them."""


def documents_of(sample: FormatSample) -> list[Document]:
    made = (Document.of(name, content) for name, content in sample.files.items())
    return [document for document in made if document is not None and document.value]


SAMPLES = {name: sample for name, sample in every_sample().items() if documents_of(sample)}


def mutants_of(sample: FormatSample) -> Iterator[tuple[Document, Mutant]]:
    chance = random.Random(f"{SEED} {sample.name}")
    spots = [
        (document, place) for document in documents_of(sample) for place in places(document.value)
    ]
    for _ in range(MUTANTS):
        document, place = chance.choice(spots)
        yield document, mutant(document.value, place, chance)


def is_aside(sample: FormatSample, made: Mutant) -> bool:
    where = f"{sample.source} {'.'.join(map(str, made.place))}"
    return any(fnmatchcase(where, pattern) for pattern in ASIDE)


@pytest.mark.parametrize("name", SAMPLES)
def test_what_stands_in_an_export_comes_in_or_is_told(name: str, tmp_path: Path) -> None:
    sample, source = SAMPLES[name], load(SAMPLES[name].source)
    settings = dict(word.split("=", 1) for word in sample.options if "=" in word)
    path = sample.folder(tmp_path / "e")
    whole = read_whole(source, path, settings)
    assert whole is not None
    for document, made in mutants_of(sample):
        sample.folder(path, {document.name: document.write(made.value)})
        found = read_whole(source, path, settings)
        sample.folder(path, {document.name: sample.files[document.name]})
        if found is None:  # Then it is told as a path that nobody knows.
            continue
        assert found.accounted, (document.name, made)
        if made.bare or is_aside(sample, made) or found.tells_more(whole):
            continue
        lost = [
            text
            for text in sentences(made.value)
            if text not in WITH_OTHERS and whole.has(text) and not found.has(text)
        ]
        assert not lost, (document.name, made.place, made.change, lost)
