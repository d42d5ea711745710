"""Breaks of the check that a body is a function of one instance, by what it would have found."""

from rankcheck.engine.verification.batching import _Check

from rankcheck.engine.verification import batching, branches, check, search

from .table import Break, around, put

BATCHING, BRANCHES = (
    "engine/verification/test_batching.py::",
    "engine/verification/test_branches.py::",
)


def unless_tight(run, self, *arguments, **options):
    return self.family is self.claim.tight or run(self, *arguments, **options)


def python_numbers_are_not_watched(patch):
    for name in ("item", "__float__", "__int__"):
        patch.delitem(branches.READERS, name)


BREAKS = (
    Break("batching", "batches are not checked",
          f"{BATCHING}test_verify_fails_the_claim_and_certify_refuses_it",
          put(check, "check_batching", lambda *_: None)),
    Break("batching", "an instance is not compared beside others",
          f"{BATCHING}test_a_generator_that_is_no_function_of_one_instance_is_an_error",
          put(_Check, "compare_beside_others", lambda *_: None)),
    Break("batching", "an instance is not compared alone",
          f"{BATCHING}test_a_body_for_batches_or_for_instances_only_is_an_error",
          put(_Check, "compare_alone", lambda *_: None)),
    Break("batching", "every instance lies on an edge",
          f"{BATCHING}test_a_mixed_mask_is_an_error", put(_Check, "on_edge", lambda *_: True)),
    Break("batching", "a body may be random", f"{BATCHING}test_a_random_body_is_an_error",
          put(_Check, "check_random", lambda *_: None)),
    Break("batching", "a body may change its arguments",
          f"{BATCHING}test_a_body_that_changes_its_arguments_is_an_error",
          put(batching, "change", lambda old, new: None)),
    Break("batching", "a generator may change what it drew",
          f"{BATCHING}test_a_generator_that_is_no_function_of_one_instance_is_an_error",
          put(_Check, "check_draws", lambda *_: None)),
    Break("batching", "the batch axis may be any",
          f"{BATCHING}test_the_batch_axis_comes_first",
          put(_Check, "check_shapes", lambda *_: None)),
    Break("batching", "a batch that raises is not compared",
          f"{BATCHING}test_singular_members_do_not_hide_what_is_mixed",
          put(_Check, "raising_none", lambda *_: [])),
    Break("batching", "the tight family is not compared",
          f"{BATCHING}test_the_tight_family_is_checked_too", around(_Check, "run", unless_tight)),
    Break("branches on data", "a sweep does not look for branches",
          f"{BRANCHES}test_sweeps_and_hunts_look_at_every_shape", put(search, "WATCHED", 0)),
    Break("branches on data", "the truth value of a tensor is no branch",
          f"{BRANCHES}test_every_form_is_caught",
          lambda patch: patch.delitem(branches.READERS, "__bool__")),
    Break("branches on data", "a python number of a tensor is no branch",
          f"{BRANCHES}test_every_form_is_caught", python_numbers_are_not_watched),
    Break("branches on data", "what torch computes from a marked tensor has no mark",
          f"{BRANCHES}test_every_form_is_caught",
          put(branches.Watch, "_marked", lambda self, args, kwargs: [])),
)  # fmt: skip
