"""Texts that break careless code: emoji, marks, bidi, scripts without spaces, line breaks."""

from hypothesis import strategies as st

PIECES = (
    "invoice",
    "Invoice",
    "e-mail",
    "café",
    "cafe\u0301",
    "ﬁnance",
    "½",
    "Straße",
    "ΣΊΣΥΦΟΣ",
    "İstanbul",
    "東京",
    "tower",
    "がぎ",
    "か\u3099",
    "ｶﾞ",
    "한국어",
    "\u1112\u1161\u11ab",
    "น้ำ",
    "क्षि",
    "שָׁלוֹם",
    "مُحَمَّد",
    "👩\u200d💻",
    "👍🏽",
    "1\ufe0f\u20e3",
    "❤\ufe0f",
    "🇺🇦",
    "™",
    "in\u200bvoice",
    "so\u00adft",
    "\u202eevil\u202c",
    "\ufeff",
    "\r\n",
    "\r",
    "\u2028",
    "\x85",
    "\x00",
    "\x01",
    "<mark>",
    "</mark>",
    '"',
    "…",
    " ",
    "\n",
    "\t",
)

ANY_TEXT = st.text(max_size=60)
TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=60).map("".join)
WORDY = st.lists(st.sampled_from(PIECES), max_size=80).map(" ".join)
