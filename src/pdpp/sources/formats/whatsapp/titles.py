"""Titles: what telephones call the file of a chat, in each of their languages."""

import re

_BEFORE = (
    *("WhatsApp Chat with", "WhatsApp Chat mit", "WhatsApp Chat con", "WhatsApp Chat com"),
    *("WhatsApp Chat avec", "WhatsApp Chat met", "WhatsApp Chat kay", "WhatsApp Chat med"),
    *("WhatsApp Unterhaltung mit", "WhatsApp Gesprek met", "WhatsApp Chatt med"),
    *("WhatsApp Samtale med", "WhatsApp Razgovor s", "WhatsApp Pokalbis su"),
    *("WhatsApp Sarakste ar", "WhatsApp Klepet z", "WhatsApp Chat s používateľom"),
    *("WhatsApp Csevegés vele:?", "WhatsApp'i vestlus kontaktiga", "WhatsApp Чат с"),
    *("WhatsApp Разговор со", "WhatsApp Ћаскање са", "WhatsApp Чат:?"),
    *("Chat (?:de |di )?WhatsApp con", "Chat WhatsApp s uživatelem", "Chat WhatsApp dengan"),
    *("Xat de WhatsApp amb", "Discussion WhatsApp avec", "Conversa (?:do|no) WhatsApp com"),
    *("Conversație WhatsApp cu", "Czat WhatsApp z(?: użytkownikiem)?", "Sembang WhatsApp dengan"),
    *("Soga za WhatsApp na", "Trò chuyện WhatsApp với", "Чат WhatsApp с(?: контактом)?"),
    *("Бесіда WhatsApp з", "Συνομιλία WhatsApp με", "צ'אט WhatsApp עם", "دردشة واتساب مع"),
    *("گفتگوی WhatsApp با", "แชท WhatsApp กับ"),
    # Every iPhone puts a dash before the name.
    *("WhatsApp Chat", "Chat (?:de |di )?WhatsApp", "Discussion WhatsApp"),
    "Conversa (?:do |no )?WhatsApp",
)
_AROUND = (
    *("(.+) ile WhatsApp Sohbeti", "(.+) ilə WhatsApp Söhbəti", "(.+) bilan WhatsApp chati"),
    *(
        "(.+)とのWhatsAppチャット",
        "(.+)님과의 WhatsApp 대화",
        "WhatsApp [与與] (.+) 的[对對][话話]",
    ),
    *("(.+) के साथ WhatsApp चैट", "(.+) सोबतच्या WhatsApp गप्पा", "(.+) এর সাথে WhatsApp চ্যাট"),
    *("(.+) உடன் WhatsApp உரையாடல்", "(.+) తో WhatsApp సంభాషణ", "(.+) ಜೊತೆ WhatsApp ಸಂಭಾಷಣೆ"),
    *("(.+) മായുള്ള WhatsApp ചാറ്റുകൾ", "(.+) સાથેની WhatsApp વાત", "(.+) ਨਾਲ WhatsApp ਗੱਲਬਾਤ"),
    *("(.+) کے ساتھ WhatsApp بات چیت", "Biseda me (.+) në WhatsApp"),
    "WhatsApp[ -]keskustelu henkilön (.+) kanssa",
)
_TITLES = tuple(
    re.compile(pattern.replace("WhatsApp ", "WhatsApp[ -]"), re.IGNORECASE)
    for pattern in (*(f"{before} (?:- )?(.+)" for before in _BEFORE), *_AROUND)
)


def name_in_title(title: str) -> str | None:
    """Return who a chat is with; None where a telephone does not call files so."""
    matches = (pattern.fullmatch(title) for pattern in _TITLES)
    return next((match[1].strip() for match in matches if match), None)
