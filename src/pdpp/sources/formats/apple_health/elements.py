"""Elements: how what Apple Health writes down becomes a record."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any

from pdpp.sources.formats.apple_health.kinds import (
    choice_words,
    kind_words,
    note_words,
    short,
    workout_words,
)
from pdpp.sources.item import Item, Skipped, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.code_words import titled_words
from pdpp.sources.reading.xmlstream import XmlElement

_DEVICE = re.compile(r"(?:^|, )name:([^,>]+)")
_APPLE = "manufacturer:Apple"
_METRES = {"km": 1_000.0, "m": 1.0, "mi": 1_609.344, "yd": 0.9144, "ft": 0.3048}
_KCAL = {"kcal": 1.0, "Cal": 1.0, "kJ": 1 / 4.184, "cal": 0.001}
_SECONDS = {"s": 1.0, "min": 60.0, "hr": 3_600.0}
_MOST_DETAILS = 200
_HIDDEN_DETAILS = frozenset({"HKExternalUUID", "HKMetadataKeySyncIdentifier"})
_EYES = ("RightEye", "LeftEye")
_STATISTICS = ("sum", "average", "minimum", "maximum")

Reading = Item | Skipped | None


def moment(text: str) -> str | None:
    """Return a time such as ``2019-06-11 15:00:42 -0700`` in UTC, or None."""
    try:
        when = datetime.fromisoformat(f"{text[:10]}T{text[11:19]}{text[20:23]}:{text[23:25]}")
        return when.astimezone(UTC).isoformat()[:19] + "Z"
    except (ValueError, OverflowError):
        return None


def _measurement(element: XmlElement) -> Reading:
    attributes = element.attributes
    raw, started = attributes.get("type", ""), attributes.get("startDate", "")
    start = moment(started)
    if start is None or not raw:
        return None
    ended = attributes.get("endDate", started)
    end = start if ended == started else moment(ended)
    created = attributes.get("creationDate", "")
    written = attributes.get("value", "")
    unit, source = attributes.get("unit"), attributes.get("sourceName", "")
    device = attributes.get("device")
    origin = _origin(attributes)
    value = _number(written)
    # The moment of writing tells apart what is otherwise equal; it is no more than that.
    created_at = start if created == started else moment(created) or ""
    key = digest_key("\n".join((raw, origin, start, end or "", created_at, written, unit or "")))
    data: dict[str, object] = {"id": key, "kind": kind_words(raw)}
    if value is not None:
        data["value"] = value
    elif written:
        data["choice"] = choice_words(raw, written)
    if unit:
        data["unit"] = unit
    data["started_at"] = start
    if end is not None and end != start:
        data["ended_at"] = end
        data["seconds"] = _seconds(start, end)
    if source:
        data["source"] = source
    if name := _device(device):
        data["device"] = name
    if element.children:
        data |= _noted(element)
    return Item("measurements", key, data)


def _origin(attributes: Mapping[str, str]) -> str:
    """Return what tells where something is from, also after a phone or a watch was renamed.

    A source of Apple is called as its owner calls the device, today and in everything before. Its
    version is that of the software of the device, where an app that wrote on it has its own.
    """
    source, device = attributes.get("sourceName", ""), attributes.get("device", "")
    if _APPLE not in device:
        return source
    hardware, _, rest = device.partition(", hardware:")[2].rstrip(">").partition(", ")
    software = rest.removeprefix("software:").partition(", ")[0]
    is_own = bool(hardware) and software == attributes.get("sourceVersion")
    return f"{hardware} {software}" if is_own else source


def _correlation(element: XmlElement) -> Reading:
    """Return what belongs together, such as both values of a blood pressure.

    The measurements in it stand in the document by themselves too, and come in there.
    """
    values = [
        f"{kind_words(inner.attributes.get('type', ''))}: "
        f"{inner.attributes.get('value', '')} {inner.attributes.get('unit', '')}".rstrip()
        for inner in element.each("Record")
    ]
    return _with_lines(_measurement(element), values)


def _with_lines(item: Reading, values: list[str]) -> Reading:
    """Return a measurement with what it consists of, which tells it apart too."""
    if isinstance(item, Item):
        key = digest_key(item.key, *values)
        item = item._replace(key=key)
        lines = [*values, *filter(None, [item.data.get("details")])]
        item.data.update({"id": key, "details": "\n".join(lines)})
    return item


def _audiogram(element: XmlElement) -> Reading:
    """Return a hearing test: how loud each tone must be for each ear."""
    points = [point.attributes for point in element.each("SensitivityPoint")]
    values = [
        f"{point.get('frequencyValue', '')} {point.get('frequencyUnit', '')}: "
        + ", ".join(
            f"{ear} {point[f'{ear}EarValue']} {point.get(f'{ear}EarUnit', '')}".rstrip()
            for ear in ("left", "right")
            if point.get(f"{ear}EarValue")
        )
        for point in points
    ]
    return _with_lines(_measurement(element), values)


def _prescription(element: XmlElement) -> Reading:
    """Return a prescription for glasses or lenses, which begins on the day it was issued."""
    attributes = element.attributes
    issued = attributes.get("dateIssued", "")
    dated = XmlElement(element.name, {"startDate": issued, **attributes, "type": element.name})
    dated.children = element.children
    values = [
        f"{name}: {attributes[raw]}"
        for name, raw in (("type", "type"), ("brand", "brand"), ("expires", "expirationDate"))
        if attributes.get(raw)
    ]
    values += [
        f"{titled_words(eye)}: {_lens(child)}" for eye in _EYES for child in element.each(eye)
    ]
    return _with_lines(_measurement(dated), values)


def _lens(eye: XmlElement) -> str:
    return ", ".join(
        f"{name} {value} {eye.attributes.get(f'{name}Unit', '')}".rstrip()
        for name, value in eye.attributes.items()
        if value and not name.endswith("Unit")
    )


def _workout(element: XmlElement) -> Reading:
    attributes = element.attributes
    raw, start = attributes.get("workoutActivityType", ""), moment(attributes.get("startDate", ""))
    if start is None or not raw:
        return None
    end = moment(attributes.get("endDate", ""))
    legs = list(element.each("WorkoutActivity"))
    statistics = _statistics(element) or (_statistics(legs[0]) if len(legs) == 1 else {})
    noted = _noted(element)
    source = attributes.get("sourceName", "")
    origin = _origin(attributes)
    key = digest_key(
        raw, origin, start, end or "", moment(attributes.get("creationDate", "")) or ""
    )
    data = {
        "id": key,
        "kind": workout_words(raw),
        "seconds": _seconds(start, end) if end else None,
        "distance_metres": _total(attributes, "totalDistance", _METRES)
        or _summed(statistics, "Distance", _METRES),
        "energy_kcal": _total(attributes, "totalEnergyBurned", _KCAL)
        or _summed(statistics, "ActiveEnergyBurned", _KCAL),
        "started_at": start,
        "ended_at": end,
        "source": source,
        "device": _device(attributes.get("device")),
        "events": sum(1 for _ in element.each("WorkoutEvent")) or None,
        "statistics": statistics or None,
        **noted,
        "context": {**noted.get("context", {}), **_active(attributes, start, end)} or None,
        "details": "\n".join(filter(None, [*_legs(legs), str(noted.get("details", ""))])),
    }
    return Item("workouts", key, present(data, ""))


def _active(attributes: Mapping[str, str], start: str, end: str | None) -> dict[str, str]:
    """Return how long a workout was without its pauses, where it had some."""
    seconds = _total(attributes, "duration", _SECONDS)
    if seconds is None or end is None or abs(_seconds(start, end) - seconds) <= 1:
        return {}
    return {"duration": f"{attributes['duration']} {attributes['durationUnit']}"}


def _legs(legs: list[XmlElement]) -> list[str]:
    """Return the parts of a workout that has several, such as intervals or kinds of sport."""
    lines = []
    for number, leg in enumerate(legs[:_MOST_DETAILS] if len(legs) > 1 else (), 1):
        kind = workout_words(leg.attributes.get("workoutActivityType", ""))
        start, end = (moment(leg.attributes.get(name, "")) for name in ("startDate", "endDate"))
        values = [
            f"{kind_words(name)} {measured.get('sum', measured.get('average', ''))} "
            f"{measured['unit']}".rstrip()
            for name, measured in _statistics(leg).items()
        ]
        told = [kind, f"{_seconds(start, end):g} s" if start and end else "", *values]
        lines.append(f"part {number}: {', '.join(filter(None, told))}")
    return lines


def _statistics(element: XmlElement) -> dict[str, dict[str, object]]:
    """Return the sums and averages of a workout by what was measured."""
    statistics: dict[str, dict[str, object]] = {}
    for child in element.each("WorkoutStatistics"):
        values: dict[str, object] = {
            name: number
            for name in _STATISTICS
            if (number := _number(child.attributes.get(name, ""))) is not None
        }
        if values:
            values["unit"] = child.attributes.get("unit", "")
            statistics[short(child.attributes.get("type", ""))] = values
    return statistics


def _summed(statistics: Mapping[str, Any], name: str, units: Mapping[str, float]) -> float | None:
    for kind, values in statistics.items():
        if kind.startswith(name) and "sum" in values and values["unit"] in units:
            return round(float(values["sum"]) * units[values["unit"]], 3)
    return None


def _total(attributes: Mapping[str, str], name: str, units: Mapping[str, float]) -> float | None:
    value = _number(attributes.get(name, ""))
    unit = units.get(attributes.get(f"{name}Unit", ""))
    return None if value is None or unit is None else round(value * unit, 3)


def _day(element: XmlElement) -> Reading:
    attributes = element.attributes
    day = attributes.get("dateComponents", "")
    try:
        date.fromisoformat(day)
    except ValueError:
        return None
    if len(day) != len("2026-01-31"):
        return None
    key = digest_key("day", day)
    data = {
        "id": key,
        "day": day,
        "active_energy": _number(attributes.get("activeEnergyBurned", "")),
        "active_energy_goal": _number(attributes.get("activeEnergyBurnedGoal", "")),
        "energy_unit": attributes.get("activeEnergyBurnedUnit"),
        "move_minutes": _number(attributes.get("appleMoveTime", "")),
        "exercise_minutes": _number(attributes.get("appleExerciseTime", "")),
        "exercise_goal": _number(attributes.get("appleExerciseTimeGoal", "")),
        "stand_hours": _number(attributes.get("appleStandHours", "")),
        "stand_goal": _number(attributes.get("appleStandHoursGoal", "")),
    }
    return Item("days", key, present(data))


def _profile(element: XmlElement) -> Reading:
    prefix = "HKCharacteristicTypeIdentifier"
    attributes = {name.removeprefix(prefix): value for name, value in element.attributes.items()}
    birth = attributes.pop("DateOfBirth", "")
    chosen = {
        name: _not_set(attributes.pop(raw, ""), stem)
        for name, raw, stem in (
            ("sex", "BiologicalSex", "HKBiologicalSex"),
            ("blood_type", "BloodType", "HKBloodType"),
            ("skin_type", "FitzpatrickSkinType", "HKFitzpatrickSkinType"),
        )
    }
    key = digest_key("profile")
    rest = "\n".join(
        f"{titled_words(name)}: {titled_words(value)}"
        for name, value in attributes.items()
        if value
    )
    data = {"id": key, "birth_date": birth if _is_day(birth) else None, **chosen, "details": rest}
    return Item("profile", key, present(data, ""))


def _clinical(element: XmlElement) -> Reading:
    attributes = element.attributes
    if not attributes.get("type"):
        return None
    key = digest_key(
        attributes["type"], attributes.get("sourceName", ""), attributes.get("identifier", "")
    )
    data = {
        "id": key,
        "kind": titled_words(attributes["type"]),
        "source": attributes.get("sourceName"),
        "received_at": moment(attributes.get("receivedDate", "")),
    }
    return Item("clinical_records", key, present(data, ""))


def _export_date(element: XmlElement) -> Reading:  # noqa: ARG001 - a reader like the others
    return Skipped("the date of the export, which is no measurement", "")


READERS: Mapping[str, Callable[[XmlElement], Reading]] = MappingProxyType(
    {
        "ActivitySummary": _day,
        "Audiogram": _audiogram,
        "ClinicalRecord": _clinical,
        "Correlation": _correlation,
        "ExportDate": _export_date,
        "Me": _profile,
        "Record": _measurement,
        "VisionPrescription": _prescription,
        "Workout": _workout,
    }
)


def _not_set(value: str, prefix: str) -> str | None:
    chosen = value.removeprefix(prefix)
    return titled_words(chosen) if chosen not in ("", "NotSet") else None


def _device(text: str | None) -> str | None:
    match = _DEVICE.search(text) if text else None
    return match.group(1).strip() if match else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e15 else None


def _seconds(start: str, end: str) -> float:
    return (datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds()


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _noted(element: XmlElement) -> dict[str, Any]:
    """Return what is noted with an element: numbers by name, and words as lines to be searched."""
    lines: list[str] = []
    numbers: dict[str, str] = {}
    for child in element.children[:_MOST_DETAILS]:
        raw, value = child.attributes.get("key", ""), child.attributes.get("value", "")
        name = raw.removeprefix("HKMetadataKey").removeprefix("HK")
        if child.name == "HeartRateVariabilityMetadataList":
            numbers["beats"] = str(len(child.children))
        elif child.name != "MetadataEntry" or raw in _HIDDEN_DETAILS or not value:
            continue
        elif _number(value.partition(" ")[0]) is not None:
            numbers[name] = value
        else:
            lines.append(f"{note_words(raw)}: {value}")
    return present({"context": numbers or None, "details": "\n".join(lines)}, "")
