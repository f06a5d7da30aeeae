"""Figures of the documentation, each redrawn by one command."""
