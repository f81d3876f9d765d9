"""Words that hold an English question together and say nothing of what is asked for."""

_WORDS = """
    a about am an and any are as at be because been being both but by can could did do does doing
    during each every for from had has have having he her hers him his how i if in into is it its
    just many me mine much my myself no nor not of on or our ours s she should so some such t than
    that the their theirs them then there these they this those to too us very was we were what when
    where whether which while who whom whose why will with would you your yours
"""

STOP_WORDS = frozenset(_WORDS.split())
