"""What the workers of the tests here do; a spawned process imports it."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from rankcheck.errors import InputError


def numbers():
    """Tasks are numbers, or pairs of a word and its argument."""

    def run(task, tell):
        match task:
            case "torch":
                return "torch" in sys.modules
            case "threads":
                return os.environ["OMP_NUM_THREADS"]
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "limit":
                resource = pytest.importorskip("resource")
                _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
                resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
                return os.getpid()
            case "pid":
                return os.getpid()
            case ["exit", code]:
                os._exit(code)
            case "refuse":
                raise InputError("these numbers are no good")
            case "raise":
                return {}["nothing"]
            case "memory":
                return bytearray(1 << 50)
            case ["nap", number]:
                time.sleep(0.05)
                return number
            case "mute":
                sys.stdout = None
            case "print":
                print("printed", end="")
            case ["once", path]:
                if not Path(path).exists():
                    Path(path).touch()
                    os._exit(7)
                return "at last"
            case ["sleep", seconds]:
                tell(os.getpid())
                time.sleep(seconds)
            case int():
                tell(task + 100)
                return task * task
        return None

    return run


def files_of(module):
    """The file of a module, as if it were that of a claim."""
    return [Path(module.__file__)]


def one_of_two(folder):
    """The second worker that prepares ends; tasks are those of `numbers`."""
    if (folder / "first").exists():
        os._exit(3)
    (folder / "first").touch()
    return numbers()


def slow():
    time.sleep(600)


def refuses():
    raise InputError("these files are no good")


def dies():
    os._exit(3)
