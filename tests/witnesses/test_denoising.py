"""Autoencoders that recover the rank are projections near their data."""

from fractions import Fraction

import pytest
import torch

from rankcheck.balls import BallArray
from rankcheck.linalg import rank
from rankcheck.networks import Network
from rankcheck.regions import jacobian_rank
from rankcheck.witnesses.denoising import autoencoder

from .test_bijections import bijection


def pair(d=4, k=2, slope=0.5, batch=(), seed=0):
    g = torch.Generator().manual_seed(seed)
    kernel = torch.randint(-2, 3, (*batch, k, d - k), generator=g).double()
    return autoencoder(bijection(d, 3, slope, batch, seed), kernel)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (3, 1), (4, 2), (4, 4), (3, 0)])
def test_left_inverse_and_fixed_points(d, k):
    both = pair(d, k, batch=(3,))
    assert both.decoder.widths[0] == both.encoder.widths[-1] == k
    z = torch.randn(3, 40, k, generator=torch.Generator().manual_seed(1)).double()
    x = both.decoder(z)
    torch.testing.assert_close(both.encoder(x), z, rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(both.network()(x), x, rtol=1e-8, atol=1e-8)


def test_the_jacobian_is_a_projection_onto_the_tangent_space():
    both = pair(batch=(50,))
    f = both.network()
    z = torch.randn(50, 2, generator=torch.Generator().manual_seed(2)).double()
    x = both.decoder(z)
    J, tangent = f.jacobian(x), both.decoder.jacobian(z)
    torch.testing.assert_close(J @ J, J, rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(J @ tangent, tangent, rtol=1e-7, atol=1e-7)
    assert (rank(J, 1e-9) == 2).all()
    assert (J - J.mT).abs().amax((-2, -1)).max() > 0.1


def test_exactly_on_rationals():
    floats = pair(slope=Fraction(1, 2))
    decoder, encoder = (net.map_arrays(BallArray.exact) for net in (floats.decoder, floats.encoder))
    f = decoder.merged_after(encoder)
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
