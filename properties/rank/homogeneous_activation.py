"""§2 of `rank`: homogeneous activations are rescaled σ_a with |a| < 1."""

import torch

from rankcheck import eq, identity, networks, paper, witnesses
from rankcheck.instances import Source, instances

#: Absolute values that differ by less count as equal: σ_a with |a| < 1 exists up to rounding only.
APART = 2.0**-16


@instances
def homogeneous_activations(source: Source):
    """Any slopes alpha and beta, |alpha| moved away from |beta| by 1 if they are equal; a point."""
    alpha, beta, x = source.tensor(), source.tensor(), source.tensor()
    equal = (alpha.abs() - beta.abs()).abs() < APART
    away = torch.where(alpha < 0, alpha - 1, alpha + 1)
    return torch.where(equal, away, alpha), beta, x


@instances
def even_and_odd_activations(source: Source):
    """|alpha| = |beta|: multiples of the absolute value, which the statement excludes."""
    alpha, x = source.tensor(low=0.5, high=2.0), source.tensor(low=-4.0, high=-0.5)
    return alpha, -alpha, x


def right_side_steeper(alpha, beta):
    """The form for |alpha| > |beta| in all cases: b = |alpha|, a = beta/alpha."""
    one = torch.ones_like(alpha)
    slope = beta / torch.where(alpha == 0, one, alpha)
    return witnesses.HomogeneousForm(slope, torch.where(alpha < 0, -one, one), alpha.abs())


def wrong_side(alpha, beta):
    """The form with the sign of the inner factor lost."""
    form = witnesses.homogeneous_form(alpha, beta)
    return form._replace(factor=form.factor.abs())


@identity(
    "rank.homogeneous-activation",
    paper("rank", "§2"),
    instances=homogeneous_activations(),
    needs={"|alpha| differs from |beta|": even_and_odd_activations()},
    mutants={
        "the inner factor without its sign": {"form": wrong_side},
        "the right side taken for the steeper one": {"form": right_side_steeper},
    },
    witness=witnesses.homogeneous_form,
)
def test_homogeneous_activation(alpha, beta, x, *, form=witnesses.homogeneous_form):
    r"""Every homogeneous activation with unequal slopes is a rescaled $\sigma_a$ with $|a| < 1$.

    $\sigma(x) = \alpha x$ for $x \ge 0$ and $\beta x$ for $x < 0$, with $|\alpha| \ne |\beta|$,
    equals $c\,\sigma_a(b x)$ for some $c = \pm 1$, $b \in \mathbb R$ and $a \in (-1, 1)$.

    One of the slopes may be zero. Where $|\alpha| = |\beta|$ (the identity, the absolute value, zero)
    there is no such form.
    """
    a, c, b = form(alpha, beta)
    return (
        eq(
            torch.where(x >= 0, alpha * x, beta * x),
            c * networks.leaky(b * x, a),
            label="the function",
        ),
        eq(c.abs(), 1, label="c = ±1"),
        eq((a.abs() < 1).long(), 1, label="|a| < 1"),
    )
