"""Breaks of what makes instances: sources that draw too little, and hypotheses that are ignored."""

import torch

from rankcheck.theory.instances import drivers
from rankcheck.theory.instances.drivers import BatchSource, DrawSource, ReplaySource, ScopeSource
from rankcheck.theory.instances.record import Record
from rankcheck.theory.instances.source import Rejected, Source

from .table import Break, around, put

SOURCE = "theory/instances/test_source.py::"


def rejected(self, condition, why):
    raise Rejected(why)


def all_as_the_first(tensor, self, *arguments):
    values = tensor(self, *arguments)
    return values[:1].expand_as(values).clone()


def of_one_kind(instances, entries, low, high, generator):
    return generator.uniform(low, high, (instances, entries))


def at_its_first(init, self, shape, start, size, *arguments):
    init(self, shape, start, size, *arguments)
    self._index = torch.zeros_like(self._index)


def rounded(tensor, self, *arguments):
    self._convert, convert = torch.clone, self._convert
    values = tensor(self, *arguments).float().double()
    self._convert = convert
    return convert(values)


BREAKS = (
    Break("generators", "rejections are ignored",
          f"{SOURCE}test_requirements_reject_alone_and_mark_in_a_batch",
          put(Source, "require", lambda self, condition, why: None)),
    Break("generators", "everything is rejected",
          f"{SOURCE}test_requirements_reject_alone_and_mark_in_a_batch",
          put(Source, "require", rejected)),
    Break("generators", "all instances of a batch are the first one",
          f"{SOURCE}test_the_mixture_against_numpy",
          around(BatchSource, "_tensor", all_as_the_first)),
    Break("generators", "a sweep draws the lowest of each range of integers",
          "theory/instances/test_reach.py::test_depths_begin_at_the_seam",
          put(BatchSource, "_integer", lambda self, low, high: low)),
    Break("generators", "a sweep mixes nothing special in",
          f"{SOURCE}test_the_mixture_against_numpy",
          put(drivers, "mixture", of_one_kind)),
    Break("generators", "entries leave their range",
          f"{SOURCE}test_the_mixture_against_numpy",
          around(BatchSource, "_tensor", lambda of, self, shape, low, high:
                 of(self, shape, -8.0, 8.0))),
    Break("generators", "hypothesis draws the lowest of each range of integers",
          "engine/counterexamples/test_shrinking.py::test_hypothesis_sees_exactly_the_instance_first",
          put(DrawSource, "_integer", lambda self, low, high: low)),
    Break("generators", "a scope repeats its first instance",
          "theory/instances/test_scope.py::test_every_instance_exactly_once",
          around(ScopeSource, "__init__", at_its_first)),
    Break("generators", "a batch hands out the record of its first instance",
          f"{SOURCE}test_an_instance_of_a_batch_replays_alone",
          around(Record, "instance", lambda instance, self, index: instance(self, 0))),
    Break("generators", "a replay rounds what was recorded",
          f"{SOURCE}test_drawing_and_replaying_give_the_same_instance",
          around(ReplaySource, "_tensor", rounded)),
)  # fmt: skip
