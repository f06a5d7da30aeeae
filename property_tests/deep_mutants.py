"""Faults of the deep agent."""

from __future__ import annotations

from property_tests.mutant import Mutant


def deep(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault of the deep agent."""
    return Mutant(f"deep: {name}", file, old, new, tests, "agents/deep")


TARGET, FROZEN = "test_objectives", "test_frozen"
GRADIENTS = "test_gradients"
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
        "action_pass(self.target, layout, batch.next_state, next_action, keep=False)",
        "action_pass(self.critic.matrix, layout, batch.next_state, next_action, keep=False)",
        FROZEN,
    ),
    deep(
        "kappa of the online critics",
        "learner.py",
        "return weight_norms(self.target, self.critic.layout",
        "return weight_norms(self.critic.matrix, self.critic.layout",
        FROZEN,
    ),
    deep(
        "slope of the squares halved",
        "gradients.py",
        "torch.sub(heads, target).mul_(2.0 / size)",
        "torch.sub(heads, target).mul_(1.0 / size)",
        GRADIENTS,
    ),
    deep(
        "slope of the deviation over K",
        "gradients.py",
        "(weight / (len(self.centred) - 1)) / self.deviation",
        "(weight / len(self.centred)) / self.deviation",
        GRADIENTS,
    ),
    deep(
        "slope of heads that agree",
        "gradients.py",
        "        scale.masked_fill_(self.deviation < torch.finfo(scale.dtype).tiny, 0.0)\n",
        "",
        GRADIENTS,
    ),
    deep(
        "slope of an optimistic actor",
        "gradients.py",
        "spread.slope(-beta_lcb / size)",
        "spread.slope(beta_lcb / size)",
        GRADIENTS,
    ),
    deep(
        "slope of log π without its temperature",
        "gradients.py",
        ".mean(), alpha / size, slope",
        ".mean(), 1.0 / size, slope",
        GRADIENTS,
    ),
    deep(
        "no slope of the density of the sample",
        "distribution.py",
        "torch.ops.aten.tanh_backward(of_unit, unit) + unit * (2.0 * of_log_prob)",
        "torch.ops.aten.tanh_backward(of_unit, unit)",
        GRADIENTS,
    ),
    deep(
        "states of the wrong half",
        "learner.py",
        "drawn.unit[-size:], drawn.log_prob[-size:]",
        "drawn.unit[:size], drawn.log_prob[:size]",
        GRADIENTS,
    ),
    deep(
        "heads of a block forgotten",
        "ensemble.py",
        "result = wide @ weights if result is None else result.addmm_(wide, weights)",
        "result = wide @ weights",
        GRADIENTS,
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
        "log_prob.sub_(constant + log_volume)",
        "log_prob.sub_(constant - log_volume)",
        DENSITY,
    ),
    deep(
        "jacobian without its logarithm of two",
        "distribution.py",
        "(0.5 * math.log(2.0 * math.pi) + 2.0 * math.log(2.0))",
        "(0.5 * math.log(2.0 * math.pi))",
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
