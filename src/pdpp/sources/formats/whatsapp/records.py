"""Records: what a chat and its messages become."""

import re
from collections.abc import Iterator

from pdpp.sources.formats.whatsapp.attached import attached_name, is_left_out, possible_name
from pdpp.sources.formats.whatsapp.layout import TIMES
from pdpp.sources.formats.whatsapp.lines import MARKS
from pdpp.sources.formats.whatsapp.messages import Chat, ChatMessage, digests, messages_of
from pdpp.sources.formats.whatsapp.repeats import Repeats
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.times import local_text

_MOST_HELD = 16 << 20
_EDITED = re.compile(
    r"\s*\u200e?<(?:This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje"
    r"|Ce message a été modifié|Questo messaggio è stato modificato|Mensagem editada"
    r"|Esta mensagem foi editada|Dit bericht is bewerkt)\.?>\s*\Z"
)
_DELETED = frozenset(
    {"This message was deleted", "You deleted this message", "Diese Nachricht wurde gelöscht"}
    | {"Du hast diese Nachricht gelöscht", "Se eliminó este mensaje", "Eliminaste este mensaje"}
    | {"Este mensaje fue eliminado", "Ce message a été supprimé", "Vous avez supprimé ce message"}
    | {"Questo messaggio è stato eliminato", "Hai eliminato questo messaggio", "Mensagem apagada"}
    | {"Esta mensagem foi apagada", "Esta mensagem foi eliminada", "Você apagou esta mensagem"}
    | {"Apagou esta mensagem", "Eliminou esta mensagem", "Dit bericht is verwijderd"}
    | {"Данное сообщение удалено", "Bu mesaj silindi", "הודעה זו נמחקה", "تم حذف هذه الرسالة"}
)
"""What telephones write in place of a message that was taken back, and behind an edited one."""


def read_chat(chat: Chat) -> Iterator[Finding]:
    """Yield the messages of a chat and then the chat."""
    # To read a line takes longest: what a phone exports is held, and only more is read twice.
    held = list(messages_of(chat)) if chat.entry.size <= _MOST_HELD else None
    repeats, count = Repeats(digests(messages_of(chat) if held is None else held)), 0
    span: list[str] = []
    for message in messages_of(chat) if held is None else held:
        if isinstance(message, Skipped):
            yield message
            continue
        where = f"{chat.entry.name} line {message.number}"
        for item in account(_findings(chat, message, repeats, where), where, "message"):
            if isinstance(item, Item) and item.stream == "messages":
                count += 1
                sent = item.data["sent_at"]
                span = [min(span[0], sent), max(span[1], sent)] if span else [sent, sent]
            yield item
    if span:
        data = {
            "id": chat.key,
            "name": chat.name,
            "message_count": count,
            "started_at": span[0],
            "updated_at": span[1],
        }
        yield Item("chats", chat.key, data, minutes=chat.layout.minutes, floating=TIMES)


def _findings(chat: Chat, message: ChatMessage, repeats: Repeats, where: str) -> Iterator[Finding]:
    _, sender, written, moment, time, digest = message
    if moment is None:
        yield Unknown("a message with a date that does not exist", where)
        return
    sent, floating = local_text(moment, chat.zone)
    text = written.lstrip(MARKS)
    edited = "<" in text and _EDITED.search(text)
    # Keys in the order of time: what belongs together then lies together.
    key = safe_key(chat.key, time, repeats.key(time, digest))
    name = _file_name(chat, written)
    data: dict[str, object] = {
        "id": key,
        "chat_id": chat.key,
        "chat": chat.name,
        "sender": sender,
        "text": text[: edited.start()] if edited else text,
        "edited": True if edited else None,
        "deleted": True if sender and text.strip().removesuffix(".") in _DELETED else None,
        "service": sender is None,
        "media_omitted": name is None and is_left_out(written),
        "file_name": name,
        "floating": floating,
        "position": repeats.place(time),
        "sent_at": sent,
    }
    yield Item("messages", key, present(data), minutes=chat.layout.minutes, floating=TIMES)
    if name is not None:
        yield from _media(chat, key, name, sent, floating)


def _file_name(chat: Chat, text: str) -> str | None:
    """Return the file that came with a message."""
    if name := attached_name(text):
        return name
    name = possible_name(text)
    return name if name and chat.tree.beside(chat.entry, name) is not None else None


def _media(chat: Chat, message: str, name: str, sent: str, floating: bool) -> Iterator[Finding]:
    entry = chat.tree.beside(chat.entry, name)
    if entry is None:
        yield Skipped("a file that is not in the export", f"{chat.entry.name} {message}")
        return
    media_type = entry.media_type
    data = {
        "id": message,
        "message_id": message,
        "chat_id": chat.key,
        "name": entry.base,
        "media_type": media_type,
        "floating": floating,
        "sent_at": sent,
    }
    files = (Attachment("file", entry.open_exact, media_type),)
    yield Item("media", message, data, files, minutes=chat.layout.minutes, floating=TIMES)
