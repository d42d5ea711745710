r"""Random points modulo random primes, and the probability that they miss what is not zero.

Let $N$ be a polynomial of degree at most d with integer coefficients whose absolute values sum to
at most $2^h$, and not zero. Let p be a random prime of $[2^{60}, 2^{61})$, and let each variable be
a random residue modulo p, all uniform and independent. Then $N = 0$ there with a probability of at
most

$$\frac{\lfloor h/60 \rfloor}{\pi} + \frac{d}{2^{60}}, \qquad \pi = 1.66 \cdot 10^{16}.$$

*Bad primes.* $N$ vanishes modulo p as a polynomial only if p divides each of its coefficients. One
that is not zero is at most $2^h$ in absolute value, so at most h/60 primes beyond $2^{60}$ divide
it. There are more than π primes in the range: $\pi(2x) - \pi(x) > 3x/(5 \ln x)$ for x ≥ 20.5 (J. B.
Rosser, L. Schoenfeld, *Approximate formulas for some functions of prime numbers*, Illinois J. Math.
6, 1962, corollary 3).

*Bad points.* Otherwise it is a polynomial of degree at most d over the field of p elements, not
zero, and vanishes at a share of at most d/p of the points (J. T. Schwartz, J. ACM 27, 1980; R.
Zippel, EUROSAM 1979).

In several rounds the primes are drawn without repetition: of those left, the bad ones are at most
$\lfloor h/60 \rfloor$ in π − 1, π − 2, … The points are independent. So the probability to miss $N$
in every round is at most the product of these sums. All rounds are computed at once, modulo the
product of their primes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction

from flint import fmpz, nmod_mat

from rankcheck.balls.numbers import Undecided

__all__ = ["BITS", "PRIMES", "BadPoint", "Points", "ThinCell", "chance", "random_primes"]

#: Primes lie between 2^BITS and twice that.
BITS = 60
#: There are more of them than this.
PRIMES = 16_600_000_000_000_000


class BadPoint(Undecided):
    """A number that is not zero is zero at the random point, and is divided by."""


class ThinCell(Undecided):
    """Two numbers are equal at the sample, and not on the whole pattern."""


def random_primes(rounds: int, draw: random.Random) -> tuple[int, ...]:
    """Different primes, each as likely as the others.

    >>> [prime.bit_length() for prime in random_primes(2, random.Random(0))]
    [61, 61]
    """
    primes: list[int] = []
    while len(primes) < rounds:
        candidate = draw.randrange(1 << BITS, 2 << BITS)
        if candidate not in primes and fmpz(candidate).is_prime():
            primes.append(candidate)
    return tuple(primes)


def chance(degree: int, bits: float, primes: Sequence[int]) -> Fraction:
    """A bound of the probability that a polynomial which is not zero vanishes in every round.

    Args:
        bits: h, see above.
        primes: one for each round.
    """
    bad, product = math.floor(bits / BITS), Fraction(1)
    for before, prime in enumerate(primes):
        product *= min(Fraction(1), Fraction(bad, PRIMES - before) + Fraction(degree, prime))
    return product


class Points:
    """A random point for each round, and what was taken to be zero because it is so there.

    Attributes:
        primes: one for each round.
        modulus: their product.
        missed: the largest probability with which one of the numbers that were taken to be zero, as
            they are at the sample and here, is not.
        thin: why the pattern of the sample has no inner points; empty if nothing shows that.
    """

    def __init__(self, primes: Sequence[int], draw: random.Random) -> None:
        self.primes = tuple(primes)
        self.modulus = math.prod(self.primes)
        self.missed = Fraction(0)
        self.thin = ""
        self._draw = draw
        self._inverses: dict[int, int] = {}

    def entry(self) -> int:
        """A random residue for an entry."""
        return self._draw.randrange(self.modulus)

    def inverse(self, residue: int) -> int:
        """The inverse in every round.

        Raises:
            BadPoint: if there is none.
        """
        try:
            return pow(residue, -1, self.modulus)
        except ValueError:
            raise BadPoint(
                "a divisor is zero at the random point, and not at the sample; another seed has "
                "another point"
            ) from None

    def rational(self, numerator: int, denominator: int) -> int:
        """The residue of a rational number.

        Raises:
            BadPoint: if one of the primes divides its denominator.
        """
        if denominator == 1:
            return numerator % self.modulus
        inverse = self._inverses.get(denominator)
        if inverse is None:
            inverse = self._inverses[denominator] = self.inverse(denominator)
        return numerator * inverse % self.modulus

    def take_as_zero(self, residue: int, degree: int, bits: float, text: str) -> None:
        """Note that a number is zero on the pattern of the sample.

        Args:
            residue, degree, bits: of its numerator.
            text: what was asked.

        Raises:
            ThinCell: if it is not zero.
        """
        if residue % self.modulus:
            self.thin = self.thin or text
            raise ThinCell(
                f"{text} holds at the sample and not around it, so its pattern has no inner points"
            )
        self.missed = max(self.missed, chance(degree, bits, self.primes))

    def matrices(self, rows: int, columns: int, residues: Sequence[int]) -> list[nmod_mat]:
        """The matrix with these residues, in each round."""
        return [nmod_mat(rows, columns, [x % p for x in residues], p) for p in self.primes]

    def together(self, residues: Sequence[Sequence[int]]) -> list[int]:
        """Residues modulo the product, of which these are the residues in each round."""
        units = [
            self.modulus // p * pow(self.modulus // p, -1, p) % self.modulus for p in self.primes
        ]
        return [
            sum(unit * x for unit, x in zip(units, each, strict=True)) % self.modulus
            for each in zip(*residues, strict=True)
        ]
