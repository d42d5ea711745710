"""Breaks of what guards a claim that holds: its controls, its tight family, what it asserts."""

from dataclasses import replace
from functools import partial

import torch

from rankcheck.claims import tolerances, variants
from rankcheck.claims.claim import Claim
from rankcheck.claims.relations import Relation
from rankcheck.verification import check, controls, evaluation, stages, tally
from rankcheck.verification.controls import Control
from rankcheck.verification.ledger import Mutants

from .table import around, everywhere, noticed


@noticed(
    "controls",
    canary="a mutant of no effect",
    test="verification/test_check.py::test_a_named_mutant_that_survives_fails",
)
def every_control_breaks_its_claim(patch):
    patch.setattr(controls, "check_control", lambda *_: Control(True))


@noticed(
    "controls",
    canary="a hypothesis that can be dropped",
    test="verification/test_check.py::test_a_control_has_to_break_the_claim",
)
def hypotheses_are_not_dropped(patch):
    patch.setattr(check, "check_hypotheses", lambda *_: {})


@noticed(
    "controls",
    canary="a mutant of no effect",
    test="verification/test_check.py::test_a_named_mutant_that_survives_fails",
)
def all_mutants_die(patch):
    patch.setattr(check, "check_mutants", lambda *_: (Mutants(1, 1), {}))


@noticed(
    "controls",
    canary="a bound with 4 percent of room",
    test="verification/test_check.py::test_a_claim_whose_derived_mutant_survives_fails",
)
def every_derived_mutant_dies(patch):
    killed = property(lambda self: True, lambda self, value: None)
    patch.setattr(tally.RelationTally, "killed", killed)


@noticed(
    "controls",
    canary="a bound with 4 percent of room",
    test="verification/test_check.py::test_a_claim_whose_derived_mutant_survives_fails",
)
def no_bound_has_a_derived_mutant(patch):
    patch.setattr(Claim, "loose_because", lambda self, label: "it is not")


@noticed(
    "controls",
    canary="a bound with 4 percent of room",
    test="verification/test_controls.py::test_controls_by_name",
)
def a_derived_mutant_is_twice_as_strong(patch):
    around(patch, Relation, "strengthened", lambda stronger, self, by=1.0: stronger(self, 1.0))


@noticed(
    "controls",
    canary="a bound with 1 percent of room",
    test="verification/test_controls.py::test_controls_by_name",
)
def a_derived_mutant_is_no_stronger(patch):
    patch.setattr(Relation, "strengthened", lambda self, by=0.0: self)


@noticed(
    "controls",
    canary="a mutant that is false",
    test="verification/test_controls.py::test_a_mutant_that_only_one_stage_catches_is_caught",
)
def a_mutant_keeps_the_parameters_of_the_claim(patch):
    same = lambda claim, name: replace(claim, mutants={}, needs={})  # noqa: E731
    everywhere(patch, variants.mutant, same)


@noticed(
    "controls",
    canary="a hypothesis with parameters",
    test="verification/test_controls.py::test_controls_by_name",
)
def a_need_keeps_the_parameters_of_the_claim(patch):
    def keeps(without, claim, name):
        need = replace(claim.needs[name], parameters={})
        return without(replace(claim, needs={name: need}), name)

    original = variants.without
    everywhere(patch, original, lambda claim, name: keeps(original, claim, name))


@noticed(
    "controls",
    canary="a hypothesis that is needed",
    test="verification/test_controls.py::test_controls_by_name",
)
def a_need_keeps_the_instances_of_the_claim(patch):
    same = lambda claim, name: replace(claim, mutants={}, needs={})  # noqa: E731
    everywhere(patch, variants.without, same)


@noticed(
    "controls",
    canary="a mutant that balls leave open",
    test="verification/test_check.py::test_a_mutant_that_is_not_a_number_is_not_killed",
)
def a_control_breaks_without_a_proof(patch):
    around(patch, controls, "search", lambda search, *a, control: search(*a, control=False))


@noticed(
    "controls",
    canary="a mutant that raises",
    test="verification/test_evaluation.py::test_a_control_whose_body_raises_is_not_caught",
)
def a_control_that_raises_breaks_its_claim(patch):
    def lenient(checked, *arguments):
        control = checked(*arguments)
        return replace(control, caught=control.caught or "raised" in control.why)

    around(patch, controls, "check_control", lenient)


@noticed(
    "controls",
    why="what a hunt of a control leaves open takes it seconds",
    test="verification/test_controls.py::test_a_hunt_that_decides_nothing_says_why",
)
def a_hunt_breaks_a_control_without_a_proof(patch):
    def broken(hunted, claim, control, name, nearest, settings):
        seen = []

        def hunter(*arguments):
            seen.append(settings.hunter(*arguments))
            return seen[0]

        watched = settings if settings.hunter is None else replace(settings, hunter=hunter)
        found, why = hunted(claim, control, name, nearest, watched)
        return found or next((one.violation for one in seen), None), why

    around(patch, controls, "_hunted", broken)


@noticed(
    "tight family",
    canary="a tight family with room",
    test="verification/test_check.py::test_a_tight_family_has_to_be_tight",
)
def every_tight_family_is_tight(patch):
    everywhere(patch, stages.not_tight, lambda claim, tally: [])


@noticed(
    "tight family",
    canary="a tight family with room",
    test="verification/test_check.py::test_a_tight_family_has_to_be_tight",
)
def a_bound_is_tight_from_half_of_its_right_side_on(patch):
    patch.setattr(tolerances, "TIGHT", 0.5)


@noticed(
    "tight family",
    canary="false on the tight family",
    test="verification/test_check.py::test_a_violation_on_the_tight_family_refutes_the_claim",
)
def a_violation_on_the_tight_family_is_dropped(patch):
    def dropped(sweep, claim, family, *arguments, **options):
        found = sweep(claim, family, *arguments, **options)
        return None if family is claim.tight else found

    around(patch, stages, "sweep", dropped)


@noticed(
    "tight family",
    canary="one of two bounds with room",
    test="verification/test_check.py::test_each_relation_has_to_be_tight",
)
def one_sharp_relation_makes_all_tight(patch):
    def lenient(of, claim, seen):
        found = of(claim, seen)
        return found if len(found) == len(seen.relations) else []

    original = stages.not_tight
    everywhere(patch, original, partial(lenient, original))


@noticed(
    "vacuity",
    canary="a relation that is never asserted",
    test="verification/test_check.py::test_a_hypothesis_that_never_holds_is_vacuous",
)
def no_relation_is_vacuous(patch):
    patch.setattr(stages.Search, "vacuous", property(lambda self: []))


@noticed(
    "vacuity",
    canary="a relation that is never asserted",
    test="verification/test_check.py::test_a_hypothesis_that_never_holds_is_vacuous",
)
def a_relation_counts_where_it_is_not_asserted(patch):
    def counts(add, self, relation, part, family):
        self.asserted += 1
        add(self, relation, part, family)

    around(patch, tally.RelationTally, "add", counts)


@noticed(
    "vacuity",
    canary="every instance rejected",
    test="verification/test_check.py::test_without_instances_nothing_holds",
)
def rejected_instances_count_as_evaluated(patch):
    def all_of_them(counts):
        return replace(counts, evaluated=counts.total, rejected=0)

    of = evaluation.Evaluation.counts.fget
    patch.setattr(evaluation.Evaluation, "counts", property(lambda self: all_of_them(of(self))))


@noticed(
    "vacuity",
    canary="a tolerance that hides the sides",
    test="verification/test_relations.py::test_a_tolerance_that_hides_the_sides_is_said",
)
def a_tolerance_may_hide_every_violation(patch):
    patch.setattr(check, "hidden", lambda *_: [])


@noticed(
    "verdict",
    canary="a body that raises on some",
    test="verification/test_check.py::test_a_false_claim_is_refuted_with_a_certificate",
)
def every_search_holds(patch):
    around(patch, check, "_searched", lambda searched, *a: replace(searched(*a), verdict="holds"))


@noticed(
    "relations",
    canary="false by 2 percent",
    test="claims/test_relations.py::test_a_bound_fails_beyond_its_tolerance_alone",
)
def nothing_is_violated(patch):
    patch.setattr(Relation, "violated", lambda self: torch.zeros_like(self.asserted))


@noticed(
    "relations",
    canary="false only outside where",
    test="claims/test_relations.py::test_where_is_respected",
)
def the_hypothesis_of_a_relation_is_ignored(patch):
    everywhere_ = property(lambda self: torch.ones(tuple(self.lhs.shape), dtype=torch.bool))
    patch.setattr(Relation, "asserted", everywhere_)


@noticed(
    "relations",
    canary="false only inside where",
    test="claims/test_relations.py::test_where_is_respected",
)
def the_hypothesis_of_a_relation_is_never_true(patch):
    original = Relation.asserted.fget

    def asserted(self):
        found = original(self)
        return found if self.where is None else torch.zeros_like(found)

    patch.setattr(Relation, "asserted", property(asserted))


@noticed(
    "relations",
    canary="a side that is not a number",
    test="claims/test_relations.py::test_what_is_no_number_fails",
)
def a_side_that_is_not_a_number_holds(patch):
    around(patch, Relation, "violated", lambda of, self: of(self) & ~self.excess.isnan())


@noticed(
    "relations",
    canary="a tolerance without end",
    test="claims/test_relations.py::test_a_band_without_end_excuses_nothing",
)
def an_infinite_tolerance_hides_a_violation(patch):
    def hidden(violated, self):
        tolerance = self.tolerance
        return violated(self) & ~((tolerance == torch.inf) & (self.excess <= tolerance))

    around(patch, Relation, "violated", hidden)


@noticed(
    "relations",
    canary="false by 1e-12",
    test="counterexamples/test_rounding.py::test_a_small_multiple_of_the_tolerance_is_rounding",
)
def the_tolerance_is_a_thousand_times_too_wide(patch):
    patch.setattr(tolerances, "SAFETY", 4e3)


@noticed(
    "relations",
    canary="integers far apart",
    test="claims/test_relations.py::test_the_difference_of_integers_does_not_wrap",
)
def a_difference_of_integers_wraps(patch):
    patch.setattr(Relation, "_integer_difference", lambda self: self.lhs - self.rhs)


@noticed(
    "relations",
    canary="balls that overlap",
    test="claims/test_relations.py::test_a_strict_relation_fails_at_equality_whatever_its_tolerance",
)
def equal_sides_satisfy_a_strict_bound(patch):
    from rankcheck.claims.signs import SIGNS

    patch.setitem(SIGNS, "lt", replace(SIGNS["lt"], strict=False))


@noticed(
    "relations",
    canary="decided at 256 bits",
    test="claims/test_relations.py::test_a_bound_fails_beyond_its_tolerance_alone",
)
def an_identity_is_a_bound(patch):
    from rankcheck.claims import relations

    original = relations.eq
    everywhere(patch, original, relations.leq)


@noticed(
    "relations",
    canary="false in one entry of one relation",
    test="verification/test_search.py::test_noise_does_not_hide_a_violation",
)
def only_the_first_relation_is_looked_at(patch):
    from rankcheck.claims.claim import Claim

    original = Claim.relations
    patch.setattr(Claim, "relations", lambda self, arguments: original(self, arguments)[:1])
