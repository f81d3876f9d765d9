"""Kinds: what stands in notes, by Apple's names for types, in the words of people."""

from types import MappingProxyType

_KINDS = MappingProxyType(
    {
        "com.adobe.pdf": "PDF",
        "com.apple.drawing": "drawing",
        "com.apple.drawing.2": "drawing",
        "com.apple.m4a-audio": "recording",
        "com.apple.notes.gallery": "scan",
        "com.apple.notes.table": "table",
        "com.apple.paper": "drawing",
        "com.apple.quicktime-movie": "video",
        "public.heic": "picture",
        "public.jpeg": "picture",
        "public.mp3": "recording",
        "public.mpeg-4": "video",
        "public.png": "picture",
        "public.tiff": "picture",
        "public.url": "link",
        "public.vcard": "contact",
    }
)


def kind_words(name: str) -> str:
    """Return what a thing in a note is; a name that is not known stays."""
    return _KINDS.get(name, name)
