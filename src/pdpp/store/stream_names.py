"""Stream names: the words by which a question can name a stream or its account."""

from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.stop_words import STOP_WORDS
from pdpp.evidence.language.terms import pieces
from pdpp.store.scope import Reach


def stream_names(reach: Reach) -> frozenset[str]:
    """Return the terms of what a stream and its account are called."""
    feed = reach.feed
    called = f"{feed.stream.name} {feed.stream.label} {feed.connection.display_name}"
    stems = stems_of("en")
    return frozenset(stems[word] for word in pieces(called) if word not in STOP_WORDS)
