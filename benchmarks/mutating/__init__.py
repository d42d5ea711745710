"""The parts of benchmarks/mutation.py: the mutants of a file, the tests of a line, one trial.

`statements` is that of benchmarks/statement_mutation.py: the places of a claim.
"""
