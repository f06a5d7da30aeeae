"""Deep RE-SAC: networks, objectives, replay and the learner; `pyresac.agents.resac` makes an agent of them."""
