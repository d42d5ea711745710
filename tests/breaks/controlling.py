"""Breaks of what guards a claim that holds: its controls, its tight family, what it asserts."""

from dataclasses import replace

import torch

from rankcheck.claims import relations, tolerances, variants
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.claims.signs import SIGNS
from rankcheck.engine.verification import check, controls, evaluation, stages, tally
from rankcheck.engine.verification.controls import Control

from .table import Break, around, around_property, everywhere, put

CHECK, CONTROLS = "engine/verification/test_check.py::", "engine/verification/test_controls.py::"
RELATIONS = "claims/test_relations.py::"


def as_it_is(variant, claim, name):
    return replace(claim, mutants={}, needs={})


def without_its_parameters(without, claim, name):
    need = replace(claim.needs[name], parameters={})
    return without(replace(claim, needs={name: need}), name)


def caught_where_it_raised(checked, *arguments):
    control = checked(*arguments)
    return replace(control, caught=control.caught or "raised" in control.why)


def broken_without_proof(hunted, control, settings):
    seen = []

    def hunter(*arguments):
        seen.append(settings.hunter(*arguments))
        return seen[0]

    watched = settings if settings.hunter is None else replace(settings, hunter=hunter)
    found, why = hunted(control, watched)
    return found or next((one.violation for one in seen), None), why


def without_the_tight_family(sweep, claim, family, *arguments, **options):
    found = sweep(claim, family, *arguments, **options)
    return None if family is claim.tight else found


def none_if_one_is_tight(of, claim, seen):
    found = of(claim, seen)
    return found if len(found) == len(seen.relations) else []


def counted_once_more(add, self, *arguments):
    self.asserted += 1
    add(self, *arguments)


def all_evaluated(of, self):
    counts = of(self)
    return replace(counts, evaluated=counts.total, rejected=0)


def never_where(asserted, self):
    found = asserted(self)
    return found if self.where is None else torch.zeros_like(found)


def within_an_infinite_band(violated, self):
    excused = (self.tolerance == torch.inf) & (self.excess <= self.tolerance)
    return violated(self) & ~excused


def strict_signs_are_not(patch):
    patch.setitem(SIGNS, "lt", replace(SIGNS["lt"], strict=False))


BREAKS = (
    Break("controls", "every control breaks its claim",
          f"{CHECK}test_a_named_mutant_that_survives_fails",
          put(controls, "check_control", lambda *_: Control(True))),
    Break("controls", "hypotheses are not dropped",
          f"{CHECK}test_a_control_has_to_break_the_claim",
          put(check, "check_hypotheses", lambda *_: {})),
    Break("controls", "every derived mutant dies",
          f"{CHECK}test_a_claim_whose_derived_mutant_survives_fails",
          put(tally.RelationTally, "killed",
              property(lambda self: True, lambda self, value: None))),
    Break("controls", "a derived mutant is twice as strong",
          f"{CONTROLS}test_controls_by_name",
          around(Relation, "strengthened", lambda stronger, self, by=1.0: stronger(self, 1.0))),
    Break("controls", "a derived mutant is no stronger",
          f"{CONTROLS}test_controls_by_name",
          put(Relation, "strengthened", lambda self, by=0.0: self)),
    Break("controls", "a mutant keeps the parameters of the claim",
          f"{CONTROLS}test_a_mutant_that_only_one_stage_catches_is_caught",
          everywhere(variants.mutant, as_it_is)),
    Break("controls", "a need keeps the parameters of the claim",
          f"{CONTROLS}test_controls_by_name", everywhere(variants.without, without_its_parameters)),
    Break("controls", "a need keeps the instances of the claim",
          f"{CONTROLS}test_controls_by_name", everywhere(variants.without, as_it_is)),
    Break("controls", "a control breaks without a proof",
          f"{CHECK}test_a_mutant_that_is_not_a_number_is_not_killed",
          around(controls, "search", lambda search, *a, control: search(*a, control=False))),
    Break("controls", "a control that raises breaks its claim",
          "engine/verification/test_evaluation.py::test_a_control_whose_body_raises_is_not_caught",
          around(controls, "check_control", caught_where_it_raised)),
    Break("controls", "a hunt breaks a control without a proof",
          f"{CONTROLS}test_a_hunt_that_decides_nothing_says_why",
          around(controls, "_hunted", broken_without_proof)),
    Break("tight family", "a bound is tight from half of its right side on",
          f"{CHECK}test_a_tight_family_has_to_be_tight",
          put(tolerances, "TIGHT", 0.5)),
    Break("tight family", "a violation on the tight family is dropped",
          f"{CHECK}test_a_violation_on_the_tight_family_refutes_the_claim",
          around(stages, "sweep", without_the_tight_family)),
    Break("tight family", "one sharp relation makes all tight",
          f"{CHECK}test_each_relation_has_to_be_tight",
          everywhere(stages.not_tight, none_if_one_is_tight)),
    Break("vacuity", "a relation counts where it is not asserted",
          f"{CHECK}test_a_hypothesis_that_never_holds_is_vacuous",
          around(tally.RelationTally, "add", counted_once_more)),
    Break("vacuity", "rejected instances count as evaluated",
          f"{CHECK}test_without_instances_nothing_holds",
          around_property(evaluation.Evaluation, "counts", all_evaluated)),
    Break("vacuity", "a tolerance may hide every violation",
          "engine/verification/test_relations.py::test_a_tolerance_that_hides_the_sides_is_said",
          put(check, "hidden", lambda *_: [])),
    Break("verdict", "every search holds",
          f"{CHECK}test_a_false_claim_is_refuted_with_a_certificate",
          around(check, "_searched", lambda searched, *a: replace(searched(*a), verdict="holds"))),
    Break("relations", "nothing is violated",
          f"{RELATIONS}test_a_bound_fails_beyond_its_tolerance_alone",
          put(Relation, "violated", lambda self: torch.zeros_like(self.asserted))),
    Break("relations", "the hypothesis of a relation is ignored",
          f"{RELATIONS}test_where_is_respected",
          put(Relation, "asserted", property(lambda self: torch.ones(self.lhs.shape) > 0))),
    Break("relations", "the hypothesis of a relation is never true",
          f"{RELATIONS}test_where_is_respected",
          around_property(Relation, "asserted", never_where)),
    Break("relations", "a side that is not a number holds",
          f"{RELATIONS}test_what_is_no_number_fails",
          around(Relation, "violated", lambda of, self: of(self) & ~self.excess.isnan())),
    Break("relations", "an infinite tolerance hides a violation",
          f"{RELATIONS}test_a_band_without_end_excuses_nothing",
          around(Relation, "violated", within_an_infinite_band)),
    Break("relations", "the tolerance is a thousand times too wide",
          "engine/counterexamples/test_rounding.py::test_a_small_multiple_of_the_tolerance_is_rounding",
          put(tolerances, "SAFETY", 4e3)),
    Break("relations", "a difference of integers wraps",
          f"{RELATIONS}test_the_difference_of_integers_does_not_wrap",
          put(Relation, "_integer_difference", lambda self: self.lhs - self.rhs)),
    Break("relations", "equal sides satisfy a strict bound",
          f"{RELATIONS}test_a_strict_relation_fails_at_equality_whatever_its_tolerance",
          strict_signs_are_not),
    Break("relations", "an identity is a bound",
          f"{RELATIONS}test_a_bound_fails_beyond_its_tolerance_alone",
          everywhere(relations.eq, lambda eq, *sides, **options: relations.leq(*sides, **options))),
    Break("relations", "only the first relation is looked at",
          "engine/verification/test_search.py::test_noise_does_not_hide_a_violation",
          around(Claim, "relations", lambda of, self, arguments: of(self, arguments)[:1])),
)  # fmt: skip
