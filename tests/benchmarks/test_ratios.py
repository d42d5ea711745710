"""Every benchmark runs, at small sizes; its numbers are not tested."""

import math

import pytest

from benchmarks import __main__ as benchmarks


@pytest.mark.nightly
@pytest.mark.parametrize("name", benchmarks.NAMES)
def test_each_benchmark_runs(name):
    rows = list(benchmarks.lines([name], quick=True))

    assert rows
    assert all(math.isfinite(float(ratio)) for *_, ratio in rows)


def test_a_name_that_is_unknown_is_an_error(capsys):
    with pytest.raises(SystemExit, match="2"):
        benchmarks.main(["nothing"])

    assert "no benchmark is called 'nothing'; there are drivers" in capsys.readouterr().err
