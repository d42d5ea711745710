r"""The maximum of six numbers by two hidden layers.

With $m_{ij} = \max(x_i, x_j)$, $\max(x_0, \dots, x_5)$ is the mean over all permutations of the six
numbers of

$$2 \max(m_{01}, m_{23}) + 2 \max(m_{01} + m_{02}, m_{03} + m_{45})
  - \tfrac12 \max(m_{01} + m_{02}, m_{34} + m_{35}) - 2 \max(m_{01} + m_{23}, m_{02} + m_{45}).$$

On $x_0 \le \dots \le x_5$ the means have kinks at seven hyperplanes, and they cancel:
:func:`rankcheck.witnesses.is_maximum` proves it.

Used by field.max-of-six. Source: none that we know; `python examples/max_identities.py --of 6`
finds it in a second. Five numbers in two hidden layers are due to E. Bakaev, F. Brunck,
C. Hertrich, J. Stade, A. Yehudayoff, *Better neural network expressivity: subdividing the simplex*.
"""

from __future__ import annotations

from rankcheck.witnesses.maxima import MaxIdentity, MaxTerm

__all__ = ["MAX_OF_SIX"]

MAX_OF_SIX = MaxIdentity(
    6,
    (
        MaxTerm(2, [(0, 1)], [(2, 3)]),
        MaxTerm(2, [(0, 1), (0, 2)], [(0, 3), (4, 5)]),
        MaxTerm("-1/2", [(0, 1), (0, 2)], [(3, 4), (3, 5)]),
        MaxTerm(-2, [(0, 1), (2, 3)], [(0, 2), (4, 5)]),
    ),
)
"""The maximum of six numbers by maxima of pairs and maxima of two."""
