"""The story of one invoice in three sources: a letter, a payment, a remark in a chat."""

from types import MappingProxyType

INVOICE = "invoice 4471"

INVOICE_STORY = MappingProxyType(
    {
        "letter": ("cin_home", "messages", "m-invoice-4471"),
        "answer": ("cin_home", "messages", "m-invoice-4471-paid"),
        "payment": ("cin_bank", "transactions", "tx-almeida-tiles"),
        "remark": ("cin_team", "messages", "C04:1773830520.000100"),
    }
)
