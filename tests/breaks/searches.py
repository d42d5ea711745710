"""Breaks of what looks for a violation: the sweep, the scope, the draws of Hypothesis, the hunt."""

from dataclasses import replace

import torch
from hypothesis.errors import NoSuchExample

from rankcheck.engine.hunt import margins, shard
from rankcheck.engine.hunt.strategies import descend
from rankcheck.engine.verification import controls, evaluation, scope, search, stages
from rankcheck.theory.instances import scope as scopes

from .table import Break, around, around_property, everywhere, put

SEARCH, SCOPE = "engine/verification/test_search.py::", "engine/verification/test_scope.py::"
EVALUATION = "engine/verification/test_evaluation.py::"
STRATEGIES, SHARD = "engine/hunt/test_strategies.py::", "engine/hunt/test_shard.py::"


def proved_alone(judged, *arguments):
    found = judged(*arguments)
    return found if found is not None and found.proved else None


def first_shape(of, *arguments):
    found = of(*arguments)
    return replace(found, shapes=found.shapes[:1])


def forgetful(find, name, strategy, violates, *arguments, **options):
    find(name, strategy, lambda drawn: violates(drawn) and False, *arguments, **options)
    raise NoSuchExample(name)


def best_entry(rows, values):
    every = rows(values)
    return every if values.dtype == torch.bool else every.amax(1, keepdim=True)


BREAKS = (
    Break("sweep", "a sweep drops every violation",
          f"{SEARCH}test_a_false_claim_is_found_and_proved",
          put(search, "_judged", lambda *_: None)),
    Break("sweep", "a sweep looks at the first instance of a batch alone",
          f"{SEARCH}test_a_false_claim_is_found_and_proved",
          around(search, "worst_of", lambda worst, *a: [i for i in worst(*a) if i == 0])),
    Break("sweep", "all batches of a sweep have one seed",
          f"{SEARCH}test_the_seed_decides_what_is_seen", put(search, "seed_of", lambda *_: 0)),
    Break("sweep", "one violation of a batch is judged",
          f"{SEARCH}test_the_worst_by_either_measure",
          everywhere(search.worst_of, lambda worst, part, *_: worst(part, 1))),
    Break("sweep", "violations are ranked by their relative size alone",
          f"{SEARCH}test_noise_does_not_hide_a_violation",
          around(search, "excess", lambda excess, sides, **_: excess(sides))),
    Break("sweep", "a sweep drops what balls leave undecided",
          f"{SEARCH}test_with_proof_a_search_goes_on_after_what_is_not_conclusive",
          around(search, "_judged", proved_alone)),
    Break("scope", "a scope drops every violation",
          f"{SCOPE}test_the_first_violation_is_the_smallest",
          put(scope, "_violations", lambda *_: iter(()))),
    Break("scope", "a scope ends after its first shape",
          f"{SCOPE}test_the_message_says_that_nothing_smaller_violates",
          everywhere(scope.scope_of, first_shape)),
    Break("scope", "a scope takes the first option of each choice",
          "theory/instances/test_scope.py::test_the_shapes_are_those_of_brute_force",
          around_property(scopes._Branch, "next",
                          lambda next_, self: None if self.place.index else next_(self))),
    Break("scope", "a scope begins with its largest instances",
          f"{SCOPE}test_the_first_violation_is_the_smallest",
          around(scopes.Shapes, "batches", lambda of, self, size: reversed(list(of(self, size))))),
    Break("draws", "violations that hypothesis draws are dropped",
          f"{SEARCH}test_a_false_claim_is_found_and_proved",
          around(search, "find_named", forgetful)),
    Break("draws", "hypothesis draws one instance",
          f"{SEARCH}test_a_false_claim_is_found_and_proved",
          around(search, "settings", lambda of, **options: of(**options | {"max_examples": 1}))),
    Break("raised", "what a body raises is forgotten",
          f"{EVALUATION}test_a_body_that_always_raises_raises",
          put(stages.Search, "raised", property(lambda self: []))),
    Break("raised", "a batch that raises is left out whole",
          f"{EVALUATION}test_rejected_members_do_not_count", put(evaluation, "CULPRITS", 0)),
    Break("raised", "an instance that raises counts as outside the hypotheses",
          f"{EVALUATION}test_singular_members_are_found_alone",
          put(evaluation.Raised, "outside_exactly", lambda self: True)),
    Break("hunt", "a descent goes uphill",
          f"{STRATEGIES}test_a_descent_finds_what_a_screen_does_not",
          around(descend, "_gradient", lambda gradient, *arguments: -gradient(*arguments))),
    Break("hunt", "a hunt drops what its strategies find",
          f"{SHARD}test_a_proved_finding_holds_when_it_is_judged_again",
          around(shard, "_judge", lambda judge, arena: (None, judge(arena)[1]))),
    Break("hunt", "a hunt rounds a violation away",
          f"{SHARD}test_instances_are_rounded_while_they_keep_their_violation",
          put(shard, "KEEP", -torch.inf)),
    Break("hunt", "an instance has the margin of its best entry",
          "engine/hunt/test_margins.py::"
          "test_an_instance_has_the_least_margin_of_its_entries_and_a_row_for_each_relation",
          around(margins, "by_instance", best_entry)),
    Break("hunt", "a control that survives is not hunted",
          "engine/verification/test_controls.py::test_what_survives_is_hunted_and_nothing_else",
          put(controls, "_hunted", lambda control, _: (None, ""))),
)  # fmt: skip
