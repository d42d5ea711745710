"""Breaks of how batches are mapped over their instances, by what a map would say in their place."""

from contextlib import nullcontext

from rankcheck.balls.mapping import Mapping
from rankcheck.engine.verification import batches, mapped
from rankcheck.theory.instances.drivers import Drawing, ReplaySource

from .table import Break, around, put

EVALUATION = "engine/verification/test_evaluation.py::"


def anything_goes(patch):
    for room in (batches, mapped):
        patch.setattr(room, "pure", nullcontext)


BREAKS = (
    Break("batches", "a map is not compared with instances alone",
          f"{EVALUATION}test_a_map_that_gives_other_sides_is_not_believed",
          put(batches._Work, "compared", lambda *_: "")),
    Break("batches", "all sides agree",
          f"{EVALUATION}test_a_map_that_asserts_elsewhere_is_not_believed",
          put(batches, "_agree", lambda *_: True)),
    Break("batches", "what a body catches under a map is not noticed",
          f"{EVALUATION}test_what_reads_values_runs_one_at_a_time_and_is_right",
          put(Mapping, "stop", lambda *_: None)),
    Break("batches", "nothing catches",
          f"{EVALUATION}test_whatever_catches_is_noticed",
          put(batches, "catches_nothing", lambda file: True)),
    Break("batches", "integers that wrap under a map are not noticed",
          f"{EVALUATION}test_integers_that_wrap_under_a_map_run_alone",
          put(Mapping, "wrap", lambda *_: None)),
    Break("batches", "a body may be random",
          f"{EVALUATION}test_random_numbers_are_an_error",
          anything_goes),
    Break("batches", "a body may have a memory",
          f"{EVALUATION}test_a_memory_is_an_error",
          put(batches._Work, "check_repeatable", lambda *_: None)),
    Break("batches", "a generator may write into what was drawn",
          f"{EVALUATION}test_in_place_writes_leave_what_was_drawn",
          put(Drawing, "_handed", lambda self, values: values[self.at])),
    Break("batches", "one at a time, all instances run",
          f"{EVALUATION}test_a_share_of_the_instances_runs_one_at_a_time",
          put(batches._Work, "some", lambda self, index: index.tolist())),
    Break("batches", "one at a time, an instance may be written into",
          f"{EVALUATION}test_in_place_writes_leave_what_was_drawn",
          around(ReplaySource, "__init__", lambda init, self, record, convert=lambda x: x:
                 init(self, record, convert))),
)  # fmt: skip
