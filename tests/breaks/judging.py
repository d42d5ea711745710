"""Breaks of the judge, of what counts as rounding, and of the agreement of floats and balls."""

from dataclasses import replace
from fractions import Fraction
from importlib import import_module

from rankcheck.claims import tolerances
from rankcheck.engine.counterexamples import rounding
from rankcheck.engine.counterexamples.instance import Instance
from rankcheck.engine.counterexamples.judge import Judgement
from rankcheck.engine.verification import search
from rankcheck.theory.instances.drivers import ReplaySource
from rankcheck.theory.instances.source import Source

from .table import Break, around, everywhere, put

# The package has a function of that name.
judge = import_module("rankcheck.engine.counterexamples.judge")
JUDGE, ROUNDING = (
    "engine/counterexamples/test_judge.py::",
    "engine/counterexamples/test_rounding.py::",
)
SATISFIED = Judgement("satisfied", 128)


def judged(change):
    """Change each judgement of an instance."""
    return everywhere(judge.judge_instance, lambda of, *a, **options: change(of(*a, **options)))


def refuted_if_not_decided(judged, *arguments):
    found = judged(*arguments)
    if found.finding != "undecided":
        return found
    return replace(found, finding="refuted", excess=Fraction(1), relative_excess=Fraction(1))


def required_of_floats(self, condition, why):
    if self._convert is None:
        Source.require(self, condition, why)


def satisfied_if_outside(settled, *arguments):
    found = settled(*arguments)
    return SATISFIED if found.finding == "outside" else found


def one_way(judged, relation, *arguments):
    return judged(replace(relation, kind="leq") if relation.kind == "eq" else relation, *arguments)


BREAKS = (
    Break("judge", "what balls leave undecided is satisfied",
          f"{JUDGE}test_what_balls_cannot_do_is_undecided",
          judged(lambda found: SATISFIED if found.finding == "undecided" else found)),
    Break("judge", "what balls exclude is refuted",
          f"{JUDGE}test_equality_is_told_from_what_is_near",
          judged(lambda found: replace(found, finding="refuted")
                 if found.finding == "satisfied" else found)),
    Break("judge", "what fails on balls is satisfied",
          f"{JUDGE}test_what_balls_cannot_do_is_undecided",
          judged(lambda found: SATISFIED if "fails on balls" in found.reason else found)),
    Break("judge", "overlapping balls are refuted",
          f"{JUDGE}test_what_balls_cannot_do_is_undecided",
          around(judge, "_judged", refuted_if_not_decided)),
    Break("judge", "hypotheses of a generator are not decided on balls",
          f"{JUDGE}test_a_hypothesis_of_the_generator_is_rechecked",
          lambda patch: patch.setattr(ReplaySource, "require", required_of_floats, raising=False)),
    Break("judge", "the where of a relation is not decided on balls",
          f"{JUDGE}test_each_entry_is_judged_where_it_is_asserted",
          around(judge, "_asserted", lambda of, relation, n: of(replace(relation, where=None), n))),
    Break("judge", "a proof holds for one choice of signs",
          f"{JUDGE}test_what_depends_on_a_sign_or_an_order_is_never_refuted",
          put(judge.balls, "OTHER_CONVENTIONS", ())),
    Break("judge", "balls have one precision",
          f"{JUDGE}test_the_sign_of_a_cancelled_sum_takes_more_bits",
          around(judge, "_decided", lambda of, claim, build, _: of(claim, build, (128,)))),
    Break("judge", "one way of an identity is decided",
          f"{JUDGE}test_an_identity_fails_to_either_side", around(judge, "_judged", one_way)),
    Break("judge", "the first entry is judged alone",
          f"{JUDGE}test_each_entry_is_judged_where_it_is_asserted",
          around(judge, "_asserted", lambda of, *arguments: list(of(*arguments))[:1])),
    Break("judge", "the first relation is judged alone",
          f"{JUDGE}test_the_worst_relation_is_reported",
          around(judge, "_decide", lambda decide, relations, bits: decide(relations[:1], bits))),
    Break("judge", "nearly equal sides are equal on balls",
          f"{JUDGE}test_the_sign_of_a_cancelled_sum_takes_more_bits",
          put(tolerances, "EQUALITY_ON_BALLS", Fraction(1))),
    Break("agreement", "every violation may be rounding",
          f"{ROUNDING}"
          "test_what_balls_decide_is_the_answer_and_the_row_says_how_floats_differ",
          everywhere(rounding.is_rounding, lambda *_, **options: True)),
    Break("agreement", "what is outside counts as satisfied",
          f"{ROUNDING}test_where_floats_assert_what_balls_put_outside_nothing_is_counted",
          around(search, "settled_in", satisfied_if_outside)),
    Break("agreement", "floats may contradict a proof",
          f"{ROUNDING}test_a_proof_that_floats_contradict_is_none",
          put(Instance, "require_agreement", lambda self: None)),
)  # fmt: skip
