"""Linear regions of a network over a box, exactly, and maxima over them.

What lives here: the enumeration of regions (`box`, `splitting`, `exact`, `triangulation`), their
affine maps and volumes (`cells`), the same for a batch of networks (`arrays`), linear pieces on the
line (`pieces`), the Jacobian rank (`rank`), arrangements of hyperplanes and their counts
(`arrangements`), the classes of a classifier (`decision`), the dimension of an image (`image`), and
the outlines of unions of regions in the plane (`outlines`, imported from its module).
May import: `networks` and what is below it, but no `separation` and no `data`.

>>> from rankcheck.networks import Network
>>> net = Network.of([[[1], [-1]], [[1, 1]]])  # |x|
>>> cells = regions(net, -1, 2)
>>> len(cells), cells.jacobians.ravel().tolist(), cells.volume().round(12).tolist()
(2, [1.0, -1.0], [2.0, 1.0])
>>> jacobian_rank(net, -1, 2, exact=True).rank
1
"""

from __future__ import annotations

from rankcheck.theory.regions.arrangements import (
    Arrangement,
    most_bounded_regions,
    most_faces,
    most_regions,
)
from rankcheck.theory.regions.arrays import RegionArrays, region_arrays
from rankcheck.theory.regions.box import Corner, regions
from rankcheck.theory.regions.cells import Regions
from rankcheck.theory.regions.decision import Decision, decision
from rankcheck.theory.regions.image import image_dimension
from rankcheck.theory.regions.pieces import linear_pieces
from rankcheck.theory.regions.rank import JacobianRank, highest_rank, jacobian_rank
from rankcheck.theory.regions.splitting import Complex

__all__ = [
    "Arrangement",
    "Complex",
    "Corner",
    "Decision",
    "JacobianRank",
    "RegionArrays",
    "Regions",
    "decision",
    "highest_rank",
    "image_dimension",
    "jacobian_rank",
    "linear_pieces",
    "most_bounded_regions",
    "most_faces",
    "most_regions",
    "region_arrays",
    "regions",
]
