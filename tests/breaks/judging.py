"""Breaks of the judge, of what counts as rounding, and of the agreement of floats and balls."""

from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import torch

from rankcheck.claims import tolerances
from rankcheck.counterexamples import instance, rounding
from rankcheck.counterexamples.instance import Instance
from rankcheck.counterexamples.judge import Judgement
from rankcheck.instances.drivers import ReplaySource

from .table import around, everywhere, noticed

# The package has a function of that name.
judge = import_module("rankcheck.counterexamples.judge")
SATISFIED = Judgement("satisfied", 128)


def judged(patch, change):
    """Change each judgement of an instance."""
    original = judge.judge_instance
    everywhere(patch, original, lambda *a, **k: change(original(*a, **k)))


@noticed(
    "judge",
    canary="true, but broken by rounding",
    test="counterexamples/test_judge.py::test_the_worst_relation_is_reported",
)
def everything_is_satisfied(patch):
    judged(patch, lambda found: SATISFIED)


@noticed(
    "judge",
    canary="a sign that balls do not decide",
    test="counterexamples/test_judge.py::test_what_balls_cannot_do_is_undecided",
)
def what_balls_leave_undecided_is_satisfied(patch):
    judged(patch, lambda found: SATISFIED if found.finding == "undecided" else found)


@noticed(
    "judge",
    canary="true, but broken by rounding",
    test="counterexamples/test_judge.py::test_equality_is_told_from_what_is_near",
)
def what_balls_exclude_is_refuted(patch):
    judged(
        patch,
        lambda found: replace(found, finding="refuted") if found.finding == "satisfied" else found,
    )


@noticed(
    "judge",
    canary="balls that overlap",
    test="counterexamples/test_judge.py::test_what_balls_cannot_do_is_undecided",
)
def overlapping_balls_are_satisfied(patch):
    def lenient(judged, *arguments):
        found = judged(*arguments)
        return replace(found, finding="satisfied") if found.finding == "undecided" else found

    around(patch, judge, "_judged", lenient)


@noticed(
    "judge",
    canary="balls that overlap",
    test="counterexamples/test_judge.py::test_what_balls_cannot_do_is_undecided",
)
def overlapping_balls_are_refuted(patch):
    def eager(judged, *arguments):
        found = judged(*arguments)
        if found.finding != "undecided":
            return found
        return replace(found, finding="refuted", excess=Fraction(1), relative_excess=Fraction(1))

    around(patch, judge, "_judged", eager)


@noticed(
    "judge",
    canary="no ball form",
    test="counterexamples/test_judge.py::test_a_claim_that_says_it_has_no_ball_form",
)
def what_has_no_ball_form_is_satisfied(patch):
    judged(patch, lambda found: SATISFIED if found.unprovable else found)


@noticed(
    "judge",
    canary="a body that fails on balls",
    test="counterexamples/test_judge.py::test_what_balls_cannot_do_is_undecided",
)
def what_fails_on_balls_is_satisfied(patch):
    judged(patch, lambda found: SATISFIED if "fails on balls" in found.reason else found)


@noticed(
    "judge",
    canary="outside by require alone",
    test="counterexamples/test_judge.py::test_a_hypothesis_of_the_generator_is_rechecked",
)
def hypotheses_of_a_generator_are_not_decided_on_balls(patch):
    def require(self, condition, why):
        if self._convert is None:
            super(ReplaySource, self).require(condition, why)

    patch.setattr(ReplaySource, "require", require, raising=False)


@noticed(
    "judge",
    canary="outside by require alone",
    test="counterexamples/test_judge.py::test_a_hypothesis_of_the_generator_is_rechecked",
)
def what_balls_put_outside_is_refuted(patch):
    judged(
        patch,
        lambda found: replace(found, finding="refuted") if found.finding == "outside" else found,
    )


@noticed(
    "judge",
    canary="outside by where alone",
    test="counterexamples/test_judge.py::test_each_entry_is_judged_where_it_is_asserted",
)
def the_where_of_a_relation_is_not_decided_on_balls(patch):
    around(patch, judge, "_asserted", lambda of, relation, n: of(replace(relation, where=None), n))


@noticed(
    "judge",
    canary="the sign of an eigenvector",
    test="counterexamples/test_judge.py::test_what_depends_on_a_sign_or_an_order_is_never_refuted",
)
def a_proof_holds_for_one_choice_of_signs(patch):
    patch.setattr(judge.balls, "OTHER_CONVENTIONS", ())


@noticed(
    "judge",
    canary="balls that overlap",
    test="counterexamples/test_judge.py::test_the_sign_of_a_cancelled_sum_takes_more_bits",
)
def balls_have_one_precision(patch):
    around(patch, judge, "_decided", lambda decided, claim, build, _: decided(claim, build, (128,)))


@noticed(
    "judge",
    canary="an identity with a smaller left side",
    test="counterexamples/test_judge.py::test_an_identity_fails_to_either_side",
)
def one_way_of_an_identity_is_decided(patch):
    def one_way(judged, relation, *arguments):
        if relation.kind == "eq":
            relation = replace(relation, kind="leq")
        return judged(relation, *arguments)

    around(patch, judge, "_judged", one_way)


@noticed(
    "judge",
    canary="false in one entry of one relation",
    test="counterexamples/test_judge.py::test_each_entry_is_judged_where_it_is_asserted",
)
def the_first_entry_is_judged_alone(patch):
    around(patch, judge, "_asserted", lambda of, *arguments: list(of(*arguments))[:1])


@noticed(
    "judge",
    canary="false in one entry of one relation",
    test="counterexamples/test_judge.py::test_the_worst_relation_is_reported",
)
def the_first_relation_is_judged_alone(patch):
    around(patch, judge, "_decide", lambda decide, relations, bits: decide(relations[:1], bits))


@noticed(
    "judge",
    canary="one part of a disjunction",
    test="counterexamples/test_judge.py::test_a_disjunction_is_refuted_only_if_each_part_is",
)
def one_false_part_refutes_a_disjunction(patch):
    from rankcheck.claims.disjunctions import AnyOf

    patch.setattr(AnyOf, "parts", property(lambda self: self.alternatives[:1]))


@noticed(
    "judge",
    why="so wide are balls only where floats lose all digits, too",
    test="counterexamples/test_judge.py::test_the_sign_of_a_cancelled_sum_takes_more_bits",
)
def nearly_equal_sides_are_equal_on_balls(patch):
    patch.setattr(tolerances, "EQUALITY_ON_BALLS", Fraction(1))


@noticed(
    "agreement",
    canary="false in floats, true in balls",
    test="counterexamples/test_rounding.py::test_a_bug_of_the_float_path_is_undecided",
)
def every_violation_may_be_rounding(patch):
    everywhere(patch, rounding.is_rounding, lambda *_, **__: True)


@noticed(
    "agreement",
    canary="false in floats, true in balls",
    test="counterexamples/test_rounding.py::test_a_bug_of_the_float_path_is_undecided",
)
def a_disagreement_is_satisfied(patch):
    patch.setattr(instance, "_alarm", lambda judgement, *_: replace(judgement, finding="satisfied"))


@noticed(
    "agreement",
    canary="false in floats, true in balls",
    test="counterexamples/test_rounding.py::test_a_bug_of_the_float_path_is_undecided",
)
def every_rounding_error_is_infinite(patch):
    patch.setattr(Instance, "error", lambda self, entry, outside=False: torch.inf)


@noticed(
    "agreement",
    canary="inside in floats, outside in balls",
    test="counterexamples/test_rounding.py::test_floats_and_balls_that_disagree_about_a_hypothesis_are_an_alarm",
)
def what_is_outside_lies_on_the_edge(patch):
    def edge(error, self, entry, *, outside=False):
        return torch.inf if outside else error(self, entry)

    around(patch, Instance, "error", edge)


@noticed(
    "agreement",
    canary="false in balls, true in floats",
    test="counterexamples/test_rounding.py::test_a_proof_that_floats_contradict_is_none",
)
def floats_may_contradict_a_proof(patch):
    patch.setattr(Instance, "require_agreement", lambda self: None)
