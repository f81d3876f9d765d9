"""The story of one invoice, told by three sources: a letter, a payment, a remark in a chat."""

from types import MappingProxyType

INVOICE = "invoice 4471"
AMOUNT = 2386.40

LETTER_KEY = "m-invoice-4471"
ANSWER_KEY = "m-invoice-4471-paid"
PAYMENT_KEY = "tx-almeida-tiles"
REMARK_KEY = "C04:1773830520.000100"

INVOICE_STORY = MappingProxyType(
    {
        "letter": ("cin_home", "messages", LETTER_KEY),
        "answer": ("cin_home", "messages", ANSWER_KEY),
        "payment": ("cin_bank", "transactions", PAYMENT_KEY),
        "remark": ("cin_team", "messages", REMARK_KEY),
    }
)

LETTER = """Dear Nora,

please find attached invoice 4471 for the green kitchen tiles, the adhesive and two days of work. \
The total is 2,386.40 euros including tax, to be paid by 20 March. The box that broke on the \
stairs is not on it, that one is on us.

The grout needs until Friday, so please walk around the kitchen, not through it.

Best,
Rui"""

ANSWER = """Dear Rui,

invoice 4471 is paid, I sent the 2,386.40 euros this morning. The tiles look wonderful in the \
evening light, and the cat has been told about the grout.

Um abraço,
Nora"""

REMARK = "paid invoice 4471 today, so the green tiles are finally mine. lunch is bread until May"

PAYMENT = "Green kitchen tiles, invoice 4471"

LEDGER = """invoice,position,quantity,unit_price,total
4471,Handmade tile 13x13 sage green,420,3.10,1302.00
4471,Adhesive 25 kg,6,22.40,134.40
4471,Tiler per day,2,475.00,950.00
4471,Broken box credited,1,0.00,0.00
"""
