"""Breaks of sharpenings: of what is maximised, of how far, and of what is believed."""

from dataclasses import replace
from fractions import Fraction

from rankcheck.sharpen import gauge, search, task

from .table import Break, around, put

GAUGE, RUN = "sharpen/test_gauge.py::", "sharpen/test_run.py::"


def in_floats(attained, instance):
    """Each proved ratio, with that of the floats in its place."""
    for one, relation in zip(attained(instance), instance.relations, strict=True):
        ratio = Fraction(float(relation.lhs) / max(float(relation.rhs), 1e-9))
        yield replace(one, low=ratio, high=ratio)


BREAKS = (
    Break("sharpening", "ratios are minimised",
          f"{GAUGE}test_heights_are_the_logarithms_of_ratios_above_one_too",
          around(gauge.Gauge, "ratios", lambda ratios, *sample: -ratios(*sample))),
    Break("sharpening", "an ascent ends where its samples are best",
          "sharpen/test_task.py::test_an_instance_is_polished_to_the_top_near_it",
          put(task, "_refined", lambda gauge, found: found)),
    Break("sharpening", "a ratio above 1 is not kept",
          f"{RUN}test_the_constant_of_a_false_statement_and_its_certificate",
          around(search.Search, "keep",
                 lambda keep, self, one: None if one.attained.refutes else keep(self, one))),
    Break("sharpening", "the ratios of floats are believed",
          f"{RUN}test_a_ratio_that_balls_do_not_confirm_is_never_reported",
          around(task, "attained", lambda attained, one: tuple(in_floats(attained, one)))),
)  # fmt: skip
