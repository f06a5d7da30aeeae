"""A layout's arrays name each tensor of a row once, and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pyresac.deep.networks.network_layout import NetworkLayout

LAYOUTS = [
    NetworkLayout(3, (), (8,), 1),
    NetworkLayout(3, (7,), (8, 6), 2, "tanh"),
    NetworkLayout(0, (7, 2, 5), (8, 6, 5), 4),
    NetworkLayout(1, (1,), (1,), 1),
]


@pytest.mark.parametrize("normalisation", ["none", "layer", "batch"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_arrays_share_out_the_row(layout: NetworkLayout, normalisation: str) -> None:
    layout = replace(layout, normalisation=normalisation)
    arrays = layout.arrays
    parts = [arrays.weights, arrays.biases, arrays.tables, arrays.scales, arrays.shifts]
    assert np.concatenate(parts).tolist() == list(layout.offsets[:-1])
    layers, features, affine = len(layout.hidden) + 1, len(layout.categories), len(layout.normalised)
    assert [len(part) for part in parts] == [layers, layers, features, affine, affine]
    assert arrays.sizes.tolist() == list(layout.sizes)
    assert arrays.widths.tolist() == list(layout.embeddings)
    assert arrays.starts.tolist() == [sum(layout.categories[:k]) for k in range(features + 1)]
    assert arrays.tanh == (layout.activation == "tanh")
