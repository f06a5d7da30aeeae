"""Networks as matrices of parameters, a row a network: their passes and the distribution of a policy."""
