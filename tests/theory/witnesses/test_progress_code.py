"""The identity of [0, 1] through a code, against its definition in numpy."""

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.progress_code import progress_code

from ._plain import plain

LIKE = torch.zeros((), dtype=torch.float64)


def test_errors():
    with pytest.raises(ValueError, match="received K = 0 and depth 4"):
        progress_code(0, 4, LIKE)
    with pytest.raises(ValueError, match="depth 3"):
        progress_code(1, 3, LIKE)


@pytest.mark.parametrize(("K", "depth"), [(1, 4), (2, 6), (5, 9)])
@pytest.mark.oracle(
    "rankcheck.witnesses.progress_code", "the code by numpy.clip, numpy.clip(t, 0, 1), the trace"
)
def test_the_code_and_the_function_in_numpy(K, depth):
    net = plain(progress_code(K, depth, LIKE).map_arrays(lambda a: a.expand(2, *a.shape)))
    assert net.widths == (1, 4 * K, *[2 * K] * (depth - 3), 4 * K, 1)
    t = np.linspace(-0.5, 1.5, 81)[:, None]
    values = [v[0] for v in net.layers(t)]
    starts = -0.25 + 0.5 * np.arange(2 * K)
    code = 0.25 + np.clip(K * t - starts, 0, 1)
    for alpha in values[2 : depth - 1]:
        np.testing.assert_allclose(alpha, code, atol=1e-13)
    np.testing.assert_allclose(values[-1], np.clip(t, 0, 1), atol=1e-13)
    # The trace of the tangent kernel: Σ ‖J(α̃_ℓ → f)‖² (‖α_{ℓ−1}‖² + 1).
    inside = (np.arange(37) + 0.4)[:, None] / 37
    levels = [v[0] for v in net.layers(inside)]
    outer, trace = np.ones((37, 1)), np.zeros(37)
    for layer in range(depth, 0, -1):
        trace += (outer**2).sum(-1) * ((levels[layer - 1] ** 2).sum(-1) + 1)
        outer = outer @ net.weights[layer - 1][0] * (levels[layer - 1] > 0)
    per_layer = (25 * K / 8 + 1) / K**2
    assert trace.max() <= (depth - 4) * per_layer + 8 * K + 12
