"""Section 3.2 of `bottleneck`: the second correction of a linear map bounds its norm."""

from fractions import Fraction

import torch

from rankcheck import bound, leq, paper
from rankcheck.costs.corrections import log_gram_squared
from rankcheck.instances.matrices import matrix_of_rank, positive, semi_orthogonal
from rankcheck.instances.source import Source, instances
from rankcheck.linalg import power, singular_values
from rankcheck.scalars import scalar
