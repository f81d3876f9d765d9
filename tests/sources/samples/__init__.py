"""Samples: exports of every format in every layout, as the services write them.

Each module here has ``SAMPLES``, and ``test_every_format`` runs each of them through the same
promises. A new format needs a module here and the tests of what is its own.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from itertools import product
from pkgutil import iter_modules

from tests.sources.samples.sample import FormatSample


@cache
def every_sample() -> dict[str, FormatSample]:
    """Return all samples by source and layout."""
    samples: dict[str, FormatSample] = {}
    for module in iter_modules(__path__):
        found = getattr(import_module(f"{__name__}.{module.name}"), "SAMPLES", ())
        samples.update((sample.name, sample) for sample in found)
    return samples


def forms_of(
    samples: Mapping[str, FormatSample], *forms: str, every: bool
) -> list[tuple[str, str]]:
    """Return each sample with a form in turn; the first of a format, or every one, with all."""
    first = {samples[name].source: name for name in reversed([*samples])}
    whole = set(samples if every else first.values())
    return [
        (name, form)
        for number, (name, form) in enumerate(product(samples, forms))
        if name in whole or number // len(forms) % len(forms) == forms.index(form)
    ]
