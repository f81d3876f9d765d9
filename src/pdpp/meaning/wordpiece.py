"""WordPiece: the pieces of words that the model knows, as numbers."""

import re
import unicodedata
from collections.abc import Mapping, Sequence

_WORD = re.compile(r"\w+|[^\w\s]")
_LONGEST_WORD = 100
_CHINESE = re.compile("([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff])")


class WordPiece:
    """Splits texts as the model was trained to read them: lower case, without accents."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids: Mapping[str, int] = {piece: at for at, piece in enumerate(vocabulary)}
        self._unknown = self._ids["[UNK]"]
        self._start, self._end = self._ids["[CLS]"], self._ids["[SEP]"]

    def ids(self, text: str, most: int) -> list[int]:
        """Return the numbers of a text's pieces and of its begin and end, ``most`` at most."""
        ids = [self._start]
        for word in _WORD.findall(_folded(text)):
            ids += self._pieces(word)
            if len(ids) >= most:
                break
        return [*ids[: most - 1], self._end]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > _LONGEST_WORD:
            return [self._unknown]
        ids, start = [], 0
        while start < len(word):
            for end in range(len(word), start, -1):
                id = self._ids.get(("##" if start else "") + word[start:end])
                if id is not None:
                    ids.append(id)
                    start = end
                    break
            else:
                return [self._unknown]
        return ids


def _folded(text: str) -> str:
    spaced = _CHINESE.sub(r" \1 ", text.lower()).replace("_", " _ ")
    return "".join(
        c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn"
    )
