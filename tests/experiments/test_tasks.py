"""The data of a low-rank function: its moments, and the variables that it depends on."""

import numpy as np
import torch

from rankcheck.experiments.figures.tasks import latent_task, shallow_network
from rankcheck.experiments.stack import generators

SIZES = {"latent": 6, "inputs": 9, "used": 2, "outputs": 7, "width": 12}


def test_mean_and_size():
    x, y = latent_task(generators([3, 4]), 50, **SIZES)
    assert x.shape == (2, 50, 9)
    assert y.shape == (2, 50, 7)
    for values in (*x.numpy(), *y.numpy()):
        np.testing.assert_allclose(values.mean(0), 0, atol=1e-6)
        np.testing.assert_allclose((values**2).mean(), 1, rtol=1e-6)


def test_values_depend_on_the_first_latent_variables_alone():
    """y = h(z_1, z_2), written out in numpy from the weights of h, shifted and scaled."""
    [draw] = generators([5])
    z = torch.randn(50, 6, generator=draw).numpy()
    shallow_network(6, 9, 12, draw)
    W, b, V = (part.numpy() for part in shallow_network(2, 7, 12, draw))
    expected = np.maximum(z[:, :2] @ W.T + b, 0) @ V.T
    expected -= expected.mean(0)
    expected /= np.sqrt((expected**2).mean())
    _, y = latent_task(generators([5]), 50, **SIZES)
    np.testing.assert_allclose(y[0].numpy(), expected, atol=1e-5)


def test_a_run_does_not_depend_on_the_others():
    together, _ = latent_task(generators([1, 2]), 20, **SIZES)
    alone, _ = latent_task(generators([2]), 20, **SIZES)
    assert torch.equal(together[1], alone[0])
