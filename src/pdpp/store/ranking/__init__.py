"""Ranking: scores of records, as pure functions above any engine's postings."""
