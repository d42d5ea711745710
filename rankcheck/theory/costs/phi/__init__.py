r"""Φ_L, the cost of a two-layer function behind L − 1 linear layers, with a certificate.

What lives here: the objective and its preparation in floats, the solver, and the proved bracket
in floats and on balls.
May import: `linalg` and `balls`.
"""

from __future__ import annotations

from rankcheck.theory.costs.phi.bracket import PhiBracket, phi
from rankcheck.theory.costs.phi.functional import phi_at, scaled_schatten_power

__all__ = ["PhiBracket", "phi", "phi_at", "scaled_schatten_power"]
