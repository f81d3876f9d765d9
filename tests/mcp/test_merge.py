"""What several grants found is one list, in one order over all of its pages."""

from pdpp.mcp.reading.merge import ChildAnswers, MergedSearch
from pdpp.mcp.reading.package_cursor import ChildPosition, PackageCursor
from pdpp.mcp.reading.reader import ChildGrant
from pdpp.mcp.reading.search_answer import SearchAnswer, read_search


def child(name: str) -> ChildGrant:
    return ChildGrant(f"grt_{name}", f"cin_{name}", "shelf", name, frozenset({"notes"}))


def found(name: str, scores: list[float]) -> SearchAnswer:
    hits = [{"id": f"cin_{name}/notes:{at}", "score": s} for at, s in enumerate(scores)]
    return read_search({"data": hits, "next_cursor": None})


def merged(positions: dict[str, ChildPosition], *answers: tuple[str, list[float]]) -> MergedSearch:
    children = [child(name) for name, _ in answers]
    asked = [(one, found(*answer)) for one, answer in zip(children, answers, strict=True)]
    cursor = PackageCursor(children, ["search"], {"q": "kiln"})
    at = {f"grt_{name}": position for name, position in positions.items()}
    return MergedSearch(ChildAnswers(asked, [], [], []), at, cursor)


def test_equal_hits_come_in_turn_counted_from_the_first_page_on() -> None:
    positions = {"a": ChildPosition(2, 1, "page"), "b": ChildPosition(0, 2)}
    both = merged(positions, ("a", [1.0] * 3), ("b", [1.0] * 4))
    order = [(hit.handle.connection_id, hit.handle.record_id) for hit in both.hits]
    assert order == [("cin_b", "2"), ("cin_a", "1"), ("cin_b", "3"), ("cin_a", "2")]


def test_a_better_hit_comes_before_the_turn_of_others() -> None:
    start = {"a": ChildPosition(), "b": ChildPosition()}
    both = merged(start, ("a", [3.0, 2.0]), ("b", [2.5, 1.0]))
    order = [hit.handle.id for hit in both.hits]
    assert order == ["cin_a/notes:0", "cin_b/notes:0", "cin_a/notes:1", "cin_b/notes:1"]
