"""Tensors of these tests are of double precision unless they say so: a float32 is never exact."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _doubles():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)
