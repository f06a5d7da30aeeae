"""Small inputs that once led to a wrong result, lost work or a puzzle, each a row of a table.

`test_corpus.py` replays them.

A new one is a `Case` in the table of its subject: a command line (or a call), what it must say, and the files it reads.
"""
