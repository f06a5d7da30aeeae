"""Faults of the deep half and of what it learns from; those of the other algorithms' formulas: `family_mutants`."""

from __future__ import annotations

from property_tests.mutant import Mutant


def deep(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault in pyresac/deep."""
    return Mutant(f"deep: {name}", file, old, new, tests, "deep")


def options(name: str, old: str, new: str) -> Mutant:
    """A fault in the checks of options."""
    return Mutant(f"options: {name}", "options.py", old, new, ("test_options",), ".")


BASE, LEARNER, HEADS, SLOPES = "algorithms/algorithm.py", "learner.py", "heads.py", "slopes.py"
AGENT, DERIVATIVES = "agent.py", "derivatives.py"
RESAC, SAC, TD3, TEMPERATURE = "algorithms/resac.py", "algorithms/sac.py", "algorithms/td3.py", "temperature.py"
KERNELS, POINTWISE = "networks/pass_kernels.py", "networks/pointwise_kernels.py"
EAGER, COMPILED, LAYOUT = "networks/eager_passes.py", "networks/compiled_passes.py", "networks/network_layout.py"
GAUSSIAN, DETERMINISTIC = "policies/squashed_gaussian.py", "policies/deterministic.py"

FORMULA, WHOLE, GENERIC, TABULAR = "test_resac", "test_whole_update", "test_algorithms", "test_tabular_agreement"
OF_HEADS, OF_SLOPES, ALPHA, STATE = "test_heads", "test_slopes", "test_temperature", "test_learner_state"
PASSES, POLICIES, STEP, REPLAY = "test_passes", "test_policies", "test_adam", "test_replay"
PESSIMISM, DEPARTURES = "test_pessimism", "test_departures"

TARGETS = (
    deep("discount dropped", BASE, "value=self.discount)", "value=1.0)", FORMULA),
    deep(
        "terminals bootstrap",
        BASE,
        "self.going.view(shape)",
        "self.going.new_ones(self.going.shape).view(shape)",
        FORMULA,
    ),
    deep("the batch is where it may be", BASE, "shape[batch_axis] = -1", "shape[-1] = -1", GENERIC),
    deep("variance over K", HEADS, "heads.var(0, correction=1)", "heads.var(0, correction=0)", OF_HEADS),
    deep("deviation over K", DERIVATIVES, "(len(heads) - 1) ** -0.5", "len(heads) ** -0.5", OF_HEADS),
    deep("slope of the deviation over K", DERIVATIVES, "((len(centred) - 1) * dev", "(len(centred) * dev", OF_HEADS),
    deep(
        "equal heads divide by zero",
        DERIVATIVES,
        "        scale.masked_fill_(deviation < torch.finfo(deviation.dtype).tiny, 0.0)\n",
        "",
        OF_HEADS,
    ),
    deep(
        "spread of heads from their rounded mean", DERIVATIVES, "heads - heads[0]", "heads - 0.0 * heads[0]", OF_HEADS
    ),
    deep("squares of the whole batch", HEADS, "div(heads.shape[1])", "div(heads.shape[0])", OF_HEADS),
    deep(
        "epistemic penalty added",
        RESAC,
        "value - lambda_epi * ensemble_variance(heads)",
        "value + lambda_epi * ensemble_variance(heads)",
        FORMULA,
    ),
    deep("kappa added", RESAC, "value - lambda_ale * kappa[:, None]", "value + lambda_ale * kappa[:, None]", FORMULA),
    deep(
        "kappa averaged over heads",
        RESAC,
        "value - lambda_ale * kappa[:, None]",
        "value - lambda_ale * kappa.mean()",
        FORMULA,
    ),
    deep(
        "kappa counts biases",
        LAYOUT,
        "layout.offsets[2 * layout.layers] if biases else layout.weight_count",
        "layout.offsets[2 * layout.layers]",
        PASSES,
    ),
    deep("RE-SAC's entropy subtracted", RESAC, "value.sub(log_prob", "value.add(log_prob", FORMULA),
    deep("variance of the blend", RESAC, "* ensemble_variance(heads)", "* ensemble_variance(value)", FORMULA),
    deep(
        "blend turned round",
        RESAC,
        "least.lerp(heads, independence)",
        "heads.lerp(least, independence)",
        FORMULA,
    ),
    deep(
        "the program's kappa for the paper's",
        RESAC,
        "-options.lambda_ale if options.departures.add_kappa else options.lambda_ale",
        "-options.lambda_ale",
        FORMULA,
    ),
    deep("SAC's mean of the heads in the target", SAC, "after.heads.amin(0)", "after.heads.mean(0)", TABULAR),
    deep("TD3's mean of the heads in the target", TD3, "after.heads.amin(0)", "after.heads.mean(0)", TABULAR),
    deep("TD3 without smoothing", TD3, "(sample.unit + smoothing)", "(sample.unit + 0.0 * smoothing)", WHOLE),
    deep(
        "TD3 explores with the smoothing's size",
        TD3,
        "self.options.exploration_noise * noise",
        "self.options.smoothing_noise * noise",
        WHOLE,
    ),
)

LOSSES = (
    deep("RE-SAC's disagreement rewarded", RESAC, "squared + beta * ensemble", "squared - beta * ensemble", FORMULA),
    deep(
        "optimistic actor",
        RESAC,
        "mean + beta_lcb * (sigma",
        "mean - beta_lcb * (sigma",
        FORMULA,
    ),
    deep(
        "RE-SAC's actor without its temperature",
        RESAC,
        "(now.alpha * now.log_prob - bound)",
        "(now.log_prob - bound)",
        FORMULA,
    ),
    deep("TD3's actor ascends the last head", TD3, "critic.head(0)", "critic.head(critic.heads - 1)", WHOLE),
    deep("cloning pushed away", RESAC, "loss + cloning *", "loss - cloning *", FORMULA),
    deep("anchor pushed away", RESAC, "self.options.anchor_weight * (", "-self.options.anchor_weight * (", FORMULA),
    deep("temperature runs away from its target", TEMPERATURE, "step(-entropy_gap(", "step(entropy_gap(", ALPHA),
    deep(
        "terminal states count for the temperature",
        LEARNER,
        "1.0 - batch.terminal)\n",
        "torch.ones_like(batch.terminal))\n",
        ALPHA,
    ),
    deep("two states for the temperature at least", TEMPERATURE, "clamp(min=1.0)", "clamp(min=2.0)", ALPHA),
    deep("no cap of the temperature", TEMPERATURE, "clamp_(max=self._most)", "clamp_(max=0.0)", ALPHA),
    deep(
        "a leaf that the loss reaches through",
        SLOPES,
        "leaf.detach().requires_grad_()",
        "leaf.requires_grad_()",
        OF_SLOPES,
    ),
)

UPDATE = (
    deep(
        "heads of the online critics in the target",
        LEARNER,
        "frozen = run_critics(self.target, ",
        "frozen = run_critics(self.critic, ",
        GENERIC,
    ),
    deep("penalty of the online critics", LEARNER, "critic=self.target,", "critic=self.critic,", DEPARTURES),
    deep(
        "penalty of what moves",
        LEARNER,
        "return self.algorithm.critic_loss(leaf, target)",
        "return self.algorithm.critic_loss(leaf, target + leaf - heads)",
        WHOLE,
    ),
    deep("a′ of the batch's own states", LEARNER, "self.noise)[-size:]", "self.noise)[:size]", WHOLE),
    deep("log π of the batch's own states", LEARNER, "following.log_prob[-size:]", "following.log_prob[:size]", WHOLE),
    deep(
        "the actor follows the target critics",
        LEARNER,
        "self.algorithm.actor_heads(self.critic)",
        "self.algorithm.actor_heads(self.target)",
        WHOLE,
    ),
    deep("the actor's own slope left out", LEARNER, "            of_action += of_unit\n", "            pass\n", WHOLE),
    deep(
        "the anchor's slope left out",
        LEARNER,
        "            gradient += required(more)\n",
        "            required(more)\n",
        WHOLE,
    ),
    deep(
        "α of after its step",
        LEARNER,
        "            self._improve_policy(batch, through, now, alpha)",
        "            self._improve_policy(batch, through, now, self.alpha)",
        WHOLE,
    ),
    deep(
        "the actor takes part one update late",
        LEARNER,
        "self.updates % self.options.actor_every == 0",
        "self.updates % self.options.actor_every == 1 % self.options.actor_every",
        GENERIC,
    ),
    deep(
        "gradients raised to the bound",
        LEARNER,
        "gradient.mul_((clip / (norms + 1e-6)).clamp_(max=1.0))",
        "gradient.mul_(clip / (norms + 1e-6))",
        GENERIC,
    ),
    deep(
        "one norm for all heads",
        LEARNER,
        "gradient.norm(dim=1, keepdim=True)",
        "gradient.norm().expand(len(gradient), 1)",
        GENERIC,
    ),
    deep(
        "targets at the averaged policy's rate",
        LEARNER,
        "options.critic_lr, None if self._by_batch else self.target.matrix, options.tau)",
        "options.critic_lr, None if self._by_batch else self.target.matrix, options.ema_rate)",
        GENERIC,
    ),
    deep(
        "the averaged policy at the targets' rate",
        LEARNER,
        "self.averaged.matrix, options.ema_rate)",
        "self.averaged.matrix, options.tau)",
        GENERIC,
    ),
    deep(
        "the slow policy at the averaged one's rate",
        LEARNER,
        "lerp_(self.actor.matrix, self.options.tau)",
        "lerp_(self.actor.matrix, self.options.ema_rate)",
        GENERIC,
    ),
    deep(
        "targets do not wait for the actor",
        LEARNER,
        "follow = improves or not self.algorithm.targets_follow_actor",
        "follow = True",
        GENERIC,
    ),
    deep(
        "a′ of the present policy for the slow one",
        LEARNER,
        "used.run(batch.next_state",
        "self.actor.run(batch.next_state",
        GENERIC,
    ),
    deep(
        "the critics' rate is the actor's", LEARNER, "options.critic_lr, None if", "options.actor_lr, None if", GENERIC
    ),
    deep(
        "exploration by the averaged policy",
        AGENT,
        "self.policy.sample(self.actor.run(self._seen(state), keep=False)",
        "self.policy.sample(self.averaged.run(self._seen(state), keep=False)",
        GENERIC,
    ),
    deep(
        "the present policy is played",
        AGENT,
        "self.averaged if actor is None",
        "self.actor if actor is None",
        GENERIC,
    ),
    deep(
        "values of the target critics",
        AGENT,
        "run_critics(self.critic, self._seen(state), unit, fractions, keep=False)",
        "run_critics(self.target, self._seen(state), unit, fractions, keep=False)",
        GENERIC,
    ),
    deep(
        "rewards scaled the other way",
        BASE,
        "reward * self.options.reward_scale",
        "reward / self.options.reward_scale",
        GENERIC,
    ),
    deep(
        "anchor of any evaluation",
        LEARNER,
        "if mean_return > self.best_return:",
        "if mean_return >= self.best_return:",
        PESSIMISM,
    ),
    deep(
        "an actor's loss that is not finite passes", LEARNER, '        self._check("actor_loss", loss)\n', "", PESSIMISM
    ),
    deep(
        "statistics of the targets for those of the values",
        LEARNER,
        "q_mean=values.mean()",
        "q_mean=target.mean()",
        WHOLE,
    ),
    deep(
        "the initial mean is one of the spread",
        AGENT,
        "biases[-1][:, :actions] +=",
        "biases[-1][:, -actions:] +=",
        PESSIMISM,
    ),
    deep("generator not restored", LEARNER, "        self.noise.generator.set_state(generator)\n", "", STATE),
    deep("averaged policy not saved", AGENT, '"averaged": self.averaged, ', "", STATE),
    deep(
        "slow policy not saved",
        AGENT,
        '            networks["target_actor"] = self.target_actor\n',
        "            pass\n",
        STATE,
    ),
    deep("the schedule not restored", LEARNER, '        self.algorithm.load(state["algorithm"])\n', "", STATE),
    deep(
        "reset blind to negative returns",
        "algorithms/pessimism.py",
        "last < before - TOLERANCE * abs(before)",
        "last < before - TOLERANCE * before",
        PESSIMISM,
    ),
    deep(
        "no fifth is held",
        "algorithms/pessimism.py",
        "max(self._step, HELD * self._total)",
        "max(self._step, 0.0 * self._total)",
        PESSIMISM,
    ),
    deep(
        "rows sampled that are not filled",
        "replay.py",
        "generator.integers(self.size, size=size)",
        "generator.integers(self.capacity, size=size)",
        REPLAY,
    ),
)

POINTS = (
    deep(
        "kernel: ReLU of what is no number",
        KERNELS,
        "into[i, j] = zero if x < zero else x",
        "into[i, j] = x if x > zero else zero",
        PASSES,
    ),
    deep(
        "kernel: a chunk's activations in the place of the first's",
        KERNELS,
        "(begin if rows == size else 0)",
        "0",
        PASSES,
    ),
    deep("kernel: the last chunk's gradient alone", KERNELS, "if n > 0 and begin == 0:", "if n > 0:", PASSES),
    deep(
        "kernel: codes not looked at", KERNELS, "if not 0 <= codes[i, f] < starts[-1]:", "if codes[i, f] < 0:", PASSES
    ),
    deep(
        "kernel: tanh's slope without its square",
        KERNELS,
        "one - below[i, j] * below[i, j]",
        "one - below[i, j]",
        PASSES,
    ),
    deep("eager: the other activation", EAGER, "ACTIVATIONS[layout.activation]", 'ACTIVATIONS["relu"]', PASSES),
    deep("a thread's heads done by nobody", COMPILED, "        other.result()\n", "        other.cancel()\n", PASSES),
    deep(
        "no slope of the density of the sample",
        POINTWISE,
        "(one - tanh * tanh) + kind(2.0) * tanh * weight",
        "(one - tanh * tanh)",
        POLICIES,
    ),
    deep(
        "the deterministic policy's slope left out",
        DETERMINISTIC,
        "of_unit * (1.0 - self.unit.square())",
        "of_unit",
        POLICIES,
    ),
    deep(
        "volume of the box added",
        GAUSSIAN,
        "2.0 * math.log(2.0)) + log_volume",
        "2.0 * math.log(2.0)) - log_volume",
        POLICIES,
    ),
    deep(
        "jacobian without its logarithm of two",
        GAUSSIAN,
        "(0.5 * math.log(2.0 * math.pi) + 2.0 * math.log(2.0))",
        "(0.5 * math.log(2.0 * math.pi))",
        POLICIES,
    ),
    deep(
        "digits of a small tanh lost",
        POINTWISE,
        "x = np.expm1(-two * abs(u))",
        "x = np.exp(-two * abs(u)) - kind(1.0)",
        POLICIES,
    ),
    deep(
        "compiled density without its spread",
        POINTWISE,
        "np.log(two + x)) - log_std - kind(0.5)",
        "np.log(two + x)) - kind(0.5)",
        POLICIES,
    ),
    deep(
        "compiled slope beyond the bounds of log s",
        POINTWISE,
        "outside = raw <= kind(low) or raw >= kind(high)",
        "outside = raw >= kind(high)",
        POLICIES,
    ),
    deep(
        "no number drawn as the least spread",
        POINTWISE,
        "log_std = kind(low) if raw < kind(low) else",
        "log_std = kind(low) if not raw >= kind(low) else",
        POLICIES,
    ),
    deep(
        "Adam without the correction of its second moment",
        "adam.py",
        "1.0 / math.sqrt(1.0 - BETA2**steps)",
        "1.0",
        STEP,
    ),
    deep(
        "Adam's second moment kept",
        POINTWISE,
        "second = kept * square[i] + squared * felt * felt",
        "second = square[i] + squared * felt * felt",
        STEP,
    ),
    deep(
        "Adam's epsilon before the correction",
        POINTWISE,
        "np.sqrt(second) * scale + least",
        "(np.sqrt(second) + least) * scale",
        STEP,
    ),
    deep("subnormal means stay", POINTWISE, "nothing if abs(moment) < kind(NO_MEAN) else moment", "moment", STEP),
    deep("subnormal squares stay", POINTWISE, "nothing if second < kind(NO_SQUARE) else second", "second", STEP),
    deep("averages from one end only", POINTWISE, "near = kind(share) < kind(0.5)", "near = True", STEP),
    deep(
        "averages of the parameter before its step",
        POINTWISE,
        "away = value - average[i]",
        "away = parameter[i] + np.divide(step * moment, np.sqrt(second) * scale + least) - average[i]",
        STEP,
    ),
    deep("an average that does not wait", "adam.py", "self._arrays if follow else", "self._arrays if True else", STEP),
)

BESIDE = (
    Mutant(
        "tasks: actions outside their box",
        "action_box.py",
        "np.clip(self.centre + self.half * unit, self.low, self.high)",
        "self.centre + self.half * unit",
        ("test_action_box",),
        "tasks",
    ),
    Mutant(
        "tasks: time limits are terminals",
        "gymnasium_task.py",
        "terminal[row] = terminated\n",
        "terminal[row] = terminated or truncated\n",
        ("test_gymnasium_task",),
        "tasks",
    ),
    options("an infinite number passes", "not math.isfinite(number)", "math.isnan(number)"),
    options("a misspelt option is ignored", "    if unknown:\n", "    if False:\n"),
    options("bounds not read", "msgspec.convert(value, kind)", "value"),
    options(
        "a limit left out of the words",
        "low = meta.ge if meta.ge is not None else meta.gt\n",
        "low = meta.ge if meta.ge is not None else None\n",
    ),
)

DEEP = (*TARGETS, *LOSSES, *UPDATE, *POINTS, *BESIDE)
