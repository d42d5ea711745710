"""The parts of benchmarks/mutation.py: the mutants of a file, the tests of a line, one trial."""
