"""Slides B of `linear`: the product of the two largest eigenvalues in the proof of the volume of gradients."""

from fractions import Fraction
from itertools import product

import torch

from rankcheck import conjecture, leq, linalg, paper
from rankcheck.instances import Source, instances


@instances
def laws_of_active_sets(source: Source, *, units=(2, 4)):
    """λ > 0 for K units, and weights of the 2^K sets of active units, some of them zero."""
    K = source.integer(*units)
    weights = torch.relu(source.tensor(2**K, low=-1.0, high=1.0))
    source.require(weights.sum(-1) > 0, "some set has a positive weight")
    return source.tensor(K, low=0.125, high=1.0), weights


@instances
def three_sets_of_two_units(source: Source):
    """Either unit, and both, with equal probabilities, at λ_1 = λ_2: equality."""
    one = source.tensor(1, low=0.25, high=1.0)
    return torch.cat((one, one), -1), torch.cat((0 * one, one, one, one), -1)


@conjecture(
    "linear.two-eigenvalues",
    paper("rankcheck", "docs/proofs/printed-budget.md, even n"),
    instances=laws_of_active_sets(),
    tight=three_sets_of_two_units(),
    mutants={"2 % less": {"share": Fraction(49, 50)}},
)
def test_two_eigenvalues(lengths, weights, *, share=1):
    r"""The two largest eigenvalues of the second moment of active units have a product of at most 1/12.

    Let $\|\lambda\| = 1$, $\lambda > 0$, $s$ a random vector of zeros and ones and $\beta_1 \ge \beta_2 \ge \dots$
    the eigenvalues of $B = \mathbb E[vv^\top]$, $v = \lambda \circ s$. Conjecture: $\beta_1 \beta_2 \le \frac1{12}$.

    In the proof of linear.gradient-volume stands $\frac{27}{256}$, which is attained for no law: the bound there is
    $(n+1)^{n+1}/(2n)^{2n}$ for n eigenvalues, and attained for odd n. Two units of which either, and
    both, are active with probability $\frac13$ attain $\frac1{12}$. With it that theorem would be sharper at $n = 2$.
    """
    K = lengths.shape[-1]
    sets = torch.tensor(list(product((0.0, 1.0), repeat=K)), dtype=torch.float64)
    V = sets.to(lengths.device) * lengths.unsqueeze(-2)
    moment = V.mT @ (weights.unsqueeze(-1) * V)
    total = weights.sum(-1) * (lengths * lengths).sum(-1)
    values = torch.linalg.eigvalsh(moment)
    both = values[..., -1] * values[..., -2] * 12
    return leq(both, total * total * linalg.scalar(share, total), scale=total * total)
