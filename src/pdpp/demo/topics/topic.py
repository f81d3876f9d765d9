"""Topics: what people in the demo world talk about, as templates for every kind of text."""

from dataclasses import dataclass

from pdpp.demo.people import Person
from pdpp.demo.prose import Voice, Words


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject of conversation: its words, its sentences, and who writes about it."""

    name: str
    people: tuple[Person, ...]
    words: Words
    subjects: tuple[str, ...]
    sentences: tuple[str, ...]
    remarks: tuple[str, ...]

    def subject(self, voice: Voice) -> str:
        """Return a headline."""
        return _sentence(voice.say(voice.pick(self.subjects), self.words))

    def remark(self, voice: Voice) -> str:
        """Return one short spoken line."""
        return voice.say(voice.pick(self.remarks), self.words)

    def paragraph(self, voice: Voice, least: int = 2, most: int = 4) -> str:
        """Return a few sentences that do not repeat each other."""
        chosen = voice.some(self.sentences, least, most)
        return " ".join(_sentence(voice.say(template, self.words)) for template in chosen)

    def paragraphs(self, voice: Voice, count: int) -> list[str]:
        """Return paragraphs that share no sentence."""
        chosen = voice.some(self.sentences, 2 * count, 3 * count)
        said = [_sentence(voice.say(template, self.words)) for template in chosen]
        return [" ".join(said[start::count]) for start in range(count)]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
