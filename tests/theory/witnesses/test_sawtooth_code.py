"""The identity of [0, 1] through two units a layer, against its definition in numpy."""

import numpy as np
import pytest
import torch

from rankcheck.theory.witnesses.sawtooth_code import outer_layers, sawtooth_code

from ._plain import plain

LIKE = torch.zeros((), dtype=torch.float64)


def test_errors():
    with pytest.raises(ValueError, match="received n = -1 and depth 5"):
        sawtooth_code(-1, 5, LIKE)
    with pytest.raises(ValueError, match="depth 8"):
        sawtooth_code(2, 8, LIKE)


@pytest.mark.parametrize(("n", "between"), [(0, 2), (1, 0), (2, 3), (4, 1)])
@pytest.mark.oracle(
    "rankcheck.witnesses.sawtooth_code",
    "the wave by numpy.abs, the code, f, and its derivatives by finite differences",
)
def test_the_code_and_the_function_in_numpy(n, between):
    net = plain(
        sawtooth_code(n, outer_layers(n) + between, LIKE).map_arrays(
            lambda a: a.expand(2, *a.shape)
        )
    )
    assert net.widths[n + 1 : n + 2 + between] == (2,) * (between + 1)
    t = ((np.arange(60) + 0.3) / 60)[:, None]
    values = [v[0] for v in net.layers(t)]
    wave = np.abs(2**n * t - 2 * np.round(2**n * t / 2))
    for alpha in values[n + 1 : n + 2 + between]:
        np.testing.assert_allclose(alpha, np.concatenate((t, wave), -1), atol=1e-12)
    np.testing.assert_allclose(values[-1], t, atol=1e-12)
    # What is read, as a function of (q, p), has the derivatives 0 and ±2^(−n).
    h = 2.0 ** -(n + 12)

    def read(code):
        for W, b in zip(net.weights[n + 1 + between :], net.biases[n + 1 + between :], strict=True):
            code = np.maximum(code, 0) @ W[0].T + b[0]
        return code[:, 0]

    code = values[n + 1]
    steps = np.diag([h, h])
    by_q, by_p = [(read(code + step) - read(code - step)) / (2 * h) for step in steps]
    np.testing.assert_allclose(by_q, 0, atol=1e-8)
    np.testing.assert_allclose(np.abs(by_p), 2.0**-n, atol=1e-8)
