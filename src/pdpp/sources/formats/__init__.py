"""Formats: one package for each kind of export, with its declaration."""
