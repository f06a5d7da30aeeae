"""Options that every deep algorithm has, and those of maximum entropy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from pyresac.deep.networks.network_layout import Activation, Normalisation
from pyresac.errors import InputError
from pyresac.options import Checked, Count, Discount, NonNegative, Positive, Share

Companion: TypeAlias = tuple[str, str]
"""Another option that an option needs to have an effect, and the value that it needs, in words."""
LayerWidths = tuple[Count, ...]
"""Units of hidden layers, one after the other."""


@dataclass(frozen=True)
class DeepOptions(Checked):
    """What every deep algorithm reads."""

    ensemble_size: Count = 2
    """Critics K."""
    hidden: LayerWidths = (256, 256)
    """Widths of each critic's hidden layers."""
    actor_hidden: LayerWidths = (256, 256)
    """Widths of the actor's hidden layers."""
    activation: Activation = "relu"
    """After each hidden layer: relu or tanh."""
    normalisation: Normalisation = "none"
    """layer: LayerNorm of each hidden layer of the critics before its activation. batch: CrossQ's form, batch
    renormalisation before each linear layer of critics and actor, without target networks."""
    renorm_warmup: Annotated[int, Meta(ge=0)] = 100_000
    """Batches of plain batch normalisation, after which running statistics correct a batch's own."""
    normalise_observations: bool = False
    """Networks see continuous features minus their running mean, divided by their running deviation, clipped at ±10."""
    discount: Discount = 0.99
    """γ."""
    reward_scale: Positive = 1.0
    """Rewards are multiplied by it before learning."""
    critic_lr: Positive = 3e-4
    """Adam's rate for the critics."""
    actor_lr: Positive = 3e-4
    """Adam's rate for the actor."""
    adam_beta1: Annotated[float, Meta(ge=0, lt=1)] = 0.9
    """Adam's β₁ for critics and actor: how slowly its mean gradient follows."""
    tau: Share = 0.005
    """Share by which target networks go to the critics in an update."""
    batch_size: Count = 256
    """Transitions an update."""
    buffer_size: Count = 1_000_000
    """Transitions kept."""
    random_steps: Annotated[int, Meta(ge=0)] = 10_000
    """Environment steps at the start whose actions are uniform in the action box."""
    learning_starts: Annotated[int, Meta(ge=0)] = 10_000
    """Environment steps before the first update."""
    update_every: Count = 1
    """Environment steps between updates."""
    updates: Count = 1
    """Updates after each `update_every` steps."""
    actor_every: Count = 1
    """Updates of the critics for each of the actor."""
    grad_clip: Positive | None = None
    """Largest gradient norm of a network (of each critic by itself); None for no limit."""
    ema_rate: Share = 1.0
    """Share by which the averaged policy, which is the one evaluated, follows the actor; 1 evaluates the actor."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        for name in ("hidden", "actor_hidden"):
            if not getattr(self, name):
                raise InputError(f"{name} = []; it needs at least one layer")
        if self.normalisation == "layer" and 1 in self.hidden:
            raise InputError(
                f"hidden = {list(self.hidden)} with normalisation = 'layer': normalised over its units, a layer of one "
                f"unit is 0 whatever it is given; take at least 2"
            )
        if self.normalisation == "batch" and self.batch_size == 1:
            raise InputError(
                "batch_size = 1 with normalisation = 'batch': one transition has no variance; take at least 2"
            )

    def idle(self) -> dict[str, Companion]:
        """The options that change nothing beside the present values of others."""
        if self.normalisation == "batch":
            return {"tau": ("normalisation", "normalisation other than 'batch', which has no target networks")}
        return {"renorm_warmup": ("normalisation", "normalisation = 'batch'")}


@dataclass(frozen=True)
class EntropyOptions(DeepOptions):
    """What the algorithms of maximum entropy read besides. α acts in units of scaled rewards."""

    alpha_init: Positive = 0.2
    """Temperature α at the start."""
    alpha_max: Positive | None = None
    """Cap of α; None for none."""
    temperature_lr: NonNegative = 3e-4
    """Adam's rate for log α; 0 keeps α at its start."""
    temperature_on: Literal["state", "next"] = "state"
    """Where the policy's entropy is compared with its target: at the batch's states, as in the paper, or at the next
    states that are not terminal, where the target needs log π anyway."""
    target_entropy: float | None = None
    """Target of the entropy −E log π, in the action's own units; None for −dim(A) in units of [−1, 1]."""
    initial_mean: Annotated[float, Meta(ge=-3, le=3)] = 0.0
    """Mean of the initial policy's Gaussian before squashing: 0 is the middle of the action's range."""

    def __post_init__(self) -> None:
        """Raise InputError naming the option, its value and what is allowed."""
        super().__post_init__()
        if self.alpha_max is not None and self.alpha_init > self.alpha_max:
            raise InputError(f"alpha_init = {self.alpha_init}; it must be at most alpha_max = {self.alpha_max}")

    def idle(self) -> dict[str, Companion]:
        """See `DeepOptions`; with a fixed α nothing of what moves it is read."""
        moved = ("alpha_max", "temperature_on", "target_entropy")
        fixed = self.temperature_lr == 0.0
        own: dict[str, Companion] = dict.fromkeys(moved, ("temperature_lr", "temperature_lr above 0")) if fixed else {}
        return {**super().idle(), **own}
