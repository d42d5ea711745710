"""Autoencoders that recover the rank, against the bijection in numpy."""

import numpy as np
import pytest
import torch

from rankcheck.networks import Network
from rankcheck.theory.witnesses.denoising import autoencoder

from ._plain import plain
from .test_bijections import bijection


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="the kernel has shape"):
        autoencoder(bijection(3, 2, 0.5), torch.zeros(1, 1).double())
    wide = Network.of([np.ones((4, 3)), np.ones((3, 4))], slope=0.5)
    with pytest.raises(ValueError, match="the layers of a bijection have one width"):
        autoencoder(wide, torch.zeros(1, 2).double())


@pytest.mark.oracle(
    "rankcheck.witnesses.autoencoder", "ψ(z + K v, 0) at the points ψ(z, v), in numpy"
)
def test_what_the_autoencoder_does_to_the_images_of_the_bijection():
    rng = np.random.default_rng(0)
    for d, k in ((1, 1), (3, 1), (4, 2), (3, 3)):
        g = torch.Generator().manual_seed(d)
        psi = bijection(d, 3, 0.5, (5,), d)
        kernel = torch.randint(-2, 3, (5, k, d - k), generator=g).double()
        both = autoencoder(psi, kernel)
        z, v = rng.normal(size=(5, 20, k)), rng.normal(size=(5, 20, d - k))
        moved = z + v @ kernel.numpy().swapaxes(-1, -2)
        zeros = np.zeros((5, 20, d - k))
        there = plain(psi)
        x, fixed = there(np.concatenate((z, v), -1)), there(np.concatenate((moved, zeros), -1))
        encoder, decoder, net = map(plain, (both.encoder, both.decoder, both.network()))
        np.testing.assert_allclose(encoder(x), moved, atol=1e-8)
        np.testing.assert_allclose(decoder(moved), fixed, atol=1e-8)
        np.testing.assert_allclose(net(x), fixed, atol=1e-7)
        assert encoder.widths == (*[d] * 3, k)
        assert decoder.widths == (k, *[d] * 3)
