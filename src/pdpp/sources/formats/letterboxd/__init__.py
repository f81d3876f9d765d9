"""Letterboxd: films you saw, rated and want to see."""
