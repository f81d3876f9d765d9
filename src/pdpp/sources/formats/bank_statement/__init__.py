"""Bank statements as CAMT.053, MT940 or QIF."""
