"""Made-up audits: eight layers, points of two ranks, theorems with all four findings, odd names."""

from __future__ import annotations

import math
from dataclasses import replace

from rankcheck.audit.result import (
    Audit,
    Balanced,
    BoundByRank,
    DataFacts,
    Hypothesis,
    LayerFacts,
    ModelFacts,
    Quantiles,
    RankFacts,
    Side,
    TheoremFacts,
)

DEPTH, WIDTH, IN, OUT = 8, 20, 10, 5
WIDTHS = (IN, *[WIDTH] * (DEPTH - 1), OUT)
ODD = "encoder.0.0+encoder.0.1_folded_batch_normalisation_of_a_very_long_name"


def around(middle: float, share: float = 0.25) -> Quantiles:
    """Values around a middle."""
    return Quantiles(*(middle * (1 + share * step) for step in (-2, -1, 0, 1, 2)))


def spectrum(layer: int) -> tuple[float, ...]:
    """Two singular values near one, and small ones; the ends are less clean."""
    end = abs(2 * layer - DEPTH - 1) / DEPTH
    first = (1.02 + 0.4 * end**4, 0.97 + 0.1 * end**4)
    count = min(WIDTHS[layer], WIDTHS[layer - 1])
    return first + tuple(0.08 * end**2 * math.exp(-0.4 * i) for i in range(count - 2))


def layer(number: int) -> LayerFacts:
    """The facts of a layer, by its number from 1."""
    values = spectrum(number)
    square = sum(s * s for s in values)
    inner = number < DEPTH
    return LayerFacts(
        name=ODD if number == 4 else f"layers.{2 * number - 2}",
        shape=(WIDTHS[number], WIDTHS[number - 1]),
        weights=square,
        bias=0.05 * number / DEPTH,
        singular_values=values,
        near_one=2,
        rank=RankFacts(2, values[1] / values[2], number != 1),
        stable_rank=square / values[0] ** 2,
        effective_rank=3.2,
        participation=2.1,
        distance=(values[0] - 1) ** 2 + (values[1] - 1) ** 2 + sum(s * s for s in values[2:]),
        imbalance=0.01 * number if inner else None,
        dead=number if inner else None,
        linear=2 if inner else None,
        bent=WIDTHS[number] - 2 - number if inner else None,
        energy=2.0,
        representation=(1.2, 0.7, 0.01),
    )


def theorems() -> tuple[TheoremFacts, ...]:
    """One of each finding, and sides of each kind."""
    met = Hypothesis(r"no hidden pre-activation of $x$ vanishes", True, "0 of 240 points")
    missed = Hypothesis(r"the network is balanced", False, "largest imbalance 0.07")
    return (
        TheoremFacts(
            "rank.jacobian-bounds-cost", "The cost bounds the Schatten power of the Jacobian",
            r"$\|Jf(x)\|_{S^{2/L}}^{2/L} \le \|\theta\|^2 / L$ for every *x*.", "rank, Prop. 3/7",
            (met,), "holds", (Side("", "leq", 2.0312, 2.2401, 0.2089, 1e-12, 17, 64, True),), 64,
        ),
        TheoremFacts(
            "bottleneck.kernel-lower-bound", "The kernel of a deep network is large",
            r"$\operatorname{tr} \Theta(x, x) \ge L$.", "bottleneck, Thm. 8",
            (met, missed), "not applicable",
        ),
        TheoremFacts(
            "bottleneck.distance-to-isometries", "Almost all layers are near a partial isometry",
            r"$\sum_\ell \|W_\ell - U_\ell V_\ell^\top\|^2 \le \|\theta\|^2 - kL$.",
            "bottleneck, Thm. 4", (Hypothesis("the rank is decided", None, "4 points"),),
            "undecided", (Side("layers", "leq", 1.25, 1.25, -1e-17, 1e-12, None, 1, False),),
            message="both sides agree to rounding, and balls of 512 bits overlap",
        ),
        TheoremFacts(
            "bottleneck.chained-distances", "The distances add up", r"$\sum_\ell d_\ell \le c$.",
            "bottleneck, Thm. 6", (met,), "not evaluated", message="It takes too long.",
        ),
        TheoremFacts(
            "rank.regions-share-balance", "Balanced layers cost the same",
            r"$\|W_\ell\|_F^2 + \|b_\ell\|^2 = \|W_{\ell+1}\|_F^2$.", "rank, Prop. 12",
            (met,), "fails", (Side("layer 3", "eq", 2.5, 2.0, -0.5, 1e-10, 3, 12, False),), 12,
            "the sides differ by 0.5; a file was misread, or this is a bug",
        ),
    )  # fmt: skip


def made_up(**changes) -> Audit:
    """An audit with data."""
    layers = tuple(layer(number) for number in range(1, DEPTH + 1))
    cost = sum(one.weights + one.bias for one in layers)
    whole = Audit(
        name="trained.safetensors",
        model=ModelFacts(
            source="safetensors",
            depth=DEPTH,
            widths=WIDTHS,
            slope=0.0,
            cost=cost,
            stored_cost=cost + 0.5,
            folded=("the batch normalisation encoder.0.1 was folded into encoder.0.0",),
            assumed=("the file does not name the activation: it was taken to be ReLU",),
        ),
        rank=2,
        layers=layers,
        balanced=Balanced(cost - 0.02, 1.2e-15),
        data=DataFacts(
            points=240,
            ranks={1: 16, 2: 220, 3: 4},
            undecided=4,
            gaps=Quantiles(12.0, 80.0, 150.0, 400.0, 2.5e4),
            singular_values=(
                *(around(2.1), around(1.2, 0.4), around(0.01)),
                Quantiles(0, 0, 0, 0, 1e-3),
            ),
            schatten=around(2.0),
            bounds=(
                BoundByRank(1, 16, cost - DEPTH, 1.2),
                BoundByRank(2, 220, cost - 2 * DEPTH, 1.7),
                BoundByRank(3, 4, cost - 3 * DEPTH, -7.5),
            ),
            kinks=0,
            kernel_trace=around(31.0),
            kernel_top=12.5,
            kernel_points=200,
            egop=(4.0, 1.0, 1e-3, *(7 * (0.0,))),
            index_rank=RankFacts(2, 6500.0, True),
            dead_cost=0.125,
        ),
        theorems=theorems(),
        words=(
            r"Inside, every layer has 2 singular values near $1$ and no others.",
            r"The cost per layer is 2.24; the rank of $Jf$ is 2 at 220 of 240 points.",
        ),
        versions={"rankcheck": "0.15", "torch": "2.9"},
    )  # fmt: skip
    return replace(whole, **changes)


def without_data() -> Audit:
    """The same network without data, and so without what data say."""
    whole = made_up()
    bare = tuple(
        replace(one, dead=None, linear=None, bent=None, energy=None, representation=None)
        for one in whole.layers
    )
    return replace(whole, layers=bare, data=None, balanced=Balanced(16.0, None), theorems=())


def odd(text: str) -> Audit:
    """An audit all of whose texts are the given one."""
    whole = made_up()
    side = replace(whole.theorems[0].sides[0], label=text)
    theorem = TheoremFacts(
        text, text, text, text, (Hypothesis(text, True, text),), "fails", (side,), 1, text
    )
    return replace(
        whole,
        name=text,
        model=replace(whole.model, source=text, folded=(text,), assumed=(text,)),
        layers=tuple(replace(one, name=text) for one in whole.layers),
        theorems=(theorem,),
        words=(text,),
        versions={text: text},
    )
