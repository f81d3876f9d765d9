"""Amounts: how many of a thing there are, how large it is and how long it takes, in words."""

import math

_UNITS = ("bytes", "kB", "MB", "GB", "TB")
_TIMES = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number of things; ``many`` is what several are called, else an s is added."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size_in_words(count: int) -> str:
    """Return a number of bytes in the largest unit that it fills, with one decimal place."""
    amount, unit = float(count), 0
    # 999,950 would be written as 1000.0 kB.
    while round(amount, 1) >= 1_000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1_000, unit + 1
    return counted(count, "byte") if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


def time_in_words(seconds: float) -> str:
    """Return a stretch of time as the whole number of the largest unit that it fills."""
    whole = int(seconds)
    for length, unit in _TIMES:
        if whole >= length:
            return counted(whole // length, unit)
    return counted(whole, "second")


def wait_in_words(seconds: float) -> str:
    """Return how long to wait, in the largest unit that it fills, and never less than it takes."""
    for length, unit in _TIMES:
        if seconds >= length:
            return counted(math.ceil(seconds / length), unit)
    return counted(math.ceil(seconds), "second")
