"""Environments: the bus corridor."""
