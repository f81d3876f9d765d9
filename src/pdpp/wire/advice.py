"""Advice: how a server read the words of a search, and what to try where nothing answers."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from pdpp.wire.members import Json, object_in, texts_in, whole_in

_FEW = 12
_WORD_CHARS = 80
_ASKED_CHARS = 40


class SearchAdvice(NamedTuple):
    """Words that were read as others, words near those that nothing holds, streams searched."""

    repaired: Mapping[str, Sequence[str]] = MappingProxyType({})
    near_words: Sequence[str] = ()
    streams_searched: Sequence[str] = ()
    unnamed_streams: int = 0
    """How many streams more were searched."""

    def sentences(self) -> Iterator[str]:
        """Yield what whoever asked should know, one short sentence for each."""
        for asked, terms in self.repaired.items():
            yield f"no record holds {asked[:_ASKED_CHARS]}; read as {', '.join(terms)}"
        if self.near_words:
            yield f"near words: {', '.join(self.near_words)}"
        if self.streams_searched:
            more = f" and {self.unnamed_streams} more" if self.unnamed_streams else ""
            yield f"streams searched: {', '.join(self.streams_searched)}{more}"


_NONE = SearchAdvice()


def advice_in(meta: Json) -> SearchAdvice:
    """Return the advice in the meta of an answer, as far as a server gives any."""
    if "try" not in meta and "repaired" not in meta:
        return _NONE
    tries, repaired = object_in(meta, "try"), object_in(meta, "repaired")
    streams = _words(tries, "streams_searched")
    stream_count = whole_in(tries, "stream_count") or len(texts_in(tries, "streams_searched"))
    return SearchAdvice(
        repaired={asked[:_WORD_CHARS]: _words(repaired, asked) for asked in list(repaired)[:_FEW]},
        near_words=_words(tries, "words"),
        streams_searched=streams,
        unnamed_streams=max(0, stream_count - len(streams)),
    )


def _words(source: Json, name: str) -> Sequence[str]:
    return [word[:_WORD_CHARS] for word in texts_in(source, name)[:_FEW]]
