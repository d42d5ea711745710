"""Prop. 1 of `rank`, for matrices: the rank of a sum."""

from rankcheck import bound, leq, paper
from rankcheck.instances.source import instances
from rankcheck.linalg import rank


@instances
def products(source, *, size=(2, 4)):
    """Two square matrices, each a product of integer factors of low rank."""
    n = source.integer(*size)
    k, m = source.integer(1, n - 1), source.integer(0, n - 1)
    return tuple(
        source.tensor(n, r, low=-2, high=2) @ source.tensor(r, n, low=-2, high=2) for r in (k, m)
    )


@bound(
    "rank.sum-of-matrices",
    paper("rank", "Prop. 1"),
    instances=products(),
    mutants={"the first alone": {"both": False}},
    loose="ranks are whole numbers",
)
def test_sum_of_matrices(A, B, *, both=True):
    r"""The rank of a sum of matrices is at most the sum of their ranks.

    $\mathrm{rank}(A + B) \le \mathrm{rank}(A) + \mathrm{rank}(B)$.
    """
    noise = 1e-9
    right = rank(A, noise=noise) + (rank(B, noise=noise) if both else 0)
    return leq(rank(A + B, noise=noise), right)
