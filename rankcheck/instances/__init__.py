"""Instances: generators that are written once as functions of a source.

What a file of conjectures needs most is here; further families and building blocks are in the
modules, one mathematical subject each.
"""

from rankcheck.instances.networks import (
    balanced_linear_networks,
    network,
    networks_at_points,
    networks_with_inputs,
)
from rankcheck.instances.source import Instances, Source, instances

__all__ = [
    "Instances",
    "Source",
    "balanced_linear_networks",
    "instances",
    "network",
    "networks_at_points",
    "networks_with_inputs",
]
