"""The algorithms: their options, formulas and update."""
