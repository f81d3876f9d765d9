"""Places: where an export came from, as a person calls it."""

from pathlib import PurePath

UPLOADED_FOLDER = ".files"
"""The folder of what a browser uploaded together: hidden, and no name of anything.

No photo or document is said to lie in a hidden folder.
"""


def place_name(path: PurePath) -> str:
    """Return what a person calls the place that an export came from."""
    return "uploaded files" if path.name == UPLOADED_FOLDER else path.name
