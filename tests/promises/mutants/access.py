"""Breaks of what a grant opens: its fields, times, records, streams and connections, its end."""

# ruff: noqa: ARG005 - a stand-in takes whatever the real thing takes

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import orjson
from tests.promises.mutants.mutant import Make, Mutant

OUTSIDE = "Nothing outside the grant changes a byte."
NARROWER = "Narrowing a grant never adds anything."
REVOKED = "Revocation is seen by the very next request"
STAYS = "What was taken back stays so, and no change of accounts shows a client more."
LATER = "A later declaration never widens a grant"

_INTERFERENCE = "tests/promises/test_non_interference.py"
_WORLDS = f"{_INTERFERENCE}::test_nothing_hidden_changes_a_byte_of_any_answer"
_ALGEBRA = "tests/promises/test_grant_algebra.py"
_GRANTS = "tests/resource/test_grants.py"
_CURSOR = "tests/resource/test_cursor.py"
_REACHES = "pdpp.authz.principal:grant_reaches"


def _nothing(_: Any) -> Any:
    return lambda *_: []


def _each_reach(change: Make) -> Make:
    """Return what changes every reach of every grant."""
    return lambda real: lambda *given: tuple(change(reach) for reach in real(*given))


def _with_more(belongs: Any) -> Make:
    """Return what adds to a grant every feed of the store that belongs to one of its own."""

    def make(real: Any) -> Any:
        def grant_reaches(grant: Any, catalogue: Any) -> Any:
            from pdpp.store.scope import in_order

            own = real(grant, catalogue)
            held = {reach.feed.address for reach in own}
            more = [
                replace(own[0], feed=feed, stream=feed.stream)
                for feed in catalogue.feeds.values()
                if feed.address not in held and any(belongs(feed, reach.feed) for reach in own)
            ]
            return in_order([*own, *more])

        return grant_reaches

    return make


def _score_by_corpus(real: Any) -> Any:
    def scores(ranking: Any) -> Any:
        found = real(ranking)
        rows = ranking._index._db.execute("SELECT count(*) FROM record").get
        found.norm *= rows + 1
        return found

    return scores


def _version_of_everything(real: Any) -> Any:
    def cut_all(texts: Any, digests: Any, *cuts: Any) -> tuple[Any, Any]:
        return real(texts, digests, *cuts)[0], digests

    return cut_all


def _short_of_everything(real: Any) -> Any:
    def project_short(projector: Any, data: bytes, digest: str) -> Any:
        return *real(projector, data, digest)[:2], digest

    return project_short


def _count_everything(_: Any) -> Any:
    def count(reader: Any, reach: Any) -> int:
        sql = "SELECT record_count FROM feed WHERE id = ?"
        return int(reader._db.execute(sql, (reach.feed.id,)).get)

    return count


def _compares_anything(_: Any) -> Any:
    def compares(reach: Any, name: str) -> bool:
        return name in reach.feed.compared

    return compares


def _last_stamp(_: Any) -> Any:
    def last_visible(_: Any, created: int, emitted: int, stamps: str) -> tuple[int, int]:
        fields = orjson.loads(stamps)["fields"].values()
        return max([(created, emitted), *map(tuple, fields)])

    return last_visible


def _any_use(real: Any) -> Any:
    def blob_shown(store: Any, blob_id: str, _: Iterable[Any]) -> Any:
        from pdpp.store.scope import owner_reaches

        return real(store, blob_id, owner_reaches(store.catalogue()))

    return blob_shown


def _telling_refusal(real: Any) -> Any:
    def field(reach: Any, name: str, param: str) -> Any:
        from pdpp.model.errors import FieldNotGranted

        if name in reach.feed.stream.fields and not reach.shows(name):
            raise FieldNotGranted(f"{name!r} is there, but not for you.", param=param)
        return real(reach, name, param)

    return field


def _all_children(_: Any) -> Any:
    def through(gate: Any, principal: Any, now: int) -> Any:
        reaches = [reach for child in principal.children for reach in child.reaches]
        return replace(principal, reaches=tuple(reaches))

    return through


def _newest(reach: Any) -> Any:
    stream = reach.feed.stream
    return replace(reach, stream=stream, fields=frozenset(stream.fields)) if reach.whole else reach


def _ordered_by_key(real: Any) -> Any:
    def page_of(query: Any, sql: Any, order: str) -> Any:
        return real(query, sql, order.replace("r.surrogate", "r.key"))

    return page_of


def _without_spans(_: Any) -> Any:
    """Let a limit be met by looking at each record, and not by the way to them."""

    def span_where(reach: Any, field: str) -> Any:
        from pdpp.store.tables.records.predicate import ABSENT, Sql

        return Sql("AND w.value < ?", (ABSENT,))

    return span_where


def _without_seconds(_: Any) -> Any:
    """Let a filter lead to all records that meet it, whenever they were."""

    def seconds_where(reach: Any, time: Any) -> Any:
        from pdpp.store.tables.records.predicate import Sql

        return Sql("")

    return seconds_where


def _capped(real: Any) -> Any:
    """Let only records be found that were written last, hidden ones among them."""

    def allowed(searcher: Any, visible: Any, *more: Any) -> Any:
        import numpy as np

        kept = real(searcher, visible, *more)
        rows = np.flatnonzero(kept)
        newest = searcher._db.execute(
            "SELECT id FROM (SELECT id, row_number() OVER (PARTITION BY feed ORDER BY id DESC) AS n"
            " FROM record) WHERE n <= 3"
        ).fetchall()
        kept[rows[~np.isin(visible.numbers(rows), [id for (id,) in newest])]] = False
        return kept

    return allowed


def _outside(name: str, target: str, make: Make, world: str) -> Mutant:
    return Mutant(OUTSIDE, name, ((target, make),), (f"{_WORLDS}[{world}]",))


def _modelled(name: str, target: str, make: Make) -> Mutant:
    return Mutant(OUTSIDE, name, ((target, make),), (_MODEL,))


_SIZES = (
    "tests/promises/test_hidden_sizes.py"
    "::test_long_hidden_fields_change_no_byte_and_cost_next_to_nothing"
)
_IDS = "tests/store/test_record_ids.py"
_MODEL = "tests/promises/test_reference_model.py::test_every_answer_is_what_the_model_says[0]"

MUTANTS = (
    _outside(
        "shows every field",
        "pdpp.store.scope:Reach.cuts",
        lambda real: lambda reach, field_set, select: (None, select),
        "few fields-grant",
    ),
    _outside(
        "forgets the time of a grant",
        _REACHES,
        _each_reach(lambda reach: replace(reach, time=None)),
        "a season-package",
    ),
    _outside(
        "forgets which records a grant names",
        _REACHES,
        _each_reach(lambda reach: replace(reach, keys=None)),
        "some keys-grant",
    ),
    _outside(
        "opens the same stream of other connections",
        _REACHES,
        _with_more(lambda feed, own: feed.stream.name == own.stream.name),
        "one stream-grant",
    ),
    _outside(
        "opens the other streams of a connection",
        _REACHES,
        _with_more(lambda feed, own: feed.connection == own.connection),
        "one stream-package",
    ),
    _outside(
        "ranks by the whole corpus",
        "pdpp.store.ranking.score:Ranking.scores",
        _score_by_corpus,
        "a season-grant",
    ),
    _outside(
        "gives versions of whole records",
        "pdpp.store.scope:cut_all",
        _version_of_everything,
        "few fields-grant",
    ),
    _outside(
        "counts the whole stream",
        "pdpp.store.tables.records.reader:RecordReader.count",
        _count_everything,
        "a season-grant",
    ),
    _outside(
        "sorts by hidden fields",
        "pdpp.store.scope:Reach.compares",
        _compares_anything,
        "a season without its dates-grant",
    ),
    _outside(
        "finds words in hidden fields",
        "pdpp.store.scope:Reach.searched_fields",
        lambda real: lambda reach: reach.feed.searched,
        "few fields-grant",
    ),
    _outside(
        "tells of changes in hidden fields",
        "pdpp.store.tables.records.changes:last_visible",
        _last_stamp,
        "few fields-grant",
    ),
    Mutant(
        OUTSIDE,
        "shows keys whose fields are hidden",
        (("pdpp.store.scope:_shows_key", lambda real: lambda reach: True),),
        (f"{_IDS}::test_an_id_opens_the_record_under_its_grant_and_nothing_under_another",),
    ),
    Mutant(
        OUTSIDE,
        "tells when records with a hidden time were emitted",
        (("pdpp.store.scope:_shows_emission", lambda real: lambda reach: True),),
        (f"{_IDS}::test_a_record_tells_when_it_was_emitted_only_beside_its_event_time",),
    ),
    _outside(
        "opens the files of hidden records",
        "pdpp.store.tables.store:TableStore.blob_shown",
        _any_use,
        "few fields-grant",
    ),
    _outside(
        "says in an error that a hidden field exists",
        "pdpp.store.scope:Reach.field",
        _telling_refusal,
        "one stream-grant",
    ),
    Mutant(
        OUTSIDE,
        "takes a cursor of another grant",
        (
            (
                "pdpp.service.cursor:Signer._bound",
                lambda real: lambda signer, kind, binding: real(signer, kind, ()),
            ),
        ),
        (f"{_CURSOR}::test_a_cursor_of_another_grant_is_refused",),
    ),
    Mutant(
        OUTSIDE,
        "takes a cursor that it did not sign",
        (("pdpp.service.cursor:_tag", lambda real: lambda *_: bytes(16)),),
        (f"{_CURSOR}::test_a_cursor_is_bound_to_its_kind_its_request_and_its_server",),
    ),
    Mutant(
        OUTSIDE,
        "writes into a cursor what its reader may not see",
        (("pdpp.service.cursor:Signer._masked", lambda real: lambda signer, tag, text: text),),
        (f"{_CURSOR}::test_a_cursor_shows_nothing_of_its_position",),
    ),
    _modelled(
        "dates a record by a hidden emission",
        "pdpp.store.scope:_shows_emission",
        lambda real: lambda reach: True,
    ),
    _modelled(
        "tells the moment at which a record went away",
        "pdpp.store.tables.records.projection:Projector.emitted",
        lambda real: lambda projector, version, emitted: emitted,
    ),
    _modelled(
        "calls a record by a hidden key",
        "pdpp.store.scope:_shows_key",
        lambda real: lambda reach: True,
    ),
    _modelled(
        "orders pages by hidden keys",
        "pdpp.store.tables.records.reader:_page_of",
        _ordered_by_key,
    ),
    _modelled(
        "counts hidden records in what a word weighs",
        "pdpp.store.ranking.score:Ranking.scores",
        _score_by_corpus,
    ),
    _modelled(
        "ranks only what was written last",
        "pdpp.store.tables.search.search:Searcher._allowed",
        _capped,
    ),
    Mutant(
        OUTSIDE,
        "looks at every hidden record",
        (("pdpp.store.tables.records.predicate:span_where", _without_spans),),
        ("tests/promises/test_work.py",),
    ),
    Mutant(
        OUTSIDE,
        "follows a filter through hidden records",
        (("pdpp.store.tables.records.predicate:_seconds_where", _without_seconds),),
        ("tests/promises/test_work.py",),
    ),
    Mutant(
        OUTSIDE,
        "gives versions of hidden long values",
        (("pdpp.store.tables.records.projection:Projector._project_short", _short_of_everything),),
        (f"{_SIZES}[one record]",),
        embedded=True,
    ),
    Mutant(
        NARROWER,
        "shows all fields of the records that a grant names",
        (
            (
                _REACHES,
                _each_reach(
                    lambda reach: (
                        replace(reach, fields=frozenset(reach.stream.fields), whole=True)
                        if reach.keys
                        else reach
                    )
                ),
            ),
        ),
        (f"{_ALGEBRA}::test_narrowing_a_grant_never_adds_anything",),
    ),
    Mutant(
        REVOKED,
        "remembers a grant until the server ends",
        (("pdpp.authz.principal:Gate._basis", lru_cache),),
        (f"{_ALGEBRA}::test_an_open_session_of_pages_ends_with_the_grant",),
    ),
    Mutant(
        REVOKED,
        "sees only what its own process writes",
        (("pdpp.store.tables.store:TableStore.state", lambda real: lambda store: (0, 0)),),
        (f"{_ALGEBRA}::test_another_process_revokes_a_grant_and_the_next_request_sees_it",),
    ),
    Mutant(
        REVOKED,
        "reads on through the revoked grant of a package",
        (("pdpp.authz.principal:Gate._through_good_children", _all_children),),
        (f"{_GRANTS}::test_a_package_reads_through_its_good_grants_only",),
    ),
    Mutant(
        LATER,
        "reads a grant by the newest declaration",
        ((_REACHES, _each_reach(_newest)),),
        ("tests/promises/test_concurrency.py::test_a_later_declaration_never_widens_a_grant",),
    ),
    Mutant(
        STAYS,
        "revives with an old backup what was revoked since",
        (("pdpp.store.sqlite.revocations:RevocationFiles.revived", _nothing),),
        ("tests/store/sqlite/test_revocations.py",),
        embedded=True,
    ),
    Mutant(
        STAYS,
        "takes with an old backup a refresh token that was used since",
        (("pdpp.store.sqlite.rotations:RotationFiles.outdated", _nothing),),
        ("tests/store/sqlite/test_rotations.py",),
        embedded=True,
    ),
    Mutant(
        STAYS,
        "opens with an old backup an account that was removed since",
        (
            (
                "pdpp.store.tables.vault.grants:opens_account",
                lambda _: lambda db, account: False,
            ),
        ),
        ("tests/store/sqlite/test_revocations.py",),
        embedded=True,
    ),
    Mutant(
        STAYS,
        "trusts a backup on a machine that cannot know what was revoked",
        (("pdpp.store.tables.vault.holding:hold", lambda _: lambda db, now: 0),),
        ("tests/store/sqlite/test_revocations.py",),
        embedded=True,
    ),
    Mutant(
        STAYS,
        "revives with a confirmation what was revoked meanwhile",
        (
            (
                "pdpp.store.tables.vault.holding:unended",
                lambda _: lambda db: ("revoked_at IS NULL", ()),
            ),
        ),
        ("tests/store/sqlite/test_revocations.py",),
        embedded=True,
    ),
    Mutant(
        STAYS,
        "shows one of two merged accounts through the limits of the other",
        (("pdpp.authz.account_changes:in_common", lambda _: lambda one, other: one),),
        ("tests/authz/test_account_changes.py",),
    ),
)
