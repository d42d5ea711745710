"""Interpolants through one dimension."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.rank_one_interpolant import (
    rank_one_interpolant,
    separating_direction,
)

from ._plain import plain


def data(N=6, n=3, m=2, batch=(), seed=0):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(*batch, N, n, generator=g, dtype=torch.float64)
    return x, torch.randn(*batch, N, m, generator=g, dtype=torch.float64)


def test_shapes_are_checked():
    x, y = data(4, 2)
    with pytest.raises(ValueError, match="received inputs and outputs of shapes"):
        rank_one_interpolant(x, y[:3])


@pytest.mark.parametrize("slope", [0, 0.5, Fraction(-2, 3)])
@pytest.mark.oracle("rankcheck.witnesses.rank_one_interpolant", "numpy.interp along the line")
def test_the_interpolant_by_numpy(slope):
    rng = np.random.default_rng(0)
    for N, n in ((1, 2), (2, 1), (6, 3), (9, 2)):
        x, y = rng.normal(size=(N, n)), rng.normal(size=(N, 2))
        u = np.concatenate(([1.0], rng.uniform(1, 2, n - 1)))
        f = rank_one_interpolant(*map(torch.tensor, (x, y)), slope, torch.tensor(u))
        net, g, h = plain(f.network()), plain(f.g), plain(f.h)
        assert net.widths == (n, N, 2)
        line = x @ u
        order = np.argsort(line)
        anywhere = 3 * rng.normal(size=(200, n))
        expected = np.stack([np.interp(anywhere @ u, line[order], c) for c in y[order].T], -1)
        np.testing.assert_allclose(net(anywhere), expected, atol=1e-8)
        np.testing.assert_allclose(h(g(anywhere)), expected, atol=1e-8)
        np.testing.assert_allclose(net(x), y, atol=1e-9)
        np.testing.assert_allclose(g(x)[:, 0], line - line.min(), atol=1e-13)
        np.testing.assert_allclose(f.knots.numpy(), line[order] - line.min(), atol=1e-13)
        rises = np.diff(y[order], axis=0) / np.diff(line[order])[:, None]
        np.testing.assert_allclose(f.jacobians().numpy(), rises[..., None] * u, atol=1e-9)


@pytest.mark.oracle(
    "rankcheck.witnesses.separating_direction", "all candidates and all pairs, in Fractions"
)
def test_the_direction_by_trial_of_all_candidates():
    rng = np.random.default_rng(1)
    for N, n in ((1, 3), (2, 1), (2, 2), (3, 2), (3, 3), (4, 2), (5, 3), (6, 2)):
        for trial in range(4):
            grid = rng.permutation(4**n)[:N]
            if trial == 0 and N <= 3:  # on the last axis, so that the largest |t| is the best
                grid = 4 ** (n - 1) * np.arange(N)
            x = np.array([[(int(k) // 4**i) % 4 for i in range(n)] for k in grid])
            points = [[Fraction(int(t)) for t in row] for row in x]
            times = [0]
            while len(times) < (n - 1) * N * (N - 1) // 2 + 1:
                times += [-times[-1]] if times[-1] > 0 else [1 - times[-1]]
            best, score = None, Fraction(-1)
            for t in times:
                u = [Fraction(t) ** power for power in range(n)]
                gaps = [
                    sum(a * (p - q) for a, p, q in zip(u, points[i], points[j], strict=True)) ** 2
                    for i in range(N)
                    for j in range(i)
                ]
                least = min(gaps, default=Fraction(1)) / sum((a * a for a in u), Fraction(0))
                if (N > 1 and least > score) or best is None:
                    best, score = u, least
            found = separating_direction(torch.tensor(x).double()).tolist()
            assert found == [float(a) for a in best]
            assert N == 1 or score > 0
