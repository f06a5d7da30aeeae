"""Time a step of our Adam, with the slow average that follows it, beside PyTorch's fused Adam with `lerp_`.

    python benchmarks/adam.py [--turns 15]

Shapes are those of agents with 256 × 256 networks on Hopper-v5, one thread; both take turns in one process, and a ratio
is the median turn by turn.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor

from pyresac.deep.adam import Adam

SHAPES = {"critics, K = 2": (2, 70_400), "critics, K = 10": (10, 70_400), "actor": (1, 70_400)}
RATE, SHARE, CALLS = 3e-4, 0.005, 100


def ours(parameter: Tensor, average: Tensor) -> Callable[[Tensor], None]:
    """A step of the package."""
    return Adam(parameter, RATE, average, SHARE).step


def fused(parameter: Tensor, average: Tensor) -> Callable[[Tensor], None]:
    """The same by PyTorch."""
    optimiser = torch.optim.Adam([parameter.requires_grad_()], lr=RATE, fused=True)

    def step(gradient: Tensor) -> None:
        parameter.grad = gradient
        optimiser.step()
        average.lerp_(parameter.detach(), SHARE)

    return step


def timed(step: Callable[[Tensor], None], gradients: list[Tensor]) -> float:
    """CPU microseconds a call."""
    start = time.process_time()
    for number in range(CALLS):
        step(gradients[number % len(gradients)])
    return 1e6 * (time.process_time() - start) / CALLS


def main() -> None:
    """Print a row a shape."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=15)
    turns = parser.parse_args().turns
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    print("| | ours, CPU µs | fused and lerp_, µs | ratio |\n|---|---|---|---|")
    for name, shape in SHAPES.items():
        gradients = [torch.randn(shape, generator=generator) for _ in range(4)]
        steps = []
        for make in (ours, fused):
            start = torch.randn(shape, generator=torch.Generator().manual_seed(1))
            steps.append(make(start, start.clone()))
            timed(steps[-1], gradients)
        pairs = [[timed(step, gradients) for step in steps] for _ in range(turns)]
        times = [statistics.median(pair[side] for pair in pairs) for side in (0, 1)]
        ratio = statistics.median(other / own for own, other in pairs)
        print(f"| {name} | {times[0]:.0f} | {times[1]:.0f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
