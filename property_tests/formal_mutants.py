"""Faults in the certificates that Lean is asked to check: each would claim a bound that is not one."""

from __future__ import annotations

from property_tests.mutant import Mutant

TESTS = ("test_certificates",)
FILE = "certificates.py"
INTERVALS = "interval_rows.py"


def _mutant(name: str, old: str, new: str, file: str = FILE) -> Mutant:
    return Mutant(f"certificate: {name}", file, old, new, TESTS, part="formal")


FORMAL = (
    _mutant("least residual rounded up", "floor(min(residuals)),", "-floor(-min(residuals)),"),
    _mutant("largest residual rounded down", "-floor(-max(residuals)))", "floor(max(residuals)))"),
    _mutant("best case over the kernels", "worst = min(", "worst = max("),
    _mutant("penalty added", "(worst - e.penalty)", "(worst + e.penalty)"),
    _mutant("next penalty ignored", "extremum(e.value - e.offset for e in state)", "extremum(e.value for e in state)"),
    _mutant("bound not magnified by 1/(1 - γ)", "Fraction(max(-self.low, self.high, 0), self.den) / (1 - self.gamma)",
            "Fraction(max(-self.low, self.high, 0), self.den)"),
    _mutant("bound rounded down", "return -floor(-x / unit) * unit", "return floor(x / unit) * unit"),
    _mutant("minimum for the maximum", 'max if functional == "max" else min', 'min if functional == "max" else max'),
    _mutant("best member of the intervals", "filled(low, high, v)", "filled(low, high, [-x for x in v])", INTERVALS),
    _mutant("threshold at the least value", "max(above, key", "min(above, key", INTERVALS),
    _mutant("lower ends where none is left", "else min(range(len(v)), key", "else max(range(len(v)), key", INTERVALS),
    _mutant("upper ends for the lower", "(int(x * total), int(y", "(int(y * total), int(y", INTERVALS),
    _mutant("upper ends not divided by their sum", "min(sum(high), Fraction(1))", "Fraction(1)", INTERVALS),
    _mutant("lower ends not divided by their sum", "max(sum(low), Fraction(1))", "Fraction(1)", INTERVALS),
    _mutant("policy's weights not scaled", "for p in row] for row in shares]", "for p in row] for row in rows]"),
)  # fmt: skip
