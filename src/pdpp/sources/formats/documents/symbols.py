"""Symbols: ticks and signs that Word takes from fonts of pictures, and boxes of older forms."""

from collections.abc import Mapping
from types import MappingProxyType

from pdpp.sources.reading.xmlstream import XmlElement

_SIGNS: Mapping[str, Mapping[int, str]] = MappingProxyType(
    {
        "wingdings": {0x6F: "☐", 0x78: "☒", 0xA8: "☐", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑"},
        "wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0xA3: "☐"},
        "symbol": {
            0x6D: "μ",
            0x70: "π",
            0xA3: "≤",
            0xAE: "→",
            0xB0: "°",
            0xB1: "±",
            0xB3: "≥",
            0xB4: "×",
            0xB7: "•",
            0xB9: "≠",
            0xBB: "≈",
            0xC6: "∅",
            0x44: "Δ",
            0x53: "Σ",
        },
    }
)
"""What is shown for a number, by the font: ticks are all that tells an answer of a form."""
_PRIVATE = 0xF000
_OFF = frozenset({"0", "false", "off"})


def symbol_text(element: XmlElement) -> str:
    """Return a symbol as a letter; nothing where it is a picture that no letter shows."""
    font = element.attributes.get("w:font", "").lower()
    try:
        code = int(element.attributes.get("w:char", ""), 16)
    except ValueError:
        return ""
    signs = _SIGNS.get(font)
    if signs is not None:
        return signs.get(code - _PRIVATE if code >= _PRIVATE else code, "")
    return chr(code) if 0x20 <= code < 0xD800 else ""


def box_text(element: XmlElement) -> str:
    """Return a box of an older form, ticked or as it was before anybody filled it in."""
    state = element.at("checked") or element.at("default")
    is_ticked = state is not None and state.attributes.get("w:val", "1") not in _OFF
    return "☒" if is_ticked else "☐"
