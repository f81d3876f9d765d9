"""List meta: what a server says of a list as a whole."""

from collections.abc import Sequence
from typing import NamedTuple

from pdpp.evidence.budget import cut
from pdpp.wire.advice import SearchAdvice, advice_in
from pdpp.wire.members import (
    Json,
    flag_in,
    object_in,
    objects_in,
    text_in,
    whole_in,
)
from pdpp.wire.verbatim import Verbatim

_MOST_WARNINGS = 12
_WARNING_CHARS = 400


class SentWarning(NamedTuple):
    """A warning as it was sent, and what kind it is of."""

    code: str | None
    sent: Verbatim


class ListMeta(NamedTuple):
    """How many there are in all, what the server warns of, how it read a question, what to try."""

    total: int | None = None
    count_kind: str | None = None
    complete: bool | None = None
    ranked: int | None = None
    warnings: Sequence[str] = ()
    advice: SearchAdvice = SearchAdvice()
    sent_warnings: Sequence[SentWarning] = ()

    @property
    def exact_total(self) -> int | None:
        """Return how many there are, if that is exactly known."""
        return self.total if self.count_kind == "exact" else None


def read_meta(body: Json) -> ListMeta:
    """Read the meta of a list; the reference tells a count as a bare number beside its kind."""
    meta = object_in(body, "meta")
    count, recall = object_in(meta, "count"), object_in(meta, "recall")
    sent = objects_in(meta, "warnings")
    warnings = [text_in(warning, "message") for warning in sent]
    return ListMeta(
        total=whole_in(count, "value") if count else whole_in(meta, "count"),
        count_kind=text_in(count, "kind") if count else text_in(meta, "count_accuracy"),
        complete=flag_in(recall, "complete"),
        ranked=whole_in(recall, "ranked"),
        warnings=[cut(w, _WARNING_CHARS)[0] for w in warnings[:_MOST_WARNINGS] if w is not None],
        advice=advice_in(meta),
        sent_warnings=[SentWarning(text_in(w, "code"), Verbatim(w)) for w in sent],
    )
