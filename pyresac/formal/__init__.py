"""The formal half's tools: the Lean checker that needs no Lean toolchain, the test vectors, the claims ledger."""
