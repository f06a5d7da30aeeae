"""Forms of a policy: how a network's outputs become an action and its log-probability."""
