"""Property tests: every theorem of the claims ledger, stated exactly on rationals or bounded on floats.

`pytest property_tests/` runs the suite; `python -m property_tests.mutants` shows that it can fail.
"""
