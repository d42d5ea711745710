"""§2 of `rank`: homogeneous activations are rescaled σ_a with |a| < 1."""

import torch

from rankcheck import eq, identity, leq, paper
from rankcheck.instances.networks import STEEPEST
from rankcheck.instances.source import Source, instances
from rankcheck.networks.evaluation import leaky
from rankcheck.witnesses.homogeneous_activation import homogeneous_form


@instances
def homogeneous_activations(source: Source):
    """Slopes of unequal absolute value on the two sides, and a point."""
    larger = source.tensor()
    larger = torch.where(larger == 0, torch.ones_like(larger), larger)
    smaller = larger * source.tensor(low=-STEEPEST, high=STEEPEST)
    x = source.tensor()
    return (larger, smaller, x) if source.integer(0, 1) == 0 else (smaller, larger, x)


@instances
def even_and_odd_activations(source: Source):
    """|alpha| = |beta|: multiples of the absolute value, which the statement excludes."""
    alpha, x = source.tensor(low=0.5, high=2.0), source.tensor(low=-4.0, high=-0.5)
    return alpha, -alpha, x


def wrong_side(alpha, beta):
    """The form with the sign of the inner factor lost."""
    form = homogeneous_form(alpha, beta)
    return form._replace(factor=form.factor.abs())


@identity(
    "rank.homogeneous-activation",
    paper("rank", "§2"),
    instances=homogeneous_activations(),
    needs={"|alpha| differs from |beta|": even_and_odd_activations()},
    mutants={"the inner factor without its sign": {"form": wrong_side}},
    witness=homogeneous_form,
)
def test_homogeneous_activation(alpha, beta, x, *, form=homogeneous_form):
    r"""Every homogeneous activation with unequal slopes is a rescaled σ_a with |a| < 1.

    $\sigma(x) = \alpha x$ for $x \ge 0$ and $\beta x$ for $x < 0$, with $|\alpha| \ne |\beta|$,
    equals $c\,\sigma_a(b x)$ for some $c = \pm 1$, $b \in \mathbb R$ and $a \in (-1, 1)$.

    Ratios of the slopes up to $63/64$ are drawn, and $|a| \le 63/64$ is what is checked.
    """
    a, c, b = form(alpha, beta)
    return (
        eq(torch.where(x >= 0, alpha * x, beta * x), c * leaky(b * x, a), label="the function"),
        leq(a.abs(), STEEPEST, label="|a| < 1"),
    )
