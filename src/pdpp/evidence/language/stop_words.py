"""Words that hold an English question together and say nothing of what is asked for."""

_WORDS = """
    a about an and any are as at be been both by can could did do does for from had has have he her
    him his how i in into is it its my of on or our s she should some t than that the their them
    then there these they this those to us was we were what when where which who whom why will with
    would you your
"""

STOP_WORDS = frozenset(_WORDS.split())
