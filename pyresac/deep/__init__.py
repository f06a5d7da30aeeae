"""Deep actor-critics: algorithms, networks, replay and the learner. `pyresac.training.deep_agent` trains with them."""
