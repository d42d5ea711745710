"""Breaks of the check that a body is a function of one instance, by what it would have found."""

from rankcheck.verification import batching, branches, check, search
from rankcheck.verification.batching import _Check

from .table import around, everywhere, noticed


@noticed(
    "batching",
    canary="mixed among repeated instances",
    test="verification/test_batching.py::test_verify_fails_the_claim_and_certify_refuses_it",
)
def batches_are_not_checked(patch):
    patch.setattr(check, "check_batching", lambda *_: None)


@noticed(
    "batching",
    canary="mixed among repeated instances",
    test="verification/test_batching.py::test_a_mixed_mask_is_an_error",
)
def a_batch_is_not_compared_with_its_instances(patch):
    patch.setattr(_Check, "check_mixing", lambda self, source, first: True)


@noticed(
    "batching",
    canary="mixed among repeated instances",
    test="verification/test_batching.py::test_a_generator_that_is_no_function_of_one_instance_is_an_error",
)
def an_instance_is_not_compared_beside_others(patch):
    patch.setattr(_Check, "compare_beside_others", lambda *_: None)


@noticed(
    "batching",
    canary="another value alone",
    test="verification/test_batching.py::test_a_body_for_batches_or_for_instances_only_is_an_error",
)
def an_instance_is_not_compared_alone(patch):
    patch.setattr(_Check, "compare_alone", lambda *_: None)


@noticed(
    "batching",
    canary="mixed among repeated instances",
    test="verification/test_batching.py::test_a_mixed_mask_is_an_error",
)
def every_instance_lies_on_an_edge(patch):
    patch.setattr(_Check, "on_edge", lambda *_: True)


@noticed(
    "batching",
    canary="random",
    test="verification/test_batching.py::test_a_random_body_is_an_error",
)
def a_body_may_be_random(patch):
    patch.setattr(_Check, "check_random", lambda *_: None)


@noticed(
    "batching",
    canary="a body that writes",
    test="verification/test_batching.py::test_a_body_that_changes_its_arguments_is_an_error",
)
def a_body_may_change_its_arguments(patch):
    patch.setattr(batching, "change", lambda old, new: None)


@noticed(
    "batching",
    canary="a generator that writes",
    test="verification/test_batching.py::test_a_generator_that_is_no_function_of_one_instance_is_an_error",
)
def a_generator_may_change_what_it_drew(patch):
    patch.setattr(_Check, "check_draws", lambda *_: None)


@noticed(
    "batching",
    canary="a mixed shape",
    test="verification/test_batching.py::test_the_batch_axis_comes_first",
)
def the_batch_axis_may_be_any(patch):
    patch.setattr(_Check, "check_shapes", lambda *_: None)


@noticed(
    "batching",
    why="the same is found where the batch does not raise",
    test="verification/test_batching.py::test_singular_members_do_not_hide_what_is_mixed",
)
def a_batch_that_raises_is_not_compared(patch):
    patch.setattr(_Check, "raising_none", lambda *_: [])


@noticed(
    "batching",
    canary="a mixed tight family",
    test="verification/test_batching.py::test_the_tight_family_is_checked_too",
)
def the_tight_family_is_not_compared(patch):
    def run(of, self, *arguments, **options):
        return self.family is self.claim.tight or of(self, *arguments, **options)

    around(patch, _Check, "run", run)


@noticed(
    "branches on data",
    canary="a branch of one instance",
    test="verification/test_branches.py::test_every_form_is_caught",
)
def a_body_may_branch_on_what_is_drawn(patch):
    everywhere(patch, branches.check_branches, lambda *_: None)


@noticed(
    "branches on data",
    canary="a branch at one shape",
    test="verification/test_branches.py::test_sweeps_and_hunts_look_at_every_shape",
)
def a_sweep_does_not_look_for_branches(patch):
    patch.setattr(search, "WATCHED", 0)


@noticed(
    "branches on data",
    canary="a branch of one instance",
    test="verification/test_branches.py::test_every_form_is_caught",
)
def the_truth_value_of_a_tensor_is_no_branch(patch):
    patch.delitem(branches.READERS, "__bool__")


@noticed(
    "branches on data",
    why="one canary for what reads a tensor; the others are tests",
    test="verification/test_branches.py::test_every_form_is_caught",
)
def a_python_number_of_a_tensor_is_no_branch(patch):
    for name in ("item", "__float__", "__int__"):
        patch.delitem(branches.READERS, name)


@noticed(
    "branches on data",
    canary="a branch of one instance",
    test="verification/test_branches.py::test_every_form_is_caught",
)
def what_torch_computes_from_a_marked_tensor_has_no_mark(patch):
    patch.setattr(branches.Watch, "_marked", lambda self, args, kwargs: [])


@noticed(
    "branches on data",
    why="one canary for what reads a tensor; the others are tests",
    test="verification/test_branches.py::test_every_form_is_caught",
)
def a_number_of_selected_entries_is_no_branch(patch):
    patch.setattr(branches, "COUNTING", frozenset())
    patch.setattr(branches, "_is_shape", lambda func: False)
