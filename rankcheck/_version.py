import time

__version__ = "0.2.0"
#: When this process imported rankcheck, in seconds as `time.time()` has them.
IMPORTED = time.time()
