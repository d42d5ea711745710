"""Laws that miss one of the activation regions of units on a line."""

import torch

from rankcheck.instances import Source


def without_an_end(source: Source, p):
    """The masses p, with 0 for the region below all bends, or for the one above."""
    end = source.choice((0, p.shape[-1] - 1))
    alive = torch.arange(p.shape[-1], device=p.device) != end
    return torch.where(alive, p, torch.zeros_like(p))
