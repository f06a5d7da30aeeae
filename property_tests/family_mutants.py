"""Faults of the algorithms over critics of values: every formula of their files, and the network V(s)."""

from __future__ import annotations

from property_tests.mutant import Mutant

FORMULAS = "property_tests/test_family.py"
PAPERS, SB3 = "test_beside_the_papers", "test_beside_sb3"
SETTINGS = "test_family_settings"
SWITCHES = "test_resac_switches"


def family(name: str, file: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault of an algorithm's file."""
    return Mutant(name, f"algorithms/{file}.py", old, new, tests or (FORMULAS,), "deep")


def of_learner(name: str, old: str, new: str, *tests: str) -> Mutant:
    """A fault of what the learner does with V(s)."""
    return Mutant(name, "learner.py", old, new, tests, "deep")


FAMILY = (
    family(
        "sac: largest head in the target",
        "sac",
        "after.heads.amin(0) - after.alpha",
        "after.heads.amax(0) - after.alpha",
    ),
    family("sac: entropy subtracted in the target", "sac", "amin(0) - after.alpha", "amin(0) + after.alpha"),
    family("sac: entropy left out of the target", "sac", " - after.alpha * after.log_prob)", ")"),
    family("sac: critics' loss without its half", "sac", "return 0.5 * squared_error", "return squared_error"),
    family(
        "sac: actor's entropy subtracted",
        "sac",
        "return (now.alpha * now.log_prob",
        "return (-now.alpha * now.log_prob",
    ),
    family("sac: actor descends", "sac", "now.log_prob - self.ascended", "now.log_prob + self.ascended"),
    family("sac: actor ascends the largest head", "sac", "return heads.amin(0) if", "return heads.amax(0) if"),
    family("sac: actor ascends the mean", "sac", "return heads.amin(0) if", "return heads.mean(0) if"),
    family("sac: the published actor ascends the minimum", "sac", "else heads.mean(0)", "else heads.amin(0)"),
    family("sac-n: the optimist is a pessimist", "sac_n", "heads.mean(0) + optimism", "heads.mean(0) - optimism"),
    family(
        "sac-n: the optimist starts from the minimum",
        "sac_n",
        "else heads.mean(0) + optimism",
        "else heads.amin(0) + optimism",
    ),
    family("sac-n: optimism of 0 is none", "sac_n", "if optimism is None", "if not optimism"),
    family("sac-n: two heads", "sac_n", "ensemble_size: Count = 10", "ensemble_size: Count = 2", SETTINGS),
    family("redq: all heads in the target", "redq", "after.heads[subset].amin(0)", "after.heads.amin(0)"),
    family("redq: mean of the subset", "redq", "after.heads[subset].amin(0)", "after.heads[subset].mean(0)"),
    family("redq: entropy left out of the target", "redq", " - after.alpha * after.log_prob)", ")"),
    family("redq: half of the critics' loss", "redq", "return squared_error", "return 0.5 * squared_error"),
    family(
        "redq: actor ascends the minimum", "redq", 'Literal["min", "mean"] = "mean"', 'Literal["min", "mean"] = "min"'
    ),
    family(
        "redq: the subset is of all heads",
        "redq",
        "subset(self.options.subset_size,",
        "subset(self.options.ensemble_size,",
    ),
    family(
        "redq: an actor step with every update", "redq", "actor_every: Count = 20", "actor_every: Count = 1", SETTINGS
    ),
    family("redq: one update a step", "redq", "    updates: Count = 20", "    updates: Count = 1", SETTINGS),
    family("redq: α from 0.2", "redq", "alpha_init: Positive = 1.0", "alpha_init: Positive = 0.2", SETTINGS),
    family("redq: any subset size goes", "redq", "if self.subset_size > self.ensemble_size", "if False", SETTINGS),
    family(
        "bac: shares of the backups exchanged",
        "bac",
        "self.exploitation_target(after), blend)",
        "self.exploitation_target(after), 1.0 - blend)",
    ),
    family(
        "bac: exploitation alone",
        "bac",
        "explore.lerp(self.exploitation_target(after), blend)",
        "self.exploitation_target(after)",
    ),
    family(
        "bac: entropy in the exploitation",
        "bac",
        "after.backup(after.state_value)",
        "after.backup(after.state_value - after.alpha * after.log_prob)",
    ),
    family(
        "bac: exploitation past the end",
        "bac",
        "after.backup(after.state_value)",
        "after.reward + after.discount * after.state_value",
    ),
    family("bac: expectile of the wrong side", "bac", "masked_fill(difference < 0.0,", "masked_fill(difference > 0.0,"),
    family("bac: sign of the expectile's error", "bac", "heads.amin(0) - value", "value - heads.amin(0)"),
    family("bac: V above the largest head", "bac", "heads.amin(0) - value", "heads.amax(0) - value"),
    family("bac: V above the mean head", "bac", "heads.amin(0) - value", "heads.mean(0) - value"),
    family("bac: absolute error of the expectile", "bac", "difference.square()", "difference.abs()"),
    family("bac: V without an exploitation", "bac", "self.options.blend > 0.0 and ", ""),
    family(
        "bac: random actions of half the box",
        "bac",
        "2.0 * after.noise.uniform(*shape) - 1.0",
        "after.noise.uniform(*shape)",
    ),
    family("bac: worst of the random actions", "bac", "best.maximum(value)", "best.minimum(value)"),
    family(
        "bac: largest head of each random action",
        "bac",
        "after.heads_at(action).amin(0)",
        "after.heads_at(action).amax(0)",
    ),
    family(
        "td3: largest head in the target",
        "td3",
        "after.backup(after.heads.amin(0))",
        "after.backup(after.heads.amax(0))",
    ),
    family("td3: half of the critics' loss", "td3", "return squared_error", "return 0.5 * squared_error"),
    family("td3: actor descends", "td3", "return -now.heads", "return now.heads"),
    family("td3: actor ascends all heads", "td3", "return critic.head(0) if", "return critic if"),
    family("td3: smoothing not clipped", "td3", ".clamp(-clip, clip)", "", SB3),
    family(
        "td3: smoothed actions outside the box",
        "td3",
        "return (sample.unit + smoothing).clamp(-1.0, 1.0)",
        "return sample.unit + smoothing",
        SB3,
    ),
    family(
        "td3: a′ of the actor itself",
        "td3",
        "target_policy: ClassVar[bool] = True",
        "target_policy: ClassVar[bool] = False",
        SB3,
    ),
    family(
        "td3: target networks move without the actor",
        "td3",
        "targets_follow_actor: ClassVar[bool] = True",
        "targets_follow_actor: ClassVar[bool] = False",
        SB3,
    ),
    family(
        "resac: deviation not clipped",
        "resac",
        "sigma if sigma_clip is None else sigma.minimum(sigma_clip * mean.abs())",
        "sigma",
        SWITCHES,
    ),
    family(
        "resac: deviation clipped to the signed mean", "resac", "sigma_clip * mean.abs()", "sigma_clip * mean", SWITCHES
    ),
    family(
        "resac: the size of values has a slope",
        "resac",
        "now.heads.detach().mean(0).abs()",
        "now.heads.mean(0).abs()",
        SWITCHES,
    ),
    family(
        "resac: values divided by their mean, not its size",
        "resac",
        "now.heads.detach().mean(0).abs().mean()",
        "now.heads.detach().mean(0).mean()",
        SWITCHES,
    ),
    family(
        "resac: β scaled beyond its cap",
        "resac",
        "min(LARGEST_SCALE, sigma / self.sigma_ema)",
        "sigma / self.sigma_ema",
        SWITCHES,
    ),
    family("resac: β scaled the other way", "resac", "sigma / self.sigma_ema)", "self.sigma_ema / sigma)", SWITCHES),
    family("resac: σ_ema forgets fast", "resac", "SIGMA_DECAY = 0.99", "SIGMA_DECAY = 0.9", SWITCHES),
    family(
        "resac: σ_ema not resumed",
        "resac",
        'self.sigma_ema = state.get("sigma_ema")',
        'state.get("sigma_ema")',
        SWITCHES,
    ),
    of_learner(
        "V is fitted to the critics that move",
        "run_critics(self.target, batch.state, batch.action, fractions, keep=False)",
        "run_critics(self.critic, batch.state, batch.action, fractions, keep=False)",
        PAPERS,
    ),
    of_learner(
        "V of s where the target has s′",
        "self.state_value.run(batch.next_state, keep=False)",
        "self.state_value.run(batch.state, keep=False)",
        PAPERS,
    ),
    of_learner("V is never fitted", "        self._improve_state_value(batch)\n", "", PAPERS),
    of_learner(
        "V is fitted after the critics",
        "self._improve_state_value(batch)\n"
        "        self._improve_critics(critics, target, fractions, of_target, follow)\n",
        "self._improve_critics(critics, target, fractions, of_target, follow)\n"
        "        self._improve_state_value(batch)\n",
        PAPERS,
    ),
    of_learner(
        "V's rate is the critics'",
        "Adam(self.state_value.matrix, algorithm.state_value_lr)",
        "Adam(self.state_value.matrix, options.critic_lr)",
        PAPERS,
    ),
    Mutant(
        "V not saved",
        "agent.py",
        '            networks["state_value"] = self.state_value\n',
        "            pass\n",
        (SETTINGS,),
        "deep",
    ),
)
