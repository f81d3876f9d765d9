"""Kinds: what Apple Health measures and lets people choose, in the words that they use for it."""

from functools import lru_cache
from types import MappingProxyType

from pdpp.sources.reading.code_words import titled_words

_PREFIXES = (
    *("HKQuantityTypeIdentifier", "HKCategoryTypeIdentifier", "HKDataTypeIdentifier"),
    *("HKDataType", "HKCorrelationTypeIdentifier"),
)
_EVERYDAY = MappingProxyType(
    {
        "ActiveEnergyBurned": "Active energy burned (calories)",
        "BasalEnergyBurned": "Basal energy burned (calories at rest)",
        "BloodGlucose": "Blood glucose (blood sugar)",
        "BodyMass": "Body mass (weight)",
        "BodyMassIndex": "Body mass index (BMI)",
        "DietaryEnergyConsumed": "Dietary energy consumed (calories eaten)",
        "DistanceWalkingRunning": "Distance walking and running",
        "EnvironmentalAudioExposure": "Environmental audio exposure (noise)",
        # Who asks for flights means those of an airline.
        "FlightsClimbed": "Stairs climbed",
        "MenstrualFlow": "Menstrual flow (period)",
        "MindfulSession": "Mindful session (meditation)",
        "OxygenSaturation": "Oxygen saturation (blood oxygen)",
        "VO2Max": "VO2 max (cardio fitness)",
    }
)
"""Kinds that people call otherwise, or not only so."""


def short(raw: str) -> str:
    """Return the code of a kind without what all codes begin with."""
    for prefix in _PREFIXES:
        if raw.startswith(prefix):
            return raw[len(prefix) :]
    return raw


# A document names a few hundred kinds in millions of measurements.
@lru_cache(maxsize=1_024)
def kind_words(raw: str) -> str:
    """Return what was measured."""
    code = short(raw)
    return _EVERYDAY.get(code) or titled_words(code)


@lru_cache(maxsize=1_024)
def choice_words(raw: str, value: str) -> str:
    """Return what was chosen, without the name of the question before it."""
    code = value.removeprefix("HKCategoryValue").removeprefix(short(raw))
    return titled_words(code) if code else value


def workout_words(raw: str) -> str:
    """Return what sport a workout was."""
    return titled_words(raw.removeprefix("HKWorkoutActivityType"))


@lru_cache(maxsize=1_024)
def note_words(raw: str) -> str:
    """Return the name of what was noted with a measurement; those of other programs stay."""
    name = raw.removeprefix("HKMetadataKey").removeprefix("HK")
    return titled_words(name) if name != raw else raw
