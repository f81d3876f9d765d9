"""Vectors as a job: the texts of new and changed records become vectors while nobody waits."""

from pdpp.jobs.context import JobContext
from pdpp.jobs.kind import JobKind
from pdpp.meaning.encoder import LazyEncoder
from pdpp.store.jobs import Json
from pdpp.store.meaning import TextVector
from pdpp.store.port import Store

EMBED = "embed"
_LOOK_SECONDS = 10.0
_AT_ONCE = 32


def embed_some(store: Store, encoder: LazyEncoder) -> int:
    """Give some records their vectors; return how many records those were."""
    loaded = encoder.load()
    pending = store.meaning.pending(_AT_ONCE) if loaded is not None else ()
    if loaded is None or not pending:
        return 0
    vectors = [
        TextVector(item.record, name, loaded.encode(text))
        for item in pending
        for name, text in item.texts.items()
    ]
    store.meaning.keep(pending, vectors)
    return len(pending)


def embedding_kind(store: Store, encoder: LazyEncoder) -> JobKind:
    """Return the kind of job that makes vectors where a model is installed and texts have none."""

    def run(context: JobContext) -> Json:
        count = 0
        while some := embed_some(store, encoder):
            count += some
            context.progress(*store.meaning.progress(), note="records with vectors of meaning")
            context.check()
        return {"records": count}

    complete_at: object = None

    def wanted() -> bool:
        # To find that nothing is pending every record is looked at: not again before a write.
        nonlocal complete_at
        state = store.recent_state()
        if not encoder.installed or state == complete_at:
            return False
        if store.meaning.pending(1):
            return True
        complete_at = state
        return False

    return JobKind(EMBED, run, every=_LOOK_SECONDS, wanted=wanted)
