"""Notices: a process hears at once that another one wrote, where the engine can say so."""

from collections.abc import Callable
from typing import Protocol


class ChangeNotices(Protocol):
    """Tells a process what others did. A notice may be lost, so whoever needs one also looks."""

    def subscribe(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call back, in a thread of its own, when there may be new work; return what ends that.

        It is also called when notices begin to come, because some may have been missed before.
        """
        ...

    @property
    def is_listening(self) -> bool:
        """Tell whether notices come now; where they do not, looking more often replaces them."""
        ...
