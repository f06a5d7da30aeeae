"""What an algorithm of the family is: formulas over the heads of its critics.

An algorithm's file holds its options, its target, its critics' loss and its actor's objective, in the order of its
paper. `pyresac.deep.learner` has everything else and does not know which algorithm it serves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pyresac.deep.algorithms.deep_options import DeepOptions, EntropyOptions
from pyresac.deep.networks.network_layout import NetworkLayout
from pyresac.errors import InputError

if TYPE_CHECKING:
    import torch
    from torch import Tensor

    from pyresac.deep.networks.network import Network
    from pyresac.deep.policies.policy import Policy, SampledAction
    from pyresac.deep.quantiles import Fractions
    from pyresac.deep.random_source import Noise
    from pyresac.tasks.experience import Experience


@dataclass(frozen=True)
class TargetInputs:
    """What a target may be made of. Everything here is frozen: numbers of target networks, without a graph."""

    reward: Tensor
    """(B,) scaled."""
    going: Tensor
    """(B,) 0 where s′ is terminal, else 1; a time limit is not terminal."""
    discount: float
    heads: Tensor
    """Q̂_k(s′, a′): (K, B), or (K, B, M) for critics of M quantiles."""
    next_action: Tensor
    """(B, A) a′ in units."""
    log_prob: Tensor
    """(B,) log π(a′|s′)."""
    alpha: float
    critic: Network
    """The frozen target critics."""
    heads_at: Callable[[Tensor], Tensor]
    """Q̂_k(s′, ·) at other actions (B, A), in units."""
    noise: Noise
    state_value: Tensor | None = None
    """(B,) V(s′), of an algorithm that learns a value of states."""
    fractions: Fractions | None = None
    """The fractions of the quantiles in `heads`; None for critics of values."""

    def backup(self, value: Tensor, batch_axis: int = -1) -> Tensor:
        """r + γ·(1 − d)·value, of value's shape. batch_axis: where value has the batch: the last axis in (B,) and
        (K, B), 0 in (B, N)."""
        shape = [1] * value.ndim
        shape[batch_axis] = -1
        reward, going = self.reward.view(shape), self.going.view(shape)
        return reward.addcmul(going, value, value=self.discount)


@dataclass(frozen=True)
class ActorInputs:
    """What an actor's objective may be made of; the slopes in heads, log_prob and unit are taken."""

    heads: Tensor
    """Q_k(s, a_π): (K, B), or (K, B, M), of the critics that `Algorithm.actor_heads` names."""
    log_prob: Tensor
    """(B,) log π(a_π|s)."""
    unit: Tensor
    """(B, A) a_π in units."""
    alpha: float
    action: Tensor
    """(B, A) the replayed action in units."""
    fractions: Fractions | None = None
    """The fractions of the quantiles in `heads`; None for critics of values."""


Options = TypeVar("Options", bound=DeepOptions)


class Algorithm(Generic[Options]):
    """One algorithm. Subclasses give the three formulas, and change the rest where their paper does."""

    title: ClassVar[str]
    """As its paper calls it."""
    options_type: ClassVar[type[DeepOptions]]
    """The options that it reads."""
    target_policy: ClassVar[bool] = False
    """Whether a′ is of a slowly following copy of the actor."""
    targets_follow_actor: ClassVar[bool] = False
    """Whether target networks move only when the actor does."""

    def __init__(self, options: Options) -> None:
        """Raises InputError for options of another algorithm, which would lack some of its own or be read by nobody."""
        if type(options) is not self.options_type:
            raise InputError(
                f"options of {self.title} are {type(options).__name__}; it reads {self.options_type.__name__}"
            )
        self.options = options

    @property
    def entropy(self) -> bool:
        """Whether there is a temperature: the policy is then a distribution, of maximum entropy."""
        return issubclass(self.options_type, EntropyOptions)

    # The three formulas.

    def target(self, after: TargetInputs) -> Tensor:
        """y: (B,) or (K, B), without a gradient."""
        raise NotImplementedError

    def critic_loss(self, heads: Tensor, target: Tensor) -> Tensor:
        """A number, of heads Q_k(s, a) as the critics give them; its slope in the heads is taken."""
        raise NotImplementedError

    def quantile_loss(self, heads: Tensor, target: Tensor, fractions: Fractions, of_target: Fractions) -> Tensor:
        """`critic_loss` of critics of quantiles: of heads (K, B, M) at `fractions`, and of a target that was made of
        quantiles at `of_target`."""
        raise NotImplementedError

    def actor_loss(self, now: ActorInputs) -> Tensor:
        """A number; its slopes in `now.heads`, `now.log_prob` and `now.unit` are taken."""
        raise NotImplementedError

    # What papers differ in besides.

    def policy(self, log_volume: float, actions: int) -> Policy:
        """The form of the policy. log_volume: Σ log half-width of the action box of `actions` coordinates."""
        from pyresac.deep.policies.deterministic import Deterministic
        from pyresac.deep.policies.squashed_gaussian import SquashedGaussian

        return SquashedGaussian(log_volume) if self.entropy else Deterministic()

    def fractions(self, size: int, noise: Noise, evaluates: bool = False) -> Fractions | None:
        """The fractions of quantiles for a pass of `size` inputs, drawn anew for each pass where the paper draws them.
        None for critics of values. evaluates: nothing is drawn."""
        return None

    def critic_layout(self, inputs: int, categories: tuple[int, ...]) -> NetworkLayout:
        """Shapes of the critics. inputs: continuous ones, the action's among them. categories: of the codes."""
        options = self.options
        return NetworkLayout(
            inputs, categories, options.hidden, 1, options.activation, normalisation=options.normalisation
        )

    @property
    def critic_type(self) -> type[Network]:
        """What the critics of `critic_layout` are."""
        from pyresac.deep.networks.network import Network

        return Network

    def initial_critic(self, layout: NetworkLayout, generator: torch.Generator) -> Tensor:
        """(K, P) parameters of the critics before learning."""
        return layout.initial(self.options.ensemble_size, generator)

    def scaled(self, reward: Tensor) -> Tensor:
        """(B,) rewards as the target takes them, of the environment's rewards (B,)."""
        return reward if self.options.reward_scale == 1.0 else reward * self.options.reward_scale

    def kept(self, found: Experience) -> Experience:
        """What of new experience goes into the replay buffer."""
        return found

    def next_action(self, sample: SampledAction, noise: Noise) -> Tensor:
        """(B, A) a′ in units, of the policy's actions."""
        return sample.unit

    def explore(self, sample: SampledAction, noise: Noise) -> Tensor:
        """(B, A) actions in units that collect experience, of the policy's actions."""
        return sample.unit

    def actor_heads(self, critic: Network) -> Network:
        """The critics that the actor's objective reads."""
        return critic

    @property
    def state_value_lr(self) -> float | None:
        """Adam's rate for a network V(s) of one output; None for an algorithm without one."""
        return None

    def state_value_loss(self, value: Tensor, heads: Tensor) -> Tensor:
        """A number, of V(s) (B,) and of the frozen target critics' values Q̂_k(s, a) (K, B) of the batch's own actions;
        its slope in `value` is taken. The target of the same update has V(s′) from before this step."""
        raise NotImplementedError

    @property
    def penalises_actor(self) -> bool:
        """Whether `actor_penalty` is used."""
        return False

    def actor_penalty(self, parameters: Tensor, best: Tensor) -> Tensor:
        """A penalty on the actor's parameters (1, P), given those of the best evaluation so far."""
        raise NotImplementedError

    def values(self, heads: Tensor, fractions: Fractions | None = None) -> Tensor:
        """(K, B) values of heads: of quantiles (K, B, M) at these fractions, their mean."""
        return heads if fractions is None else fractions.mean(heads)

    @property
    def values_have_a_unit(self) -> bool:
        """Whether values, over `reward_scale`, are in the task's rewards."""
        return True

    def moved(self, step: int) -> None:
        """The run is at this environment step now."""

    def evaluated(self, mean_return: float, step: int) -> None:
        """An evaluation of the averaged policy gave this mean return."""

    def statistics(self, critic: Network, target: Network) -> dict[str, float]:
        """Numbers of this algorithm for metrics.csv, always of the same names."""
        return {}

    def state(self) -> dict[str, Any]:
        """What changes while it learns, as JSON."""
        return {}

    def load(self, state: Mapping[str, Any]) -> None:
        """Go on from a saved `state`."""
