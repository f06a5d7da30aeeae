"""Faults of normalisation: LayerNorm, batch renormalisation, observations, and the learner's part in them."""

from __future__ import annotations

from property_tests.mutant import Mutant


def norm(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault of normalisation."""
    return Mutant(f"norm: {name}", file, old, new, tests, "deep")


LAYER, BATCH, BESIDE, SEEN = "test_layer_norm", "test_batch_norm", "test_beside_crossq", "test_observation_statistics"
FORMULA, PLAIN = "networks/eager_passes.py", "networks/pass_kernels.py"
ROWS, KERNELS = "networks/layer_norm_kernels.py", "networks/batch_norm_kernels.py"
RUNNING, PASSES = "networks/running_statistics.py", "networks/batch_passes.py"
AGENT, LEARNER = "agent.py", "learner.py"
STATISTICS, LAYOUT = "observation_statistics.py", "networks/network_layout.py"

NORM = (
    norm("LayerNorm over the batch", FORMULA, "value.shape[2:], eps", "value.shape[1:], eps", LAYER),
    norm(
        "LayerNorm without its shift",
        FORMULA,
        "* value + shifts[layer][:, None]",
        "* value",
        LAYER,
    ),
    norm("variance over n − 1", ROWS, "/ kind(count) + kind(LAYER", "/ kind(count - 1) + kind(LAYER", LAYER),
    norm(
        "a row's mean slope kept",
        ROWS,
        "slope[j] - mean - normed[j]",
        "slope[j] - normed[j]",
        LAYER,
    ),
    norm(
        "a row's slope along x̂ kept",
        ROWS,
        "- normed[j] * along)",
        ")",
        LAYER,
    ),
    norm(
        "scales of another layer",
        PLAIN,
        "row[scales[layer] : scales[layer] + m]",
        "row[scales[0] : scales[0] + m]",
        LAYER,
    ),
    norm("scales begin at 0", LAYOUT, "scale.fill_(1.0)", "scale.zero_()", LAYER),
    norm(
        "d added before r",
        RUNNING,
        "ratio[:, None] * own + shift[:, None]",
        "ratio[:, None] * (own + shift[:, None])",
        BATCH,
        BESIDE,
    ),
    norm("r upside down", RUNNING, "(deviation / usual)", "(usual / deviation)", BATCH, BESIDE),
    norm("r unclipped below", RUNNING, "clamp(1.0 / LARGEST_RATIO, LARGEST_RATIO)", "clamp(max=LARGEST_RATIO)", BATCH),
    norm("the warm-up never ends", RUNNING, "int(self.batches) > self.warmup", "False", BATCH),
    norm("batches are not counted", RUNNING, "self.batches.add_(1)", "self.batches.add_(0)", BATCH),
    norm(
        "gradient through r",
        RUNNING,
        "corrections(mean.detach(), deviation.detach(), *running)",
        "corrections(mean, deviation, *running)",
        BATCH,
        BESIDE,
    ),
    norm(
        "variance over B",
        KERNELS,
        "squares[j] - sums[j] * away) / kind(size - 1)",
        "squares[j] - sums[j] * away) / kind(size)",
        BATCH,
        BESIDE,
    ),
    norm(
        "variance about a row",
        KERNELS,
        "squares[j] - sums[j] * away)",
        "squares[j])",
        BATCH,
        BESIDE,
    ),
    norm(
        "batch statistics frozen in the gradient",
        KERNELS,
        "gain, -gain * share, gain * (shift * share - total / kind(size))",
        "gain, zero, zero",
        BATCH,
        BESIDE,
    ),
    norm(
        "d in the slope along x̂",
        KERNELS,
        "(along - shift * total)",
        "along",
        BATCH,
    ),
    norm(
        "shift's part of the weights' gradient",
        KERNELS,
        "scale[i] * along[i, j] + shift[i] * of_bias[j]",
        "scale[i] * along[i, j]",
        BATCH,
        BESIDE,
    ),
    norm(
        "running mean unscaled",
        PASSES,
        "constant = shifts[layer] - mean * factor",
        "constant = shifts[layer] - mean",
        BATCH,
    ),
    norm(
        "folded kernel: no ε",
        KERNELS,
        "np.sqrt(variance[k, unit + i] + epsilon)",
        "np.sqrt(variance[k, unit + i])",
        BATCH,
        BESIDE,
    ),
    norm(
        "the next states by themselves",
        LEARNER,
        "heads_of(both, of_target)[:, size:]",
        "heads_of(run_critics(self.critic, batch.next_state, next_action, of_target, keep=False), of_target)",
        BESIDE,
    ),
    norm(
        "the actor acts by the batch in the target",
        LEARNER,
        "used.run(batch.next_state, keep=False).output[0]",
        "used.run_batch(batch.next_state).output[0]",
        BATCH,
        BESIDE,
    ),
    norm(
        "the actor's statistics stand still",
        LEARNER,
        "through = self.actor.run_batch(batch.state)",
        "through = self.actor.run(batch.state)",
        BATCH,
        BESIDE,
    ),
    norm(
        "the averaged policy's statistics stand still",
        LEARNER,
        "self.averaged.running.follow(self.actor.running, self.options.ema_rate)",
        "pass",
        BATCH,
    ),
    norm("β₁ is not read", "adam.py", "rescale, self._share, self._beta1)", "rescale, self._share, BETA1)", BESIDE),
    norm(
        "merge without the distance of means",
        STATISTICS,
        " + apart.square() * (count * added / total)",
        "",
        SEEN,
    ),
    norm("mean of the last block", STATISTICS, "apart * (added / total)", "apart", SEEN),
    norm("no clip", STATISTICS, ".clamp_(-LARGEST, LARGEST)", "", SEEN),
    norm(
        "acting on raw states",
        AGENT,
        "self.policy.sample(self.actor.run(self._seen(state), keep",
        "self.policy.sample(self.actor.run(state, keep",
        SEEN,
    ),
    norm(
        "values of raw states",
        AGENT,
        "run_critics(self.critic, self._seen(state), unit",
        "run_critics(self.critic, state, unit",
        SEEN,
    ),
    norm(
        "next states are raw", LEARNER, "next_state=self._seen(batch.next_state)", "next_state=batch.next_state", SEEN
    ),
)
