"""Which encoding of East Asia some bytes are in."""

import pytest

from pdpp.sources.reading.eastern import eastern_encoding
from pdpp.sources.reading.textfile import encoding_of

KOREAN = "Date,Payee\n2026-01-01,등대 상점에서 밧줄\n2026-01-02,항구 사무실 월급\n"
JAPANESE = (
    "Date,Payee\n2026-01-01,灯台の店でロープ\n2026-01-02,港の事務所から給料\n2026-01-03,カフェ\n"
)
CHINESE = "Date,Payee\n2026-01-01,灯塔商店,绳子\n2026-01-02,港口办公室,工资收入\n"
TAIWANESE = "日期,摘要,支出\n2026/01/02,燈塔便利商店,120\n2026/01/05,港口辦公室薪資,30000\n"


@pytest.mark.parametrize(
    ("text", "written", "read"),
    [
        (KOREAN, "euc_kr", "cp949"),
        (JAPANESE, "euc_jp", "euc_jp"),
        (JAPANESE, "shift_jis", "cp932"),
        (CHINESE, "gb2312", "gb18030"),
        (TAIWANESE, "big5", "cp950"),
    ],
)
def test_letters_of_two_bytes_tell_their_encoding(text: str, written: str, read: str) -> None:
    content = text.encode(written)
    assert eastern_encoding(content) == encoding_of(content) == read
    assert content.decode(read) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Grüße aus Köln, Müller\nÄpfel für Ünal\nBÄCKEREI JÄGER\nKÄSE\nSÄGE\n", "cp1252"),
        ("café déjà vu, crème brûlée\nété à Liège\n", "cp1252"),
        ("Дата,Сумма\n01.02.2026,оплата за воду\nзарплата порта\n", "cp1251"),
        ("CARTÃO\nNÃO\nSÃO JOÃO\nPÃO DE LEITE\nMÃO\nCÃO\nVERÃO\nMELÃO\n", "cp1252"),
        ("BÄCKER\nKÄSE\nSÄGE\nJÄGER\nWÄSCHE\nGÄRTNER\nHÄNDLER\nMÄRZ\n", "cp1252"),
        ("ค่าน้ำประปา,ค่าไฟฟ้า\nเงินเดือนท่าเรือ\n", "cp874"),
        ("ΑΓΟΡΑ ΚΑΒΑΛΑ\nαγορά καφέ\n", "cp1253"),
        ("Datum;Částka\nPřevod na účet;Žižkov\n", "cp1250"),
    ],
)
def test_other_letters_are_not_taken_for_them(text: str, written: str) -> None:
    assert eastern_encoding(text.encode(written)) is None
