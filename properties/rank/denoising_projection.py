"""§5 of `rank`: an autoencoder of the rank of its data projects onto them; no rank is smaller."""

import torch

from rankcheck import (
    Erratum,
    Network,
    bound,
    eq,
    identity,
    leq,
    linalg,
    paper,
    tolerances,
    witnesses,
)
from rankcheck.instances import (
    Source,
    clear_of_boundaries,
    distinct_points,
    instances,
    network,
    positive,
    semi_orthogonal,
    slope,
)

from ._networks import bijection, relabelled


def coordinates(source: Source):
    """A bijection ψ of R^d, k < d, z ∈ R^k with ψ differentiable at (z, 0), and K (k × (d − k))."""
    d, depth = source.integer(2, 4), source.integer(1, 3)
    k = source.integer(1, d - 1)
    psi = bijection(source, d, depth, bound=4.0, low=0.25)
    z = source.tensor(k, low=-4.0, high=4.0)
    psi = clear_of_boundaries(source, psi, torch.cat((z, z.new_zeros(d - k))))
    return psi, z, source.tensor(k, d - k, low=-2.0, high=2.0)


def interpolating(source: Source):
    """f through R^1 that interpolates (x_i, x_i), the h of f = h ∘ e, and z between two knots of h."""
    count, d = source.integer(2, 6), source.integer(1, 4)
    x = distinct_points(source, count, d)
    f = witnesses.rank_one_interpolant(x, x, slope(source))
    start = source.integer(0, count - 2)
    share = source.tensor(1, low=0.125, high=0.875)
    left, right = f.knots[start], f.knots[start + 1]
    return f.network(), f.h, left + share * (right - left)


def conjugated(psi, kernel, B):
    """f = ψ ∘ [I K; 0 B] ∘ ψ⁻¹, and g = ψ(·, 0)."""
    k, rest = kernel.shape
    top = torch.cat((linalg.eye(k, kernel), kernel), 1)
    bottom = torch.cat((kernel.new_zeros(rest, k), B), 1)
    f = witnesses.conjugate(psi, torch.cat((top, bottom)), witnesses.inverse(psi))
    return f, witnesses.autoencoder(psi, kernel).decoder


@instances
def autoencoders(source: Source):
    """f of bottleneck rank k that is the identity on g(R^k), g, and z.

    f = g ∘ r with r a left inverse of an injective g: R^k → R^d; or k = 1 and f interpolates data
    (x_i, x_i), so that it is the identity on the path g that it takes through them.
    """
    if source.integer(0, 1) == 1:
        return interpolating(source)
    psi, z, kernel = coordinates(source)
    pair = witnesses.autoencoder(psi, kernel)
    return pair.network(), pair.decoder, z


@instances
def of_higher_rank(source: Source):
    """f that fixes g(R^k) and halves what is off it: [I K; 0 ½] between ψ and its inverse."""
    psi, z, kernel = coordinates(source)
    return (*conjugated(psi, kernel, linalg.eye(kernel.shape[1], kernel) / 2), z)


@instances
def not_inverses(source: Source):
    """f = g ∘ 2r, which moves the points of g(R^k)."""
    psi, z, kernel = coordinates(source)
    pair = witnesses.autoencoder(psi, kernel)
    twice = 2 * linalg.eye(len(kernel), kernel)
    return witnesses.conjugate(pair.decoder, twice, pair.encoder), pair.decoder, z


def jacobian_scale(net):
    """The largest entry of |W_L| ··· |W_1|: what is summed in a Jacobian."""
    product = net.weights[0].abs()
    for w in net.weights[1:]:
        product = w.abs() @ product
    return product.amax()


@identity(
    "rank.denoising-projection",
    paper("rank", "§5"),
    instances=autoencoders(),
    needs={"rank_BN f = k": of_higher_rank(), "f = id on g(R^k)": not_inverses()},
    mutants={"J² = 2J": {"factor": 2}, "rank k + 1": {"more": 1}},
    witness=witnesses.autoencoder,
    errata=Erratum(
        printed=r"the learned autoencoder $\hat f$: $R^k \to R^k$ fits the data $f(x) = x$ for "
        "all $x = g(z)$",
        right=r"$\hat f$: $R^d \to R^d$. The data $g(z)$ lie in $R^d$, and $k$ is the dimension "
        "of the latent space.",
        survives="The paragraph: only the domain is misprinted.",
        weight="misprint",
    ),
)
def test_denoising_projection(f, g, z, *, factor=1, more=0):
    r"""At its data the Jacobian of an autoencoder of their rank is a projection.

    For an injective piecewise-linear $g: \mathbb R^k \to \mathbb R^d$ and $f = g \circ r$ with
    $r \circ g = \mathrm{id}$: $f(x_0) = x_0$ at every $x_0 = g(z_0)$, and where $f$ is differentiable
    there, $Jf(x_0)$ is a projection, $J^2 = J$, of rank $k$ onto $\operatorname{Im} Jg(z_0)$.

    $g$ is a bijection of $\mathbb R^d$ after the embedding of $\mathbb R^k$, or the path through data
    that $f$ was fitted to (rank.rank-one-interpolant with $y_i = x_i$). The image of $J$ is checked by
    $J\,Jg = Jg$ and by the ranks. For any network, trained ones included, see rank.nearly-denoising.
    """
    x, k, scale = g(z), g.widths[0], tolerances.network_scale
    J, tangent = f.jacobian(x), g.jacobian(z)
    size, along = jacobian_scale(f), jacobian_scale(g)
    dimension = linalg.rank(tangent, g.jacobian_noise(z))
    return (
        eq(f(x), x, scale=scale(f, scale(g, z)), label="the data"),
        eq(J @ J, factor * J, scale=size * size, label="a projection"),
        eq(J @ tangent, tangent, scale=size * along, label="onto the tangent space"),
        eq(linalg.rank(J, f.jacobian_noise(x)), k + more, label="its rank"),
        eq(dimension, k, label="the dimension of the tangent space"),
    )


def perturbed(source: Source, net: Network, size: float) -> Network:
    """The network with all parameters changed by at most `size`."""
    return net.with_parameters(
        [w + source.tensor(*w.shape, low=-size, high=size) for w in net.weights],
        [b + source.tensor(len(b), low=-size, high=size) for b in net.biases],
    )


@instances
def nearly_autoencoders(source: Source):
    """A network with a layer of width k, a point, and k directions T.

    An autoencoder with perturbed parameters, beside a point of its data and along their tangent; or
    any h ∘ g through R^k, and any T.
    """
    if source.integer(0, 1) == 0:
        psi, z, kernel = coordinates(source)
        pair = witnesses.autoencoder(psi, kernel)
        x, T = pair.decoder(z), pair.decoder.jacobian(z)
        size = source.choice((2.0**-10, 2.0**-4))
        outer, inner = (perturbed(source, net, size) for net in (pair.decoder, pair.encoder))
        f = outer.merged_after(inner)
        x = x + source.tensor(len(x), low=-size, high=size)
        return clear_of_boundaries(source, f, x), x, T
    d = source.integer(1, 4)
    k = source.integer(1, d)
    g = network(source, depth=(1, 2), inputs=d, outputs=k)
    h = network(source, depth=(1, 2), inputs=k, outputs=d, slopes="relu")
    f, x = relabelled(h, g.slope).merged_after(g), source.tensor(d)
    return clear_of_boundaries(source, f, x), x, source.tensor(d, k, low=-2.0, high=2.0)


@instances
def stretched_projections(source: Source):
    """f = cUUᵀ with orthonormal columns U, c > 1, and T = U."""
    k = source.integer(1, 3)
    U = semi_orthogonal(source, k + source.integer(0, 1), k)
    c = 1 + positive(source, 1, 1, low=0.125, high=2.0)
    f = Network.linear((U.mT, c * U), slope(source))
    return f, U @ positive(source, k), U


@instances
def of_rank_more_than_k(source: Source):
    """f = UUᵀ + VVᵀ/2 with orthonormal columns [U V], and T = U."""
    k = source.integer(1, 2)
    Q = semi_orthogonal(source, k + 1, k + 1)
    U, V = Q[:, :k], Q[:, k:]
    return Network.linear((U @ U.mT + V @ V.mT / 2,)), source.tensor(k + 1), U


@bound(
    "rank.nearly-denoising",
    paper("rank", "§5 (rankcheck)"),
    instances=nearly_autoencoders(),
    tight=stretched_projections(),
    needs={"rank Jf ≤ k": of_rank_more_than_k()},
    mutants={"‖J‖ in place of its square": {"power": 1}},
    effort=0.5,
)
def test_nearly_denoising(f, x, T, *, power=2):
    r"""A network of rank k that is nearly the identity along k directions is nearly a projection.

    For every network of bottleneck rank at most $k$, $J = Jf(x)$ and every $d \times k$ matrix $T$:
    $$s_k(JT)\, \|J^2 - J\|_{op} \le \|JT - T\|_{op}\, \|J\|_{op}^2 .$$
    For $JT = T$ of rank $k$ this is $J^2 = J$, the statement of §5; otherwise it bounds how far a
    trained autoencoder is from a projection by how well it reproduces its data to first order.

    Proof: if $s_k(JT) > 0$, the columns of $JT$ span the image of $J$, so for $\|v\| = 1$ there is $w$ with
    $Jv = JTw$ and $\|w\| \le \|J\|/s_k(JT)$; and $J^2v - Jv = (J - 1)JTw = J(JT - T)w$.
    """
    J, k = f.jacobian(x), T.shape[1]
    along, size = J @ T, len(x) * jacobian_scale(f)
    least = linalg.singular_values(along)[k - 1]
    norm, reach = linalg.operator_norm(J), linalg.operator_norm(T)
    return leq(
        least * linalg.operator_norm(J @ J - J),
        linalg.operator_norm(along - T) * norm**power,
        scale=(size + 1) ** 3 * (reach + 1),
    )


@instances
def fixing_the_data(source: Source):
    """f = ψ ∘ [I K; 0 B] ∘ ψ⁻¹ with a diagonal B of any rank, g = ψ(·, 0), and z."""
    psi, z, kernel = coordinates(source)
    rest = kernel.shape[1]
    kept = torch.arange(rest) < source.integer(0, rest)
    B = torch.diag(positive(source, rest, low=0.5, high=2.0) * kept)
    return (*conjugated(psi, kernel, B), z)


@instances
def collapsed(source: Source):
    """f = ψ ∘ [0 0; 0 0] ∘ ψ⁻¹, which is constant."""
    psi, z, kernel = coordinates(source)
    f = witnesses.conjugate(psi, 0 * psi.weights[0], witnesses.inverse(psi))
    return f, witnesses.autoencoder(psi, kernel).decoder, z


@bound(
    "rank.identity-on-data",
    paper("rank", "§5"),
    instances=fixing_the_data(),
    tight=autoencoders(),
    needs={"f = id on g(R^k)": collapsed()},
    mutants={"rank k + 1": {"more": 1}},
    witness=witnesses.autoencoder,
)
def test_identity_on_data(f, g, z, *, more=0):
    r"""A function that is the identity on data of dimension k has at least the rank k.

    Let $g: \mathbb R^k \to \mathbb R^d$ be injective and piecewise linear, and $f(x) = x$ for all
    $x = g(z)$. Then $\operatorname{rank} Jf(g(z)) \ge k$ where $f$ is differentiable there, and
    $\operatorname{rank} J(f \circ g)(z) = k$ wherever $g$ is differentiable. So
    $\operatorname{rank}_J f \ge k$ and $\operatorname{rank}_{BN}(f; g(\mathbb R^k)) \ge k$. Both are
    attained by the autoencoders of rank.denoising-projection: the least rank is the dimension of the data.

    The proof: $f \circ g = g$, so $Jf\,Jg = Jg$, and $Jg$ has rank $k$, because an injective $g$ is
    constant on no segment. If the data lie in the boundaries of linear regions of $f$, an open part of them
    lies in one closed region, whose matrix takes the place of $Jf$. A factorisation of $f$ through
    $\mathbb R^j$ is one of $f \circ g = g$, so $j \ge k$ (rank.jacobian-below-bottleneck).
    """
    x, through, scale = g(z), f.merged_after(g), tolerances.network_scale
    k = g.widths[0] + more
    rank = linalg.rank(f.jacobian(x), f.jacobian_noise(x))
    on_the_data = linalg.rank(through.jacobian(z), through.jacobian_noise(z))
    return (
        eq(f(x), x, scale=scale(f, scale(g, z)), label="the data"),
        leq(k, rank, label="the Jacobian rank"),
        eq(on_the_data, k, label="the rank on the data"),
    )
