from tests.meaning.model import SPECIAL, WORDS

from pdpp.meaning.wordpiece import WordPiece

PIECES = WordPiece([*SPECIAL, *WORDS])


def spelled(text: str, most: int = 32) -> list[str]:
    vocabulary = [*SPECIAL, *WORDS]
    return [vocabulary[id] for id in PIECES.ids(text, most)]


def test_words_become_the_longest_pieces_that_are_known() -> None:
    assert spelled("The TILES, sleeping") == [
        *("[CLS]", "the", "tile", "##s", "[UNK]", "sleep", "##ing", "[SEP]"),
    ]


def test_accents_and_case_do_not_matter_and_a_long_text_is_cut() -> None:
    assert spelled("Mát") == ["[CLS]", "mat", "[SEP]"]
    assert len(spelled("mat " * 100, most=16)) == 16
    assert spelled("x" * 200) == ["[CLS]", "[UNK]", "[SEP]"]
