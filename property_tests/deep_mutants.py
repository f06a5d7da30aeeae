"""Faults of the deep agent."""

from __future__ import annotations

from property_tests.mutant import Mutant


def deep(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault of the deep agent."""
    return Mutant(f"deep: {name}", file, old, new, tests, "agents/deep")


TARGET, FROZEN = "test_objectives", "test_frozen"
SCHEDULE, DENSITY, REPLAY = "test_schedule_and_temperature", "test_distribution", "test_replay"

DEEP = (
    deep(
        "discount dropped",
        "objectives.py",
        "reward + discount * (1.0 - terminal) * value",
        "reward + (1.0 - terminal) * value",
        TARGET,
    ),
    deep(
        "terminals bootstrap",
        "objectives.py",
        "reward + discount * (1.0 - terminal) * value",
        "reward + discount * value",
        TARGET,
    ),
    deep(
        "variance over K",
        "objectives.py",
        "heads.var(0, correction=1)",
        "heads.var(0, correction=0)",
        TARGET,
    ),
    deep(
        "deviation over K",
        "objectives.py",
        "torch.std_mean(heads, 0, correction=1)",
        "torch.std_mean(heads, 0, correction=0)",
        TARGET,
    ),
    deep(
        "epistemic penalty added",
        "objectives.py",
        "value - lambda_epi * ensemble_variance(heads)",
        "value + lambda_epi * ensemble_variance(heads)",
        TARGET,
    ),
    deep(
        "kappa added",
        "objectives.py",
        "value - lambda_ale * kappa[:, None]",
        "value + lambda_ale * kappa[:, None]",
        TARGET,
    ),
    deep(
        "kappa averaged over heads",
        "objectives.py",
        "value - lambda_ale * kappa[:, None]",
        "value - lambda_ale * kappa.mean()",
        TARGET,
    ),
    deep(
        "kappa counts biases",
        "parameters.py",
        "layout.offsets[2 * layout.layers] if biases else layout.weight_count",
        "layout.offsets[2 * layout.layers]",
        TARGET,
    ),
    deep(
        "entropy subtracted",
        "objectives.py",
        "value - alpha * log_prob",
        "value + alpha * log_prob",
        TARGET,
    ),
    deep(
        "blend turned round",
        "objectives.py",
        "torch.lerp(heads.amin(0).expand_as(heads), heads, independence)",
        "torch.lerp(heads, heads.amin(0).expand_as(heads), independence)",
        TARGET,
    ),
    deep(
        "disagreement rewarded in the critics' loss",
        "objectives.py",
        "squared + beta_ood * deviation",
        "squared - beta_ood * deviation",
        TARGET,
    ),
    deep(
        "equal heads divide by zero",
        "objectives.py",
        ".masked_fill_(\n            deviation < torch.finfo(deviation.dtype).tiny, 0.0\n        )",
        "",
        TARGET,
    ),
    deep(
        "optimistic actor",
        "objectives.py",
        "mean + beta_lcb * ensemble_deviation(heads)",
        "mean - beta_lcb * ensemble_deviation(heads)",
        TARGET,
    ),
    deep(
        "temperature runs away from its target",
        "objectives.py",
        "return -log_alpha * (log_prob",
        "return log_alpha * (log_prob",
        TARGET,
    ),
    deep(
        "targets from the online critics",
        "learner.py",
        "critic_values(self.target, layout, batch.next_state, next_action)",
        "critic_values(self.critic.matrix, layout, batch.next_state, next_action)",
        FROZEN,
    ),
    deep(
        "kappa of the online critics",
        "learner.py",
        "            weight_norms(self.target, layout, options.departures.kappa_biases)",
        "            weight_norms(self.critic.matrix, layout, options.departures.kappa_biases)",
        FROZEN,
    ),
    deep(
        "targets with a gradient",
        "learner.py",
        "    @torch.no_grad()\n    def bootstrap_target",
        "    def bootstrap_target",
        FROZEN,
    ),
    deep(
        "critics not frozen in the actor's step",
        "learner.py",
        "critic_values(self.critic.matrix.detach(), self.critic.layout, batch.state, action)",
        "critic_values(self.critic.matrix, self.critic.layout, batch.state, action)",
        FROZEN,
    ),
    deep(
        "one norm for all heads",
        "learner.py",
        "gradient.norm(dim=1, keepdim=True)",
        "gradient.norm().expand(len(gradient), 1)",
        FROZEN,
    ),
    deep(
        "terminal states count for the temperature",
        "learner.py",
        "going = 1.0 - terminal",
        "going = torch.ones_like(terminal)",
        FROZEN,
    ),
    deep(
        "no cap of the temperature",
        "learner.py",
        "self.log_alpha.clamp_(max=math.log(self.options.alpha_max))",
        "self.log_alpha.clamp_(max=0.0)",
        SCHEDULE,
    ),
    deep(
        "anchor of any evaluation",
        "learner.py",
        "        if better:\n",
        "        if better or step:\n",
        SCHEDULE,
    ),
    deep(
        "reset blind to negative returns",
        "schedule.py",
        "last < before - TOLERANCE * abs(before)",
        "last < before - TOLERANCE * before",
        SCHEDULE,
    ),
    deep(
        "volume of the box added",
        "distribution.py",
        "return unit, log_prob - log_volume",
        "return unit, log_prob + log_volume",
        DENSITY,
    ),
    deep(
        "jacobian without its logarithm of two",
        "distribution.py",
        "2.0 * (math.log(2.0) - before - softplus(-2.0 * before))",
        "2.0 * (-before - softplus(-2.0 * before))",
        DENSITY,
    ),
    deep(
        "actions outside their box",
        "distribution.py",
        "np.clip(self.centre + self.half * unit, self.low, self.high)",
        "self.centre + self.half * unit",
        DENSITY,
    ),
    deep(
        "rows sampled that are not filled",
        "replay.py",
        "generator.integers(self.size, size=size)",
        "generator.integers(self.capacity, size=size)",
        REPLAY,
    ),
    deep(
        "time limits are terminals",
        "box_task.py",
        "terminal[row] = terminated\n",
        "terminal[row] = terminated or truncated\n",
        "test_box_task",
    ),
    deep(
        "generator not restored",
        "learner.py",
        'self.generator.set_state(torch.from_numpy(np.array(arrays["generator"])))',
        'torch.from_numpy(np.array(arrays["generator"]))',
        "test_learner_state",
    ),
    deep(
        "averaged policy not saved",
        "learner.py",
        '            "averaged": self.averaged,\n',
        "",
        "test_learner_state",
    ),
)
