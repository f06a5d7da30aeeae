"""Faults of critics of quantiles: the quantile loss, TQC, DSAC, implicit networks."""

from __future__ import annotations

from property_tests.mutant import Mutant

LOSS, FORMULAS = "test_quantile_loss", "test_quantile_algorithms"
TQC, DSAC = "test_tqc_beside_sb3_contrib", "test_dsac_reference"


def quantiles(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault of critics of quantiles."""
    return Mutant(f"quantiles: {name}", file, old, new, tests, "deep")


QUANTILES = (
    quantiles(
        "targets taken as they come",
        "quantile_kernel.py",
        "if not target[b, i - 1] <= target[b, i]:",
        "if False:",
        LOSS,
    ),
    quantiles(
        "weights in the order of unsorted targets",
        "quantile_kernel.py",
        "weight, value = weights[b, order[i]], values[i]",
        "weight, value = weights[b, i], values[i]",
        LOSS,
    ),
    quantiles(
        "prefix sums of targets not seen from their median",
        "quantile_kernel.py",
        "centre = values[count // 2]",
        "centre = values[count // 2] * 0",
        LOSS,
    ),
    quantiles(
        "prefix sums in float32",
        "derivatives.py",
        "torch.zeros(3, count + 1, dtype=torch.double)",
        "torch.zeros(3, count + 1, dtype=torch.float)",
        LOSS,
    ),
    quantiles(
        "over- and underestimation exchanged",
        "quantile_kernel.py",
        "below_loss, below_slope = (1 - tau) * loss, (1 - tau) * slope",
        "below_loss, below_slope = tau * loss, tau * slope",
        LOSS,
    ),
    quantiles(
        "no half in the linear part",
        "quantile_kernel.py",
        "far_y - far_w * theta - far_w / 2 +",
        "far_y - far_w * theta +",
        LOSS,
    ),
    quantiles(
        "far targets pull no quantile up",
        "quantile_kernel.py",
        "slope = theta * near_w - near_y - far_w",
        "slope = theta * near_w - near_y",
        LOSS,
    ),
    quantiles(
        "slope over the batch alone",
        "derivatives.py",
        "ctx.save_for_backward(slopes.mul_(1.0 / each))",
        "ctx.save_for_backward(slopes.mul_(1.0 / len(target)))",
        LOSS,
    ),
    quantiles(
        "no slope from above",
        "derivatives.py",
        "return slopes * gradients[0], None, None, None",
        "return slopes, None, None, None",
        LOSS,
    ),
    quantiles(
        "the double sum without its asymmetry's sign",
        "quantiles.py",
        "(error.detach() < 0.0)",
        "(error.detach() > 0.0)",
        LOSS,
    ),
    quantiles(
        "ends of intervals for their midpoints",
        "quantiles.py",
        "widths.cumsum(1) - 0.5 * widths",
        "widths.cumsum(1)",
        LOSS,
    ),
    quantiles(
        "even fractions m/M",
        "quantiles.py",
        "(torch.arange(count, device=device) + 0.5) / count",
        "(torch.arange(count, device=device) + 0.9) / count",
        LOSS,
    ),
    quantiles(
        "draws without a least width",
        "quantiles.py",
        "noise.uniform(size, count) + LEAST_WIDTH",
        "noise.uniform(size, count)",
        LOSS,
        DSAC,
    ),
    quantiles(
        "as many dropped from the pool as of one critic",
        "algorithms/tqc.py",
        "ascending(pool)[:, : heads * (each - dropped)]",
        "ascending(pool)[:, : heads * each - dropped]",
        FORMULAS,
    ),
    quantiles(
        "the smallest dropped",
        "algorithms/tqc.py",
        "ascending(pool)[:, : heads * (each - dropped)]",
        "ascending(pool)[:, heads * dropped :]",
        FORMULAS,
    ),
    quantiles(
        "the first dropped of each critic, not the largest",
        "algorithms/tqc.py",
        "kept = ascending(quantiles)[..., : quantiles.shape[2] - dropped]",
        "kept = quantiles[..., : quantiles.shape[2] - dropped]",
        FORMULAS,
    ),
    quantiles(
        "TQC's entropy added twice over",
        "algorithms/tqc.py",
        "atoms - (after.alpha * after.log_prob)[:, None]",
        "atoms + (after.alpha * after.log_prob)[:, None]",
        FORMULAS,
    ),
    quantiles(
        "TQC's actor ascends the least critic",
        "algorithms/tqc.py",
        "now.heads.mean((0, 2))",
        "now.heads.mean(2).amin(0)",
        TQC,
    ),
    quantiles(
        "DSAC's least critic in the mean, not per quantile",
        "algorithms/dsac.py",
        "atoms = after.heads.amin(0)",
        "atoms = after.heads.mean(0)",
        FORMULAS,
    ),
    quantiles(
        "weights of the critics' own fractions",
        "algorithms/dsac.py",
        "quantile_huber(heads, target, fractions.at, of_target.weights)",
        "quantile_huber(heads, target, fractions.at, fractions.weights)",
        FORMULAS,
    ),
    quantiles(
        "asymmetry at the target's fractions",
        "algorithms/dsac.py",
        "quantile_huber(heads, target, fractions.at, of_target.weights)",
        "quantile_huber(heads, target, of_target.at, of_target.weights)",
        DSAC,
    ),
    quantiles(
        "DSAC's actor takes the minimum per quantile",
        "algorithms/dsac.py",
        "self.values(now.heads, now.fractions).amin(0)",
        "self.values(now.heads.amin(0)[None], now.fractions).amin(0)",
        FORMULAS,
    ),
    quantiles(
        "DSAC without its target policy",
        "algorithms/dsac.py",
        "target_policy: ClassVar[bool] = True",
        "target_policy: ClassVar[bool] = False",
        DSAC,
    ),
    quantiles(
        "the target and the loss at the same fractions",
        "learner.py",
        "of_target, fractions = self.algorithm.fractions(size, self.noise), self.algorithm.fractions(size, self.noise)",
        "of_target = fractions = self.algorithm.fractions(size, self.noise)",
        DSAC,
    ),
    quantiles(
        "an evaluation draws fractions",
        "agent.py",
        "self.algorithm.fractions(len(unit), self.noise, evaluates=True)",
        "self.algorithm.fractions(len(unit), self.noise)",
        FORMULAS,
    ),
    quantiles(
        "values that do not weigh their quantiles",
        "quantiles.py",
        "(quantiles * self.weights).sum(-1)",
        "quantiles.mean(-1)",
        FORMULAS,
    ),
    quantiles(
        "cosines from 0",
        "networks/implicit_quantiles.py",
        "torch.arange(1, layout.cosines + 1",
        "torch.arange(0, layout.cosines",
        FORMULAS,
    ),
    quantiles(
        "a fraction's embedding added",
        "networks/implicit_quantiles.py",
        "of_input[:, :, None] * of_fraction",
        "of_input[:, :, None] + of_fraction",
        FORMULAS,
    ),
    quantiles(
        "the embedding not normalised",
        "networks/implicit_quantiles.py",
        'if layout.normalisation == "layer":\n            result = layer_norm',
        'if layout.normalisation == "layer" and index >= 0:\n            result = layer_norm',
        FORMULAS,
    ),
)
