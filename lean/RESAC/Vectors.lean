module

public import RESAC.Vectors.BackupMax
public import RESAC.Vectors.BackupMin
public import RESAC.Vectors.BackupPolicy
public import RESAC.Vectors.FixedMax
public import RESAC.Vectors.FixedMin
public import RESAC.Vectors.FixedPolicy
public import RESAC.Vectors.Live
public import RESAC.Vectors.Ensemble
public import RESAC.Vectors.Terminal

/-!
# The code computes what the theorems speak of

222 theorems, written by `python -m pyresac.formal.vectors`: on random rational instances the
definitions of this library have the values that the exact Python operator computed.
-/
