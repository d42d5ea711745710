"""Thirty false statements, written from the literature, without a look at the search.

Each distorts a theorem of the field, or is a belief that was published, asked or naive, in the form
in which somebody might conjecture it. They were written before any of them was put to a search, and
each counterexample was checked without rankcheck. The docstring names one.
"""

from fractions import Fraction

import torch

from rankcheck import conjecture, eq, leq, lt
from rankcheck.costs import (
    linear_cost,
    log_gram_squared,
    path_norm,
    total_variation_of_derivative,
)
from rankcheck.instances import (
    away_from_zero,
    doubly_stochastic_matrices,
    instances,
    matrices,
    matrix,
    matrix_pairs,
    network,
    networks_at_points,
    networks_with_inputs,
    pairs_of_points,
    positive_definite_matrices,
    positive_semidefinite_matrices,
    signs,
    symmetric_matrices,
    unit_vectors,
)
from rankcheck.linalg import (
    eye,
    frobenius_squared,
    log_pseudo_determinant,
    operator_norm,
    permanent,
    rank,
    schatten_norm,
    schatten_power,
    symmetric_power,
    symmetric_sqrt,
)
from rankcheck.networks import leaky, ntk
from rankcheck.regions import linear_pieces, region_arrays
from rankcheck.witnesses import all_signs

from ._families import factors_target_and_step, matrices_of_low_rank, size, trace


@instances
def symmetric_triples(source, *, size=(2, 3)):
    """Three symmetric matrices with entries up to 2."""
    n = source.integer(*size)
    drawn = [source.tensor(n, n, low=-1.0, high=1.0) for _ in range(3)]
    return tuple(A + A.mT for A in drawn)


@instances
def three_vectors(source, *, dimension=(1, 4)):
    n = source.integer(*dimension)
    return tuple(source.tensor(n) for _ in range(3))


@instances
def two_vectors(source, *, dimension=(2, 4)):
    n = source.integer(*dimension)
    return source.tensor(n), source.tensor(n)


@instances
def blocks(source, *, size=(2, 3), corner=(1, 2)):
    """The four blocks of a matrix, the first of which is square."""
    n, k = source.integer(*size), source.integer(*corner)
    A = matrix(source, n, n)
    return A, source.tensor(n, k), source.tensor(k, n), source.tensor(k, k)


@instances
def matrices_of_signs(source, *, size=(1, 4)):
    n = source.integer(*size)
    return signs(source, n, n)


@instances
def two_logits(source, *, number=(2, 4)):
    n = source.integer(*number)
    return source.tensor(n, low=-2.0, high=2.0), source.tensor(n, low=-2.0, high=2.0)


@instances
def contractive_matrices_and_depth(source, *, size=(1, 4), depth=(2, 6)):
    """A matrix with entries in [-1, 1], and a depth."""
    m, n = source.integer(*size), source.integer(*size)
    return source.tensor(m, n, low=-1.0, high=1.0), source.integer(*depth)


@instances
def matrices_and_depth(source, *, size=(1, 3), depth=(3, 6)):
    return matrix(source, source.integer(*size), source.integer(*size)), source.integer(*depth)


@instances
def scalar_networks(source, *, depth=(3, 3), width=(1, 3)):
    """A ReLU network from the line to the line."""
    return network(source, depth=depth, width=width, inputs=1, outputs=1, slopes="relu")


@instances
def scalar_networks_and_points(source, *, depth=(2, 4), width=(1, 3), points=(2, 5)):
    net = network(source, depth=depth, width=width, inputs=1, slopes="relu")
    return net, source.tensor(source.integer(*points))


@instances
def units_of_the_line(source, *, units=(1, 4)):
    """Units a_k [w_k x + b_k]_+ of one variable: W (K × 1), b, a."""
    K = source.integer(*units)
    return away_from_zero(source, K, 1), source.tensor(K), source.tensor(K)


@instances
def bilinear_forms_and_directions(source, *, size=(2, 3)):
    """A matrix, and a unit vector of the plane for each of its rows and columns."""
    n = source.integer(*size)
    return source.tensor(n, n), unit_vectors(source, n, 2), unit_vectors(source, n, 2)


# Matrices


@conjecture("fresh.golden-thompson-of-three", instances=symmetric_triples())
def test_golden_thompson_of_three(A, B, C):
    r"""$\operatorname{tr} e^{A+B+C} \le |\operatorname{tr} e^A e^B e^C|$ for symmetric matrices.

    Golden and Thompson (1965) for two matrices; the extension to three fails (Thompson; Lieb 1973
    has the one with an integral). The right side vanishes for some $2 \times 2$ matrices.
    """
    expA, expB, expC = (torch.linalg.matrix_exp(X) for X in (A, B, C))
    return leq(trace(torch.linalg.matrix_exp(A + B + C)), trace(expA @ expB @ expC).abs())


@conjecture(
    "fresh.loewner-heinz-past-one", instances=positive_semidefinite_matrices(size=(2, 3), count=2)
)
def test_loewner_heinz_past_one(B, C, *, q=Fraction(21, 20)):
    r"""$(B + C)^q \succeq B^q$ for positive semidefinite $B$, $C$, with $q = 21/20$.

    Löwner (1934) and Heinz (1951) for $0 \le q \le 1$, and for no $q > 1$. False for $B$ all ones
    and $C = \operatorname{diag}(1, 0)$.
    """
    difference = symmetric_power(B + C, q) - symmetric_power(B, q)
    return leq(0, torch.linalg.eigvalsh(difference)[..., 0], scale=size(B + C))


@conjecture("fresh.lipschitz-modulus", instances=matrix_pairs(size=(1, 3)))
def test_lipschitz_modulus(A, B, *, constant=1.4):
    r"""$\| |A| - |B| \|_F \le 1.4\, \|A - B\|_F$ with $|A| = (A^T A)^{1/2}$.

    Araki and Yamagami (1981) have $\sqrt 2$, which is best. False for $A = e_1 v^T$, $B = e_1 w^T$
    with unit vectors such that $\langle v, w \rangle = 40/41$: the quotient is
    $\sqrt{1 + \langle v, w \rangle}$.
    """
    difference = symmetric_sqrt(A.mT @ A) - symmetric_sqrt(B.mT @ B)
    return leq(size(difference), constant * size(A - B), scale=size(A) + size(B))


@conjecture("fresh.wedin-in-operator-norm", instances=matrix_pairs(size=(1, 3)))
def test_wedin_in_operator_norm(A, B):
    r"""$\|A^+ - B^+\| \le \max(\|A^+\|, \|B^+\|)^2 \|A - B\|$ in the operator norm.

    True in the Frobenius norm (Meng and Zheng 2010, as recalled). In the operator norm Wedin (1973)
    has the factor $(1 + \sqrt 5)/2$. True for invertible matrices; false for
    $A = e_1 e_1^T$ and an invertible $2 \times 2$ matrix $B$.
    """
    X, Y = torch.linalg.pinv(A), torch.linalg.pinv(B)
    largest = torch.maximum(operator_norm(X), operator_norm(Y))
    return leq(operator_norm(X - Y), largest**2 * operator_norm(A - B), scale=1 + largest)


@conjecture(
    "fresh.unit-diagonal", instances=positive_definite_matrices(size=(2, 4), condition=100.0)
)
def test_unit_diagonal(A):
    r"""Scaling a positive definite matrix to unit diagonal does not increase its condition number.

    $\kappa(DAD) \le \kappa(A)$ with $d_i = a_{ii}^{-1/2}$. Van der Sluis (1969): it is at most $n$
    times the least one over all diagonal $D$. True for $2 \times 2$ matrices, false for $3 \times 3$.
    """
    d = A.diagonal(dim1=-2, dim2=-1).rsqrt()
    before = torch.linalg.eigvalsh(A)
    after = torch.linalg.eigvalsh(d[..., :, None] * A * d[..., None, :])
    return leq(after[..., -1] * before[..., 0], before[..., -1] * after[..., 0])


@conjecture("fresh.relu-of-a-gram", instances=positive_semidefinite_matrices(size=(1, 4)))
def test_relu_of_a_gram(A):
    """The ReLU, entry by entry, of a positive semidefinite matrix is positive semidefinite.

    As are powers (Schur 1911), and $|a|^q$ for $q \\ge n - 2$ alone (Hiai 2009, as recalled). True up
    to $3 \times 3$. False for the inner products of unit vectors of the plane at 0, 45, 90 and 135
    degrees.
    """
    return leq(0, torch.linalg.eigvalsh(torch.relu(A))[..., 0], scale=size(A))


@conjecture("fresh.hlawka-in-the-sup-norm", instances=three_vectors())
def test_hlawka_in_the_sup_norm(x, y, z):
    r"""$\|x+y\| + \|y+z\| + \|z+x\| \le \|x\| + \|y\| + \|z\| + \|x+y+z\|$ in the sup norm.

    Hlawka's inequality: true in Euclidean norms, and in every norm of the plane. False for
    $(-1, 1, 1)$, $(1, -1, 1)$ and $(1, 1, -1)$, with 6 and 4.
    """
    sup = [v.abs().amax(-1) for v in (x + y, y + z, z + x, x, y, z, x + y + z)]
    return leq(sum(sup[:3]), sum(sup[3:]))


@conjecture("fresh.smoothness-of-schatten-four", instances=matrix_pairs(size=(1, 3)))
def test_smoothness_of_schatten_four(A, B, *, constant=Fraction(29, 10)):
    r"""$\frac12(\|A+B\|_{S^4}^2 + \|A-B\|_{S^4}^2) \le \|A\|_{S^4}^2 + 2.9\, \|B\|_{S^4}^2$.

    Ball, Carlen and Lieb (1994) have $p - 1 = 3$, which is best. False for $A = 1$,
    $B = \frac1{10} \operatorname{diag}(1, -1)$.
    """
    plus, minus, a, b = (schatten_norm(X, 4) ** 2 for X in (A + B, A - B, A, B))
    return leq((plus + minus) / 2, a + b * constant.numerator / constant.denominator)


@conjecture("fresh.majorant-in-schatten-three", instances=matrices(rows=(1, 3), columns=(1, 3)))
def test_majorant_in_schatten_three(A, *, p=3):
    r"""$\|A\|_{S^3} \le \| (|a_{ij}|) \|_{S^3}$: signs of the entries only make the norm smaller.

    True for $p = 2, 4, 6, \ldots$ and for the operator norm. False for $p = 3$ and the skew matrix
    with 1 above the diagonal: $2 \cdot 3^{3/2} > 10$. (The majorant problem in $S^p$: Peller;
    Simon; as recalled.)
    """
    return leq(schatten_power(A, p), schatten_power(A.abs(), p))


@conjecture("fresh.leading-minors", instances=symmetric_matrices(size=(1, 3)))
def test_leading_minors(A):
    r"""A symmetric matrix whose leading principal minors are $\ge 0$ is positive semidefinite.

    Sylvester's criterion, with $\ge$ in place of $>$ (all principal minors would have to be
    $\ge 0$). False for $\operatorname{diag}(0, -1)$.
    """
    n = A.shape[-1]
    minors = torch.stack([torch.linalg.det(A[..., :k, :k]) for k in range(1, n + 1)], -1)
    least = torch.linalg.eigvalsh(A)[..., 0]
    return leq(0, least, scale=size(A), where=(minors >= 0).all(-1))


# Ranks, counts, integers


@conjecture("fresh.rank-of-the-relu", instances=matrices_of_low_rank(ranks=(1, 2)))
def test_rank_of_the_relu(A, r):
    r"""$\operatorname{rank} \sigma(A) \le 2 \operatorname{rank} A$ for the entrywise ReLU.

    True for rank one, where $\sigma(uv^T) = u_+ v_+^T + u_- v_-^T$. For rank two the ReLU can have
    any rank, as Saul (2022) uses it; the first counterexamples are $5 \times 5$.
    """
    return leq(rank(torch.relu(A), noise=1e-12 * size(A)), 2 * r)


@conjecture("fresh.rank-of-the-entrywise-square", instances=matrices_of_low_rank())
def test_rank_of_the_entrywise_square(A, r):
    r"""$\operatorname{rank}(A \circ A) \le 2r - 1$ for a matrix of rank $r$.

    The bound is $r(r+1)/2$, which is 1, 3, 6. False for $r = 3$ alone, and for matrices that are
    $6 \times 6$ or larger.
    """
    return leq(rank(A * A, noise=1e-12 * frobenius_squared(A)), 2 * r - 1)


@conjecture("fresh.rank-by-the-schur-complement", instances=blocks())
def test_rank_by_the_schur_complement(A, B, C, D):
    r"""The rank of a block matrix is $\operatorname{rank} A + \operatorname{rank}(D - C A^+ B)$.

    Guttman (1946) for invertible $A$; for others the ranges of $B$ and $C^T$ have to lie in those of
    $A$ and $A^T$. False for $A = 0$, with $B$ and $C$ not zero.
    """
    whole = torch.cat((torch.cat((A, B), -1), torch.cat((C, D), -1)), -2)
    complement = D - C @ torch.linalg.pinv(A) @ B
    noise = 1e-10 * (1 + size(whole))
    return eq(rank(whole, noise=noise), rank(A, noise=noise) + rank(complement, noise=noise))


@conjecture("fresh.determinants-of-signs", instances=matrices_of_signs())
def test_determinants_of_signs(S):
    r"""$|\det S| \le 2^{n-1}$ for an $n \times n$ matrix of signs.

    $2^{n-1}$ divides the determinant. True for $n \le 3$, where the largest determinants are 1, 2
    and 4. False for Hadamard matrices of order 4, with $4^{4/2} = 16$.
    """
    return leq(torch.linalg.det(S).abs(), 2 ** (S.shape[-1] - 1))


@conjecture("fresh.pieces-of-depth-three", instances=scalar_networks())
def test_pieces_of_depth_three(net):
    r"""A ReLU network on the line with two hidden layers has at most $n_1 n_2 + n_1 + 1$ pieces.

    The first layer has $n_1$ kinks, and a function with $n_1$ units was thought to have at most
    $n_1$ zeros. That is true for $n_1 \le 2$. Three units can zigzag through zero four times, and
    the bound is $(n_1 + 1)(n_2 + 1)$ (cf. Montúfar et al. 2014; Serra et al. 2018); (3, 2) has 12.
    """
    _, n1, n2, _ = net.widths
    return leq(linear_pieces(region_arrays(net, -4, 4)), n1 * n2 + n1 + 1)


@conjecture("fresh.turns-along-a-line", instances=scalar_networks_and_points())
def test_turns_along_a_line(net, x):
    """From left to right each hidden unit changes its sign at most once.

    So all units together change their signs at most as often as there are units. True at depth two.
    At depth three a unit that sees |x| turns twice.
    """
    x = torch.sort(x, dim=-1).values.unsqueeze(-1)
    active = torch.cat(net.pattern(x), -1)
    turns = (active[..., 1:, :] != active[..., :-1, :]).sum((-2, -1))
    return leq(turns, sum(net.widths[1:-1]))


# Stochastic matrices and entropies


@conjecture("fresh.permanent-of-a-square", instances=doubly_stochastic_matrices(size=(1, 4)))
def test_permanent_of_a_square(A):
    r"""$\operatorname{per} A^2 \le \operatorname{per} A$ for doubly stochastic $A$.

    Asked on MathOverflow (422029), after random tests; it would imply van der Waerden's conjecture.
    False for $A = \frac12(1 + P)$ with a cycle $P$ of length 4: $9/64 > 8/64$.
    """
    return leq(permanent(A @ A), permanent(A))


@conjecture("fresh.pinsker", instances=two_logits())
def test_pinsker(x, y, *, constant=0.52):
    r"""$D(p \| q) \ge 0.52\, \|p - q\|_1^2$ for $p$, $q$ the softmax of $x$, $y$.

    Pinsker's inequality has $1/2$, which is best. False for two entries and $p$, $q$ near
    $(1/2, 1/2)$.
    """
    p, q = torch.softmax(x, -1), torch.softmax(y, -1)
    divergence = (p * (torch.log_softmax(x, -1) - torch.log_softmax(y, -1))).sum(-1)
    return leq(constant * (p - q).abs().sum(-1) ** 2, divergence, scale=p.sum(-1))


@conjecture("fresh.effective-rank-of-a-sum", instances=matrix_pairs(size=(1, 4)))
def test_effective_rank_of_a_sum(A, B):
    r"""$\operatorname{erank}(A + B) \le \operatorname{erank} A + \operatorname{erank} B$.

    Here $\operatorname{erank}$ is $e^H$ for the entropy $H$ of the singular values over their sum
    (Roy and Vetterli 2007). True for positive semidefinite matrices. False for
    $A = \operatorname{diag}(1, t, t, t)$, $B = \operatorname{diag}(-1, 0, 0, 0)$.
    """

    def effective_rank(X):
        s = torch.linalg.svdvals(X)
        total = s.sum(-1, keepdim=True)
        return torch.special.entr(s / torch.where(total > 0, total, 1 + total)).sum(-1).exp()

    nonzero = (frobenius_squared(A) > 0) & (frobenius_squared(B) > 0)
    return leq(effective_rank(A + B), effective_rank(A) + effective_rank(B), where=nonzero)


@conjecture("fresh.lazy-walk", instances=doubly_stochastic_matrices(size=(2, 4)))
def test_lazy_walk(A):
    r"""The lazy walk contracts: $s_2(\frac12(1 + A)) < 1$ for doubly stochastic $A$.

    Laziness removes periods, and the theorem of Perron and Frobenius wants irreducibility as well.
    False for the identity, and for sums of blocks alone.
    """
    lazy = (eye(A.shape[-1], like=A) + A) / 2
    return lt(torch.linalg.svdvals(lazy)[..., 1], 1)


# Networks


@conjecture(
    "fresh.steepest-at-the-ends", instances=pairs_of_points(regions="different", depth=(2, 3))
)
def test_steepest_at_the_ends(net, x, y):
    r"""$\|f(x) - f(y)\| \le \max(\|Jf(x)\|, \|Jf(y)\|)\, \|x - y\|$.

    True for points of one region, and of two neighbouring ones. False with a third one between
    them, as for $\sigma(x + 1) - \sigma(-x)$ at $-2$ and $1$.
    """
    steepest = torch.maximum(operator_norm(net.jacobian(x)), operator_norm(net.jacobian(y)))
    a, b = net(x), net(y)
    scale = a.norm(dim=-1) + b.norm(dim=-1)
    return leq((a - b).norm(dim=-1), steepest * (x - y).norm(dim=-1), scale=scale)


@conjecture("fresh.euclidean-path-norm", instances=networks_at_points(depth=(1, 4), slopes="relu"))
def test_euclidean_path_norm(net, x):
    r"""$\|Jf(x)\| \le (\sum_{\text{paths}} \prod w^2)^{1/2}$, the path norm of exponent 2.

    The one that Neyshabur, Salakhutdinov and Srebro (2015) descend on. True for exponent 1, and at
    depth one. False for two equal units: $2 > \sqrt 2$.
    """
    return leq(operator_norm(net.jacobian(x)), path_norm(net, 2, biases=False))


@conjecture("fresh.euler-with-biases", instances=networks_at_points(depth=(1, 4)))
def test_euler_with_biases(net, x):
    r"""$L^2 \|f(x)\|^2 \le \|\theta\|^2\, \|\Theta(x, x)\|$ for the tangent kernel with its biases.

    By Euler's identity $\langle \theta, \nabla_\theta f \rangle = L f$, which is that of networks
    without biases: $f$ is not homogeneous in the biases. False where all hidden units are
    dead, and the last bias is not zero.
    """
    kernel = ntk(net, x, x, biases=True)
    value = (net(x) ** 2).sum(-1)
    return leq(net.depth**2 * value, net.cost() * operator_norm(kernel))


@conjecture("fresh.a-step-balances", instances=factors_target_and_step())
def test_a_step_balances(W1, W2, M, step):
    r"""A step of gradient descent on $\frac12\|W_2 W_1 - M\|_F^2$ brings no imbalance.

    $\|W_2^T W_2 - W_1 W_1^T\|_F$ does not increase if $\eta \|W_2 W_1 - M\|_F \le 1$. True for
    numbers, where it is multiplied by $1 - \eta^2 g^2$ (cf. Wang et al. 2022). False for
    $W_1 = W_2 = 1$ and a target that is not normal.
    """
    G = W2 @ W1 - M
    eta = step[..., None, None]
    V1, V2 = W1 - eta * W2.mT @ G, W2 - eta * G @ W1.mT
    before, after = W2.mT @ W2 - W1 @ W1.mT, V2.mT @ V2 - V1 @ V1.mT
    small = step**2 * frobenius_squared(G) <= 1
    return leq(frobenius_squared(after), frobenius_squared(before), where=small)


@conjecture("fresh.variation-of-the-slope", instances=units_of_the_line())
def test_variation_of_the_slope(W, b, a):
    r"""$\int |f''| = \sum_k |a_k| |w_k|$ for $f(x) = \sum_k a_k \sigma(w_k x + b_k)$.

    Savarese et al. (2019) have this for the least sum. With distinct kinks it is true of
    every network. False where kinks coincide and the jumps cancel, as for $\sigma(x) - \sigma(x)$.
    """
    return eq(total_variation_of_derivative(W, b, a), (a.abs() * W[..., 0].abs()).sum(-1))


@conjecture("fresh.a-layer-more", instances=contractive_matrices_and_depth())
def test_a_layer_more(A, L):
    r"""One more layer does not make a linear map cheaper: the least $\|\theta\|^2$ increases with $L$.

    For $L \ge 2$ and entries in $[-1, 1]$. The cost of a singular value is $L s^{2/L}$, which falls
    from $L = 2$ to 3 if $s > 27/8$. False for rank one and $4 \times 4$ signs.
    """
    return leq(linear_cost(A, L), linear_cost(A, L + 1))


@conjecture("fresh.cost-to-second-order", instances=matrices_and_depth())
def test_cost_to_second_order(A, L):
    r"""$L \|A\|_{S^{2/L}}^{2/L} \le L \operatorname{rank} A + 2 \log |A|_+ + \|\log_+ A^T A\|_F^2 / L$.

    The expansion of the cost (cf. Jacot 2023), with twice its second term for the remainder: true
    where $e^t \le 1 + t + t^2$, for $t = \frac2L \log s$ up to 1.79. False for $L = 3$ and one
    singular value from 15 on.
    """
    expansion = L * rank(A) + 2 * log_pseudo_determinant(A) + log_gram_squared(A) / L
    return leq(linear_cost(A, L), expansion)


@conjecture(
    "fresh.convex-by-the-last-layer",
    instances=networks_with_inputs(
        depth=(2, 3), points=(2, 2), slopes="relu", differentiable=False
    ),
)
def test_convex_by_the_last_layer(net, x):
    r"""A ReLU network whose last weights are $\ge 0$ is convex in its input.

    Amos, Xu and Kolter (2017) want it of all weights but the first. That is the same at depth two.
    False at depth three, for $\sigma(1 - \sigma(x))$.
    """
    last = net.weights[-1].abs()
    convex = net.with_parameters((*net.weights[:-1], last), net.biases)
    values = convex(x)
    middle = convex(x.mean(-2))
    return leq(middle, values.mean(-2), scale=1 + values.abs().amax((-2, -1))[..., None])


@conjecture("fresh.coupled-multipliers", instances=two_vectors())
def test_coupled_multipliers(x, y):
    r"""$(\Delta e_i - \Delta e_j)(\Delta x_i - \Delta x_j) \ge (\Delta e_i - \Delta e_j)^2$ for the ReLU.

    Here $\Delta x = x - y$ and $\Delta e = \sigma(x) - \sigma(y)$. Fazlyab et al. (2019) had it in
    a lemma on Lipschitz constants; Pauli et al. (2021) showed that units may not be coupled (as
    recalled). True of each unit alone. False for $x = (1, -1)$, $y = (0, -2)$.
    """
    dx, de = x - y, leaky(x, 0.0) - leaky(y, 0.0)
    dx, de = (v[..., :, None] - v[..., None, :] for v in (dx, de))
    return leq(de**2, de * dx)


@conjecture("fresh.planar-grothendieck", instances=bilinear_forms_and_directions())
def test_planar_grothendieck(A, u, v, *, constant=1.4):
    r"""$\sum a_{ij} \langle u_i, v_j \rangle \le 1.4 \max \sum a_{ij} x_i y_j$ over signs.

    For unit vectors of the plane. The constant is $\sqrt 2$ (Krivine 1979). False for
    $a = (1, 1; 1, -1)$, with $2 \sqrt 2$ and 2, as in the inequality of Clauser, Horne, Shimony
    and Holt.
    """
    best = (all_signs(A.shape[-1], like=A) @ A).abs().sum(-1).amax(-1)
    return leq((A * (u @ v.mT)).sum((-2, -1)), constant * best)
