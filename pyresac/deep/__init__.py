"""Deep RE-SAC: networks, objectives, replay and the learner; `pyresac.training.deep_agent` makes an agent of them."""
