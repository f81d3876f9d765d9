"""The progress bar: how far long work is, how fast it goes, and the time left."""

from typing import NamedTuple

from pdpp.evidence.amount import counted

_CELLS = 24
_FIRST_GUESS_SECONDS = 2.0


class ProgressBar(NamedTuple):
    """Work that began at a moment of a steady clock, in seconds."""

    began: float

    def line(self, now: float, records: int, done: int, total: int) -> str:
        """Return the bar, the rate and the time left, where they can be told."""
        passed = max(now - self.began, 1e-6)
        share = min(done / total, 1.0) if total else 0.0
        filled = int(share * _CELLS)
        bar = "█" * filled + "░" * (_CELLS - filled)
        parts = [f"{bar} {share:4.0%}", counted(records, "record"), f"{records / passed:,.0f}/s"]
        if 0 < share < 1 and passed > _FIRST_GUESS_SECONDS:
            parts.append(f"{duration(passed / share - passed)} left")
        return "  ".join(parts)


def duration(seconds: float) -> str:
    """Return a stretch of time in words."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
