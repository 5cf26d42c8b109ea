"""Judging through a provider's batch interface: submit, wait, collect; what was asked so, and how far it is."""
