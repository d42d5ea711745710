"""Theorems about a trained network in ball arithmetic; its weights are the numbers they are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from rankcheck.balls import BallArray
from rankcheck.claims.claim import Claim
from rankcheck.counterexamples.judge import Judgement, judge_instance
from rankcheck.networks import Network
from rankcheck.networks.balancing import balance_neurons

__all__ = ["Certifier", "exact_network"]

#: Networks up to this many parameters, and this depth, are small enough.
PARAMETERS = 400
DEPTH = 6
#: In bits, tried in this order.
PRECISIONS = (128, 256, 512)
#: Seconds for all theorems of an audit. One body is never interrupted.
SECONDS = 6.0


def exact_network(net: Network) -> Network:
    """The network with its weights, biases and slope as exact rational numbers."""
    # Bodies take arrays of slopes, and the number 0 for ReLU, as their instances have them.
    number = float(net.slope)
    slope = BallArray.exact(torch.tensor(number, dtype=torch.float64)) if number else 0.0
    weights, biases = (
        [BallArray.exact(array.cpu()) for array in arrays] for arrays in (net.weights, net.biases)
    )
    return Network.unchecked_slope(weights, biases, slope)


class Certifier:
    """Ball arithmetic for the theorems of one audit, within a limit of time."""

    def __init__(self, net: Network, *, seconds: float = SECONDS) -> None:
        self._net = net
        self._end = time.monotonic() + seconds
        size = sum(array.numel() for array in (*net.weights, *net.biases))
        self.small = size <= PARAMETERS and net.depth <= DEPTH

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() > self._end

    def judge(self, claim: Claim, *data: Tensor, balanced: bool) -> Judgement:
        """The claim on the exact network and data; `balanced`: with its neurons in balance."""

        def build() -> tuple[Any, ...]:
            net = exact_network(self._net)
            if balanced:
                net = balance_neurons(net)
            return (net, *(BallArray.exact(points.cpu()) for points in data))

        return judge_instance(claim, build, precisions=self._precisions())

    def _precisions(self) -> Iterator[int]:
        for bits in PRECISIONS:
            if bits == PRECISIONS[0] or not self.late:
                yield bits
