"""Words that hold a question together and say nothing of what is asked for.

Those of English are all here. Those of other languages are mostly known by how common they are;
only the words that a question asks with, which are rare in other text, are named.
"""

from collections.abc import Mapping
from types import MappingProxyType

_WORDS = """
    a about am an and any are as at be because been being both but by can could did do does doing
    during each every for from had has have having he her hers him his how i if in into is it its
    just many me mine much my myself no nor not of on or our ours s she should so some such t than
    that the their theirs them then there these they this those to too us very was we were what when
    where whether which while who whom whose why will with would you your yours
"""

STOP_WORDS = frozenset(_WORDS.split())

_QUESTION_WORDS = """
    ar: متى اين ماذا كم كيف لماذا;
    de: wann wem wen wer wie wieviel wo woher wohin warum welche welchem welchen welcher welches;
    el: ποτε που ποιοσ ποια ποιο ποσο ποσα ποσοι ποσεσ γιατι;
    es: cual cuales cuando cuanta cuantas cuanto cuantos donde quien quienes;
    fr: combien comment pourquoi quand quel quelle quelles quels quoi;
    hi: कब कहां कौन कितना कितनी कितने कैसे;
    it: chi dove perche quale quali quando quanta quante quanti quanto;
    nl: hoe hoeveel waar waarom wanneer welk welke wie;
    pl: dlaczego gdzie ile jaka jaki jakie kiedy kto;
    pt: onde quais qual quando quanta quantas quanto quantos quem;
    ro: cand cat cate cati cine cum unde;
    ru: где какая какие какои какое когда кто почему сколько;
    sv: hur manga nar varfor vem vilka vilken vilket;
    tr: hangi kac kim nasil nasıl neden nerede
"""

QUESTION_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        language.strip(): frozenset(words.split())
        for language, _, words in (line.partition(":") for line in _QUESTION_WORDS.split(";"))
    }
)
"""The folded words that questions ask with, by language."""
