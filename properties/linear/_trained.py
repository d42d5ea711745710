"""Runs of the numerical example of slides B of `linear`, in pairs of two depths."""

#: The record, and the claim on it.
NAME = "linear.trained-singular-values"


def pairs(runs, deep=4, shallow=2):
    """Runs of two depths on the same points, the shallow one first."""
    by_seed = {run.seed: run for run in runs if run.settings["depth"] == shallow}
    return [(by_seed[run.seed], run) for run in runs if run.settings["depth"] == deep]
