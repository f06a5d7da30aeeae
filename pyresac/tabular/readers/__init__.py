"""Models from elsewhere: files, tables of other packages, counts of transitions.

A reader returns `Arrays`, and knows no `FiniteMDP`; the constructors of `FiniteMDP` check them.
"""

from pyresac.tabular.readers.arrays import Arrays

__all__ = ["Arrays"]
