"""The suite runs deterministically, on one thread a process."""

from rankcheck.engine.parallel.arithmetic import fix_arithmetic

fix_arithmetic()  # before torch and numpy are imported

from hypothesis import settings  # noqa: E402

pytest_plugins = ["pytester", "tests.nudge"]

settings.register_profile("rankcheck", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("rankcheck")
