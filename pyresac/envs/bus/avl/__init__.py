"""Observed days of a line (automatic vehicle location): reading them, their variation, a corridor that has it."""
