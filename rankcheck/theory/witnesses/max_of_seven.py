r"""The maximum of seven numbers by maxima of three and maxima of two.

With $m_S = \max_{i \in S} x_i$ and positions 0, ..., 6 let

$$F = \sum_{i<4} m_{i45} + m_{036} + m_{126}, \qquad
  G = m_{014} + m_{234} + m_{035} + m_{125} + 2\, m_{45}.$$

Then, with $C = \{0, 1, 2, 3\}$,

$$2 \max(x_0, \dots, x_6) = \max(F, G) - \sum_{i<4} m_{i45} - m_{0356} - m_{1256}
  - \sum_{i<4} m_{C \setminus i \cup 46} + \sum_{i<4} m_{C \setminus i \cup 456} + 2\, m_{C46},$$

and a maximum of four, five or six numbers is one of two maxima of at most three. So 13 maxima of
two behind 19 maxima of at most three are enough, and no mean over permutations is taken.

Why it is true: m_S is linear on the cone of each order $x_{\pi(0)} \le \dots \le x_{\pi(6)}$,
and so is max(F, G) if F − G does not change its sign there. The cone is spanned by ±(1, ..., 1) and
the indicators of the sets of largest numbers, which are nested. So it is enough that F − G is zero
at (1, ..., 1) and has no opposite signs on two nested sets, which are finitely many cases. Then
both sides are linear on every cone, and equal if they are on the indicators of all sets. That is
field.max-of-seven-on-sets, and what :func:`rankcheck.witnesses.is_maximum` decides.

Used by field.max-of-seven. Source of the statement: M. Grillo, C. Hertrich, G. Loho, *Depth-bounds
for neural networks via the braid arrangement*; the identity was found by
`examples/max_identities.py`, which looks for the signs of F − G on sets by integer programming.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from rankcheck.theory.witnesses.maxima import MaxIdentity, MaxTerm


@dataclass(frozen=True)
class MaxSum(MaxIdentity):
    """Σ_t c_t · max(F_t, G_t), a function of n numbers, without a mean over permutations.

    Args:
        n: how many numbers.
        terms: all terms.

    Raises:
        ValueError: there is no term, or a position is n or more.

    >>> import torch
    >>> MaxSum(3, (MaxTerm(1, [(0, 1)], [(2,)]),))(torch.tensor([1.0, 2.0, 3.0]))
    tensor(3.)
    """

    @cached_property
    def expanded(self) -> tuple[MaxTerm, ...]:
        """The terms, those with equal sides merged; none is zero."""
        total: Counter[tuple[tuple[tuple[int, ...], ...], ...]] = Counter()
        for term in self.terms:
            total[term.left, term.right] += term.coefficient  # type: ignore[assignment]
        return tuple(MaxTerm(c, *key) for key, c in sorted(total.items()) if c)


def _largest(coefficient: str | int, *positions: int) -> MaxTerm:
    """coefficient · the maximum of up to six numbers, as one of two maxima of at most three."""
    return MaxTerm(coefficient, [positions[:3]], [positions[3:]])


_EACH = [(i, 4, 5) for i in range(4)]
_OTHERS = [tuple(j for j in range(4) if j != i) for i in range(4)]

MAX_OF_SEVEN = MaxSum(
    7,
    (
        MaxTerm(
            "1/2",
            [*_EACH, (0, 3, 6), (1, 2, 6)],
            [(0, 1, 4), (2, 3, 4), (0, 3, 5), (1, 2, 5), (4, 5), (4, 5)],
        ),
        MaxTerm("-1/2", _EACH, _EACH),
        _largest("-1/2", 0, 3, 5, 6),
        _largest("-1/2", 1, 2, 5, 6),
        *(_largest("-1/2", *three, 4, 6) for three in _OTHERS),
        *(_largest("1/2", *three, 4, 5, 6) for three in _OTHERS),
        _largest(1, 0, 1, 2, 3, 4, 6),
    ),
)
"""The maximum of seven numbers by maxima of three and maxima of two."""
