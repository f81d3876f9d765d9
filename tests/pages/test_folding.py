"""Ticks that a page has no boxes for travel with its form and mean the same on the next."""

from hypothesis import given
from hypothesis import strategies as st

from pdpp.authz.choice import ConsentChoice
from pdpp.pages.chooser import AccountBox, Box, read_choice
from pdpp.pages.folding import Folding, carried, carried_whole, fold, unfold
from pdpp.pages.form import PostedForm

ACCOUNTS = ("cin a", "cin=b", "c,!%c")
STREAMS = ("letters", "a=b c", "!x,y")
FIELDS = ("id", "a/b", "sp ace", "é=,!")
PLACES = tuple((account, stream) for account in ACCOUNTS for stream in STREAMS)
START = ConsentChoice(
    streams=frozenset(PLACES[::2]), fields=dict.fromkeys(PLACES, frozenset(FIELDS))
)
CHOICES = st.builds(
    ConsentChoice,
    connections=st.frozensets(st.sampled_from(ACCOUNTS)),
    streams=st.frozensets(st.sampled_from(PLACES)),
    fields=st.fixed_dictionaries(
        {place: st.frozensets(st.sampled_from(FIELDS)) for place in PLACES}
    ),
)
OPENED = st.sampled_from(("", *ACCOUNTS, *("/".join(place) for place in PLACES)))


def boxes_of(choice: ConsentChoice) -> list[AccountBox]:
    def stream_box(account: str, stream: str) -> Box:
        place = account, stream
        fields = tuple(
            Box("/".join((*place, name)), name, name in choice.fields[place]) for name in FIELDS
        )
        return Box("/".join(place), stream, place in choice.streams, fields=fields)

    return [
        AccountBox(
            account,
            account,
            "Source",
            account in choice.connections,
            tuple(stream_box(account, stream) for stream in STREAMS),
        )
        for account in ACCOUNTS
    ]


def sent(folding: Folding, accounts: list[AccountBox]) -> list[tuple[str, str]]:
    """Return what a browser sends of the boxes that a page shows."""
    pairs = []
    for account in filter(folding.shows_account, accounts):
        pairs += [("connection", account.value)] * account.ticked
        for stream in account.streams if folding.shows_streams(account) else ():
            pairs += [("stream", stream.value)] * stream.ticked
            if folding.shows_fields(stream):
                pairs += [("field", field.value) for field in stream.fields if field.ticked]
    return pairs


def read(pairs: list[tuple[str, str]]) -> ConsentChoice:
    return read_choice(unfold(PostedForm.of_pairs(pairs), START), 0)


def same(one: ConsentChoice, other: ConsentChoice) -> bool:
    fields = [{place: names for place, names in c.fields.items() if names} for c in (one, other)]
    parts = one.connections == other.connections, one.streams == other.streams
    return all(parts) and fields[0] == fields[1]


@given(choice=CHOICES, opened=OPENED, streams=st.booleans())
def test_a_choice_is_the_same_after_a_page_that_shows_a_part_of_it(
    choice: ConsentChoice, opened: str, streams: bool
) -> None:
    folding = Folding(fields=True, streams=streams, opened=opened)
    accounts = boxes_of(choice)
    pairs = [*carried(folding, accounts, choice, START), *sent(folding, accounts)]
    assert same(read(pairs), choice)


@given(choice=CHOICES)
def test_a_choice_is_the_same_after_a_page_without_boxes(choice: ConsentChoice) -> None:
    assert same(read(list(carried_whole(boxes_of(choice), choice, START))), choice)


def test_what_fits_is_not_folded() -> None:
    accounts = boxes_of(START)
    assert fold(accounts[:1], "") == Folding()
    assert list(carried(Folding(), accounts, START, START)) == []
    assert fold(accounts, "cin a") == Folding(fields=True, opened="cin a")
    assert fold(accounts * 40, "") == Folding(fields=True, streams=True)


def test_a_form_that_was_written_by_hand_opens_nothing_by_itself() -> None:
    hostile = [("opened", "nope/x"), ("streams", "nope=%ff,, =x"), ("fields", "nope/x!id zz")]
    choice = read(hostile)
    assert choice.connections == frozenset()
    assert {account for account, _ in choice.streams} <= {"nope", ""}
