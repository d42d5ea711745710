"""Former names of `rankcheck.instances.choices`."""

from rankcheck.instances.choices import ChoicesError as GivenError
from rankcheck.instances.choices import read_choices as record_of

__all__ = ["GivenError", "record_of"]
