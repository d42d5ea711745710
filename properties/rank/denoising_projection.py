"""§5 of `rank`: a denoising autoencoder projects onto its data."""

import torch

from rankcheck import eq, identity, paper
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances.networks import clear_of_boundaries
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import block_diagonal, eye, rank
from rankcheck.witnesses.bijections import conjugate, inverse
from rankcheck.witnesses.denoising import autoencoder

from ._bijections import bijection


def coordinates(source: Source):
    """A bijection ψ of R^d, k < d, z ∈ R^k with ψ differentiable at (z, 0), and K (k × (d − k))."""
    d, depth = source.integer(2, 4), source.integer(1, 3)
    k = source.integer(1, d - 1)
    psi = bijection(source, d, depth, bound=4.0, low=0.25)
    z = source.tensor(k, low=-4.0, high=4.0)
    latent = torch.cat((z, z.new_zeros((*source.batch, d - k))), -1)
    return clear_of_boundaries(source, psi, latent), z, source.tensor(k, d - k, low=-2.0, high=2.0)


@instances
def autoencoders(source: Source):
    """f = g ∘ r with r a left inverse of an injective g: R^k → R^d, and z."""
    psi, z, kernel = coordinates(source)
    pair = autoencoder(psi, kernel)
    return pair.network(), pair.decoder, z


@instances
def of_higher_rank(source: Source):
    """f that fixes g(R^k) and halves what is off it: [I K; 0 ½] between ψ and its inverse."""
    psi, z, kernel = coordinates(source)
    k, rest = kernel.shape[-2:]
    half = eye(rest, kernel).expand(*source.batch, rest, rest) / 2
    off = torch.cat((kernel.new_zeros((*source.batch, k, k)), kernel), -1)
    off = torch.cat((off, kernel.new_zeros((*source.batch, rest, k + rest))), -2)
    identity = eye(k, kernel).expand(*source.batch, k, k)
    f = conjugate(psi, block_diagonal(identity, half) + off, inverse(psi))
    return f, autoencoder(psi, kernel).decoder, z


@instances
def not_inverses(source: Source):
    """f = g ∘ 2r, which moves the points of g(R^k)."""
    psi, z, kernel = coordinates(source)
    pair = autoencoder(psi, kernel)
    *weights, last = pair.encoder.weights
    *biases, b = pair.encoder.biases
    twice = pair.encoder.with_parameters((*weights, 2 * last), (*biases, 2 * b))
    return pair.decoder.merged_after(twice), pair.decoder, z


def jacobian_scale(net):
    """The largest entry of |W_L| ··· |W_1|: what is summed in a Jacobian."""
    product = net.weights[0].abs()
    for w in net.weights[1:]:
        product = w.abs() @ product
    return product.amax((-2, -1), keepdim=True)


@identity(
    "rank.denoising-projection",
    paper("rank", "§5"),
    instances=autoencoders(),
    needs={"rank_BN f = k": of_higher_rank(), "f = id on g(R^k)": not_inverses()},
    witness=autoencoder,
)
def test_denoising_projection(f, g, z):
    r"""At its data the Jacobian of an autoencoder of their rank is a projection.

    For an injective piecewise-linear $g: \mathbb R^k \to \mathbb R^d$ and $f = g \circ r$ with
    $r \circ g = \mathrm{id}$: $f(x_0) = x_0$ at every $x_0 = g(z_0)$, and where $f$ is differentiable
    there, $Jf(x_0)$ is a projection, $J^2 = J$, of rank $k$ onto $\operatorname{Im} Jg(z_0)$.

    $g$ is drawn as a bijection of $\mathbb R^d$ after the embedding of $\mathbb R^k$. The image of
    $J$ is checked by $J\,Jg = Jg$ and by the ranks.
    """
    x = g(z)
    J, tangent = f.jacobian(x), g.jacobian(z)
    k = g.widths[0]
    size, along = jacobian_scale(f), jacobian_scale(g)
    return (
        eq(f(x), x, scale=network_scale(f, network_scale(g, z)), label="the data"),
        eq(J @ J, J, scale=size * size, label="a projection"),
        eq(J @ tangent, tangent, scale=size * along, label="onto the tangent space"),
        eq(rank(J, f.jacobian_noise(x)), k, label="its rank"),
        eq(rank(tangent, g.jacobian_noise(z)), k, label="the dimension of the tangent space"),
    )
