"""Autoencoders that recover the rank are projections near their data."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.linalg import rank
from rankcheck.networks import Network
from rankcheck.regions import jacobian_rank
from rankcheck.witnesses.denoising import autoencoder

from ._plain import plain
from .test_bijections import bijection


def pair(d=4, k=2, slope=0.5, batch=(), seed=0):
    g = torch.Generator().manual_seed(seed)
    kernel = torch.randint(-2, 3, (*batch, k, d - k), generator=g).double()
    return autoencoder(bijection(d, 3, slope, batch, seed), kernel)


def test_exactly_on_rationals():
    kernel = BallArray.exact([[1, -2], [0, 2]])
    both = autoencoder(bijection(4, 3, Fraction(1, 2)).map_arrays(BallArray.exact), kernel)
    decoder, f = both.decoder, both.network()
    z = BallArray.exact(torch.randn(2, generator=torch.Generator().manual_seed(3)).double())
    x = decoder(z)
    J = f.jacobian(x)
    assert bool((f(x) == x).all())
    assert bool((J @ J == J).all())
    assert int(rank(J)) == 2


def test_away_from_the_data_the_rank_is_k_at_most():
    assert jacobian_rank(pair(3, 2).network(), -2, 2, exact=True).rank == 2


def test_a_reader_that_is_no_left_inverse_is_caught():
    both = pair()
    broken = Network(
        (*both.encoder.weights[:-1], both.encoder.weights[-1] * 1.01),
        both.encoder.biases,
        both.encoder.slope,
    )
    z = torch.ones(2, dtype=torch.float64)
    f = both.decoder.merged_after(broken)
    J = f.jacobian(both.decoder(z))
    assert (J @ J - J).abs().max() > 1e-3


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
