"""Example - conclusion, of `separation`: how the width of depth two grows."""

import math
from fractions import Fraction

import torch

from rankcheck import bound, leq, limit, paper, separation
from rankcheck.instances import Source, instances


@instances
def dimensions(source: Source, *, low: int, high: int = 1000):
    """A dimension."""
    return source.integer(low, high)


@instances
def edges(source: Source, *, of: tuple[int, ...]):
    """A dimension where the statement changes."""
    return source.choice(of)


def crossovers(d, width, norm, square, mixed):
    """A width for depth two is larger than that for depth three from a dimension on, not before.

    For ‖F − N‖ ≤ ε, for ‖F − N‖² ≤ ε, and for the second against |F − N| ≤ ε at depth three.
    """

    def crossover(label, two, error, first):
        three = math.ceil(separation.depth_three_width(d, error))
        return leq(three, two, label=label) if d >= first else leq(two, three, label=label)

    two, root = width(d), math.sqrt(separation.slides_error())
    return (
        crossover("‖F − N‖ <= ε", width(d, squared=False), None, norm),
        crossover("‖F − N‖² <= ε", two, root, square),
        crossover("‖F − N‖² <= ε against |F − N| <= ε", two, None, mixed),
    )


@bound(
    "separation.width-crossover",
    paper("separation", "slide: Example - conclusion"),
    instances=dimensions(low=2),
    tight=edges(of=(40, 41, 42, 43, 44, 100)),
    mutants={
        "‖F − N‖ from 42 on": {"norm": 42},
        "‖F − N‖ from 44 on": {"norm": 44},
        "‖F − N‖² from 40 on": {"square": 40},
        "‖F − N‖² from 42 on": {"square": 42},
        "‖F − N‖² against |F − N| from 43 on": {"mixed": 43},
        "‖F − N‖² against |F − N| from 45 on": {"mixed": 45},
        "41 orders of magnitude": {"orders": 41},
    },
    loose={
        "‖F − N‖ <= ε": "no two widths are equal",
        "‖F − N‖² <= ε": "no two widths are equal",
        "‖F − N‖² <= ε against |F − N| <= ε": "no two widths are equal",
        "at d = 100": "the widths differ by a factor of 10^40.24 at d = 100",
    },
    witness=separation.depth_two_width,
    effort=2.0,
)
def test_width_crossover(d, *, norm=43, square=41, mixed=44, orders=40):
    r"""Depth two must be wider than depth three from dimension 41 to 44 on, by the convention.

    The width that depth two needs, as derived on the slides, exceeds the width that is enough for
    depth three, with $\varepsilon = \frac{1}{50e^2\pi^2}$, if and only if

    * $d \ge 43$, for $\|F - N\| \le \varepsilon$, as slide 2 defines it, at both depths: width
      $16\pi d^5/\varepsilon$ at depth three;
    * $d \ge 41$, for $\|F - N\|^2 \le \varepsilon$ at both depths: width
      $16\pi d^5/\sqrt\varepsilon$;
    * $d \ge 44$, for $\|F - N\|^2 \le \varepsilon$ at depth two and $|F - N| \le \varepsilon$
      everywhere at depth three, the formulas of the slides: width $16\pi d^5/\varepsilon$.

    From $d = 100$ on depth two is wider by at least forty orders of magnitude in all three.

    `rankcheck prove` enumerates all $d \le 1000$, with $\le$ between integers; beyond it is Corollary 6 of
    docs/proofs/width-of-depth-two.md.
    """
    relations = crossovers(d, separation.depth_two_width, norm, square, mixed)
    if d < 100:
        return relations
    three = math.ceil(separation.depth_three_width(d))
    return *relations, leq(10**orders * three, separation.depth_two_width(d), label="at d = 100")


@bound(
    "separation.sharper-crossover",
    paper("rankcheck", "docs/proofs/width-of-depth-two.md, Theorem 3"),
    instances=dimensions(low=2),
    tight=edges(of=(34, 35, 37, 38)),
    mutants={
        "‖F − N‖ from 37 on": {"norm": 37},
        "‖F − N‖ from 39 on": {"norm": 39},
        "‖F − N‖² from 34 on": {"square": 34},
        "‖F − N‖² from 36 on": {"square": 36},
        "‖F − N‖² against |F − N| from 37 on": {"mixed": 37},
        "‖F − N‖² against |F − N| from 39 on": {"mixed": 39},
    },
    loose="no two widths are equal",
    witness=separation.sharper_width,
    effort=2.0,
)
def test_sharper_crossover(d, *, norm=38, square=35, mixed=38):
    r"""By the sharper bound depth two must be wider than depth three from dimension 35 or 38 on.

    With $\|F - N\| \le \varepsilon = \frac{1}{50e^2\pi^2}$ at both depths, the width that depth two
    needs by the theorem in norm exceeds $16\pi d^5/\varepsilon$ if and only if $d \ge 38$; with
    $\|F - N\|^2 \le \varepsilon$ at both depths it exceeds $16\pi d^5/\sqrt\varepsilon$ if and only
    if $d \ge 35$; and with the squared error at depth two and $|F - N| \le \varepsilon$ everywhere
    at depth three it exceeds $16\pi d^5/\varepsilon$ if and only if $d \ge 38$.

    `rankcheck prove` enumerates all $d \le 1000$, with $\le$ between integers; beyond it is Corollary 6 of
    docs/proofs/width-of-depth-two.md, which has the bound, too. It rests on $\|P_nF\|^2 \ge \frac25$
    (separation.tail-of-the-example).
    """
    return crossovers(d, separation.sharper_width, norm, square, mixed)


@limit(
    "separation.width-growth",
    paper("separation", "slide: Example - conclusion"),
    instances=dimensions(low=73),
    tight=edges(of=(73, 1000)),
    needs={"d >= 73": dimensions(low=2, high=72)},
    mutants={
        "exponent 0.26 from below": {"below": Fraction(26, 100)},
        "exponent 0.36 from above": {"above": Fraction(36, 100)},
    },
    loose="the exponent of d^d lies between its bounds, and tends to 1/2",
)
def test_width_growth(d, *, below=Fraction(1, 4), above=Fraction(1, 2)):
    r"""The width of depth two lies between two powers of $d^d$.

    $d^{d/4} \le r \le d^{d/2}$ for the least width $r$ of depth two and $d \ge 73$, so
    $r = 2^{\Omega(d \log d)}$.

    `rankcheck prove` enumerates all $d \le 1000$ in integers, as $r^4 \ge d^d$ and $r^2 \le d^d$; beyond it
    is Corollary 6 of docs/proofs/width-of-depth-two.md.
    """
    width = separation.depth_two_width(d)
    return (
        leq(d ** (below.numerator * d), width**below.denominator, label="from below"),
        leq(width**above.denominator, d ** (above.numerator * d), label="from above"),
    )


def with_another_logarithm(d):
    """1.7 in place of 7/4."""
    return separation.width_rate(d) + math.log2(d) / 20


def without_the_half(d):
    """2 − log2 e in place of 2 − (log2 e)/2."""
    return separation.width_rate(d) + d * math.log2(math.e) / 2


def with_another_constant(d):
    """A constant that is larger by 1/4."""
    return separation.width_rate(d) - 1 / 4


@limit(
    "separation.width-rate",
    paper("rankcheck", "docs/proofs/width-of-depth-two.md, Theorem 5"),
    instances=dimensions(low=2),
    tight=edges(of=(2, 10, 1000)),
    mutants={
        "1.7 for 7/4": {"rate": with_another_logarithm},
        "2 − log e for 2 − ½ log e": {"rate": without_the_half},
        "a constant larger by 1/4": {"rate": with_another_constant},
    },
    loose={
        "from above": "η grows slowly with d, between its bounds",
        "from below": "η grows slowly with d, between its bounds",
    },
    witness=separation.width_rate,
)
def test_width_rate(d, *, rate=separation.width_rate):
    r"""The rate at which the width of depth two grows.

    $W(d) = \frac{\sqrt{N_{d,d^2}}}{20e\pi 4^d (1 + \sqrt{4d})}$, the width of depth two on the
    slides but for the output bias (which is less than $2^{-d}$ of a neuron), has $\log_2 W(d) =
    \frac d2 \log_2 d - (2 - \frac12 \log_2 e) d - \frac74 \log_2 d - c - \bigl( \frac1{2\sqrt d} +
    \frac{\eta(d)}d \bigr) \log_2 e$ with $c = \log_2(40e\pi) + \frac14 \log_2 \frac{\pi}{2e}$ and
    $\frac38 \le \eta(d) \le \frac{17}8$, for every $d \ge 2$.

    So $W(d) = 2^{\Theta(d \log d)}$, with the constant 1/2. Checked for $d \le 1000$;
    $\eta(d) \to \frac32$. Proof: docs/proofs/width-of-depth-two.md.
    """
    left = (rate(d) - separation.log_width(d)) * math.log(2)
    eta = torch.tensor((left - 1 / (2 * math.sqrt(d))) * d, dtype=torch.float64)
    scale = torch.tensor(abs(separation.log_width(d)) * d, dtype=torch.float64)
    return (
        leq(Fraction(3, 8), eta, scale=scale, label="from above"),
        leq(eta, Fraction(17, 8), scale=scale, label="from below"),
    )
