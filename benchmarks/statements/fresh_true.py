"""Thirty true statements, written from the literature, without a look at the search.

Each is a theorem, with its source, on everything that its generator draws: zero matrices, equal
singular values, points at a kink. About half of them are attained. They were checked without
rankcheck before any of them was put to a search; a verdict that refutes one is wrong.
"""

import math
from fractions import Fraction
from itertools import combinations, permutations

import torch

from rankcheck import conjecture, eq, leq
from rankcheck.claims.tolerances import network_scale
from rankcheck.instances import (
    balanced_linear_networks,
    doubly_stochastic_matrices,
    instances,
    matrices,
    matrix,
    matrix_pairs,
    network,
    networks_at_points,
    orthogonal,
    orthogonal_matrices,
    pairs_of_points,
    positive_definite_matrices,
    positive_semidefinite_matrices,
    projections,
)
from rankcheck.linalg import (
    eye,
    frobenius_squared,
    nuclear_norm,
    operator_norm,
    rank,
    schatten_power,
    spectral_radius,
    symmetric_sqrt,
)
from rankcheck.networks import leaky, ntk
from rankcheck.regions import linear_pieces, region_arrays
from rankcheck.separation import legendre
from rankcheck.theory.instances.matrix_classes import even

from ._families import (
    factors_target_and_step,
    matrices_of_low_rank,
    size,
    small_integers,
    square,
    trace,
)


@instances
def symmetric_pairs(source, *, size=(1, 3)):
    """Two symmetric matrices with entries up to 2."""
    n = source.integer(*size)
    A, B = (source.tensor(n, n, low=-1.0, high=1.0) for _ in range(2))
    return A + A.mT, B + B.mT


@instances
def nonnegative_pairs(source, *, size=(1, 3)):
    """Two square matrices with entries in [0, 4]."""
    n = source.integer(*size)
    return source.tensor(n, n, low=0.0, high=4.0), source.tensor(n, n, low=0.0, high=4.0)


@instances
def definite_and_any(source, *, size=(1, 4)):
    """A positive semidefinite matrix with eigenvalues up to 8, and any one of its size."""
    n = source.integer(*size)
    Q, values = orthogonal(source, n), source.tensor(n, low=0.0, high=8.0)
    return even((Q * values[..., None, :]) @ Q.mT), matrix(source, n, n)


@instances
def two_polar_forms(source, *, size=(1, 4)):
    """Orthogonal matrices Q and R, positive definite ones P and S."""
    n = source.integer(*size)
    (Q, R) = orthogonal_matrices(size=(n, n), count=2)(source)
    return Q, R, *positive_definite_matrices(size=(n, n), condition=100.0, count=2)(source)


@instances
def integer_factors(source, *, size=(1, 3)):
    """Two matrices of integers that can be multiplied, U (m × r) and V (r × n)."""
    m, r, n = (source.integer(*size) for _ in range(3))
    left, right = (source.tensor(*shape, low=-2.0, high=2.0) for shape in ((m, r), (r, n)))
    return torch.round(left), torch.round(right)


@instances
def doubly_stochastic_and_vector(source, *, size=(1, 4)):
    n = source.integer(*size)
    (D,) = doubly_stochastic_matrices(size=(n, n))(source)
    return D, source.tensor(n)


@instances
def zonal_points(source, *, dimension=(2, 7), degree=(1, 8)):
    """A dimension, a degree, and a number in [-1, 1]."""
    return source.integer(*dimension), source.integer(*degree), source.tensor(low=-1.0, high=1.0)


@instances
def scalar_networks(source, *, depth=(3, 3), width=(1, 3)):
    """A network from the line to the line."""
    return network(source, depth=depth, width=width, inputs=1, outputs=1, slopes="relu")


@instances
def two_points_and_slope(source, *, dimension=(1, 4)):
    """Two points, and a slope in [-1, 1]."""
    n = source.integer(*dimension)
    return source.tensor(n), source.tensor(n), source.tensor(low=-1.0, high=1.0)


@instances
def numbers(source, *, count=(2, 7)):
    return source.tensor(source.integer(*count))


# Matrices


@conjecture("fresh.zhan", instances=nonnegative_pairs())
def test_zhan(A, B):
    r"""$\rho(A \circ B) \le \rho(AB)$ for matrices with entries $\ge 0$.

    Zhan's conjecture, proved by Audenaert (2010) and by Horn and Zhang (2010). Equality for
    diagonal matrices. Both sides may be those of nilpotent matrices.
    """
    return leq(spectral_radius(A * B), spectral_radius(A @ B))


@conjecture("fresh.matrix-agm", instances=matrix_pairs(size=(1, 4)))
def test_matrix_agm(A, B):
    r"""$2 s_j(A^T B) \le \lambda_j(A A^T + B B^T)$ for every $j$.

    Bhatia and Kittaneh (1990). Equality for $A = B$. With $A B^T$ in place of $A^T B$ it is false.
    """
    k = min(A.shape[-2:])
    values = torch.linalg.eigvalsh(A @ A.mT + B @ B.mT).flip(-1)[..., :k]
    scale = frobenius_squared(A) + frobenius_squared(B)
    return leq(2 * torch.linalg.svdvals(A.mT @ B)[..., :k], values, scale=scale[..., None])


@conjecture("fresh.rotfeld", instances=matrix_pairs(size=(1, 4)))
def test_rotfeld(A, B, *, q=Fraction(2, 3)):
    r"""$\|A + B\|_{S^q}^q \le \|A\|_{S^q}^q + \|B\|_{S^q}^q$ for $q = 2/3$.

    Rotfel'd (1969): true for $0 < q \le 1$, and for every concave function of the singular values
    that vanishes at 0. Equality for orthogonal row and column spaces.
    """
    noise = 1e-14 * (size(A) + size(B))
    return leq(schatten_power(A + B, q, noise), schatten_power(A, q) + schatten_power(B, q))


@conjecture("fresh.golden-thompson", instances=symmetric_pairs())
def test_golden_thompson(A, B):
    r"""$\operatorname{tr} e^{A+B} \le \operatorname{tr} e^A e^B$ for symmetric matrices.

    Golden (1965), Thompson (1965). Equality if and only if they commute.
    """
    right = torch.linalg.matrix_exp(A) @ torch.linalg.matrix_exp(B)
    return leq(trace(torch.linalg.matrix_exp(A + B)), trace(right))


@conjecture("fresh.commutator-with-a-definite-matrix", instances=definite_and_any())
def test_commutator_with_a_definite_matrix(A, B):
    r"""$\|AB - BA\| \le \|A\| \|B\|$ in the operator norm, for positive semidefinite $A$.

    Kittaneh (2007, as recalled): subtract $\frac12\|A\|$ from $A$. For symmetric $A$ there is a
    factor 2. Equality for $A = e_1 e_1^T$, $B = e_1 e_2^T$.
    """
    return leq(operator_norm(A @ B - B @ A), operator_norm(A) * operator_norm(B))


@conjecture(
    "fresh.recht-re-of-three",
    instances=positive_semidefinite_matrices(size=(1, 3), condition=100.0, count=3),
)
def test_recht_re_of_three(*factors):
    r"""$\|\frac16 \sum_\pi A_{\pi 1} A_{\pi 2} A_{\pi 3}\| \le \|\frac13(A_1 + A_2 + A_3)\|^3$.

    For positive semidefinite matrices. The conjecture of Recht and Ré (2012) is true of two and
    three matrices (Zhang 2018; Lai and Lim 2020), and false of five. Equality for equal matrices.
    """
    products = sum(A @ B @ C for A, B, C in permutations(factors))
    return leq(operator_norm(products / 6), operator_norm(sum(factors) / 3) ** 3)


@conjecture(
    "fresh.oppenheim-schur",
    instances=positive_semidefinite_matrices(size=(1, 3), condition=100.0, count=2),
)
def test_oppenheim_schur(A, B):
    r"""$\det A \prod b_{ii} + \det B \prod a_{ii} \le \det(A \circ B) + \det A \det B$.

    For positive semidefinite matrices (Horn and Johnson, 7.8.16, as recalled). Equality for diagonal
    ones.
    """
    a, b = (X.diagonal(dim1=-2, dim2=-1).prod(-1) for X in (A, B))
    det = torch.linalg.det
    return leq(det(A) * b + det(B) * a, det(A * B) + det(A) * det(B), scale=a * b)


@conjecture(
    "fresh.hlawka-for-determinants",
    instances=positive_semidefinite_matrices(size=(1, 3), condition=100.0, count=3),
)
def test_hlawka_for_determinants(A, B, C):
    r"""$|A+B| + |B+C| + |C+A| \le |A| + |B| + |C| + |A+B+C|$ for determinants.

    Of positive semidefinite matrices (Lin 2014). Equality where one is zero.
    """
    det = torch.linalg.det
    whole = trace(A + B + C) ** A.shape[-1]
    left = det(A + B) + det(B + C) + det(C + A)
    return leq(left, det(A) + det(B) + det(C) + det(A + B + C), scale=whole)


@conjecture("fresh.powers-stormer", instances=positive_semidefinite_matrices(size=(1, 4), count=2))
def test_powers_stormer(A, B):
    r"""$\|A^{1/2} - B^{1/2}\|_F^2 \le \|A - B\|_*$ for positive semidefinite matrices.

    Powers and Størmer (1970). Equality for orthogonal ranges, and for $B = 0$.
    """
    left = frobenius_squared(symmetric_sqrt(A) - symmetric_sqrt(B))
    return leq(left, nuclear_norm(A - B), scale=trace(A + B))


@conjecture("fresh.pseudo-inverses", instances=matrix_pairs(size=(1, 3)))
def test_pseudo_inverses(A, B):
    r"""$\|A^+ - B^+\|_F \le \max(\|A^+\|, \|B^+\|)^2 \|A - B\|_F$, whatever the ranks are.

    Wedin (1973) with $\sqrt 2$; Meng and Zheng (2010) without it, as recalled. Proof by the entries
    of both sides in singular bases, and the doubly stochastic matrices of the squares of the cosines.
    """
    X, Y = torch.linalg.pinv(A), torch.linalg.pinv(B)
    largest = torch.maximum(operator_norm(X), operator_norm(Y))
    return leq(size(X - Y), largest**2 * size(A - B), scale=1 + largest)


@conjecture("fresh.polar-factors", instances=two_polar_forms())
def test_polar_factors(Q, R, P, S):
    r"""$(\lambda_n(P) + \lambda_n(S)) \|Q - R\|_F \le 2 \|QP - RS\|_F$.

    For orthogonal $Q$, $R$ and positive definite $P$, $S$: the polar factor is Lipschitz (Li 1995).
    Equality for multiples of the identity that are equal.
    """
    least = torch.linalg.eigvalsh(P)[..., 0] + torch.linalg.eigvalsh(S)[..., 0]
    return leq(least * size(Q - R), 2 * size(Q @ P - R @ S), scale=size(P) + size(S))


@conjecture("fresh.fan-hoffman", instances=square(size=(1, 4)))
def test_fan_hoffman(A):
    r"""$\lambda_j(\frac12(A + A^T)) \le s_j(A)$ for every $j$.

    Fan and Hoffman (1955). Equality for positive semidefinite matrices. It is false of the absolute
    values of the eigenvalues.
    """
    values = torch.linalg.eigvalsh((A + A.mT) / 2).flip(-1)
    return leq(values, torch.linalg.svdvals(A), scale=size(A)[..., None])


@conjecture("fresh.fiedler", instances=positive_definite_matrices(size=(1, 4), condition=100.0))
def test_fiedler(A):
    r"""The least eigenvalue of $A \circ A^{-1}$ is 1 for positive definite $A$.

    Fiedler (1961) has $\ge$. Its rows sum to 1, which makes 1 an eigenvalue.
    """
    H = A * torch.linalg.inv(A)
    return eq(torch.linalg.eigvalsh(even(H))[..., 0], 1, scale=size(H))


@conjecture("fresh.ostrowski", instances=square(size=(1, 3)))
def test_ostrowski(A):
    r"""$\prod_i (|a_{ii}| - \sum_{j \ne i} |a_{ij}|) \le |\det A|$ if no factor is negative.

    Ostrowski (1937), Price (1951). Equality for diagonal matrices. Without the hypothesis it fails,
    as for the rows $(1, 1, 1)$, $(1, 1, 1)$ and $(0, 0, 1)$.
    """
    gaps = 2 * A.diagonal(dim1=-2, dim2=-1).abs() - A.abs().sum(-1)
    product, dominant = gaps.prod(-1), (gaps >= 0).all(-1)
    scale = A.abs().sum(-1).prod(-1)
    return leq(product, torch.linalg.det(A).abs(), scale=scale, where=dominant)


# Ranks and counts


@conjecture("fresh.tangent-of-a-product", instances=integer_factors())
def test_tangent_of_a_product(U, V):
    r"""The derivative of $(U, V) \mapsto UV$ has rank $n\,r(U) + m\,r(V) - r(U)\,r(V)$.

    It maps to $XV + UY$. For factors of full rank $r$ that is $r(m + n - r)$, the dimension of the
    matrices of rank $r$ (cf. Trager, Kohn and Bruna 2020). Any ranks occur.
    """
    (m, r), n = U.shape[-2:], V.shape[-1]
    batch = U.shape[:-2]
    left = eye(m, like=U)[:, None, :, None] * V.mT[..., None, :, None, :]
    right = U[..., :, None, :, None] * eye(n, like=U)[None, :, None, :]
    tangent = torch.cat(
        (left.reshape((*batch, m * n, m * r)), right.reshape((*batch, m * n, r * n))), -1
    )
    u, v = rank(U), rank(V)
    return eq(rank(tangent), n * u + m * v - u * v)


@conjecture("fresh.rank-of-the-square", instances=matrices_of_low_rank())
def test_rank_of_the_square(A, r):
    r"""$\operatorname{rank}(A \circ A) \le \binom{r+1}{2}$ for a matrix of rank $r$.

    The square of a sum of $r$ products has so many different terms (Horn and Johnson, 5.1.7, as
    recalled). Equality in general, where the matrix is large enough.
    """
    return leq(rank(A * A, noise=1e-12 * frobenius_squared(A)), math.comb(r + 1, 2))


@conjecture("fresh.near-projections", instances=projections(size=(1, 4), count=2))
def test_near_projections(P, Q):
    r"""Projections with $\|P - Q\| < 1$ have the same rank.

    Kato, I.4.6. At $\|P - Q\| = 1$ the ranks may differ.
    """
    return eq(rank(P), rank(Q), where=operator_norm(P - Q) < 1)


@conjecture("fresh.frobenius-of-three", instances=small_integers(size=(2, 4), count=3))
def test_frobenius_of_three(A, B, C):
    r"""$\operatorname{rank} AB + \operatorname{rank} BC \le \operatorname{rank} B + \operatorname{rank} ABC$.

    Frobenius (1911). The matrices have integer entries, so that floats compute the products exactly.
    """
    return leq(rank(A @ B) + rank(B @ C), rank(B) + rank(A @ B @ C))


@conjecture("fresh.effective-rank", instances=matrices())
def test_effective_rank(A):
    r"""$e^H \le \operatorname{rank} A$ for the entropy $H$ of the singular values over their sum.

    The effective rank of $A \ne 0$ is at most the rank (Roy and Vetterli 2007). Equality for multiples of
    partial isometries.
    """
    s = torch.linalg.svdvals(A)
    total = s.sum(-1, keepdim=True)
    entropy = torch.special.entr(s / torch.where(total > 0, total, 1 + total)).sum(-1)
    return leq(entropy.exp(), rank(A), where=total[..., 0] > 0)


@conjecture("fresh.majorised-by-averaging", instances=doubly_stochastic_and_vector())
def test_majorised_by_averaging(D, x):
    r"""$Dx \prec x$ for doubly stochastic $D$: the $k$ largest entries have no larger a sum.

    Hardy, Littlewood and Pólya (1929). Equality at $k = n$, and for permutations.
    """

    def sums(v):
        return torch.cumsum(torch.sort(v, dim=-1, descending=True).values, -1)

    y = (D @ x[..., None])[..., 0]
    return leq(sums(y), sums(x), scale=x.abs().sum(-1, keepdim=True))


@conjecture("fresh.turan", instances=zonal_points())
def test_turan(d, n, t):
    r"""$P_{d,n-1}(t)\, P_{d,n+1}(t) \le P_{d,n}(t)^2$ for $|t| \le 1$.

    Turán (1946) for $d = 3$, Szász (1950) for the others; the polynomials are 1 at 1. Equality at
    $t = \pm 1$; for $d = 2$ the difference is $1 - t^2$.
    """
    return leq(
        legendre(d, n - 1, t) * legendre(d, n + 1, t), legendre(d, n, t) ** 2, scale=1 + t**2
    )


@conjecture("fresh.pairs-and-order", instances=numbers())
def test_pairs_and_order(x):
    r"""$\sum_{i < j} \max(x_i, x_j) = \sum_k (k - 1)\, x_{(k)}$ for $x_{(1)} \le x_{(2)} \le \ldots$

    The $k$-th smallest of $n$ numbers is the larger one in $k - 1$ pairs, whichever ties there are.
    """
    n = x.shape[-1]
    i, j = map(list, zip(*combinations(range(n), 2), strict=True))
    pairs = torch.maximum(x[..., i], x[..., j]).sum(-1)
    weights = torch.arange(n, dtype=torch.float64)
    ordered = (torch.sort(x, dim=-1).values * weights).sum(-1)
    return eq(pairs, ordered, scale=n * x.abs().sum(-1))


# Networks


@conjecture("fresh.euler", instances=networks_at_points(depth=(1, 4), biases=False))
def test_euler(net, x):
    r"""$L^2 \|f(x)\|^2 \le \|\theta\|^2\, \|\Theta(x, x)\|$ for networks without biases.

    By $\langle \theta, \nabla_\theta f \rangle = L f$ and Cauchy and Schwarz, along the direction of
    $f(x)$. With biases it is false.
    """
    value = (net(x) ** 2).sum(-1)
    return leq(net.depth**2 * value, net.cost() * operator_norm(ntk(net, x, x)))


@conjecture("fresh.imbalance-after-a-step", instances=factors_target_and_step())
def test_imbalance_after_a_step(W1, W2, M, step):
    r"""$D' = D + \eta^2 (W_1 G^T G W_1^T - W_2^T G G^T W_2)$ for $D = W_2^T W_2 - W_1 W_1^T$.

    After a step of descent on $\frac12\|W_2 W_1 - M\|_F^2$, with $G = W_2 W_1 - M$. The terms of
    order $\eta$ cancel: gradient flow conserves $D$ (Du, Hu and Lee 2018).
    """
    G = W2 @ W1 - M
    eta = step[..., None, None]
    V1, V2 = W1 - eta * W2.mT @ G, W2 - eta * G @ W1.mT
    before, after = W2.mT @ W2 - W1 @ W1.mT, V2.mT @ V2 - V1 @ V1.mT
    change = W1 @ G.mT @ G @ W1.mT - W2.mT @ G @ G.mT @ W2
    parts = (W1, W2, V1, V2, eta * G @ W1.mT, eta * W2.mT @ G)
    scale = torch.stack([frobenius_squared(part) for part in parts], -1).sum(-1)
    return eq(after, before + eta**2 * change, scale=scale[..., None, None])


@conjecture("fresh.pieces-of-two-layers", instances=scalar_networks())
def test_pieces_of_two_layers(net):
    r"""A ReLU network on the line with two hidden layers has at most $(n_1 + 1)(n_2 + 1)$ pieces.

    The first layer makes $n_1 + 1$, and on each of them a unit of the second one has one kink at
    most (cf. Montúfar et al. 2014). Attained for (3, 2).
    """
    _, n1, n2, _ = net.widths
    return leq(linear_pieces(region_arrays(net, -4, 4)), (n1 + 1) * (n2 + 1))


@conjecture(
    "fresh.steepest-of-two-regions", instances=pairs_of_points(regions="neighbouring", depth=(2, 3))
)
def test_steepest_of_two_regions(net, x, y):
    r"""$\|f(x) - f(y)\| \le \max(\|Jf(x)\|, \|Jf(y)\|)\, \|x - y\|$ in neighbouring regions.

    The segment lies in the two, and $f$ is affine on both parts. With a third region between them
    it is false.
    """
    steepest = torch.maximum(operator_norm(net.jacobian(x)), operator_norm(net.jacobian(y)))
    difference = (net(x) - net(y)).norm(dim=-1)
    scale = network_scale(net, x) + network_scale(net, y)
    return leq(difference, steepest * (x - y).norm(dim=-1), scale=scale.amax(-1))


@conjecture("fresh.incremental-quadratic", instances=two_points_and_slope())
def test_incremental_quadratic(x, y, slope):
    r"""$\|\Delta e\|^2 + a \|\Delta x\|^2 \le (1 + a) \langle \Delta e, \Delta x \rangle$.

    For $\Delta x = x - y$, $\Delta e = \sigma_a(x) - \sigma_a(y)$ and slopes in $[-1, 1]$: that is
    $(q - a)(1 - q) \ge 0$ for each quotient $q$ (Fazlyab et al. 2019). Equality on one side of 0.
    """
    a = slope[..., None]
    dx, de = x - y, leaky(x, a) - leaky(y, a)
    squares, product = de**2 + a * dx**2, (1 + a) * de * dx
    scale = (x.abs() + y.abs()).sum(-1) ** 2
    return leq(squares.sum(-1), product.sum(-1), scale=scale)


@conjecture("fresh.nonnegative-weights", instances=networks_at_points(depth=(1, 4)))
def test_nonnegative_weights(net, x):
    r"""$\|Jf(x)\| \le \|W_L \cdots W_1\|$ for weights $\ge 0$ and any slope in $(-1, 1)$.

    Combettes and Pesquet (2020): entry by entry the Jacobian is at most the product. With negative
    weights it is false, as for $|x|$.
    """
    positive = net.with_parameters(tuple(W.abs() for W in net.weights), net.biases)
    product = positive.weights[0]
    for W in positive.weights[1:]:
        product = W @ product
    return leq(operator_norm(positive.jacobian(x)), operator_norm(product))


@conjecture("fresh.feature-matrix-of-a-balanced-network", instances=balanced_linear_networks())
def test_feature_matrix_of_a_balanced_network(net, x):
    r"""$(W_1^T W_1)^L = Jf^T Jf$ for a balanced network that is linear where it is active.

    From $W_{\ell+1}^T W_{\ell+1} = W_\ell W_\ell^T$ (Arora et al. 2018); the feature ansatz of
    Radhakrishnan et al. (2024) in the case where it is exact. The networks have least cost.
    """
    J, features = net.jacobian(x), net.weights[0].mT @ net.weights[0]
    power = torch.linalg.matrix_power(features, net.depth)
    return eq(power, J.mT @ J, scale=frobenius_squared(J)[..., None, None])


@conjecture("fresh.rank-by-active-units", instances=networks_at_points(depth=(2, 4), slopes="relu"))
def test_rank_by_active_units(net, x):
    r"""$\operatorname{rank} Jf(x)$ is at most the number of active units of each hidden layer.

    For the ReLU: the Jacobian factors through the active units (cf. Jacot 2023). It is false of
    leaky ones.
    """
    active = torch.stack([layer.sum(-1) for layer in net.pattern(x)], -1)
    return leq(rank(net.jacobian(x), noise=net.jacobian_noise(x)), active.amin(-1))
