module

public import RESAC.Order
public import RESAC.Monetary
public import RESAC.Sum
public import RESAC.Extrema
public import RESAC.Finite
public import RESAC.Operator
