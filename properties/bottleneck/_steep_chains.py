"""Chains of units with a slope outside [−1, 1], for controls."""

from rankcheck import Network
from rankcheck.instances import Source, instances


@instances
def steep_chains(source: Source):
    """L ≥ 2 layers of one unit with weights 1 at x < 0, and a slope a ≤ −5/4, so that |a| > 1.

    The units of odd layers are negative, and the others positive.
    """
    depth = source.integer(2, 5)
    slope = source.tensor(low=-2.0, high=-1.25)
    x = source.tensor(1, low=-4.0, high=-0.5)
    return Network.unchecked_slope((x.new_ones(1, 1),) * depth, (x.new_zeros(1),) * depth, slope), x
