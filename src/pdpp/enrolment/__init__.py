"""Enrolment: how a program on this machine gets a grant from a provider."""
