"""Passes of critics at states and actions: their outputs as heads, and slopes in the heads as slopes in the outputs."""

from __future__ import annotations

from torch import Tensor

from pyresac.deep.networks.inputs import Inputs
from pyresac.deep.networks.network import Network
from pyresac.deep.networks.passes import ForwardPass
from pyresac.deep.quantiles import Fractions


def run_critics(
    network: Network, state: Inputs, unit: Tensor, fractions: Fractions | None, keep: bool = True
) -> ForwardPass:
    """A pass of critics at B states and actions (B, A); fractions: of critics of quantiles. keep: see `Network.run`."""
    return network.run(state.with_action(unit, None if fractions is None else fractions.at), keep)


def heads_of(through: ForwardPass, fractions: Fractions | None) -> Tensor:
    """(K, B) of critics of values, (K, B, M) of critics of quantiles."""
    return through.output[..., 0] if fractions is None else through.output


def of_outputs(slope: Tensor | None) -> Tensor:
    """The slope in `heads_of` as the slope in the outputs (K, B, M). Raises ValueError as `required`."""
    found = required(slope)
    return found[..., None] if found.ndim == 2 else found


def required(slope: Tensor | None) -> Tensor:
    """A slope that must be there. Raises ValueError for None, the slope of a formula that leaves the variable out."""
    if slope is None:
        raise ValueError("the algorithm's formula does not depend on what it must depend on")
    return slope
