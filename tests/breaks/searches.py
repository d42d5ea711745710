"""Breaks of what looks for a violation: the sweep, the scope, the draws of Hypothesis, the hunt."""

from dataclasses import replace
from functools import partial

import torch
from hypothesis.errors import NoSuchExample

from rankcheck.hunt import margins, shard
from rankcheck.hunt.strategies import descend
from rankcheck.instances import scope as scopes
from rankcheck.verification import controls, evaluation, scope, search, stages

from .table import around, everywhere, noticed


@noticed(
    "sweep",
    canary="false near one number",
    test="verification/test_search.py::test_a_false_claim_is_found_and_proved",
)
def a_sweep_drops_every_violation(patch):
    patch.setattr(search, "_judged", lambda *_: None)


@noticed(
    "sweep",
    canary="false near one number",
    test="verification/test_search.py::test_a_true_claim_is_tallied",
)
def a_sweep_has_no_batches(patch):
    patch.setattr(search, "batches", lambda *_, **__: iter(()))


@noticed(
    "sweep",
    canary="false near one number",
    test="verification/test_search.py::test_a_false_claim_is_found_and_proved",
)
def a_sweep_looks_at_the_first_instance_of_a_batch_alone(patch):
    around(patch, search, "worst_of", lambda worst, *a: [i for i in worst(*a) if i == 0])


@noticed(
    "sweep",
    canary="false at one shape of eight",
    test="verification/test_search.py::test_the_seed_decides_what_is_seen",
)
def all_batches_of_a_sweep_have_one_seed(patch):
    patch.setattr(search, "seed_of", lambda *_: 0)


@noticed(
    "sweep",
    canary="false behind rounding",
    test="verification/test_search.py::test_the_worst_by_either_measure",
)
def one_violation_of_a_batch_is_judged(patch):
    patch.setattr(search, "JUDGED", 1)


@noticed(
    "sweep",
    why="the draws judge each violation, whatever its rank",
    test="verification/test_search.py::test_noise_does_not_hide_a_violation",
)
def violations_are_ranked_by_their_relative_size_alone(patch):
    around(patch, search, "excess", lambda excess, sides, batch, **_: excess(sides, batch))


@noticed(
    "sweep",
    why="the draws meet what is undecided as well",
    test="verification/test_search.py::test_with_proof_a_search_goes_on_after_what_is_not_conclusive",
)
def a_sweep_drops_what_balls_leave_undecided(patch):
    def proved(judged, *arguments):
        found = judged(*arguments)
        return found if found is not None and found.proved else None

    around(patch, search, "_judged", proved)


@noticed(
    "scope",
    canary="false of one small integer and one sign",
    test="verification/test_scope.py::test_the_first_violation_is_the_smallest",
)
def a_scope_drops_every_violation(patch):
    patch.setattr(scope, "_violations", lambda *_: iter(()))


@noticed(
    "scope",
    canary="false of one small integer and one sign",
    test="verification/test_scope.py::test_rejected_instances_are_counted",
)
def a_scope_has_zeros_only(patch):
    patch.setattr(scope, "shapes", partial(scopes.shapes, grid=(0.0,)))


def scoped(patch, shapes):
    """Change the shapes of each scope."""

    def changed(of, *arguments):
        found = of(*arguments)
        return replace(found, shapes=shapes(found.shapes))

    original = scope.scope_of
    everywhere(patch, original, partial(changed, original))


@noticed(
    "scope",
    canary="false of one small integer and one sign",
    test="verification/test_scope.py::test_the_first_violation_is_the_smallest",
)
def a_scope_has_no_shapes(patch):
    scoped(patch, lambda shapes: [])


@noticed(
    "scope",
    canary="false of one small integer and one sign",
    test="verification/test_scope.py::test_the_message_says_that_nothing_smaller_violates",
)
def a_scope_ends_after_its_first_shape(patch):
    scoped(patch, lambda shapes: shapes[:1])


@noticed(
    "scope",
    canary="with each option",
    test="instances/test_scope.py::test_the_shapes_are_those_of_brute_force",
)
def a_scope_takes_the_first_option_of_each_choice(patch):
    lifted = scopes._Branch.next.fget
    one = property(lambda self: None if self.place.index else lifted(self))
    patch.setattr(scopes._Branch, "next", one)


@noticed(
    "scope",
    canary="the smallest of many",
    test="verification/test_scope.py::test_the_first_violation_is_the_smallest",
)
def a_scope_begins_with_its_largest_instances(patch):
    backwards = lambda batches, self, size: reversed(list(batches(self, size)))  # noqa: E731
    around(patch, scopes.Shapes, "batches", backwards)


@noticed(
    "draws",
    canary="false only for what Hypothesis draws",
    test="verification/test_check.py::test_a_true_tight_claim_holds",
)
def nothing_is_drawn(patch):
    patch.setattr(stages, "draw", lambda *_, **__: None)


@noticed(
    "draws",
    canary="false only for what Hypothesis draws",
    test="verification/test_search.py::test_a_false_claim_is_found_and_proved",
)
def violations_that_hypothesis_draws_are_dropped(patch):
    def dropped(find, name, strategy, violates, *arguments, **options):
        find(name, strategy, lambda drawn: violates(drawn) and False, *arguments, **options)
        raise NoSuchExample(name)

    around(patch, search, "find_named", dropped)


@noticed(
    "draws",
    canary="false only for what Hypothesis draws",
    test="verification/test_search.py::test_a_false_claim_is_found_and_proved",
)
def hypothesis_draws_one_instance(patch):
    around(patch, search, "settings", lambda of, **options: of(**options | {"max_examples": 1}))


@noticed(
    "raised",
    canary="a body that raises on some",
    test="verification/test_evaluation.py::test_a_body_that_always_raises_raises",
)
def what_a_body_raises_is_forgotten(patch):
    patch.setattr(stages.Search, "raised", property(lambda self: []))


@noticed(
    "raised",
    canary="a body that raises on some",
    test="verification/test_evaluation.py::test_rejected_members_do_not_count",
)
def a_batch_that_raises_is_left_out_whole(patch):
    patch.setattr(evaluation, "CULPRITS", 0)


@noticed(
    "raised",
    canary="a body that raises on some",
    test="verification/test_evaluation.py::test_singular_members_are_found_alone",
)
def an_instance_that_raises_counts_as_outside_the_hypotheses(patch):
    patch.setattr(evaluation.Raised, "outside_exactly", lambda self: True)


@noticed(
    "hunt",
    canary="false at the end of a descent",
    test="hunt/test_strategies.py::test_a_descent_finds_what_a_screen_does_not",
)
def a_descent_takes_no_step(patch):
    patch.setattr(descend._Walk, "step", lambda self, *_: None)


@noticed(
    "hunt",
    canary="false at the end of a descent",
    test="hunt/test_strategies.py::test_a_descent_finds_what_a_screen_does_not",
)
def a_descent_goes_uphill(patch):
    around(patch, descend, "_gradient", lambda gradient, *arguments: -gradient(*arguments))


@noticed(
    "hunt",
    canary="false at the end of a descent",
    test="hunt/test_strategies.py::test_a_descent_finds_what_a_screen_does_not",
)
def a_descent_has_no_gradient(patch):
    around(patch, descend, "_gradient", lambda gradient, *a: torch.zeros_like(gradient(*a)))


@noticed(
    "hunt",
    canary="false at the end of a descent",
    test="hunt/test_strategies.py::test_a_descent_finds_what_a_screen_does_not",
)
def a_descent_keeps_where_it_began(patch):
    patch.setattr(descend, "descend", lambda arena, start, seed: start)


@noticed(
    "hunt",
    canary="false at the end of a descent",
    test="hunt/test_shard.py::test_a_proved_finding_holds_when_it_is_judged_again",
)
def a_hunt_drops_what_its_strategies_find(patch):
    around(patch, shard, "_judge", lambda judge, arena: (None, judge(arena)[1]))


@noticed(
    "hunt",
    canary="false at the end of a descent",
    test="hunt/test_shard.py::test_instances_are_rounded_while_they_keep_their_violation",
)
def a_hunt_rounds_a_violation_away(patch):
    patch.setattr(shard, "KEEP", -torch.inf)


@noticed(
    "hunt",
    why="a search that is led astray finds what is easy all the same",
    test="hunt/test_margins.py::test_an_instance_has_the_least_margin_of_its_entries_and_a_row_for_each_relation",
)
def an_instance_has_the_margin_of_its_best_entry(patch):
    def of_one(over, values, batch, reduce):
        return over(values, batch, torch.amax if reduce is torch.amin else reduce)

    around(patch, margins, "over_batch", of_one)


@noticed(
    "hunt",
    canary="a mutant that survives is hunted",
    test="verification/test_controls.py::test_what_survives_is_hunted_and_nothing_else",
)
def a_control_that_survives_is_not_hunted(patch):
    patch.setattr(controls, "_hunted", lambda claim, control, name, nearest, _: (None, nearest))
