"""Faults in the certificates that Lean is asked to check: each would claim a bound that is not one."""

from __future__ import annotations

from property_tests.mutant import Mutant

TESTS = ("test_certificates",)
FILE = "certificates.py"


def _mutant(name: str, old: str, new: str) -> Mutant:
    return Mutant(f"certificate: {name}", FILE, old, new, TESTS, part="formal")


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
    _mutant("policy's weights not scaled", "for p in row] for row in shares]", "for p in row] for row in rows]"),
)  # fmt: skip
