"""Networks as matrices of parameters, a row a network: their passes, compiled or batched, and the policy's distribution."""
