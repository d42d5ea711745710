"""The suite runs deterministically, on one thread a process."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before torch and numpy are imported

from hypothesis import settings  # noqa: E402

pytest_plugins = ["pytester"]

settings.register_profile("rankcheck", derandomize=True, deadline=None, print_blob=False)
settings.load_profile("rankcheck")
