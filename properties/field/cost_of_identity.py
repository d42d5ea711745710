"""Leaky ResNets: the cost of the identity is at least a stable rank of the representations."""

from functools import reduce

import torch

from rankcheck import bound, costs, eq, identity, leq, linalg, paper
from rankcheck.instances import Source, instances, matrices, positive, unit_vectors


def nonnegative(source: Source, m: int, n: int):
    """An m × n matrix ≥ 0, in half of the shapes one of lower rank."""
    k = source.integer(1, min(m, n))
    if k == min(m, n):
        return source.tensor(m, n, low=0.0, high=4.0)
    return source.tensor(m, k, low=0.0, high=2.0) @ source.tensor(k, n, low=0.0, high=2.0)


@instances
def nonnegative_matrices(source: Source):
    """A matrix ≥ 0, of any rank."""
    return nonnegative(source, source.integer(1, 4), source.integer(1, 4))


@instances
def representations(source: Source):
    """Matrices whose rows are combinations of those of σ(A).

    Either rows P ≥ 0 of any rank and combinations of these; or a square block whose positive part
    is triangular with a positive diagonal, and any rows.
    """
    kind = source.choice(("combinations", "triangular", "nonnegative"))
    n = source.integer(1, 3)
    if kind == "nonnegative":
        return nonnegative(source, source.integer(1, 4), n)
    if kind == "combinations":
        k = source.integer(1, 3)
        P = nonnegative(source, k, n)
        return torch.cat((P, source.tensor(source.integer(1, 3), k, low=-3.0, high=3.0) @ P))
    square = source.tensor(n, n, low=-4.0, high=4.0)
    block = square.triu(1) - square.tril(-1).abs() + torch.diag_embed(positive(source, n, low=0.5))
    rows = source.integer(0, 2)
    return torch.cat((block, source.tensor(rows, n, low=-4.0, high=4.0))) if rows else block


@instances
def disjoint_isometries(source: Source):
    """t Σ u_i v_iᵀ with unit vectors u_i ≥ 0 of disjoint supports, and v_i likewise."""
    t, parts = positive(source, 1, 1, low=0.5, high=2.0), []
    for _ in range(source.integer(1, 3)):
        u, v = (unit_vectors(source, source.integer(1, 2)).abs() for _ in range(2))
        parts.append(torch.outer(t[0] * u, v))
    return reduce(linalg.block_diagonal, parts)


def with_biases(A):
    """‖A (σ(A); 1)⁺‖_F², with a row of ones below σ(A)."""
    rows = torch.cat((torch.relu(A), torch.ones_like(A[:1])))
    return linalg.frobenius_squared(A @ linalg.pseudo_inverse(rows))


@bound(
    "field.cost-of-identity",
    paper("jacot2024", "the cost of the identity and the stable rank, as recalled"),
    instances=representations(),
    tight=disjoint_isometries(),
    needs={"A = Aσ(A)⁺σ(A)": matrices()},
    mutants={
        "the rank for the stable rank": {
            "lower": lambda A: linalg.rank(A) * linalg.frobenius_squared(A)
        },
        "a layer with biases": {"cost": with_biases},
    },
)
def test_cost_of_identity(
    A, *, lower=lambda A: linalg.nuclear_norm(A) ** 2, cost=costs.cost_of_identity
):
    r"""The cost of the identity is at least the stable rank of nuclear and Frobenius norm.

    $\|A \sigma(A)^+\|_F^2 \ge \|A\|_*^2 / \|A\|_F^2$ for every $A \ne 0$ with
    $A = A \sigma(A)^+ \sigma(A)$, where $\sigma$ is the ReLU: some layer $M \sigma$ without biases keeps
    the columns of $A$. Then $\|A\|_* \le \|M\|_F \|\sigma(A)\|_F$ and $\|\sigma(A)\|_F \le \|A\|_F$.
    Multiples of partial isometries with entries $\ge 0$ attain it.

    The cost may be less than the rank (seen with three columns), and layers with biases may cost less
    than the stable rank: these are the mutants. The sides are compared times $\|A\|_F^2$.
    """
    return leq(lower(A), cost(A) * linalg.frobenius_squared(A))


@identity(
    "field.cost-of-identity-is-the-rank",
    paper("jacot2024", "the cost of the identity of nonnegative representations, as recalled"),
    instances=nonnegative_matrices(),
    needs={"A ≥ 0": representations()},
    mutants={"a layer with biases": {"cost": with_biases}},
)
def test_cost_of_identity_is_the_rank(A, *, cost=costs.cost_of_identity):
    r"""Of nonnegative representations the cost of the identity is their rank.

    $\|A \sigma(A)^+\|_F^2 = \operatorname{rank} A$ for $A \ge 0$, as $\sigma(A) = A$ and $A A^+$ is the
    orthogonal projection onto the range of $A$.
    """
    return eq(cost(A), linalg.rank(A))
