"""Amounts: how many of a thing there are, in words."""


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number of things; ``many`` is what several are called, an s added where not told."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
