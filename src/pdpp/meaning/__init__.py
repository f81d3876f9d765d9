"""Meaning: a small model of language that turns texts into vectors, if the owner installed one."""
