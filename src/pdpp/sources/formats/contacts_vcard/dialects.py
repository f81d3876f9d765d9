"""Dialects: what programs call days, relatives and handles that vCard had no property for."""

from pdpp.sources.formats.contacts_vcard.vcard import VcardLine

HANDLES = {
    "X-AIM": "AIM",
    "X-ICQ": "ICQ",
    "X-JABBER": "Jabber",
    "X-MSN": "MSN",
    "X-SKYPE": "Skype",
    "X-SKYPE-USERNAME": "Skype",
    "X-GOOGLE-TALK": "Google Talk",
    "X-GTALK": "Google Talk",
    "X-YAHOO": "Yahoo",
    "X-QQ": "QQ",
    "X-TWITTER": "Twitter",
    "X-GADUGADU": "Gadu-Gadu",
    "X-GROUPWISE": "GroupWise",
    "X-MATRIX": "Matrix",
    "X-SIP": "SIP",
    "X-SOCIALPROFILE": "",
    "X-MS-IMADDRESS": "",
    "X-KADDRESSBOOK-X-IMADDRESS": "",
}
"""Instant-message handles from before there was a property for them."""

RELATED = frozenset({"RELATED", "X-ABRELATEDNAMES"})
_PLURALS = {
    "spouse": "SPOUSES",
    "manager": "MANAGERS",
    "assistant": "ASSISTANTS",
    "child": "CHILDREN",
}
RELATIVES = {
    name: relation
    for relation, plural in _PLURALS.items()
    for name in (
        *(f"X-{maker}{relation.upper()}" for maker in ("", "EVOLUTION-", "MS-")),
        f"X-KADDRESSBOOK-X-{plural}NAME",
    )
}
MEMBERS = frozenset({"MEMBER", "X-ADDRESSBOOKSERVER-MEMBER"})
"""Who is in a group, by the ids of their cards; the second name is Apple's."""
ANNIVERSARIES = frozenset(
    {"ANNIVERSARY", "X-ANNIVERSARY", "X-EVOLUTION-ANNIVERSARY", "X-MS-ANNIVERSARY"}
    | {"X-KADDRESSBOOK-X-ANNIVERSARY"}
)

_ANDROID = "X-ANDROID-CUSTOM"
_KIND = "vnd.android.cursor.item/"
_EVENTS = {"1": "anniversary", "3": "birthday"}
_RELATIONS = (
    *("", "assistant", "brother", "child", "domestic partner", "father", "friend", "manager"),
    *("mother", "parent", "partner", "referred by", "relative", "sister", "spouse"),
)
"""What Android counts from 1; a relation without a number has a label."""
_SCHEMES = {"xmpp": "jabber", "ymsgr": "yahoo", "msnim": "msn"}


def translated(line: VcardLine) -> VcardLine:
    """Return a line of Android's, which writes rows of its own tables, as others write it."""
    kind, value, number, label, *_ = [*line.parts, "", "", "", ""]
    if line.name != _ANDROID or not kind.startswith(_KIND) or not value:
        return line
    what = kind.removeprefix(_KIND)
    if what == "nickname":
        return VcardLine("NICKNAME", {}, value)
    if what == "relation":
        known = number.isdecimal() and int(number) < len(_RELATIONS)
        relation = _RELATIONS[int(number)] if known else ""
        return VcardLine("RELATED", {"TYPE": label or relation}, value)
    if what == "contact_event":
        event = _EVENTS.get(number)
        names = {"anniversary": "ANNIVERSARY", "birthday": "BDAY"}
        return VcardLine(names.get(event or "", "X-ABDATE"), {"TYPE": label}, value)
    return line


def service_of(line: VcardLine) -> str:
    """Return the service of a handle, where its address does not say the same."""
    service = line.parameters.get("X-SERVICE-TYPE", "").strip('"')
    scheme = line.text.partition(":")[0].casefold()
    return "" if service.casefold() in (scheme, _SCHEMES.get(scheme)) else service
