"""How far a polynomial is from a sine, in the Legendre basis."""

from rankcheck import separation


def distance(d, q, deviation):
    """∫ (sin(π√q t) − p)² dμ_d for p = the best polynomial plus a deviation, in the Legendre basis."""
    best = separation.sine_coefficients(d, q, deviation.shape[-1] - 1, deviation)
    p = best + deviation
    return separation.sine_energy(d, q, deviation) - (2 * best * p).sum(-1) + (p * p).sum(-1)
