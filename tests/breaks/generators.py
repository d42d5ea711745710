"""Breaks of what makes instances: sources that draw too little, and hypotheses that are ignored."""

import torch

from rankcheck.instances import drivers
from rankcheck.instances.drivers import BatchSource, DrawSource, ReplaySource, ScopeSource
from rankcheck.instances.record import Record
from rankcheck.instances.source import Source

from .table import around, noticed


@noticed(
    "generators",
    canary="false only where it is rejected",
    test="instances/test_source.py::test_requirements_reject_alone_and_mark_in_a_batch",
)
def rejections_are_ignored(patch):
    patch.setattr(Source, "require", lambda self, condition, why: None)


@noticed(
    "generators",
    canary="false only where it is rejected",
    test="instances/test_source.py::test_requirements_reject_alone_and_mark_in_a_batch",
)
def everything_is_rejected(patch):
    def require(self, condition, why):
        self.valid = torch.zeros_like(self.valid)

    patch.setattr(Source, "require", require)


@noticed(
    "generators",
    canary="false at one shape of eight",
    test="instances/test_source.py::test_seeds_decide_batches",
)
def a_batch_ignores_its_seed(patch):
    def init(of, self, seed, *arguments, **options):
        of(self, 0, *arguments, **options)

    around(patch, BatchSource, "__init__", init)


@noticed(
    "generators",
    canary="false near one number",
    test="instances/test_source.py::test_entries_of_a_batch_are_of_mixed_kinds",
)
def a_batch_is_made_of_zeros(patch):
    zeros = lambda tensor, *arguments: torch.zeros_like(tensor(*arguments))  # noqa: E731
    around(patch, BatchSource, "_tensor", zeros)


@noticed(
    "generators",
    canary="false near one number",
    test="instances/test_source.py::test_entries_of_a_batch_are_of_mixed_kinds",
)
def all_instances_of_a_batch_are_the_first_one(patch):
    def first(tensor, self, *arguments):
        values = tensor(self, *arguments)
        return values[:1].expand_as(values).clone() if self.batch else values

    around(patch, BatchSource, "_tensor", first)


@noticed(
    "generators",
    canary="false at one shape of eight",
    test="instances/test_reach.py::test_depths_begin_at_the_seam",
)
def a_sweep_draws_the_lowest_of_each_range_of_integers(patch):
    patch.setattr(BatchSource, "_integer", lambda self, low, high: low)


@noticed(
    "generators",
    why="the scope and the draws have zeros and small integers",
    test="instances/test_source.py::test_entries_of_a_batch_are_of_mixed_kinds",
)
def a_sweep_mixes_nothing_special_in(patch):
    def gaussian(instances, entries, low, high, generator):
        return generator.uniform(low, high, (instances, entries))

    patch.setattr(drivers, "mixture", gaussian)


@noticed(
    "generators",
    canary="false near one number",
    test="instances/test_source.py::test_entries_stay_in_their_range",
)
def entries_leave_their_range(patch):
    around(
        patch, BatchSource, "_tensor", lambda of, self, shape, low, high: of(self, shape, -8.0, 8.0)
    )


@noticed(
    "generators",
    why="the sweep has what the draws lack",
    test="verification/test_search.py::test_a_false_claim_is_found_and_proved",
)
def hypothesis_draws_zeros_only(patch):
    zeros = lambda tensor, *arguments: torch.zeros_like(tensor(*arguments))  # noqa: E731
    around(patch, DrawSource, "_tensor", zeros)


@noticed(
    "generators",
    canary="false only for what Hypothesis draws",
    test="counterexamples/test_shrinking.py::test_hypothesis_sees_exactly_the_instance_first",
)
def hypothesis_draws_the_lowest_of_each_range_of_integers(patch):
    patch.setattr(DrawSource, "_integer", lambda self, low, high: low)


@noticed(
    "generators",
    canary="false of one small integer and one sign",
    test="instances/test_scope.py::test_every_instance_exactly_once",
)
def a_scope_repeats_its_first_instance(patch):
    def init(of, self, shape, start, size, *arguments):
        of(self, shape, start, size, *arguments)
        self._index = torch.zeros_like(self._index)

    around(patch, ScopeSource, "__init__", init)


@noticed(
    "generators",
    canary="false near one number",
    test="instances/test_source.py::test_an_instance_of_a_batch_replays_alone",
)
def a_batch_hands_out_the_record_of_its_first_instance(patch):
    around(patch, Record, "instance", lambda instance, self, index: instance(self, 0))


@noticed(
    "generators",
    why="the numbers of canaries are short",
    test="instances/test_source.py::test_drawing_and_replaying_give_the_same_instance",
)
def a_replay_rounds_what_was_recorded(patch):
    def rounded(tensor, self, *arguments):
        self._convert, convert = None, self._convert
        values = tensor(self, *arguments).float().double()
        self._convert = convert
        return values if convert is None else convert(values)

    around(patch, ReplaySource, "_tensor", rounded)
